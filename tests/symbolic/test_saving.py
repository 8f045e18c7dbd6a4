"""States as numbers that can be saved, by way of `symbolic`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphanpi.symbolic.saving import made_of, numbers_of


class Inner(NamedTuple):
    values: tuple[int, ...]
    on: bool


@dataclass(frozen=True)
class State:
    place: int
    inner: Inner
    pair: tuple[int, int]
    kind: str = "known"


def symbolic(unknown):
    values = unknown.numbers()  # asked for in another order than they stand in
    pair = (unknown.number(), unknown.number())
    return State(unknown.number(), Inner(values, unknown.truth()), pair)


states = st.builds(
    State,
    st.integers(-5, 5),
    st.builds(Inner, st.lists(st.integers(-5, 5)).map(tuple), st.booleans()),
    st.tuples(st.integers(), st.integers()),
)


@given(states)
def test_a_state_is_made_again_of_its_numbers(state):
    numbers = numbers_of(symbolic, state)
    assert numbers is not None
    assert len(numbers) == 5 + len(state.inner.values)
    assert made_of(symbolic, numbers) == state


def test_numbers_stand_in_the_order_in_which_they_are_asked_for():
    state = State(7, Inner((4, 5), True), (8, 9))
    assert numbers_of(symbolic, state) == (2, 4, 5, 8, 9, 7, 1)


@pytest.mark.parametrize("numbers", [(), (2, 4, 5, 8, 9, 7), (2, 4, 5, 8, 9, 7, 1, 0), (3, 4, 5, 8, 9, 7, 1)])
def test_too_few_numbers_or_too_many_make_no_state(numbers):
    assert made_of(symbolic, numbers) is None


def test_a_state_that_symbolic_does_not_describe_has_no_numbers():
    assert numbers_of(symbolic, State(1, Inner((), False), (0, 0), "another")) is None
    assert numbers_of(lambda unknown: (unknown.number(), unknown.number() + 1), (1, 2)) is None


def test_texts_are_saved_as_their_characters():
    assert numbers_of(lambda unknown: (unknown.text(), unknown.number()), ("né", 3)) == (2, 110, 233, 3)
    assert made_of(lambda unknown: (unknown.text(), unknown.number()), (2, 110, 233, 3)) == ("né", 3)
    assert made_of(lambda unknown: unknown.text(), (1, -1)) is None
