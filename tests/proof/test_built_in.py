"""Built-in environments that are proved by machine: right solutions are, in seconds, and those with a slip are not."""

from __future__ import annotations

import pytest

from alphanpi.environment.registry import make
from alphanpi.environment.specification import STOP
from alphanpi.network.decisions import Decisions
from alphanpi.proof.prover import prove_programs
from tests.helpers.solutions import ScriptedEvaluator, insert, insertion_sort


def not_proved(environment, solutions):
    proofs = prove_programs(environment, Decisions(environment.library, ScriptedEvaluator(environment, solutions)))
    return {name: proof.reasons for name, proof in proofs.items() if not proof.proved}


def inserts_one_place_only(see, size):
    if see.last_is_smaller:
        yield "SWAP"
    yield STOP


def does_not_insert(see, size):
    if see.several:
        yield "INSERTION_SORT on front"
    yield STOP


def inserts_first(see, size):
    if see.several:
        yield "INSERT"
        yield "INSERTION_SORT on front"
    yield STOP


INSERTION_SORT = {"INSERT": insert, "INSERTION_SORT": insertion_sort}
RIGHT = {"insertion-sort": INSERTION_SORT}
SLIPS = [
    ("insertion-sort", {"INSERT": inserts_one_place_only}, "INSERT"),
    ("insertion-sort", {"INSERTION_SORT": does_not_insert}, "INSERTION_SORT"),
    ("insertion-sort", {"INSERTION_SORT": inserts_first}, "INSERTION_SORT"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_right_solutions_are_proved(name):
    assert not_proved(make(name), RIGHT[name]) == {}


@pytest.mark.parametrize(("name", "slip", "program"), SLIPS)
def test_solutions_with_a_slip_are_not(name, slip, program):
    assert program in not_proved(make(name), {**RIGHT[name], **slip})
