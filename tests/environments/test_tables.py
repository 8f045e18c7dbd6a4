"""The paper's environments against an independent reading of their tables."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from alphanpi.environments.flat_sorting import FlatSorting
from alphanpi.environments.hanoi import Hanoi, Towers
from alphanpi.environments.lists import PointedList
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.environments.sorting import Sorting
from tests.helpers.instances import ENVIRONMENTS, HANOI, LISTS, OBSERVATIONS, every, seeds, some, sublists, towers


def walked(environment, program, state, rng, steps=12):
    """A state some random legal atomic actions away."""
    for _ in range(steps):
        actions = [
            name
            for name in environment.library.names[1 : environment.library.atomic_count]
            if environment.pre(name, state, program)
        ]
        if not actions:
            break
        state = environment.act(state, actions[rng.integers(len(actions))])
    return state


def tabulated_list_pre(program, s):
    return {
        "PTR_1_L": s.p1 > s.start,
        "PTR_2_L": s.p2 > s.start,
        "PTR_1_R": s.p1 < s.end,
        "PTR_2_R": s.p2 < s.end,
        "SWAP": s.p1 != s.p2,
        "RSHIFT": s.p1 < s.end or s.p2 < s.end,
        "LSHIFT": s.p1 > s.start or s.p2 > s.start,
        "COMPSWAP": s.p1 < s.end and s.p2 - s.p1 in (0, 1),
        "RESET": s.p1 > s.start or s.p2 > s.start,
        "BUBBLE": s.p1 == s.start and s.p2 - s.start in (0, 1),
        "BUBBLESORT": s.p1 == s.start and s.p2 == s.start,
    }[program]


def tabulated_recursive_call(program, s):
    return {
        "RESET": (s.p1 > s.start or s.p2 > s.start) and s.p1 < s.end and s.p2 < s.end,
        "BUBBLE": s.p1 == s.p2 == s.start + 1 and s.start < s.end,
        "BUBBLESORT": s.p1 == s.p2 == s.start and s.start < s.end,
    }[program]


def callee_bounds(program, s):
    return (s.start + 1, s.end) if program == "BUBBLE" else (s.start, s.end - 1)


@every(LISTS)
@given(state=sublists())
@some
def test_list_masks_are_as_tabulated(environment, state):
    if not isinstance(environment, RecursiveSorting):
        state = state._replace(start=0, end=len(state.values) - 1)
    library = environment.library
    # What iterates begins with two elements or more, as its minimum_size says; the table has no such words.
    empty = {"BUBBLE", "BUBBLESORT"} if isinstance(environment, Sorting) and state.start == state.end else set()
    for caller in library.learned:
        expected = tuple(
            entry.name == "STOP"
            or (entry.level < caller.level and entry.name not in empty and tabulated_list_pre(entry.name, state))
            or (entry is caller and caller.recursive and tabulated_recursive_call(entry.name, state))
            for entry in library
        )
        assert environment.legal(caller.name, state) == expected


@given(state=sublists())
@some
def test_recursive_list_calls_shrink_and_restore(state):
    environment = RecursiveSorting("compare")
    for program in ("RESET", "BUBBLE", "BUBBLESORT"):
        if not environment.pre(program, state, program):
            continue
        entered = environment.enter(state, program, program)
        assert entered == state._replace(start=callee_bounds(program, state)[0], end=callee_bounds(program, state)[1])
        rng = np.random.default_rng(0)
        ended = walked(environment, program, entered, rng)
        left = environment.leave(state, ended, program, program)
        assert left == ended._replace(start=state.start, end=state.end)


def test_a_call_of_another_program_sees_the_callers_state():
    environment = RecursiveSorting()
    state = PointedList((3, 1, 2), 0, 0, 0, 2)
    assert environment.enter(state, "BUBBLE", "BUBBLESORT") == state
    assert environment.leave(state, state._replace(p1=2), "BUBBLE", "BUBBLESORT") == state._replace(p1=2)


def disks_of(state, pillar):
    return [disk for disk in range(state.disks) if state.position[disk] == pillar]


def may_move(state, origin, destination):
    origin_disks = disks_of(state, state.roles[origin])
    destination_disks = disks_of(state, state.roles[destination])
    return bool(origin_disks) and min(origin_disks) < min(destination_disks, default=99)


@given(state=towers())
@some
def test_hanoi_masks_are_as_tabulated(state):
    source = state.roles[0]
    inner_on_source = state.disks > 1 and all(place == source for place in state.position[: state.disks - 1])
    expected = (True, state.disks > 1, state.disks > 1, may_move(state, 0, 2), inner_on_source)
    assert HANOI.legal("HANOI", state) == expected
    begun = state.roles == state.initial_roles and len(disks_of(state, source)) == state.disks
    assert HANOI.pre("HANOI", state) == begun
    if inner_on_source:
        entered = HANOI.enter(state, "HANOI", "HANOI")
        assert entered == Towers(state.position, state.roles, state.disks - 1, state.roles)
        assert HANOI.leave(state, entered, "HANOI", "HANOI") == state


@every(ENVIRONMENTS)
def test_depths_are_as_tabulated(environment):
    for program in environment.library.learned:
        for size in (2, 5, 9):
            state = environment.initial(program.name, size, np.random.default_rng(0))
            if isinstance(environment, Hanoi):
                depth = 8
            elif isinstance(environment, FlatSorting):
                depth = 6 * size * size
            elif isinstance(environment, RecursiveSorting) or program.level == 1:
                depth = 5
            else:
                depth = 2 * size + 3
            assert environment.depth(program.name, state) == depth


@every(LISTS)
@given(state=sublists(), seed=seeds)
@some
def test_list_actions_keep_values_and_bounds(environment, state, seed):
    rng = np.random.default_rng(seed)
    after = walked(environment, "BUBBLESORT", state, rng)
    assert Counter(after.values) == Counter(state.values)
    assert after.values[: state.start] == state.values[: state.start]
    assert after.values[state.end + 1 :] == state.values[state.end + 1 :]
    assert (after.start, after.end) == (state.start, state.end)
    assert state.start <= after.p1 <= state.end
    assert state.start <= after.p2 <= state.end


@given(state=sublists())
@some
def test_list_actions_have_their_effects(state):
    environment = Sorting()
    values = list(state.values)
    values[state.p1], values[state.p2] = values[state.p2], values[state.p1]
    assert environment.act(state, "PTR_1_L") == state._replace(p1=state.p1 - 1)
    assert environment.act(state, "PTR_1_R") == state._replace(p1=state.p1 + 1)
    assert environment.act(state, "PTR_2_L") == state._replace(p2=state.p2 - 1)
    assert environment.act(state, "PTR_2_R") == state._replace(p2=state.p2 + 1)
    assert environment.act(state, "SWAP") == state._replace(values=tuple(values))


@given(state=towers(), seed=seeds)
@some
def test_hanoi_moves_only_the_top_disk_onto_a_larger_one(state, seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        actions = [name for name in HANOI.library.names[1:4] if HANOI.pre(name, state, "HANOI")]
        if not actions:
            break
        action = actions[rng.integers(len(actions))]
        after = HANOI.act(state, action)
        moved = [i for i, (old, new) in enumerate(zip(state.position, after.position, strict=True)) if old != new]
        if action == "MOVE_DISK":
            (disk,) = moved
            assert disk == min(disks_of(state, state.roles[0]))
            assert after.position[disk] == state.roles[2]
            assert all(disk <= other for other in disks_of(after, state.roles[2]))
            assert after.roles == state.roles
        else:
            assert not moved
            assert sorted(after.roles) == [0, 1, 2]
            kept = 2 if action == "SWAP_S_A" else 0
            assert after.roles[kept] == state.roles[kept]
            assert after.roles != state.roles
        assert (after.disks, after.initial_roles) == (state.disks, state.initial_roles)
        state = after


@every(LISTS)
@given(state=sublists())
@some
def test_list_observation_is_as_described(environment, state):
    seen = dict(zip(environment.fields, environment.observe(state), strict=True))
    flags = {
        "p1_at_start": state.p1 == state.start,
        "p1_at_end": state.p1 == state.end,
        "p2_at_start": state.p2 == state.start,
        "p2_at_end": state.p2 == state.end,
        "same_position": state.p1 == state.p2,
    }
    v1, v2 = state.values[state.p1], state.values[state.p2]
    if environment.observation == "compare":
        expected = {"p1_value_greater": v1 > v2, **flags}
    else:
        current = state.values[state.start : state.end + 1]
        expected = {
            **{f"p1_value_{digit}": digit == v1 for digit in range(10)},
            **{f"p2_value_{digit}": digit == v2 for digit in range(10)},
            **flags,
            "sorted": all(left <= right for left, right in pairwise(current)),
        }
    assert list(seen) == list(expected)
    assert seen == {field: int(value) for field, value in expected.items()}


@given(state=towers())
@some
def test_hanoi_observation_is_as_described(state):
    target = state.initial_roles[2]
    expected = {
        "source_to_auxiliary": may_move(state, 0, 1),
        "auxiliary_to_target": may_move(state, 1, 2),
        "source_to_target": may_move(state, 0, 2),
        "one_disk": state.disks == 1,
        "solved": state.roles[2] == target and len(disks_of(state, target)) == state.disks,
    }
    assert dict(zip(HANOI.fields, HANOI.observe(state), strict=True)) == expected


@pytest.mark.parametrize("observation", OBSERVATIONS)
@given(state=sublists(), seed=seeds)
@some
def test_a_sublist_looks_like_the_same_list_alone(observation, state, seed):
    environment = RecursiveSorting(observation)
    first = state.start
    alone = PointedList(state.values[first : state.end + 1], state.p1 - first, state.p2 - first, 0, state.end - first)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        assert environment.observe(state) == environment.observe(alone)
        assert environment.size(state) == environment.size(alone)
        for program in environment.library.learned:
            assert environment.legal(program.name, state) == environment.legal(program.name, alone)
        actions = [name for name in environment.library.names[1:6] if environment.pre(name, alone)]
        if not actions:
            break
        action = actions[rng.integers(len(actions))]
        state, alone = environment.act(state, action), environment.act(alone, action)


@given(state=towers(), seed=seeds)
@some
def test_a_game_looks_the_same_without_the_larger_disks(state, seed):
    alone = state._replace(position=state.position[: state.disks])
    rng = np.random.default_rng(seed)
    for _ in range(8):
        assert HANOI.observe(state) == HANOI.observe(alone)
        assert HANOI.legal("HANOI", state) == HANOI.legal("HANOI", alone)
        actions = [name for name in HANOI.library.names[1:4] if HANOI.pre(name, alone)]
        if not actions:
            break
        action = actions[rng.integers(len(actions))]
        state, alone = HANOI.act(state, action), HANOI.act(alone, action)
