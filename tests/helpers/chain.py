"""The smallest environment that recurses, and a network that solves it."""

from __future__ import annotations

import numpy as np

from alphanpi import Environment, action, program
from alphanpi.network.evaluator import Evaluation


class Chain(Environment[int]):
    """Counting down: one step, then the rest by itself."""

    fields = ("done",)

    @action(pre=lambda state: state > 0)
    def STEP(self, state: int) -> int:
        """One less."""
        return state - 1

    @program(
        level=1,
        depth=4,
        recursive=True,
        shrink=lambda state: state - 1 if state > 0 else None,
        restore=lambda caller, callee: callee + 1,
    )
    def DOWN(self, before: int, after: int) -> bool:
        """Reach zero."""
        return after == 0

    def initial(self, program: str, size: int, rng: np.random.Generator) -> int:
        return size

    def observe(self, state: int) -> tuple[int, ...]:
        return (int(state == 0),)

    def size(self, state: int) -> int:
        return state


class ChainNetwork:
    """DOWN itself first, then STEP, then STOP."""

    memory_width = 1

    def evaluate(self, programs, observations, memory):
        done, step = observations[:, 0], memory[:, 0]
        wanted = np.where((done == 1) | (step >= 2), 0, np.where(step == 0, 2, 1))
        logits = np.full((len(programs), 3), -20, np.float32)
        logits[np.arange(len(programs)), wanted] = 20
        return Evaluation(logits, np.full(len(programs), 0.5, np.float32), memory + 1)
