"""The network as everything else sees it: histories in, logits, values and memory out."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


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
        """Numbers the network carries from one step of a call to the next; all zero at the start."""

    def evaluate(
        self,
        programs: NDArray[np.int64],  # [R] index among the programs to be learned
        observations: NDArray[np.int16],  # [R, fields]
        memory: NDArray[np.float32],  # [R, W]
    ) -> Evaluation:
        """Extend each history by one observation."""
