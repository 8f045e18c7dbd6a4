"""The paper's environments in all variants, and random instances of their states."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from alphanpi.environments.flat_sorting import FlatSorting
from alphanpi.environments.hanoi import Hanoi, Towers
from alphanpi.environments.lists import Observation, PointedList
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.environments.sorting import Sorting

OBSERVATIONS: tuple[Observation, ...] = ("paper", "compare")
ENVIRONMENTS = {
    "hanoi": Hanoi(),
    **{
        f"{kind.__name__}-{observation}": kind(observation)
        for kind in (Sorting, RecursiveSorting, FlatSorting)
        for observation in OBSERVATIONS
    },
}
LISTS = {name: environment for name, environment in ENVIRONMENTS.items() if name != "hanoi"}
HANOI = Hanoi()
ROLES = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]

seeds = st.integers(0, 2**32 - 1)
some = settings(max_examples=40, deadline=None)


def every(environments):
    return pytest.mark.parametrize("environment", environments.values(), ids=environments.keys())


@st.composite
def sublists(draw, largest=8):
    """A sub-list anywhere inside a list, with both pointers in it."""
    values = tuple(draw(st.lists(st.integers(0, 9), min_size=1, max_size=largest)))
    start = draw(st.integers(0, len(values) - 1))
    end = draw(st.integers(start, len(values) - 1))
    inside = st.integers(start, end)
    return PointedList(values, draw(inside), draw(inside), start, end)


@st.composite
def towers(draw, largest=6):
    """Any arrangement of disks, of which only the smaller ones may belong to the game."""
    position = tuple(draw(st.lists(st.integers(0, 2), min_size=1, max_size=largest)))
    roles = st.sampled_from(ROLES)
    return Towers(position, draw(roles), draw(st.integers(1, len(position))), draw(roles))
