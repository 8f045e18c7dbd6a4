"""What the greedy interpreter decides, as a function of program, observations so far and legal actions.

Every history is evaluated once, alone: a batch of one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.environment.specification import Library
from alphanpi.network.evaluator import Evaluator
from alphanpi.network.history_table import HistoryTable

Mask = tuple[bool, ...]


class Decided(NamedTuple):
    """What is done after a history, where a mask says what is legal."""

    action: int
    margin: float  # between the best and the second-best legal logit; infinite where one action is legal


class Decisions:
    """The decisions of one network, remembered."""

    def __init__(self, library: Library, evaluator: Evaluator) -> None:
        self.table = HistoryTable(library, evaluator)
        self.decided: dict[tuple[int, Mask], Decided] = {}

    def decide(self, history: int, mask: Mask) -> Decided:
        """The legal action with the largest logit; of equal ones the first, as in the interpreter."""
        key = (history, mask)
        if key not in self.decided:
            self.decided[key] = best_legal(self.table.logits[history], mask)
        return self.decided[key]


def best_legal(logits: NDArray[np.floating], mask: Mask) -> Decided:
    """The interpreter's rule: actions by falling logit, the first of equals, the first legal one."""
    ranking = np.argsort(-logits, kind="stable").tolist()
    legal = [action for action in ranking if mask[action]]
    if len(legal) == 1:
        return Decided(legal[0], float("inf"))
    margin = float(logits[legal[0]]) - float(logits[legal[1]])
    # Not a number: no margin at all.
    return Decided(legal[0], margin if margin >= 0 else 0.0)
