"""The library of an environment: its actions and the programs to be learned, in an order that never changes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alphanpi.errors import SpecificationError

STOP = "STOP"

CallCondition = bool | Callable[[Any], Any]
"""Where a call is allowed: everywhere, nowhere, or where a test of the state holds."""


@dataclass(frozen=True)
class Program:
    """One entry of the library: an atomic action (level 0) or a program to be learned (level 1 and up)."""

    name: str
    level: int
    summary: str = ""
    recursive: bool = False
    depth: int | Callable[[Any], int] = 1
    minimum_size: int = 1
    pre: Callable[[Any], bool] | None = None
    shrink: Callable[[Any], Any] | None = None
    restore: Callable[[Any, Any], Any] | None = None

    @property
    def growing(self) -> bool:
        """Whether its depth is a function of the state, as that of a loop is."""
        return not isinstance(self.depth, int)

    @property
    def atomic(self) -> bool:
        """Whether this is an action of the environment rather than a program to be learned."""
        return self.level == 0


class Library(Sequence[Program]):
    """STOP, then the actions, then the programs by level; indices are stable and saved with every model."""

    def __init__(self, programs: Sequence[Program], only: Mapping[str, Container[str]] | None = None) -> None:
        """Entries in their order; a program that `only` names may call no others than it says there."""
        self._programs = tuple(programs)
        narrowed = only or {}
        self.names = tuple(program.name for program in programs)
        self.atomic_count = sum(program.atomic for program in programs)
        self._index: Mapping[str, int] = {name: index for index, name in enumerate(self.names)}
        self._named: Mapping[str, Program] = {program.name: program for program in programs}
        self._may_call: Mapping[str, tuple[bool, ...]] = {
            caller.name: tuple(
                (entry.level < caller.level or (entry is caller and caller.recursive))
                and (caller.name not in narrowed or entry.name in narrowed[caller.name])
                for entry in programs
            )
            for caller in programs
        }
        self._conditions: Mapping[str, tuple[CallCondition, ...]] = {
            caller.name: tuple(
                _condition(entry, caller) if allowed else False
                for entry, allowed in zip(programs, self._may_call[caller.name], strict=True)
            )
            for caller in programs
        }

    def __getitem__(self, key: Any) -> Any:
        return self._programs[key]

    def __len__(self) -> int:
        return len(self._programs)

    def __iter__(self) -> Iterator[Program]:
        return iter(self._programs)

    def index_of(self, name: str) -> int:
        """The program's index, or a SpecificationError that lists the names there are."""
        try:
            return self._index[name]
        except KeyError:
            raise SpecificationError(f"no program {name!r}; there are {', '.join(self.names)}") from None

    def spelt(self, name: str) -> str:
        """The name as it is declared, in whatever case a user wrote it."""
        same = [one for one in self.names if one.casefold() == name.casefold()]
        return same[0] if len(same) == 1 else self.named(name).name

    def named(self, name: str) -> Program:
        """The program of that name."""
        return self._named.get(name) or self._programs[self.index_of(name)]

    @property
    def learned(self) -> tuple[Program, ...]:
        """The programs above level 0: those an agent has to learn."""
        return self._programs[self.atomic_count :]

    @property
    def levels(self) -> int:
        """The highest level."""
        return max(program.level for program in self._programs)

    def may_call(self, name: str) -> tuple[bool, ...]:
        """For each entry, whether a program may call it: a lower level, or itself if it is recursive."""
        return self._may_call[name]

    def conditions(self, name: str) -> tuple[CallCondition, ...]:
        """For each entry, where a program may call it: everywhere, nowhere, or where a test of the state holds."""
        return self._conditions[name]

    def callable_by(self, name: str) -> tuple[Program, ...]:
        """The entries a program may call."""
        return tuple(entry for entry, allowed in zip(self, self.may_call(name), strict=True) if allowed)


def _condition(entry: Program, caller: Program) -> CallCondition:
    """Where `caller` may call `entry`, as declared."""
    if entry is not caller:
        return True if entry.pre is None else entry.pre
    pre, shrink = entry.pre, entry.shrink
    if shrink is None:
        return False

    def inner_call(state: Any) -> bool:
        smaller = shrink(state)
        return smaller is not None and (pre is None or bool(pre(smaller)))

    return inner_call
