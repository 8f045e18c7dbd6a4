"""Successful traces are learned in normal form: exchangeable neighbours in the order of the library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Failure
from alphanpi.environment.guard import Guard
from alphanpi.environments.lists import PointedList
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.learn.order import ordered_traces
from tests.helpers.instances import seeds
from tests.helpers.networks import HashNetwork

ENVIRONMENT = RecursiveSorting("compare")
LIBRARY = ENVIRONMENT.library


def played(program, state, names, success=True):
    """The trace of given atomic actions, the last one STOP."""
    states = [state]
    for name in names[:-1]:
        states.append(ENVIRONMENT.act(states[-1], name))
    actions = np.array([LIBRARY.index_of(name) for name in names], np.int32)
    policies = np.full((len(names), len(LIBRARY)), 1 / len(LIBRARY))
    return Trace(
        program=program,
        states=tuple(states),
        final=states[-1],
        actions=actions,
        observations=np.array([ENVIRONMENT.observe(state) for state in states], np.int16),
        visits=np.ones((len(names), len(LIBRARY)), np.int32),
        policies=policies,
        memories=np.zeros((len(names), 4), np.float32),
        success=success,
        failure=Failure.NONE if success else Failure.POST,
        value=0.9,
        simulations=0,
        nested_simulations=0,
        tried=0,
    )


def names(trace):
    return [LIBRARY.names[action] for action in trace.actions]


@pytest.mark.parametrize(
    ("given_actions", "expected"),
    [
        (["PTR_2_R", "PTR_1_R", "STOP"], ["PTR_1_R", "PTR_2_R", "STOP"]),
        (["PTR_1_R", "PTR_2_R", "STOP"], ["PTR_1_R", "PTR_2_R", "STOP"]),
        (["PTR_2_R", "PTR_2_R", "PTR_1_R", "STOP"], ["PTR_1_R", "PTR_2_R", "PTR_2_R", "STOP"]),
        (["PTR_2_R", "SWAP", "PTR_1_R", "STOP"], ["PTR_2_R", "SWAP", "PTR_1_R", "STOP"]),  # values would differ
    ],
)
def test_exchangeable_actions_come_in_the_order_of_the_library(given_actions, expected):
    trace = played("RSHIFT", PointedList((3, 1, 2, 5), 0, 0, 0, 3), given_actions)
    (found,) = ordered_traces(Guard(ENVIRONMENT), [trace])
    assert names(found) == expected
    again = played("RSHIFT", trace.states[0], expected)
    assert found.states == again.states
    assert found.observations.tolist() == again.observations.tolist()
    for step, (before, after) in enumerate(zip(given_actions, expected, strict=True)):
        sure = found.policies[step].max() == 1
        assert sure == (before != after or given_actions[step - 1 : step + 2] == ["PTR_2_R", "PTR_2_R", "PTR_1_R"])
        if sure:
            assert found.policies[step].argmax() == found.actions[step]


def test_actions_that_are_illegal_the_other_way_round_stay():
    class Latched(RecursiveSorting):
        """The first pointer is stuck until the second has moved."""

        def pre(self, program, state, caller=None):
            return super().pre(program, state, caller) and not (program == "PTR_1_R" and state.p2 == 0)

    trace = played("RSHIFT", PointedList((3, 1, 2), 0, 0, 0, 2), ["PTR_2_R", "PTR_1_R", "STOP"])
    assert ordered_traces(Guard(Latched("compare")), [trace]) == [trace]


def test_failures_stay_as_they_are():
    trace = played("RSHIFT", PointedList((3, 1, 2), 0, 0, 0, 2), ["PTR_2_R", "PTR_1_R", "STOP"], success=False)
    assert ordered_traces(Guard(ENVIRONMENT), [trace])[0] is trace


@given(seed=seeds, program=st.sampled_from(["RSHIFT", "LSHIFT", "COMPSWAP", "BUBBLE"]))
@settings(max_examples=20, deadline=None)
def test_normal_forms_lead_where_the_trace_led(seed, program):
    rng = np.random.default_rng(seed)
    evaluator = HashNetwork(len(LIBRARY), seed)
    requests = [Request(program, ENVIRONMENT.initial(program, 4, rng), (seed, number), True) for number in range(4)]
    guard = Guard(ENVIRONMENT)
    traces = Search(ENVIRONMENT, evaluator).run(requests)
    assert program == "BUBBLE" or any(trace.success for trace in traces)
    found = ordered_traces(guard, traces)
    for before, after in zip(traces, found, strict=True):
        assert sorted(before.actions) == sorted(after.actions)
        if not before.success:
            assert after is before
            continue
        assert before.states[0] == after.states[0]
        assert before.states[-1] == after.states[-1]
        for step, state in enumerate(after.states[:-1]):
            if after.actions[step] < LIBRARY.atomic_count:
                assert ENVIRONMENT.act(state, LIBRARY.names[after.actions[step]]) == after.states[step + 1]
    assert ordered_traces(guard, found) == found
