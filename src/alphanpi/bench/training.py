"""Where the time of training goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from alphanpi.environment.registry import make
from alphanpi.learn.iteration import Seconds
from alphanpi.learn.trainer import Trainer
from alphanpi.support import limits
from alphanpi.training.presets import preset


class TrainResult(NamedTuple):
    """Where the time of a fixed number of training iterations goes."""

    case: str
    iterations: int
    seconds: float
    search_seconds: float
    evaluation_seconds: float
    environment_seconds: float
    gradient_seconds: float
    validation_seconds: float
    other_seconds: float
    simulations_per_s: float
    gradient_steps_per_s: float


def bench_train(
    environments: Sequence[str] = ("hanoi", "recursive-sorting"), iterations: int = 20, seed: int = 0
) -> list[TrainResult]:
    """Train for a fixed number of iterations and report where the time went."""
    limits.whole("iterations", iterations, most=limits.MOST_EPISODES)
    limits.seed(seed)
    for identifier in environments:
        make(identifier)  # a mistyped one is found before the others are measured
    results = []
    for identifier in environments:
        config = preset("default", identifier)
        Trainer(make(identifier), config, seed).iterate()  # compiles
        trainer = Trainer(make(identifier), config, seed)
        reports = [trainer.iterate() for _ in range(iterations)]
        parts = Seconds()
        for report in reports:
            parts = parts.plus(report.seconds)
        whole = sum(parts)
        results.append(
            TrainResult(
                case=identifier,
                iterations=iterations,
                seconds=round(whole, 3),
                search_seconds=round(parts.search, 3),
                evaluation_seconds=round(parts.evaluation, 3),
                environment_seconds=round(parts.environment, 3),
                gradient_seconds=round(parts.gradients, 3),
                validation_seconds=round(parts.validation, 3),
                other_seconds=round(parts.other, 3),
                simulations_per_s=round(sum(report.simulations for report in reports) / whole, 1),
                gradient_steps_per_s=round(iterations * config.learning.gradient_steps / max(parts.gradients, 1e-9), 1),
            )
        )
    return results
