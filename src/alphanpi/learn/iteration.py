"""What one iteration of a training did: its report, and where its time went."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch


class Seconds(NamedTuple):
    """Where the time of a run went."""

    search: float = 0.0
    evaluation: float = 0.0
    environment: float = 0.0
    gradients: float = 0.0
    validation: float = 0.0
    other: float = 0.0

    def plus(self, other: Seconds) -> Seconds:
        """Sum, part by part."""
        return Seconds(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class IterationReport(NamedTuple):
    """What one iteration did."""

    iteration: int
    level: int  # in which it was played
    advanced: bool  # whether the level was raised, or the curriculum completed
    success: dict[str, float]  # per unlocked program, as the curriculum sees it
    explored: dict[str, float]  # share of successful episodes per program
    explanation: str
    policy_loss: float
    value_loss: float
    gradient_norm: float
    episodes: int
    episode_length: float
    simulations: int
    evaluations: int
    replay_traces: int
    seconds: Seconds
    exam: str = ""  # how it went, if there was one, with the first program and instance that failed it
    verdict: str = ""  # of the verification, if there was one
    memory: str = ""  # why the window has grown, if it has

    @property
    def elapsed(self) -> float:
        """Seconds of the whole iteration."""
        return sum(self.seconds)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread always sums in the same order; for matrices this small it is the fastest, too."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
