"""SEARCH of string matching: its body keeps its contract if MATCH_HERE keeps its own, and wrong bodies do not."""

from __future__ import annotations

import pytest

from alphanpi.environment.registry import make
from alphanpi.environment.skeleton import new_env
from alphanpi.environment.specification import STOP
from alphanpi.environments.string_matching import StringMatching
from alphanpi.network.decisions import Decisions
from alphanpi.proof.bodies import show_body
from alphanpi.proof.prover import prove_programs
from tests.helpers.solutions import ScriptedEvaluator, execute

ENVIRONMENT = StringMatching()


def match_here(see, size):
    while see.same:
        see = yield "ADVANCE"
    yield STOP


def search(see, size):
    """As agents do: MATCH_HERE is called where it has something to do."""
    if see.same:
        see = yield "MATCH_HERE"
    if see.pattern_passed:
        yield "FOUND"
    elif see.text_passed:
        yield "NOT_FOUND"
    else:
        yield "SEARCH on rest"
    yield STOP


def goes_on_to_the_end(see, size):
    if see.text_passed:
        yield "NOT_FOUND"
        yield STOP
    see = yield "MATCH_HERE"
    yield "FOUND" if see.pattern_passed else "SEARCH on rest"
    yield STOP


def gives_up(see, size):
    see = yield "MATCH_HERE"
    if see.text_passed:
        yield "NOT_FOUND"  # also where the pattern ends with the text
    else:
        yield "FOUND" if see.pattern_passed else "SEARCH on rest"
    yield STOP


def compares_one_letter(see, size):
    if see.same:
        see = yield "ADVANCE"
    if see.pattern_passed:
        yield "FOUND"
    elif see.text_passed:
        yield "NOT_FOUND"
    else:
        yield "SEARCH on rest"
    yield STOP


def finds_the_last(see, size):
    if see.text_passed:
        yield "NOT_FOUND"
        yield STOP
    yield "SEARCH on rest"
    yield STOP


def stops_where_it_fits(see, size):
    see = yield "MATCH_HERE"
    if see.text_passed and not see.pattern_passed:
        yield "NOT_FOUND"
    elif not see.pattern_passed:
        yield "SEARCH on rest"
    yield STOP


def shown(solution):
    evaluator = ScriptedEvaluator(ENVIRONMENT, {"MATCH_HERE": match_here, "SEARCH": solution})
    return show_body(ENVIRONMENT, Decisions(ENVIRONMENT.library, evaluator), "SEARCH", {})


@pytest.mark.parametrize("solution", [search, goes_on_to_the_end])
def test_right_bodies_keep_their_contract(solution):
    body = shown(solution)
    assert body.shortfalls == ()
    assert body.called == {"MATCH_HERE", "SEARCH"}
    assert body.unknowns == 0


@pytest.mark.parametrize("solution", [gives_up, compares_one_letter, finds_the_last, stops_where_it_fits])
def test_wrong_bodies_get_a_text_from_which_they_fail(solution):
    body = shown(solution)
    starts = [start for shortfall in body.shortfalls for start in shortfall.starts]
    assert all(start.text.isprintable() and start.pattern for start in starts)
    with pytest.raises(AssertionError, match="SEARCH: from"):
        execute(ENVIRONMENT, "SEARCH", starts[0], {"MATCH_HERE": match_here, "SEARCH": solution})


def fill(see, size):
    if see.blank:
        yield "WRITE"
    if not see.at_end:
        yield "FILL on rest"
    yield STOP


def fill_one(see, size):
    if see.blank:
        yield "WRITE"
    elif not see.at_end:
        yield "FILL on rest"
    yield STOP


def test_the_skeleton_about_a_text_can_be_proved(tmp_path):
    path, name = new_env("blanks", tmp_path, kind="text")
    environment = make(f"{path}:{name}")
    for solution in (fill, fill_one):
        decisions = Decisions(environment.library, ScriptedEvaluator(environment, {"FILL": solution}))
        assert prove_programs(environment, decisions)["FILL"].proved == (solution is fill)
