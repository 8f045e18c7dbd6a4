"""Legal starts below a program's `minimum_size`, which no size that is looked at contains."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.environment.guard import Guard, shown
from alphanpi.environment.specification import Program
from alphanpi.errors import AlphaNPIError

_DRAWS = 20
_LOOKED_THROUGH = 200
_MOST_ACTIONS = 1_000


def hidden_start(interpreter: Interpreter, program: Program) -> str | None:
    """A start of a size that is said not to occur, which the pre-condition allows and from which the program fails."""
    guard = interpreter.guard
    for size in range(program.minimum_size):
        for state in _starts(guard, program.name, size):
            try:
                legal = guard.size(state) == size and guard.pre(program.name, state, None)
                works = not legal or _works(interpreter, program.name, state)
            except AlphaNPIError:
                works = True  # no start: the environment itself does not get along with it
            if not works:
                return (
                    f"it fails from {shown(state)}, a legal start of size {size}, below its minimum_size "
                    f"{program.minimum_size}; lower that, or give a pre-condition that is false there"
                )
    return None


def _works(interpreter: Interpreter, name: str, state: Any) -> bool:
    (execution,) = interpreter.run([Call(name, state)], max_actions=_MOST_ACTIONS)
    return execution.success


def _starts(guard: Guard, name: str, size: int) -> Iterator[Any]:
    """What the environment gives at a size; nothing where it refuses."""
    values = tuple(range(size))
    for states in (guard.templates(name, size, values), guard.enumerate(name, size)):
        try:
            yield from islice(states, _LOOKED_THROUGH)
        except (AlphaNPIError, NotImplementedError):
            continue
    for number in range(_DRAWS):
        try:
            yield guard.initial(name, size, np.random.default_rng((size, number)))
        except AlphaNPIError:
            return
