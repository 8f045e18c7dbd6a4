"""Verdicts: what has been shown of a program, in four words that are never mixed up."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

NONE = -1
"""In place of a size: there is none."""


class Kind(IntEnum):
    """From the weakest claim to the strongest."""

    REFUTED = 0
    BOUNDED = 1
    SATURATED = 2
    PROVED = 3


def saturated_at(last_new: int) -> int:
    """The size up to which nothing new must be seen after the last new sequence.

    At least as many sizes as it took to see everything: whatever shows itself with a period, such as odd and even sizes
    or multiples of a number, has then had room to do so again.
    """
    return max(last_new + 2, 2 * last_new)


class Verdict(NamedTuple):
    """A claim and the sizes it is about."""

    kind: Kind
    to_size: int = NONE
    """BOUNDED, SATURATED, PROVED: every start up to this size was looked at. REFUTED: size of the fault."""
    from_size: int = NONE
    """SATURATED, PROVED: nothing new was seen above this size."""
    machine: bool = False
    """PROVED: by machine, not by a lemma that is proved by hand."""

    def __str__(self) -> str:
        if self.kind == Kind.BOUNDED:
            return f"BOUNDED({'none' if self.to_size == NONE else self.to_size})"
        if self.kind == Kind.SATURATED:
            return f"SATURATED({self.from_size}..{self.to_size})"
        if self.kind == Kind.PROVED:
            return f"PROVED ({'machine' if self.machine else 'lemma by hand'})"
        return self.kind.name

    @property
    def meaning(self) -> str:
        """What the verdict of all programs says, in words."""
        if self.kind == Kind.PROVED:
            return "every program works at every size"
        if self.kind == Kind.REFUTED:
            return "a program fails; see the counter-example"
        if self.to_size == NONE:
            return "no size was completed by every program"
        known = f"every start up to size {self.to_size:,} works"
        if self.kind == Kind.BOUNDED:
            return f"{known}; nothing is claimed beyond"
        return f"{known}, and nothing new was met above size {self.from_size:,}; evidence, not a proof"

    def given(self, callee: Verdict) -> Verdict:
        """What is left of a claim that rests on a called program's contract."""
        if self.kind == Kind.REFUTED or callee.kind == Kind.PROVED:
            return self
        if callee.kind == Kind.REFUTED:
            return Verdict(Kind.BOUNDED, min(self.to_size, callee.to_size - 1))
        kind = min(self.kind, callee.kind)
        to_size = min(self.to_size, callee.to_size)
        if kind == Kind.SATURATED and saturated_at(self.from_size) <= to_size:
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
    from_size = NONE if weakest == Kind.BOUNDED else min(to_size, max(verdict.from_size for verdict in each))
    return Verdict(weakest, to_size, from_size, machine=all(verdict.machine for verdict in each))
