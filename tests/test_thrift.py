"""Recursive calls a route can do without are left out, and no others; agents that make them fail the exam."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi.config import SearchConfig, TrainConfig
from alphanpi.engine.search import Request, Search
from alphanpi.environments.hanoi import Hanoi
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.interpreter import Interpreter
from alphanpi.learn.thrift import Route, thrifty_routes, thrifty_traces
from alphanpi.learn.trainer import Trainer
from solutions import SOLUTIONS, ScriptedEvaluator

SORTING, HANOI = RecursiveSorting("compare"), Hanoi()


def wasteful_bubblesort(see, size):
    """Right, and exponential in the length: sorts all but the last twice."""
    if see.same_position and see.p1_at_end:
        yield "STOP"
        return
    for action in ("BUBBLESORT", "BUBBLE", "RESET", "BUBBLESORT", "STOP"):
        see = yield action


def interpreter(environment):
    return Interpreter(environment, ScriptedEvaluator(environment))


def route(environment, program, state, actions):
    return Route(program, (state,), tuple(environment.library.index_of(action) for action in actions))


def names(environment, found):
    return [environment.library.names[action] for action in found.actions]


@pytest.mark.parametrize("size", [3, 4, 7])
def test_a_second_sort_is_left_out(size):
    state = SORTING.parse("BUBBLESORT", " ".join(str(digit) for digit in range(size, 0, -1)))
    wasteful = route(SORTING, "BUBBLESORT", state, ["BUBBLE", "RESET", "BUBBLESORT", "BUBBLESORT", "STOP"])
    (found,) = thrifty_routes(interpreter(SORTING), [wasteful])
    assert names(SORTING, found).count("BUBBLESORT") == 1
    assert len(found.states) == len(found.actions)


def test_what_is_needed_stays():
    state = HANOI.parse("HANOI", "3")
    needed = route(HANOI, "HANOI", state, ["HANOI", "HANOI", "STOP"])
    assert thrifty_routes(interpreter(HANOI), [needed]) == [needed]


def test_searched_traces_of_hanoi_stay_and_wasteful_ones_of_a_sort_get_shorter():
    for environment, program, solution in (
        (HANOI, "HANOI", SOLUTIONS["Hanoi"]),
        (SORTING, "BUBBLESORT", {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": wasteful_bubblesort}),
    ):
        evaluator = ScriptedEvaluator(environment, solution)
        starts = [environment.initial(program, 4, np.random.default_rng(seed)) for seed in range(5)]
        search = Search(environment, evaluator, SearchConfig(simulations_exploitation=1))
        traces = search.run([Request(program, start) for start in starts])
        assert all(trace.success for trace in traces)
        learned = thrifty_traces(Interpreter(environment, evaluator), traces, 0.97, 0.005)
        for before, after in zip(traces, learned, strict=True):
            if environment is HANOI:
                assert after is before
            else:
                assert len(after.actions) == len(before.actions) - 1
                assert environment.post(program, after.states[0], after.final)
                assert after.value == pytest.approx(0.97 ** len(after.actions) + 0.005)
                assert np.array_equal(after.policies.argmax(1), after.actions)
                assert after.observations.tolist() == [list(environment.observe(state)) for state in after.states]


@pytest.mark.parametrize("wasteful", [False, True])
def test_the_exam_notices_needless_calls(wasteful):
    trainer = Trainer(SORTING, TrainConfig(), seed=0)
    trainer.curriculum.level = SORTING.library.levels
    solution = dict(SOLUTIONS["RecursiveSorting"])
    if wasteful:
        solution["BUBBLESORT"] = wasteful_bubblesort
    trainer.validation.interpreter = Interpreter(SORTING, ScriptedEvaluator(SORTING, solution))
    assert trainer.validation.wasteful_programs(0) == (("BUBBLESORT",) if wasteful else ())


def test_an_exam_failed_for_waste_drops_the_programs_traces_and_renews_nothing():
    trainer = Trainer(SORTING, TrainConfig(), seed=0)
    trainer.curriculum.level = SORTING.library.levels
    trainer.curriculum.streak = trainer.curriculum.config.patience
    sort = SORTING.library.index_of("BUBBLESORT") - SORTING.library.atomic_count
    trainer.replay.put_back(sort, True, [], 0)
    trainer.replay.put_back(sort - 1, True, [], 0)
    solution = {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": wasteful_bubblesort}
    trainer.validation.interpreter = Interpreter(SORTING, ScriptedEvaluator(SORTING, solution))
    assert not trainer._pass_exam()
    assert trainer.replay.learnable() == [sort - 1]
    assert trainer.curriculum.streak == trainer.curriculum.failed_exams == 0


def test_weights_are_renewed_after_so_many_failed_exams():
    trainer = Trainer(HANOI, TrainConfig(), seed=0)
    untouched = [weights.detach().clone() for weights in trainer.network.parameters()]
    patience = trainer.config.validation.exam_patience
    for failed in range(1, patience + 1):
        assert not trainer._pass_exam()
        same = all(torch.equal(a, b) for a, b in zip(untouched, trainer.network.parameters(), strict=True))
        assert same == (failed < patience)
    assert trainer.curriculum.failed_exams == 0
    assert all(
        torch.allclose(a, b) for a, b in zip(trainer.network.parameters(), trainer.acting.parameters(), strict=True)
    )
