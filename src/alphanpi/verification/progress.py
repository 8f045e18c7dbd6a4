"""How far the verification of one program has come."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from alphanpi.environment.specification import Program
from alphanpi.verification.exploration import CounterExample, Explored
from alphanpi.verification.numerics import Point
from alphanpi.verification.verdicts import NONE


class ProgramProgress:
    """How far one program has come."""

    def __init__(self, program: Program, limit: int) -> None:
        self.program = program
        self.limit = limit
        self.attempted = NONE
        self.sizes: dict[int, Explored] = {}
        self.counter_example: CounterExample | None = None
        self.fault = ""  # the rule broken at the size attempted last, if any; no larger one is looked at
        self.limit_met = ""  # the limit that ended the exploration, if any

    def largest(self) -> int:
        """The largest size completed; those without any start do not count."""
        return max((size for size, explored in self.sizes.items() if explored.runs), default=NONE)

    def last_new(self, windowed: bool = False) -> int:
        """The largest size at which sequences, or with a window steps, were seen that no smaller one shows."""
        seen: set[Any] = set()
        last = NONE
        for size in sorted(self.sizes):
            shown: Set[Any] = self.sizes[size].points if windowed else self.sizes[size].sequences
            if not shown <= seen:
                last = size
            seen |= shown
        return last

    def points(self) -> set[Point]:
        """All steps, of all sizes."""
        return {point for explored in self.sizes.values() for point in explored.points}

    def drop(self, size: int, why: str) -> None:
        """A size at which a rule is broken, and all larger ones, are not shown."""
        for larger in [other for other in self.sizes if other >= size]:
            del self.sizes[larger]
        self.fault = f"at size {size}: {why}"
