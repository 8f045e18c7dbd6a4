"""The network as everything else sees it: histories in, logits, values and memory out."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

UNBOUNDED = 0
"""In place of a window: the network sees all observations of a call."""


def window_of(evaluator: Evaluator) -> int:
    """How many observations of a call a network sees, the last ones; UNBOUNDED where it says nothing of a window.

    With a window of k, what it says at step t of a call depends on the pairs (a_i-1, o_i) for i = t - k + 1, ..., t
    alone: it reads them in this order, beginning with a memory of zeros. Before the first observation there is no
    action.
    """
    return int(getattr(evaluator, "window", UNBOUNDED))


def windows_of(evaluator: Evaluator, programs: int) -> list[int]:
    """The same of each program: those of a frozen network may see less than the others."""
    windows: list[int] = getattr(evaluator, "windows", [window_of(evaluator)] * programs)
    return windows


def noted(action: int) -> int:
    """An action as a memory holds it; 0 stands for none."""
    return action + 1


class Evaluation(NamedTuple):
    """What a network says of a batch of R histories."""

    logits: NDArray[np.float32]  # [R, A], unmasked
    values: NDArray[np.float32]  # [R], in [-1, 1]
    memory: NDArray[np.float32]  # [R, W]


class Evaluator(Protocol):
    """A network, or whatever stands in for one.

    The answer for a row must not depend on the other rows of the batch, nor on their number. An evaluator that has
    an attribute `weights` computes what `alphanpi.network.compiled.forward` does, and is not called where that can be.
    """

    @property
    def memory_width(self) -> int:
        """Numbers the network carries from one step of a call to the next; all zero at the start.

        With a window, the last of them is not the network's: whoever calls it puts `noted(action)` there between two
        steps.
        """

    def evaluate(
        self,
        programs: NDArray[np.int64],  # [R] index among the programs to be learned
        observations: NDArray[np.int16],  # [R, fields]
        memory: NDArray[np.float32],  # [R, W]
    ) -> Evaluation:
        """Extend each history by one observation."""
