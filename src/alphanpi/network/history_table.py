"""What the network says after each history, asked for once: the table of interpreter, verification and reports.

Inside one call the network's answer depends on the program and on the observations so far or, with a window, on the
last ones and the actions between them, and on nothing else. The search has a table of its own, which compiled code
reads (`engine/histories.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.environment.specification import Library
from alphanpi.network.evaluator import UNBOUNDED, Evaluator, noted, window_of, windows_of
from alphanpi.network.memories import NO_ROW, memories_of

Observation = tuple[int, ...]
Key = tuple[int, Observation]  # a context, and the observation made in it
Window = tuple[tuple[int, Observation], ...]  # the last observations, each after the action before it, or NONE
NONE = NO_ROW
_FIRST_ROWS = 1024


class Context(NamedTuple):
    """What is carried to the next observation: a history and, with a window, the action taken since; or NONE."""

    program: int  # among the programs to be learned
    history: int
    action: int


class History(NamedTuple):
    """A context, and the observation made in it."""

    before: int
    observation: Observation


class HistoryTable:
    """Contexts and histories by number, in the order in which they were met."""

    def __init__(self, library: Library, evaluator: Evaluator) -> None:
        self.library = library
        self.evaluator = evaluator
        self.window = window_of(evaluator)
        self._windows = windows_of(evaluator, len(library.learned))
        self._may_call = [
            frozenset(index for index, allowed in enumerate(library.may_call(program.name)) if allowed)
            for program in library.learned
        ]
        self.forget()

    def forget(self) -> None:
        """To be called when the network's weights have changed."""
        self.numbers: dict[Key, int] = {}
        self.histories: list[History] = []
        self.logits: list[NDArray[np.float32]] = []  # [A] of each
        self.rankings: list[list[int]] = []  # of each, the actions the program may take by falling logit
        self.contexts = [Context(program, NONE, NONE) for program in range(len(self.library.learned))]
        self._context_numbers = {context: number for number, context in enumerate(self.contexts)}
        self._following: dict[tuple[int, int], int] = {}
        self._rows = _FIRST_ROWS
        self._memories = memories_of(self.evaluator, self._rows)  # after each history

    @staticmethod
    def beginning(program: int) -> int:
        """The context in which a call of a program begins."""
        return program

    def after(self, context: int, observation: Observation) -> int:
        """The history that an observation makes of a context; a new one is evaluated alone."""
        key = (context, observation)
        if key not in self.numbers:
            self.extend([key])
        return self.numbers[key]

    def following(self, history: int, action: int) -> int:
        """The context after a history in which an action was taken."""
        key = (history, action if self.window else NONE)
        known = self._following.get(key)
        if known is None:
            known = self._following[key] = self._number(self._context(*key))
        return known

    def window_before(self, history: int) -> Window:
        """What the network sees in a history."""
        pairs: list[tuple[int, Observation]] = []
        while history != NONE:
            before, observation = self.histories[history]
            pairs.append((self.contexts[before].action, tuple(map(int, observation))))
            history = self.contexts[before].history
        return tuple(reversed(pairs))

    def history_of(self, program: int, window: Window) -> int:
        """The history in which the network sees that."""
        history = NONE
        for action, observation in window:
            history = self.after(self._number(Context(program, history, action)), observation)
        return history

    def program(self, history: int) -> int:
        """Whose history it is, among the programs to be learned."""
        return self.contexts[self.histories[history].before].program

    def _context(self, history: int, action: int) -> Context:
        program = self.program(history)
        if self.window == UNBOUNDED:
            return Context(program, history, NONE)
        kept: list[History] = []
        at = history
        while at != NONE and len(kept) < self._windows[program] - 1:
            kept.append(self.histories[at])
            at = self.contexts[kept[-1].before].history
        at = NONE
        for one in reversed(kept):
            at = self.after(self._number(Context(program, at, self.contexts[one.before].action)), one.observation)
        return Context(program, at, action)

    def _number(self, context: Context) -> int:
        number = self._context_numbers.setdefault(context, len(self.contexts))
        if number == len(self.contexts):
            self.contexts.append(context)
        return number

    def extend(self, keys: Sequence[Key]) -> None:
        """Evaluate histories that are not in the table, in one batch."""
        found = [self.contexts[context] for context, _ in keys]
        first = len(self.histories)
        while first + len(keys) > self._rows:
            self._rows *= 2
            self._memories.reserve(self._rows)
        programs = [context.program for context in found]
        answer = self._memories.extend(
            first,
            np.array([context.history for context in found], np.int64),
            np.array(programs, np.int64),
            np.array([observation for _, observation in keys], np.int16),
            np.array([noted(context.action) for context in found], np.int64) if self.window else None,
        )
        rankings = np.argsort(-answer.logits, axis=1, kind="stable").tolist()
        for row, (key, program) in enumerate(zip(keys, programs, strict=True)):
            self.numbers[key] = first + row
            self.histories.append(History(*key))
            self.logits.append(answer.logits[row].copy())
            self.rankings.append([action for action in rankings[row] if action in self._may_call[program]])
