"""Hand-written solutions meet every post-condition, on their own and through the engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environments.hanoi import Towers
from alphanpi.environments.lists import PointedList
from alphanpi.environments.recursive_sorting import RecursiveSorting
from tests.helpers.instances import ENVIRONMENTS, HANOI, LISTS, OBSERVATIONS, ROLES, every, seeds
from tests.helpers.solutions import ScriptedEvaluator, execute, solution_for


@every(LISTS)
@given(seed=seeds, size=st.integers(1, 30))
@settings(max_examples=15, deadline=None)
def test_solutions_of_list_programs(environment, seed, size):
    rng = np.random.default_rng(seed)
    for program in environment.library.learned:
        state = environment.initial(program.name, max(size, program.minimum_size), rng)
        ended = execute(environment, program.name, state, solution_for(environment))
        if program.name == "BUBBLESORT":
            assert list(ended.values) == sorted(state.values)
        elif program.name != "BUBBLE" and program.name != "COMPSWAP":
            assert ended.values == state.values


@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("size", range(1, 7))
def test_solution_of_hanoi(roles, size):
    state = Towers((roles[0],) * size, roles, size, roles)
    ended = execute(HANOI, "HANOI", state, solution_for(HANOI))
    assert ended == state._replace(position=(roles[2],) * size)


def test_interpreter_notices_a_wrong_solution():
    def stops_at_once(see, size):
        yield "STOP"

    def illegal(see, size):
        yield "PTR_1_L"

    def endless(see, size):
        while True:
            see = yield "PTR_1_R" if see.p1_at_start else "PTR_1_L"

    state = PointedList((2, 1), 0, 0, 0, 1)
    for solution, message in ((stops_at_once, "from"), (illegal, "illegal"), (endless, "more than")):
        with pytest.raises(AssertionError, match=message):
            execute(RecursiveSorting("compare"), "BUBBLESORT", state, {"BUBBLESORT": solution})


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_solutions_of_long_lists_need_no_python_recursion(observation):
    environment, size = RecursiveSorting(observation), 1500
    values = tuple(int(digit) for digit in np.random.default_rng(0).integers(10, size=size))
    for program, pointer in (("RESET", size - 1), ("BUBBLE", 0)):
        state = PointedList(values, pointer, pointer, 0, size - 1)
        execute(environment, program, state, solution_for(environment))


@every(ENVIRONMENTS)
def test_engine_follows_the_solution(environment):
    size = 3
    state = environment.initial(environment.library.learned[-1].name, size, np.random.default_rng(3))
    search = Search(environment, ScriptedEvaluator(environment, size=size), SearchConfig(c_level=0.0))
    (trace,) = search.run([Request(environment.library.learned[-1].name, state)])
    assert trace.success
    assert trace.final == execute(environment, trace.program, state, solution_for(environment))


def test_engine_resets_a_list_of_ten_thousand():
    environment, size = RecursiveSorting("compare"), 10_000
    values = tuple(int(value) for value in np.random.default_rng(0).permutation(size))
    state = PointedList(values, size - 1, size - 1, 0, size - 1)
    search = Search(environment, ScriptedEvaluator(environment), SearchConfig(c_level=0.0))
    (trace,) = search.run([Request("RESET", state)])
    assert trace.success
    assert trace.final == state._replace(p1=0, p2=0)
    assert [environment.library.names[action] for action in trace.actions] == ["LSHIFT", "RESET", "STOP"]
