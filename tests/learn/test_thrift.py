"""Recursive calls a route can do without are left out, and no others; agents that make them fail the exam."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi.agent.interpreter import Interpreter
from alphanpi.agent.loading import describe
from alphanpi.engine.config import SearchConfig, planning_config
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environments.hanoi import Hanoi
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.iteration import Seconds
from alphanpi.learn.routes import Route
from alphanpi.learn.thrift import _followed, thrifty_routes, thrifty_traces
from alphanpi.learn.trainer import Trainer
from alphanpi.learn.validation import Exam
from alphanpi.support.config import override
from alphanpi.training.checkpoint import restore, save_checkpoint
from alphanpi.training.presets import preset
from tests.helpers.solutions import SOLUTIONS, ScriptedEvaluator

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
    assert _followed(interpreter(SORTING), [wasteful])[0] is not None  # it succeeds as it is
    (found,) = thrifty_routes(interpreter(SORTING), [wasteful])
    assert names(SORTING, found).count("BUBBLESORT") == 1
    assert len(found.states) == len(found.actions)


def test_what_is_needed_stays():
    state = HANOI.parse("HANOI", "3")
    needed = route(
        HANOI,
        "HANOI",
        state,
        ["SWAP_A_T", "HANOI", "SWAP_A_T", "MOVE_DISK", "SWAP_S_A", "HANOI", "SWAP_S_A", "STOP"],
    )
    assert _followed(interpreter(HANOI), [needed])[0] is not None  # it succeeds as it is
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
        learned = thrifty_traces(Interpreter(environment, evaluator), traces, SearchConfig())
        for before, after in zip(traces, learned, strict=True):
            if environment is HANOI:
                assert after is before
            else:
                assert len(after.actions) == len(before.actions) - 1
                assert environment.post(program, after.states[0], after.final)
                assert after.value == pytest.approx(0.97 ** len(after.actions))
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


def test_a_call_that_only_some_problems_can_do_without_is_learned():
    """Of two successes one needs its second call: then both are learned as they are."""
    evaluator = ScriptedEvaluator(SORTING, {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": wasteful_bubblesort})
    search = Search(SORTING, evaluator, SearchConfig(simulations_exploitation=1))
    starts = [SORTING.parse("BUBBLESORT", text) for text in ("3 1 2", "4 2 1")]
    wasteful, other = search.run([Request("BUBBLESORT", start) for start in starts])
    sort, bubble = (SORTING.library.index_of(name) for name in ("BUBBLESORT", "BUBBLE"))
    # A route that says it needs both: without either call it fails, as its actions end where nothing is sorted.
    needed = other._replace(actions=np.array([sort, sort, 0], np.int32), states=other.states[:3])
    runner = Interpreter(SORTING, evaluator)
    assert len(thrifty_traces(runner, [wasteful], SearchConfig())[0].actions) == len(wasteful.actions) - 1
    assert thrifty_traces(runner, [wasteful, needed], SearchConfig()) == [wasteful, needed]
    assert bubble in wasteful.actions


def last_level(environment, **changes):
    config = override(TrainConfig(), changes)
    trainer = Trainer(environment, config, seed=0)
    trainer.curriculum.level = environment.library.levels
    return trainer


def test_an_exam_failed_for_waste_drops_the_programs_traces():
    trainer = last_level(SORTING)
    sort = SORTING.library.index_of("BUBBLESORT") - SORTING.library.atomic_count
    trainer.replay.put_back(sort, True, [], 0)
    trainer.replay.put_back(sort - 1, True, [], 0)
    solution = {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": wasteful_bubblesort}
    trainer.validation.interpreter = Interpreter(SORTING, ScriptedEvaluator(SORTING, solution))
    assert trainer._rise().outcome == Exam.WASTE
    assert trainer.replay.learnable() == [sort - 1]
    assert trainer.curriculum.streak == 0


def test_the_parts_of_the_exam():
    trainer = last_level(HANOI, **{"validation.exam_episodes": 20})
    validation = trainer.validation
    assert trainer._rise().outcome == Exam.ANSWERS  # an untrained network
    validation.interpreter = Interpreter(HANOI, ScriptedEvaluator(HANOI))
    assert trainer._rise().outcome == Exam.SEARCH
    validation.planner = Search(HANOI, ScriptedEvaluator(HANOI), planning_config(SearchConfig()))
    assert trainer._rise().outcome == Exam.PASSED
    assert trainer.curriculum.completed


def test_renewed_weights_are_half_way_to_fresh_ones():
    renewed, other = last_level(HANOI), last_level(HANOI)
    renewed.iterate()
    assert renewed.optimiser.state
    other.iteration = renewed.iteration
    before = [[weights.detach().clone() for weights in one.network.parameters()] for one in (renewed, other)]
    for one in (renewed, other):
        one._renew()
        assert not one.optimiser.state
    # Towards the same fresh weights: what was apart is half as far apart.
    after = zip(renewed.network.parameters(), other.network.parameters(), strict=True)
    for (x, y), a, b in zip(after, *before, strict=True):
        assert torch.allclose(x - y, (a - b) / 2, atol=1e-6)
    assert any(not torch.equal(a, b) for a, b in zip(*before, strict=True))


def test_a_run_resumed_after_a_renewal_goes_on_as_if_it_had_never_stopped(tmp_path):
    def advanced(trainer, iterations):
        for _ in range(iterations):
            trainer.iterate()
            if trainer.iteration == 2:
                trainer._renew()
        return trainer

    config = override(preset("default", "hanoi"), {"episodes.per_iteration": 8, "learning.gradient_steps": 2})
    whole = advanced(Trainer(HANOI, config, seed=3), 4)
    first = advanced(Trainer(HANOI, config, seed=3), 2)
    card = describe("hanoi", {}, HANOI, first.network, config.search, 3)
    save_checkpoint(tmp_path, first, card, 1.0, Seconds())
    second = Trainer(HANOI, config, seed=3)
    restore(tmp_path, second)
    advanced(second, 2)
    for a, b in zip(whole.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(a, b)
