"""How a check looks at an environment: guarded calls, random walks, and an eye on the global generators."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment, Program

Result = TypeVar("Result")

_LARGEST_SIZE = 64


class Probe(Guard):
    """A guarded environment that remembers which states were looked at."""

    def __init__(self, environment: Environment[Any]) -> None:
        super().__init__(environment)
        self.fields = self._fields
        self.seen: set[Any] = set()
        self._masks: dict[tuple[str, Any], tuple[bool, ...]] = {}

    def gives(self, member: str) -> bool:
        """Whether the environment has a member of its own rather than the default."""
        own = getattr(self.environment, member)
        return getattr(own, "__func__", own) is not getattr(Environment, member)

    def ask(self, what: str, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call any other function that belongs to the environment; what it raises is located."""
        result: Result = self.attempt(partial(function, *arguments), what)
        return result

    def observe(self, state: Any) -> tuple[int, ...]:
        """An observation; the state counts as looked at."""
        self.seen.add(state)
        return super().observe(state)

    def legal(self, program: str, state: Any) -> tuple[bool, ...]:
        """For each library entry, whether the program may do it; remembered."""
        key = program, state
        mask = self._masks.get(key)
        if mask is None:
            mask = self._masks[key] = super().legal(program, state)
        return mask

    def legal_actions(self, program: str, state: Any) -> list[str]:
        """The atomic actions a program may take, STOP left out."""
        mask, count = self.legal(program, state), self.library.atomic_count
        return [name for name, legal in zip(self.library.names[1:count], mask[1:count], strict=True) if legal]

    def legal_calls(self, program: str, state: Any) -> list[str]:
        """The calls a program may make."""
        mask, count = self.legal(program, state), self.library.atomic_count
        return [name for name, legal in zip(self.library.names[count:], mask[count:], strict=True) if legal]

    def recursive(self, program: str, call: str) -> bool:
        """Whether by that call a program calls itself, or another of its group."""
        return self.library.index_of(call) in self.library.recursions(program)

    def recursive_calls(self, program: str) -> list[str]:
        """The calls by which a program calls itself, or another of its group."""
        return [self.library.names[index] for index in sorted(self.library.recursions(program))]

    def walk(self, program: str, state: Any, rng: np.random.Generator, steps: int) -> Iterator[Any]:
        """The states of a random walk of legal atomic actions, the first one included."""
        yield state
        for _ in range(steps):
            actions = self.legal_actions(program, state)
            if not actions:
                return
            state = self.act(state, actions[int(rng.integers(len(actions)))])
            yield state

    def listed(self, states: Iterator[Any], what: str, most: int) -> list[Any] | None:
        """The first states of an optional member, hashable; None where the environment does not give them."""
        try:
            return [self.hashable(state, what) for state in islice(states, most)]
        except NotImplementedError:
            return None

    def sizes(self, program: Program) -> list[int]:
        """The sizes a program is taught and validated on, and its smallest one."""
        environment = self.environment
        trained = program.sizes_to_train(environment.train_sizes)
        declared = (program.minimum_size, *trained, program.size_to_validate(environment.validation_size))
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
