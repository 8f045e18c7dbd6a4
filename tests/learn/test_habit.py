"""Where an agent has a way of its own, that is what it goes on learning."""

from __future__ import annotations

import numpy as np

from alphanpi import STOP, SearchConfig, make
from alphanpi.agent.interpreter import Interpreter
from alphanpi.learn.habit import own_ways
from tests.helpers.replays import explored
from tests.helpers.solutions import ScriptedEvaluator


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
