"""Starts of the paper's environments: all there are, each of the size asked for."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphanpi.environments.lists import PointedList, order_patterns
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.errors import UsageError
from tests.helpers.instances import ENVIRONMENTS, HANOI, LISTS, ROLES, every, seeds, some


@every(ENVIRONMENTS)
@given(seed=seeds, size=st.integers(1, 30))
@some
def test_initial_state_satisfies_pre_and_size(environment, seed, size):
    for program in environment.library.learned:
        asked = max(size, program.minimum_size)
        state = environment.initial(program.name, asked, np.random.default_rng(seed))
        assert environment.pre(program.name, state)
        assert environment.size(state) == asked


@every(ENVIRONMENTS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_enumeration_gives_every_start_once(environment, size):
    rng = np.random.default_rng(0)
    for program in environment.library.learned:
        if size < program.minimum_size:
            continue
        states = list(environment.enumerate(program.name, size))
        assert len(set(states)) == len(states)
        assert all(environment.pre(program.name, state) and environment.size(state) == size for state in states)
        patterns = {ranked(state) for state in states}
        assert {ranked(environment.initial(program.name, size, rng)) for _ in range(100)} <= patterns


def ranked(state):
    """A list with its values replaced by their ranks; any other state as it is."""
    if not isinstance(state, PointedList):
        return state
    ranks = {value: rank for rank, value in enumerate(sorted(set(state.values)))}
    return state._replace(values=tuple(ranks[value] for value in state.values))


@pytest.mark.parametrize(("size", "count"), [(1, 1), (2, 3), (3, 13), (4, 75), (5, 541)])
def test_order_patterns_are_counted_by_the_ordered_bell_numbers(size, count):
    assert len(list(order_patterns(size))) == count


@every(LISTS)
@pytest.mark.parametrize("size", [2, 3])
def test_initial_pointers_cover_all_that_satisfy_pre(environment, size):
    rng = np.random.default_rng(0)
    for program in environment.library.learned:
        drawn = {environment.initial(program.name, size, rng)[1:3] for _ in range(300)}
        allowed = {
            (p1, p2)
            for p1, p2 in product(range(size), repeat=2)
            if environment.pre(program.name, PointedList((0,) * size, p1, p2, 0, size - 1))
        }
        assert drawn == allowed


def test_initial_roles_cover_all_orders():
    rng = np.random.default_rng(0)
    states = [HANOI.initial("HANOI", 2, rng) for _ in range(200)]
    assert {state.roles for state in states} == set(ROLES)
    assert all(state.roles == state.initial_roles for state in states)
    assert all(set(state.position) == {state.roles[0]} for state in states)


@pytest.mark.parametrize("program", ["RSHIFT", "LSHIFT", "RESET", "COMPSWAP"])
def test_initial_refuses_a_size_without_a_start(program):
    with pytest.raises(UsageError, match=program):
        RecursiveSorting().initial(program, 1, np.random.default_rng(0))
