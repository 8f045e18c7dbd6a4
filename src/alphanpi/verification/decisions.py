"""What the greedy interpreter decides, as a function of program, observations so far and legal actions.

Every history is evaluated once, alone: a batch of one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine.histories import Evaluator
from alphanpi.spec import Library

Observation = tuple[int, ...]
Mask = tuple[bool, ...]


class History(NamedTuple):
    """The observations of a call so far, as the last one and what came before."""

    program: int  # among the programs to be learned
    parent: int  # NO_PARENT at the first observation of a call
    observation: Observation


class Decision(NamedTuple):
    """What is done after a history, where a mask says what is legal."""

    action: int
    margin: float  # between the best and the second-best legal logit; infinite where one action is legal


NO_PARENT = -1


class Decisions:
    """The decisions of one network, remembered."""

    def __init__(self, library: Library, evaluator: Evaluator) -> None:
        self.library = library
        self.evaluator = evaluator
        self.histories: list[History] = []
        self.logits: list[NDArray[np.float32]] = []
        self.decided: dict[tuple[int, Mask], Decision] = {}
        self._identifiers: dict[History, int] = {}
        self._memories: list[NDArray[np.float32]] = []

    def history(self, program: int, parent: int, observation: Observation) -> int:
        """The history that extends another by one observation."""
        key = History(program, parent, observation)
        known = self._identifiers.get(key)
        if known is not None:
            return known
        zero = np.zeros(self.evaluator.memory_width, np.float32)
        before = zero if parent == NO_PARENT else self._memories[parent]
        answer = self.evaluator.evaluate(
            np.array([program], np.int64), np.array([observation], np.int16), before[np.newaxis]
        )
        self._identifiers[key] = len(self.histories)
        self.histories.append(key)
        self._memories.append(answer.memory[0].copy())
        self.logits.append(answer.logits[0].copy())
        return len(self.histories) - 1

    def decide(self, history: int, mask: Mask) -> Decision:
        """The legal action with the largest logit; of equal ones the first, as in the interpreter."""
        key = (history, mask)
        if key not in self.decided:
            self.decided[key] = best_legal(self.logits[history], mask)
        return self.decided[key]


def best_legal(logits: NDArray[np.floating], mask: Mask) -> Decision:
    """The interpreter's rule: actions by falling logit, the first of equals, the first legal one."""
    ranking = np.argsort(-logits, kind="stable").tolist()
    legal = [action for action in ranking if mask[action]]
    if len(legal) == 1:
        return Decision(legal[0], float("inf"))
    margin = float(logits[legal[0]]) - float(logits[legal[1]])
    # Not a number: no margin at all.
    return Decision(legal[0], margin if margin >= 0 else 0.0)
