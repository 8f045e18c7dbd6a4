"""What every rule of a check works with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.checking.ideal import IdealCall, IdealPrograms
from alphanpi.environment.checking.probe import Probe
from alphanpi.environment.checking.report import Collector
from alphanpi.environment.specification import Program

_MOST_CALLS = 200


class ExaminedStart(NamedTuple):
    """A state drawn for a program, and the size that was asked for."""

    size: int
    state: Any


class Calls:
    """The calls met so far, a limited number of each caller and callee, one for each state a callee begins in."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], dict[Any, IdealCall]] = {}

    def add(self, calls: Iterable[IdealCall]) -> None:
        """Remember calls."""
        for call in calls:
            known = self._of.setdefault((call.callee, call.caller), {})
            if len(known) < _MOST_CALLS:
                known.setdefault(call.entered, call)

    def of(self, callee: str) -> list[IdealCall]:
        """The calls of a program."""
        return [call for (name, _), known in self._of.items() if name == callee for call in known.values()]


class Examination(NamedTuple):
    """One program under examination, and what was learned of all of them before."""

    probe: Probe
    collector: Collector
    program: Program
    samples: int
    seed: tuple[int, ...]
    ideal: IdealPrograms
    starts: list[ExaminedStart]  # different ones, the smallest sizes first
    needed: Calls  # made on shortest solutions
    possible: Calls  # legal somewhere, and early enough to be of use

    @property
    def name(self) -> str:
        """Of the program."""
        return self.program.name

    def rng(self, *stream: int) -> np.random.Generator:
        """A random stream of its own for every purpose."""
        return np.random.default_rng((*self.seed, *stream))

    def smallest(self, sizes: int, each: int) -> list[ExaminedStart]:
        """A few starts of the smallest sizes."""
        found = []
        for size in self.probe.sizes(self.program)[:sizes]:
            found += [start for start in self.starts if start.size == size][:each]
        return found
