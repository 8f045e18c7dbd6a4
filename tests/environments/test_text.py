"""Instances of the paper's environments as users type and read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.environments.sorting import Sorting
from alphanpi.errors import UsageError
from tests.helpers.instances import HANOI, LISTS, every, some


@every(LISTS)
@given(values=st.lists(st.integers(0, 9), min_size=2, max_size=12))
@some
def test_list_text_round_trip(environment, values):
    for program in environment.library.learned:
        state = environment.parse(program.name, ", ".join(map(str, values)))
        assert environment.pre(program.name, state)
        assert state.values == tuple(values)
        assert (state.start, state.end) == (0, len(values) - 1)
        assert environment.parse(program.name, environment.format(state)) == state


@pytest.mark.parametrize(
    ("observation", "program", "text"),
    [
        ("paper", "BUBBLESORT", "3 x 1"),
        ("paper", "BUBBLESORT", ""),
        ("paper", "BUBBLESORT", "3 12"),
        ("paper", "BUBBLESORT", "-1 2"),
        ("compare", "BUBBLESORT", "1.5"),
        ("compare", "COMPSWAP", "7"),
        ("compare", "RESET", "7"),
    ],
)
def test_list_text_that_cannot_be_read(observation, program, text):
    with pytest.raises(UsageError):
        RecursiveSorting(observation).parse(program, text)


def test_compare_takes_any_integers():
    assert Sorting("compare").parse("BUBBLESORT", "1000 -5").values == (1000, -5)


def test_unknown_observation_is_refused():
    with pytest.raises(UsageError, match="choose paper or compare"):
        Sorting("papper")  # type: ignore[arg-type]


@pytest.mark.parametrize("disks", [1, 2, 7])
def test_hanoi_text(disks):
    state = HANOI.parse("HANOI", f" {disks} ")
    assert HANOI.pre("HANOI", state)
    assert HANOI.size(state) == disks
    from_bottom = " ".join(str(disk) for disk in range(disks, 0, -1))
    assert HANOI.format(state) == f"A: {from_bottom}   B: -   C: -"


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "1.5"])
def test_hanoi_text_that_cannot_be_read(text):
    with pytest.raises(UsageError, match="number of disks"):
        HANOI.parse("HANOI", text)
