"""Ways through a problem that no search has gone as they are, as traces to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from alphanpi.agent.interpreter import Execution, Interpreter
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Trace
from alphanpi.engine.scoring import success_value
from alphanpi.engine.tables import Failure
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Library
from alphanpi.environment.step import Step

MOST_ACTIONS = 1_000_000  # of a run in training; a program that takes more is as good as failing


class Route(NamedTuple):
    """What one call did, the last action STOP."""

    program: str
    states: tuple[Any, ...]  # [T] in which each action was chosen
    actions: tuple[int, ...]  # [T] library indices

    @classmethod
    def of(cls, steps: Sequence[Step], library: Library) -> Route:
        """The steps of one call as a route."""
        states = tuple(step.state for step in steps)
        return cls(steps[0].program, states, tuple(library.index_of(step.action) for step in steps))

    def recursive_calls(self, library: Library) -> list[int]:
        """Steps at which it called itself, or another of its group."""
        recursive = library.recursions(self.program)
        return [step for step, action in enumerate(self.actions) if action in recursive]


def as_trace(guard: Guard, route: Route, search: SearchConfig) -> Trace:
    """A route that ends in success; its policies are the actions taken, its value what a search would give it."""
    library, steps = guard.environment.library, len(route.actions)
    policies = np.zeros((steps, len(library)))
    policies[np.arange(steps), list(route.actions)] = 1
    could_recurse = search.recursion_penalty_where == "possible" and not guard.base_case(route.program, route.states[0])
    recursive = library.recursions(route.program)
    if recursive and not could_recurse:
        could_recurse = any(guard.legal(route.program, state)[call] for state in route.states for call in recursive)
    value = success_value(
        search.discount,
        actions=steps,
        recursion_penalty=search.recursion_penalty,
        recursions=len(route.recursive_calls(library)),
        could_recurse=could_recurse,
    )
    return Trace(
        program=route.program,
        states=route.states,
        final=route.states[-1],
        actions=np.array(route.actions, np.int32),
        observations=np.array([guard.observe(state) for state in route.states], np.int16),
        visits=policies.astype(np.int32),
        policies=policies,
        memories=np.zeros((steps, 0), np.float32),
        success=True,
        failure=Failure.NONE,
        value=float(value),
        simulations=0,
        nested_simulations=0,
        tried=0,
    )


def run_as_trace(interpreter: Interpreter, run: Execution, search: SearchConfig) -> Trace:
    """A run that succeeded, of which the first call's steps are recorded."""
    return as_trace(interpreter.guard, Route.of(run.steps, interpreter.library), search)
