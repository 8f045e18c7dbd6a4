"""Verdicts: what has been shown of a program, in four words that are never mixed up."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """From the weakest claim to the strongest."""

    REFUTED = 0
    BOUNDED = 1
    SATURATED = 2
    PROVED = 3


class Verdict(NamedTuple):
    """A claim and the sizes it is about."""

    kind: Kind
    to_size: int = (
        0  # BOUNDED, SATURATED, PROVED: every start up to this size was looked at. REFUTED: size of the fault
    )
    from_size: int = 0  # SATURATED, PROVED: nothing new was seen above this size

    def __str__(self) -> str:
        if self.kind == Kind.BOUNDED:
            return f"BOUNDED({self.to_size})"
        if self.kind == Kind.SATURATED:
            return f"SATURATED({self.from_size}..{self.to_size})"
        return self.kind.name

    def given(self, callee: Verdict) -> Verdict:
        """What is left of a claim that rests on a called program's contract."""
        if self.kind == Kind.REFUTED or callee.kind == Kind.PROVED:
            return self
        if callee.kind == Kind.REFUTED:
            return Verdict(Kind.BOUNDED, min(self.to_size, callee.to_size - 1))
        kind = min(self.kind, callee.kind)
        to_size = min(self.to_size, callee.to_size)
        if kind == Kind.SATURATED and self.from_size < to_size:
            return Verdict(kind, to_size, self.from_size)
        return Verdict(Kind.BOUNDED, to_size)


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """The claim that holds of all programs together."""
    each = list(verdicts)
    refuted = [verdict for verdict in each if verdict.kind == Kind.REFUTED]
    if refuted:
        return min(refuted, key=lambda verdict: verdict.to_size)
    weakest = min(verdict.kind for verdict in each)
    to_size = min(verdict.to_size for verdict in each)
    from_size = 0 if weakest == Kind.BOUNDED else min(to_size, max(verdict.from_size for verdict in each))
    return Verdict(weakest, to_size, from_size)
