"""Calls with arguments, on named parts, among a group, with their starts: oracle, engine and interpreter agree."""

from __future__ import annotations

import numpy as np

from alphanpi import Failure, Request, Search
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.bench import oracle
from alphanpi.environment.guard import Guard
from tests.helpers.searches import assert_equal, random_config, random_evaluator
from tests.helpers.stripes import Intended, Stripes


def test_each_call_is_an_entry_behind_the_programs():
    library = Stripes().library
    assert library.names == (
        *("STOP", "DIP", "STEP", "PAINT", "LIGHT_FIRST", "DARK_FIRST"),
        *("PAINT(dark)", "PAINT(light)", "PAINT(dark) on further", "PAINT(light) on further"),
        *("LIGHT_FIRST on further", "DARK_FIRST on further"),
    )
    assert [program.name for program in library.learned] == ["PAINT", "LIGHT_FIRST", "DARK_FIRST"]
    assert library.callees == (-1, -1, -1, 0, 1, 2, 0, 0, 0, 0, 1, 2)
    assert library.called("PAINT(dark) on further").name == "PAINT"

    def calls(name: str) -> list[str]:
        return [entry.name for entry in library.callable_by(name) if not entry.atomic]

    both = ["LIGHT_FIRST on further", "DARK_FIRST on further"]
    assert calls("PAINT") == []
    assert calls("LIGHT_FIRST") == [*library.names[6:10], *both]
    assert calls("DARK_FIRST") == ["PAINT(dark)", "PAINT(light)", *both]
    assert {library.names[index] for index in library.recursions("DARK_FIRST")} == set(both)
    assert library.recursions("PAINT") == frozenset()


def test_the_search_equals_the_oracle():
    environment, failures = Stripes(), set()
    guard = Guard(environment)
    for case in range(150):
        rng = np.random.default_rng((5, case))
        config, evaluator = random_config(rng), random_evaluator(environment, rng)
        name = str(rng.choice(["PAINT", "LIGHT_FIRST", "DARK_FIRST", "DARK_FIRST"]))
        requests = [
            Request(name, guard.initial(name, int(rng.integers(1, 5)), rng), (case, episode), bool(episode % 2))
            for episode in range(3)
        ]
        for request, trace in zip(requests, Search(environment, evaluator, config).run(requests), strict=True):
            assert_equal(
                trace,
                oracle.search(environment, evaluator, config, name, request.state, request.seed, request.exploring, ()),
            )
            failures.add(trace.failure)
    assert {Failure.NONE, Failure.POST, Failure.CALL} <= failures


def test_what_was_meant_succeeds_with_and_without_search():
    environment = Stripes()
    guard, evaluator = Guard(environment), Intended(environment)
    start = guard.parse("DARK_FIRST", "0001")
    execution = Interpreter(environment, evaluator).run([Call("DARK_FIRST", start)], record=True)[0]
    assert execution.success
    assert execution.final == start._replace(boards=(1, 0, 1, 0))
    outer = [step.action for step in execution.steps if step.depth == 0]
    assert outer == ["PAINT(dark)", "LIGHT_FIRST on further", "STOP"]
    painting = [step.state for step in execution.steps if step.program == "PAINT"]
    assert {state.colour for state in painting} == {"dark", "light"}
    assert all(state.begun is not None and state.begun.begun is None for state in painting)
    planned = Search(environment, evaluator).run([Request("DARK_FIRST", start, 0)])[0]
    assert planned.success
    assert planned.final == execution.final


def test_a_problem_begins_with_an_argument_and_with_its_start():
    guard = Guard(Stripes())
    rng = np.random.default_rng(0)
    drawn = {guard.initial("PAINT", 2, rng).colour for _ in range(30)}
    assert drawn == {"dark", "light"}
    assert guard.initial("DARK_FIRST", 2, rng).colour is None
    assert guard.parse("PAINT(light)", "01").colour == "light"
    begun = guard.parse("DARK_FIRST", "01")
    assert begun.begun == begun._replace(begun=None)
    assert guard.begun("DARK_FIRST", begun) == begun
