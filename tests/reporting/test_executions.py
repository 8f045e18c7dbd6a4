"""Executions are recorded in part and counted wholly."""

from __future__ import annotations

import pytest

from alphanpi.agent.interpreter import Call, Recording
from alphanpi.reporting.execution import watch


def test_a_recording_keeps_few_steps_and_counts_all(hanoi):
    call = Call("HANOI", hanoi.parse("HANOI", "6"))
    [whole] = hanoi.interpreter.run([call], True)
    [first] = hanoi.interpreter.run([call], Recording(steps=7))
    [outer] = hanoi.interpreter.run([call], Recording(depth=1))
    [nothing] = hanoi.interpreter.run([call])
    assert len(whole.steps) == whole.actions == sum(whole.tally.by_depth) == sum(whole.tally.choices.values())
    assert first.steps == whole.steps[:7]
    assert outer.steps == tuple(step for step in whole.steps if step.depth <= 1)
    assert first.tally == outer.tally == whole.tally
    for most in (1, 8, 24, 25, 100, 10_000):
        [outline] = hanoi.interpreter.run([call], Recording(steps=most, outline=True))
        fitting = [d for d in range(7) if sum(whole.tally.by_depth[: d + 1]) <= most]
        kept = tuple(step for step in whole.steps if step.depth <= max(fitting, default=0))
        assert outline.steps == kept[:most]
        assert outline.tally == whole.tally
    assert (nothing.steps, nothing.tally) == ((), None)


def test_long_runs_are_shown_by_their_outer_calls(hanoi):
    watched = watch(hanoi, "HANOI", "9", most_steps=100)
    assert watched.execution.actions > 2000
    assert 40 < len(watched.execution.steps) <= 100
    assert watched.left_out == watched.execution.actions - len(watched.execution.steps)
    assert max(step.depth for step in watched.execution.steps) == watched.depth
    whole = watch(hanoi, "HANOI", "9", most_steps=10_000)
    assert (whole.depth, whole.left_out) == (None, 0)
    assert watched.execution.steps == tuple(s for s in whole.execution.steps if s.depth <= watched.depth)


def test_the_networks_probabilities_are_those_it_acted_on(hanoi):
    watched = watch(hanoi, "HANOI", "4")
    names = hanoi.environment.library.names
    for step, thought in zip(watched.execution.steps, watched.thoughts, strict=True):
        assert names[thought.probabilities[0][0]] == step.action
        assert sum(share for _, share in thought.probabilities) == pytest.approx(1)
        legal = hanoi.environment.legal(step.program, step.state)
        assert {entry for entry, _ in thought.probabilities} == {i for i, yes in enumerate(legal) if yes}
        assert thought.observation == tuple(hanoi.environment.observe(step.state))
