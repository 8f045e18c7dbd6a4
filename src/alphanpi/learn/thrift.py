"""Recursive calls a program can do without.

A sort that calls itself twice on the same sub-list is right, and takes time exponential in the length. Nothing in a
reward of 0 or 1 speaks against it but one action more, so such programs do get learned. Here a successful route is
followed again without one of its recursive calls; if it still succeeds, the call was needless.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Trace
from alphanpi.learn.routes import Route, as_trace

MOST_ACTIONS = 1_000_000  # of a run in training; a program that takes more is as good as failing


def thrifty_routes(interpreter: Interpreter, routes: Sequence[Route]) -> list[Route]:
    """Each route without the recursive calls it can do without; one call is always kept."""
    library = interpreter.library
    result = list(routes)
    pending = list(range(len(result)))
    while pending:
        shorter: list[Route] = []
        owners: list[int] = []
        for number in pending:
            route = result[number]
            calls = route.recursive_calls(library)
            for step in calls if len(calls) > 1 else ():
                actions = route.actions[:step] + route.actions[step + 1 :]
                shorter.append(Route(route.program, route.states[:1], actions))
                owners.append(number)
        pending = []
        for number, followed in zip(owners, _followed(interpreter, shorter), strict=True):
            if followed is not None and number not in pending:
                result[number] = followed
                pending.append(number)
    return result


def thrifty_traces(interpreter: Interpreter, traces: Sequence[Trace], search: SearchConfig) -> list[Trace]:
    """The traces, those of wasteful programs without needless recursive calls.

    A program is wasteful here if each of its successes with several recursive calls can do without one. Where only some
    can, their problems may just happen to need less, and what all need should be learned.
    """
    library = interpreter.library
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for number, trace in enumerate(traces):
        recursive = list(library.recursions(trace.program))
        if trace.success and np.count_nonzero(np.isin(trace.actions, recursive)) > 1:
            numbers[trace.program].append(number)
    result = list(traces)
    for found in numbers.values():
        routes = [
            Route(traces[number].program, traces[number].states, tuple(traces[number].actions.tolist()))
            for number in found
        ]
        shorter = thrifty_routes(interpreter, routes)
        if all(after is not before for before, after in zip(routes, shorter, strict=True)):
            for number, route in zip(found, shorter, strict=True):
                result[number] = as_trace(interpreter.guard, route, search)
    return result


def _followed(interpreter: Interpreter, routes: Sequence[Route]) -> list[Route | None]:
    """The routes from their first states on, side by side; None for one that cannot be followed to success."""
    guard, library = interpreter.guard, interpreter.library
    states: list[list[Any]] = [list(route.states[:1]) for route in routes]
    alive = set(range(len(routes)))
    for step in range(max((len(route.actions) for route in routes), default=0)):
        called: list[int] = []
        for number in sorted(alive):
            route, state = routes[number], states[number][-1]
            if step >= len(route.actions):
                continue
            action = route.actions[step]
            if not guard.legal(route.program, state)[action]:
                alive.discard(number)
            elif action == 0:
                if not guard.post(route.program, states[number][0], state):
                    alive.discard(number)
            elif action < library.atomic_count:
                states[number].append(guard.act(state, library.names[action]))
            else:
                called.append(number)
        callees = [library.names[routes[number].actions[step]] for number in called]
        calls = [
            Call(callee, guard.enter(states[number][-1], callee, routes[number].program))
            for number, callee in zip(called, callees, strict=True)
        ]
        executions = interpreter.run(calls, max_actions=MOST_ACTIONS)
        for number, callee, execution in zip(called, callees, executions, strict=True):
            if execution.success:
                before = states[number][-1]
                states[number].append(guard.leave(before, execution.final, callee, routes[number].program))
            else:
                alive.discard(number)
    return [
        route._replace(states=tuple(states[number])) if number in alive else None for number, route in enumerate(routes)
    ]
