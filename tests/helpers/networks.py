"""Networks for the tests that are no networks."""

from __future__ import annotations

import hashlib

import numpy as np

from alphanpi.network.evaluator import Evaluation


class HashNetwork:
    """Answers drawn from a hash of the program and all observations so far: arbitrary, but a function."""

    memory_width = 2

    def __init__(self, entries: int, seed: int, sharpness: float = 3.0) -> None:
        self.entries = entries
        self.seed = seed
        self.sharpness = sharpness

    def evaluate(self, programs, observations, memory) -> Evaluation:
        rows = [self._row(*row) for row in zip(programs, observations, memory, strict=True)]
        logits, values, after = zip(*rows, strict=True)
        return Evaluation(np.array(logits, np.float32), np.array(values, np.float32), np.array(after, np.float32))

    def _row(self, program, observation, memory):
        text = f"{self.seed} {program} {observation.tolist()} {memory.tolist()}"
        digest = hashlib.sha256(text.encode()).digest()
        rng = np.random.default_rng(list(digest))
        # Two integers below 2^24 are exact in single precision, so histories do not collide.
        after = rng.integers(1 << 24, size=2)
        return rng.normal(size=self.entries) * self.sharpness, rng.uniform(-1, 1), after


class ConstantNetwork:
    """The same logits and value for every history."""

    memory_width = 1

    def __init__(self, logits, value: float = 0.0) -> None:
        self.logits = np.asarray(logits, np.float32)
        self.value = value

    def evaluate(self, programs, observations, memory) -> Evaluation:
        rows = len(programs)
        return Evaluation(np.tile(self.logits, (rows, 1)), np.full(rows, self.value, np.float32), memory + 1)
