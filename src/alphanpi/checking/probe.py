"""How a check looks at an environment: guarded calls, random walks, and an eye on the global generators."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from alphanpi.guard import Guard
from alphanpi.spec import STOP, Environment, Program

_LARGEST_SIZE = 64


class Probe(Guard):
    """A guarded environment that remembers which states were looked at."""

    def __init__(self, environment: Environment[Any]) -> None:
        super().__init__(environment)
        self.seen: set[Any] = set()

    def observe(self, state: Any) -> tuple[int, ...]:
        """An observation; the state counts as looked at."""
        self.seen.add(state)
        return super().observe(state)

    def legal(self, program: str, state: Any) -> tuple[bool, ...]:
        """The environment's own mask, which has to equal the pre-conditions."""
        try:
            return tuple(bool(allowed) for allowed in self.environment.legal(program, state))
        except Exception as error:
            self._fault(error, f"legal actions of {program}", state)

    def mask(self, program: str, state: Any) -> tuple[bool, ...]:
        """The mask as the engine builds it: STOP, and what may be called where its pre-condition holds."""
        allowed = {entry.name for entry in self.library.callable_by(program)}
        return tuple(
            entry.name == STOP or (entry.name in allowed and self.pre(entry.name, state, program))
            for entry in self.library
        )

    def legal_actions(self, program: str, state: Any) -> list[str]:
        """The atomic actions a program may take, STOP left out."""
        atomic = self.library.names[1 : self.library.atomic_count]
        return [name for name in atomic if self.pre(name, state, program)]

    def walk(self, program: str, state: Any, rng: np.random.Generator, steps: int) -> Iterator[Any]:
        """The states of a random walk of legal atomic actions, the first one included."""
        yield state
        for _ in range(steps):
            actions = self.legal_actions(program, state)
            if not actions:
                return
            state = self.act(state, actions[int(rng.integers(len(actions)))])
            yield state

    def sizes(self, program: Program) -> list[int]:
        """The sizes a program is taught and validated on, and its smallest one."""
        environment = self.environment
        declared = (program.minimum_size, *environment.train_sizes, environment.validation_size)
        return sorted({size for size in declared if program.minimum_size <= size <= _LARGEST_SIZE})


@contextmanager
def global_generators_kept() -> Iterator[None]:
    """Put the global random generators back as they were."""
    python, legacy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)


def global_generators() -> tuple[Any, ...]:
    """The state of the global random generators, comparable."""
    name, keys, *rest = np.random.get_state(legacy=True)
    return random.getstate(), name, np.asarray(keys).tobytes(), *rest
