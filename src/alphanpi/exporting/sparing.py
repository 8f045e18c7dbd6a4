"""Decisions that spare an agent actions, for code as a person would write it.

An agent that is right may do what could be left out: exchange equal values, or call a program that changes nothing. In
a situation in which all was done already, whenever it was met, it may stop; where what it did never changed anything,
it may do at once what it did next. Such decisions stand in for the network's. Those met in a run that fails with them
and succeeds without are given up for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from alphanpi.agent.interpreter import Interpreter
from alphanpi.environment.specification import STOP
from alphanpi.environment.step import Step

_ENOUGH = 3  # visits after which stopping is trusted; without what changes nothing, the same state is met anyway

_STOP = 0  # its place in every library


class _Situation(NamedTuple):
    """What is known of a situation: as of one visit, or of all."""

    visits: int
    done: bool  # whether the call might have stopped
    next: frozenset[int]  # what might have been done at once, since what was done changed nothing

    def __and__(self, other: _Situation) -> _Situation:
        return _Situation(self.visits + other.visits, self.done and other.done, self.next & other.next)


class Sparing:
    """What an agent may do instead of what its network says, and what is known for it and against it."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._table = interpreter.table
        self._guard = interpreter.guard
        self._library = interpreter.library
        self.decisions: dict[int, int] = {}  # actions by history of the interpreter's table
        self.shaken = False  # whether a decision was given up since the last time all was watched
        self._refused: set[int] = set()
        self.forget()

    def forget(self) -> None:
        """Begin to look anew, with the decisions as they are."""
        self.shaken = False
        self._situations: dict[int, _Situation] = {}  # by history

    def note(self, steps: Sequence[Step]) -> None:
        """Look at all calls of a run that succeeded."""
        for call in _calls(steps):
            for history, seen in zip(self._histories(call), self._seen(call), strict=True):
                known = self._situations.get(history)
                self._situations[history] = seen if known is None else known & seen

    def adopt(self) -> bool:
        """Decide what would have done as well in all visits of a situation; whether that is anything new."""
        new: dict[int, int] = {}
        for history, (visits, done, following) in self._situations.items():
            if history in self._refused:
                continue
            if done and visits >= _ENOUGH:
                new[history] = _STOP
            elif following:
                (new[history],) = following
        self.decisions.update(new)
        return bool(new)

    def refuse(self, steps: Sequence[Step]) -> None:
        """Give up the decisions met in a run that failed with them."""
        for call in _calls(steps):
            for history in self._histories(call):
                if self.decisions.pop(history, None) is not None:
                    self._refused.add(history)
                    self.shaken = True

    def _seen(self, call: Sequence[Step]) -> Iterator[_Situation]:
        for step, after in zip_longest(call, call[1:]):
            if after is None or step.action == STOP:
                yield _Situation(1, False, frozenset())
                continue
            done = self._guard.post(step.program, call[0].state, step.state)
            idle = after.state == step.state and after.action != step.action and self._may(after.action, step)
            yield _Situation(1, done, frozenset([self._library.index_of(after.action)] if idle else ()))

    def _may(self, action: str, step: Step) -> bool:
        return action == STOP or self._guard.pre(action, step.state, step.program)

    def _histories(self, call: Sequence[Step]) -> Iterator[int]:
        table, library = self._table, self._library
        context = table.beginning(library.index_of(call[0].program) - library.atomic_count)
        for step in call:
            history = table.after(context, self._guard.observe(step.state))
            yield history
            if step.action != STOP:
                context = table.following(history, library.index_of(step.action))


def _calls(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """The steps of each call of a run; those of calls that did not end come last."""
    pending: list[list[Step]] = []
    for step in steps:
        if len(pending) <= step.depth:
            pending.append([])
        pending[-1].append(step)
        if step.action == STOP:
            yield pending.pop()
    yield from pending
