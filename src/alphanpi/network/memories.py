"""The memories of histories, by row, kept where the network computes.

The compiled search reads them itself, so on the CPU they lie in an array; a network on another device keeps its own.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from alphanpi.network.evaluator import Evaluator

NO_ROW = -1  # in place of a row: a memory of zeros


class Answers(NamedTuple):
    """What a network says of a batch of R histories whose memories it keeps."""

    logits: NDArray[np.float32]  # [R, A], unmasked
    values: NDArray[np.float32]  # [R], in [-1, 1]


class Memories(Protocol):
    """A table of memories. Rows are made by whoever keeps histories; those not written yet are zero."""

    def reserve(self, rows: int) -> None:
        """Have room for so many rows."""

    def put(self, row: int, source: int, noted: int) -> None:
        """A row is another one, or zeros, with the action before as a memory holds it."""

    def extend(
        self,
        first: int,
        parents: NDArray[np.int64],  # [R] rows, or NO_ROW
        programs: NDArray[np.int64],  # [R]
        observations: NDArray[np.int16],  # [R, fields]
        noted: NDArray[np.int64] | None = None,  # [R] the actions before; None: as the rows of the parents have them
    ) -> Answers:
        """Evaluate histories, each an observation after the memory of a parent; theirs are rows from `first` on."""

    def read(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Memories: [R, W]."""


class HostMemories:
    """Memories in an array, for evaluators that are handed them with every call."""

    def __init__(self, evaluator: Evaluator, rows: int) -> None:
        self.evaluator = evaluator
        self.array = np.zeros((rows, evaluator.memory_width), np.float32)  # rows cost nothing until they are used

    def reserve(self, rows: int) -> None:
        """Have room for so many rows."""
        if rows > len(self.array):
            larger = np.zeros((rows, self.array.shape[1]), np.float32)
            larger[: len(self.array)] = self.array
            self.array = larger

    def put(self, row: int, source: int, noted: int) -> None:
        """A row is another one, or zeros, with the action before as a memory holds it."""
        self.array[row] = 0 if source == NO_ROW else self.array[source]
        self.array[row, -1] = noted

    def extend(
        self,
        first: int,
        parents: NDArray[np.int64],
        programs: NDArray[np.int64],
        observations: NDArray[np.int16],
        noted: NDArray[np.int64] | None = None,
    ) -> Answers:
        """Evaluate histories, each an observation after the memory of a parent."""
        before = self.array[parents]
        before[parents == NO_ROW] = 0
        if noted is not None:
            before[:, -1] = noted
        answer = self.evaluator.evaluate(programs, observations, before)
        self.array[first : first + len(parents)] = answer.memory
        return Answers(answer.logits, answer.values)

    def read(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Memories: [R, W]."""
        found: NDArray[np.float32] = self.array[rows]
        return found


def memories_of(evaluator: Evaluator, rows: int) -> Memories:
    """A table of memories: the evaluator's own, where it has a method `memories` that makes one."""
    make = getattr(evaluator, "memories", None)
    table: Memories = HostMemories(evaluator, rows) if make is None else make(rows)
    return table
