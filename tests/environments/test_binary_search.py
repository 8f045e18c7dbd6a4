"""Binary search: what may be done, what counts as done, and the textbook's way."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environment import scene
from alphanpi.environment.specification import STOP
from alphanpi.environments.binary_search import NOWHERE, UNANSWERED, BinarySearch, Numbers
from alphanpi.errors import UsageError
from tests.helpers.instances import some
from tests.helpers.solutions import ScriptedEvaluator, Steps, View, execute

ENVIRONMENT = BinarySearch()


def search(see: View, size: int) -> Steps:
    if see.nothing_left:
        yield "NOT_FOUND"
    elif see.wanted_smaller:
        yield "SEARCH on left"
    elif see.wanted_greater:
        yield "SEARCH on right"
    else:
        yield "FOUND"
    yield STOP


SOLUTIONS = {"SEARCH": search}


def start(values, wanted) -> Numbers:
    return Numbers(tuple(values), wanted, 0, len(values))


@given(values=st.lists(st.integers(-8, 8), max_size=40).map(sorted), wanted=st.integers(-9, 9))
@some
def test_the_textbook_finds_what_is_there(values, wanted):
    answer = execute(ENVIRONMENT, "SEARCH", start(values, wanted), SOLUTIONS).answer
    assert (answer != NOWHERE) == (wanted in values)
    assert answer == NOWHERE or values[answer] == wanted


@pytest.mark.parametrize("wanted", [0, 1, 333_332, 1_999_998, 2_000_000])
def test_a_million_numbers_take_twenty_one_calls(wanted):
    calls = 0

    def counted(see, size):
        nonlocal calls
        calls += 1
        return search(see, size)

    values = range(0, 2_000_000, 2)
    answer = execute(ENVIRONMENT, "SEARCH", start(values, wanted), {"SEARCH": counted}).answer
    assert answer == (wanted // 2 if wanted % 2 == 0 and wanted < 2_000_000 else NOWHERE)
    assert calls <= 21


def test_engine_follows_the_solution():
    engine = Search(ENVIRONMENT, ScriptedEvaluator(ENVIRONMENT, SOLUTIONS), SearchConfig(c_level=0.0))
    (trace,) = engine.run([Request("SEARCH", start((2, 3, 5, 7, 11), 7))])
    assert trace.success
    assert trace.final.answer == 3


def test_post_condition_accepts_every_place_of_the_value_and_no_other():
    before = Numbers((1, 4, 4, 4, 9), 4, 2, 5)  # of the three, the first is outside the current problem
    for answer in (UNANSWERED, NOWHERE, *range(5)):
        assert ENVIRONMENT.post("SEARCH", before, before._replace(answer=answer)) == (answer in (2, 3))
    absent = before._replace(wanted=5)
    for answer in (UNANSWERED, NOWHERE, *range(5)):
        assert ENVIRONMENT.post("SEARCH", absent, absent._replace(answer=answer)) == (answer == NOWHERE)
    assert not ENVIRONMENT.post("SEARCH", before, before._replace(answer=2, low=1))
    assert not ENVIRONMENT.post("SEARCH", before, before._replace(answer=2, wanted=9))


def test_halves():
    state = start((1, 3, 5, 7), 4)  # the middle is 5
    assert ENVIRONMENT.observe(state) == (False, True, False)
    left, right = (ENVIRONMENT.enter(state, f"SEARCH on {part}", "SEARCH") for part in ("left", "right"))
    assert (left.low, left.high) == (0, 2)
    assert (right.low, right.high) == (3, 4)
    answered = left._replace(answer=NOWHERE)
    assert ENVIRONMENT.leave(state, answered, "SEARCH on left", "SEARCH") == state._replace(answer=NOWHERE)


def test_what_is_legal():
    def may(state):
        legal = ENVIRONMENT.legal("SEARCH", state)
        return {name for name, allowed in zip(ENVIRONMENT.library.names, legal, strict=True) if allowed}

    state = start((1, 3), 2)
    assert may(state) == {STOP, "FOUND", "NOT_FOUND", "SEARCH on left", "SEARCH on right"}
    assert may(state._replace(high=0)) == {STOP, "NOT_FOUND"}
    assert may(state._replace(answer=0)) == {STOP}


@pytest.mark.parametrize("size", range(6))
def test_starts_have_every_way_to_compare(size):
    states = list(ENVIRONMENT.enumerate("SEARCH", size))
    assert len(set(states)) == len(states) == (size + 1) * (size + 2) // 2
    assert all(list(state.values) == sorted(state.values) and len(state.values) == size for state in states)

    def compared(state):
        return tuple((value > state.wanted) - (value < state.wanted) for value in state.values)

    ways = {compared(state) for state in states}
    assert {compared(ENVIRONMENT.initial("SEARCH", size, np.random.default_rng(seed))) for seed in range(100)} <= ways


def test_drawn_values_are_sorted_and_found_as_often_as_not():
    states = [ENVIRONMENT.initial("SEARCH", 12, np.random.default_rng(seed)) for seed in range(200)]
    assert all(list(state.values) == sorted(state.values) and ENVIRONMENT.size(state) == 12 for state in states)
    found = sum(state.values[min(11, bisect_left(state.values, state.wanted))] == state.wanted for state in states)
    assert 60 < found < 160


def test_text():
    state = ENVIRONMENT.parse("SEARCH", "7 in 2, 3 5 7")
    assert state == start((2, 3, 5, 7), 7)
    assert ENVIRONMENT.format(state._replace(low=1, high=3)) == "7 in 2 [3 5] 7"
    assert ENVIRONMENT.result("SEARCH", state._replace(answer=3), ()) == "7 is at position 3"
    assert ENVIRONMENT.result("SEARCH", state._replace(answer=NOWHERE), ()) == "7 is not in the list"
    assert ENVIRONMENT.parse("SEARCH", "-4 in") == start((), -4)
    assert ENVIRONMENT.parse("SEARCH", ENVIRONMENT.format(state)) == state


@pytest.mark.parametrize("text", ["", "7", "in 1 2", "x in 1 2", "1 in a b", "1 in 2 1", "1 2 in 3", "1 in 2 in 3"])
def test_text_that_cannot_be_read(text):
    with pytest.raises(UsageError, match="write for example"):
        ENVIRONMENT.parse("SEARCH", text)


@pytest.mark.parametrize("answer", [UNANSWERED, NOWHERE, 2])
@pytest.mark.parametrize("values", [(), (1,), (2, 3, 5, 7), tuple(range(500))])
def test_picture(values, answer):
    state = start(values, 5)._replace(answer=answer if values or answer == UNANSWERED else NOWHERE)
    assert scene.problems(ENVIRONMENT.render(state)) == []
