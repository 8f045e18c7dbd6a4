"""What an agent with a window knows besides what it sees: its last steps, as few states as tell its actions.

With a window of one that is the action before. With longer ones there are many contexts, and most of them make no
difference: two are one state if the agent does the same in both after every letter that was met in both, and so on in
all that follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from alphanpi.exporting.conditions import Letter
from alphanpi.exporting.tree import CallTrace, TraceStep

Context = tuple[TraceStep | str, ...]
"""The steps a window holds besides the present one, the oldest as its action alone; empty at the start of a call."""


class ContextStep(NamedTuple):
    """A step of a call, and the state that its context is."""

    state: int
    letter: Letter
    action: str
    move: str  # the action and, where that does not follow from it, the state it leads to


ContextTrace = tuple[ContextStep, ...]


def contexts(trace: CallTrace, window: int) -> Iterator[Context]:
    """What a window holds before each step of a call."""
    for place in range(len(trace)):
        if place < window:
            yield trace[:place]
        else:
            oldest, *later = trace[place - window : place]
            yield (oldest.action, *later)


def decided(traces: Iterable[CallTrace], window: int) -> bool:
    """Whether context and letter decide the action."""
    actions: dict[tuple[Context, Letter], str] = {}
    return all(
        actions.setdefault((context, step.letter), step.action) == step.action
        for trace in traces
        for context, step in zip(contexts(trace, window), trace, strict=True)
    )


def with_states(traces: Collection[CallTrace], window: int) -> list[ContextTrace]:
    """The calls with the state of each step; contexts decide the actions."""
    numbers: dict[Context, int] = {}
    numbered = [
        tuple(
            ContextStep(numbers.setdefault(context, len(numbers)), *step, step.action)
            for context, step in zip(contexts(trace, window), trace, strict=True)
        )
        for trace in sorted(traces)
    ]
    return numbered if window == 1 else _with_moves(numbered, _Merging(numbered).states())


def _with_moves(traces: list[ContextTrace], states: dict[int, int]) -> list[ContextTrace]:
    leads_to: dict[str, set[int]] = {}
    for trace in traces:
        for step, following in pairwise(trace):
            leads_to.setdefault(step.action, set()).add(states[following.state])
    found: list[ContextTrace] = []
    for trace in traces:
        steps = [step._replace(state=states[step.state]) for step in trace]
        for place, (step, following) in enumerate(pairwise(steps)):
            if len(leads_to[step.action]) > 1:
                steps[place] = step._replace(move=f"{step.action} {following.state}")
        found.append(tuple(steps))
    return found


class _Row(NamedTuple):
    """What is done in a context after some letter, and the context that follows."""

    action: str
    following: int | None


class _Merging:
    """Merges contexts after the same action that contradict each other nowhere, those met most often first."""

    def __init__(self, traces: list[ContextTrace]) -> None:
        self._merged: dict[int, int] = {}
        self._tables: dict[int, dict[Letter, _Row]] = {}
        self._before: dict[int, str] = {}  # the action before a context
        self._met: Counter[int] = Counter()
        for trace in traces:
            for place, (context, letter, action, _) in enumerate(trace):
                self._met[context] += 1
                self._before[context] = trace[place - 1].action if place else ""
                following = trace[place + 1].state if place + 1 < len(trace) else None
                self._tables.setdefault(context, {})[letter] = _Row(action, following)

    def states(self) -> dict[int, int]:
        """The state of each context."""
        kept: dict[str, list[int]] = {}
        for context, _ in sorted(self._met.items(), key=lambda item: (-item[1], item[0])):
            others = kept.setdefault(self._before[context], [])
            if self._found(context) == context and not any(self._merge(other, context) for other in others):
                others.append(context)
        return {context: self._found(context) for context in self._tables}

    def _found(self, context: int) -> int:
        while context in self._merged:
            context = self._merged[context]
        return context

    def _merge(self, one: int, other: int) -> bool:
        """Make two contexts one, and all that follow them after equal letters, if that contradicts nothing."""
        merged, tables = self._merged, self._tables
        self._merged, self._tables = dict(merged), dict(tables)
        pending = [(one, other)]
        while pending:
            first, second = (self._found(context) for context in pending.pop())
            if first == second:
                continue
            known, new = self._tables[first], self._tables[second]
            shared = [(known[letter], row) for letter, row in new.items() if letter in known]
            if any(row.action != like.action for row, like in shared):
                self._merged, self._tables = merged, tables
                return False
            pending += [
                (row.following, like.following)
                for row, like in shared
                if row.following is not None and like.following is not None
            ]
            self._merged[second] = first
            self._tables[first] = {**new, **known}
        return True
