"""Where an agent has a way of its own, that is what it goes on learning."""

from __future__ import annotations

import numpy as np
import pytest

from alphanpi import STOP, SearchConfig, make
from alphanpi.agent.interpreter import Interpreter
from alphanpi.learn.habit import own_ways
from alphanpi.learn.presets import preset
from alphanpi.learn.routes import run_as_trace
from alphanpi.learn.trainer import Trainer
from tests.helpers.replays import explored
from tests.helpers.solutions import SOLUTIONS, ScriptedEvaluator


def first_pointer_first(see, size):
    yield "PTR_1_R"
    yield "PTR_2_R"
    yield STOP


def stopping(see, size):
    yield STOP


def traces_of(environment):
    """Moves to the right, both ways round, longer ones and failures among them."""
    traces = explored(environment, "RSHIFT", 4, 60)
    names = environment.library.names
    ways = {tuple(names[action] for action in trace.actions) for trace in traces if trace.success}
    assert ("PTR_2_R", "PTR_1_R", "STOP") in ways
    assert any(not trace.success for trace in traces)
    return traces


def learned(environment, script, traces, confirmed=("RSHIFT",)):
    evaluator = ScriptedEvaluator(environment, {"RSHIFT": script})
    return own_ways(Interpreter(environment, evaluator), traces, SearchConfig(), confirmed)


def test_the_agent_goes_its_own_way_where_it_is_no_longer():
    environment = make("sorting", observation="compare")
    traces, names = traces_of(environment), environment.library.names
    both = 0
    for before, after in zip(traces, learned(environment, first_pointer_first, traces), strict=True):
        if not before.success:
            assert after is before
        elif before.states[0].p1 < 3 and before.states[0].p2 < 3:
            assert [names[action] for action in after.actions] == ["PTR_1_R", "PTR_2_R", "STOP"]
            np.testing.assert_array_equal(after.policies.argmax(axis=1), after.actions)
            both += 1
        assert len(after.actions) <= len(before.actions)
        assert after.success == before.success
    assert both > 5


def test_what_the_agent_cannot_do_is_learned_from_the_search():
    environment = make("sorting", observation="compare")
    traces = traces_of(environment)
    after = learned(environment, stopping, traces)
    changed = [one for one, other in zip(after, traces, strict=True) if one is not other]
    assert all(len(trace.actions) == 1 for trace in changed)  # nothing to do: both pointers at the end
    assert len(changed) < len(traces) / 2


def test_an_agent_that_fails_elsewhere_learns_from_the_search():
    environment = make("sorting", observation="compare")
    traces = traces_of(environment)
    assert learned(environment, first_pointer_first, traces, confirmed=()) == traces


@pytest.mark.parametrize("faulty", [False, True])
def test_what_validation_has_solved_is_learned_as_it_was_solved(faulty):
    environment = make("sorting", observation="compare")
    trainer = Trainer(environment, preset("default"), seed=0)
    solutions = {**SOLUTIONS["Sorting"], **({"RSHIFT": stopping} if faulty else {})}
    evaluator = ScriptedEvaluator(environment, solutions)
    trainer.validation.interpreter = Interpreter(environment, evaluator)
    outcomes = trainer.validation.run(0, 24)
    assert faulty == (not all(outcomes["RSHIFT"]))
    runs = trainer.validation.solved()
    assert trainer.validation.solved() == []
    assert {run.steps[0].program for run in runs} == {"LSHIFT", "COMPSWAP"} | (set() if faulty else {"RSHIFT"})
    assert {len(run.steps[0].state.values) for run in runs} <= set(environment.train_sizes)
    traces = [run_as_trace(trainer.interpreter, run, SearchConfig()) for run in runs]
    for run, trace in zip(runs, traces, strict=True):
        assert [environment.library.names[action] for action in trace.actions] == [step.action for step in run.steps]
        assert trace.success


def test_an_iteration_ends_with_what_its_validation_solved_in_the_replay():
    environment = make("hanoi")
    trainer = Trainer(environment, preset("default"), seed=0)
    trainer.validation.interpreter = Interpreter(environment, ScriptedEvaluator(environment))
    trainer.iterate()
    newest = trainer.replay.rings[0, True].in_order()[-12:]  # half of a validation is of training sizes
    assert len(newest) == 12
    for trace in newest:
        np.testing.assert_array_equal(trace.policies.max(axis=1), 1)
    assert trainer.validation.solved() == []
