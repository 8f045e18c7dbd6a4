"""What the network says after each history, asked for once: the table of interpreter, verification and reports.

Inside one call the network's answer depends on the program and the observations so far, and on nothing else. The search
has a table of its own, which compiled code reads (`engine/histories.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.environment.specification import Library
from alphanpi.network.evaluator import Evaluator

Observation = tuple[int, ...]
Key = tuple[int, Observation]  # a history, and the observation that extends it
_FIRST_ROWS = 1024


class History(NamedTuple):
    """The observations of a call so far, as the last one and what came before."""

    program: int  # among the programs to be learned
    before: int  # negative at the first observation of a call
    observation: Observation


class HistoryTable:
    """Histories by number, in the order in which they were evaluated."""

    def __init__(self, library: Library, evaluator: Evaluator) -> None:
        self.library = library
        self.evaluator = evaluator
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
        self._memory = np.zeros((_FIRST_ROWS, self.evaluator.memory_width), np.float32)

    @staticmethod
    def beginning(program: int) -> int:
        """What a call of a program begins with, before any observation."""
        return -1 - program

    def after(self, before: int, observation: Observation) -> int:
        """The history that extends another by one observation; a new one is evaluated alone."""
        key = (before, observation)
        if key not in self.numbers:
            self.extend([key])
        return self.numbers[key]

    def extend(self, keys: Sequence[Key]) -> None:
        """Evaluate histories that are not in the table, in one batch."""
        histories = [
            History(self.histories[before].program if before >= 0 else -1 - before, before, observation)
            for before, observation in keys
        ]
        parents = np.array([history.before for history in histories], np.int64)
        memory = np.where(parents[:, None] >= 0, self._memory[parents], np.float32(0))
        answer = self.evaluator.evaluate(
            np.array([history.program for history in histories], np.int64),
            np.array([history.observation for history in histories], np.int16),
            memory,
        )
        first = len(self.histories)
        while first + len(keys) > len(self._memory):
            self._memory = np.concatenate([self._memory, np.zeros_like(self._memory)])
        self._memory[first : first + len(keys)] = answer.memory
        rankings = np.argsort(-answer.logits, axis=1, kind="stable").tolist()
        for row, (key, history) in enumerate(zip(keys, histories, strict=True)):
            allowed = self._may_call[history.program]
            self.numbers[key] = first + row
            self.histories.append(history)
            self.logits.append(answer.logits[row].copy())
            self.rankings.append([action for action in rankings[row] if action in allowed])
