"""One order for actions whose order does not matter.

Moving the first pointer and then the second, or the other way round, leads to the same state; a search finds now this,
now that. A network that has learned one order here and the other there must know at every step which it is in, and on
larger problems it no longer does. So successful traces are learned in order: of neighbouring atomic actions that can be
exchanged, the one that comes first in the library is taken first. (Neighbours only: of three or more actions, there may
be an order that no exchange of two leads to.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from alphanpi.engine.requests import Trace
from alphanpi.environment.guard import Guard


def ordered_traces(guard: Guard, traces: Sequence[Trace]) -> list[Trace]:
    """The traces, the successful ones in order; where actions were exchanged, policies are the actions taken."""
    return [_ordered(guard, trace) if trace.success else trace for trace in traces]


def _ordered(guard: Guard, trace: Trace) -> Trace:
    actions, states = trace.actions.tolist(), list(trace.states)
    exchanged: set[int] = set()
    step = 0
    while step < len(actions) - 2:  # the last action is STOP
        middle = _exchanged(guard, trace.program, states[step], states[step + 2], actions[step : step + 2])
        if middle is None:
            step += 1
            continue
        actions[step], actions[step + 1] = actions[step + 1], actions[step]
        states[step + 1] = middle
        exchanged |= {step, step + 1}
        step = max(step - 1, 0)
    if not exchanged:
        return trace
    changed = sorted(exchanged)
    policies, visits = trace.policies.copy(), trace.visits.copy()
    for table in (policies, visits):
        table[changed] = 0
        table[changed, [actions[step] for step in changed]] = 1
    return trace._replace(
        states=tuple(states),
        actions=np.array(actions, np.int32),
        observations=np.array([guard.observe(state) for state in states], np.int16),
        visits=visits,
        policies=policies,
        memories=trace.memories[:, :0],
    )


def _exchanged(guard: Guard, program: str, before: object, after: object, actions: Sequence[int]) -> object | None:
    """The state between the two actions taken the other way round; None where they are in order or do not commute."""
    library = guard.environment.library
    first, second = actions
    if not 0 < second < first < library.atomic_count:
        return None
    if not guard.pre(library.names[second], before, program):
        return None
    middle: object = guard.act(before, library.names[second])
    if not guard.pre(library.names[first], middle, program):
        return None
    return middle if guard.act(middle, library.names[first]) == after else None
