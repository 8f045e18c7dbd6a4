"""The example that says everything a call can, and a network that does what is meant there."""

from __future__ import annotations

from typing import Any

import numpy as np

from alphanpi import make
from alphanpi.network.evaluator import Evaluation
from tests.helpers.paths import EXAMPLES

FENCE = EXAMPLES / "fence.py"
Stripes: Any = type(make(str(FENCE)))

INTENDED = {  # by program and number of the step: what to do
    "PAINT": lambda step, seen: "DIP" if step == 0 and seen[0] != seen[2] else "STOP",
    "LIGHT_FIRST": lambda step, seen: ["PAINT(light)", "DARK_FIRST on further"][step] if step + seen[1] < 2 else "STOP",
    "DARK_FIRST": lambda step, seen: ["PAINT(dark)", "LIGHT_FIRST on further"][step] if step + seen[1] < 2 else "STOP",
}


class Intended:
    """A network that does what was meant; its memory counts the steps."""

    memory_width = 1

    def __init__(self, environment, **otherwise: str) -> None:
        """`otherwise`: by program, the call it makes in place of the one on the further boards."""
        self.library = environment.library
        self.otherwise = otherwise

    def evaluate(self, programs, observations, memory) -> Evaluation:
        logits = np.zeros((len(programs), len(self.library)), np.float32)
        for row, (number, seen, step) in enumerate(zip(programs, observations, memory[:, 0], strict=True)):
            name = self.library.learned[number].name
            chosen = INTENDED[name](int(step), seen)
            chosen = self.otherwise.get(name, chosen) if chosen.endswith("further") else chosen
            logits[row, self.library.index_of(chosen)] = 50
        return Evaluation(logits, np.zeros(len(programs), np.float32), memory + 1)
