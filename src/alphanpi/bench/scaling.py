"""What workers gain: the same few iterations without them and with more and more of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from alphanpi.cluster.orders import RunOrder
from alphanpi.cluster.shipping import ship, unpacked
from alphanpi.cluster.spreading import Spread, require_workers, spread
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.iteration import Seconds
from alphanpi.learn.trainer import Trainer
from alphanpi.network.model import CompiledEvaluator, create_network
from alphanpi.support import limits
from alphanpi.support.config import override
from alphanpi.training.presets import preset

WAITING = "alphanpi.bench.waiting:WaitingSorting"
_BUILT_IN = ("hanoi", "recursive-sorting")
_FEW = {"episodes.per_iteration": 16, "search.simulations": 40, "validation.episodes": 4}
"""For actions that wait: an iteration has thousands of them in any case."""
_QUICKER = 7  # times as many iterations where nothing waits: each takes a quarter of a second
_ORDERS = 200  # of nothing, to see what an order takes
_WARMING = 1  # iterations that are not measured: processes start, and caches fill


class ScaleResult(NamedTuple):
    """A few iterations with some number of workers."""

    case: str
    workers: int  # 0: none, this process plays
    iterations: int
    seconds: float
    speed_up: float  # over no workers
    serial_share: float | None  # of the time without workers, what they do not make shorter; None for one, and for none
    gradient_share: float  # of the time
    same: bool  # whether the weights are those of the run without workers, bit for bit


class ScaleReport(NamedTuple):
    """All of them, and what follows."""

    cores: int
    results: tuple[ScaleResult, ...]
    seconds_per_chunk: float  # of sending an order of nothing and getting its answer
    most_workers: dict[str, float]  # by case: with more of them, each is idle more than half of its time; 0: none pay


class _Case(NamedTuple):
    name: str
    config: TrainConfig
    counts: Sequence[int]  # of workers
    iterations: int


class _Measured(NamedTuple):
    seconds: Seconds
    weights: bytes


def bench_scale(
    built_in: Sequence[int] = (1, 2),
    waiting: Sequence[int] = (1, 2, 4, 8, 16),
    iterations: int = 3,
    seed: int = 0,
    ray: str | None = None,
    on_result: Callable[[ScaleResult], None] | None = None,
) -> ScaleReport:
    """Measure training with workers against training without.

    Args:
        built_in: Numbers of workers for built-in environments, which are limited by the cores there are.
        waiting: Numbers of workers for an environment whose actions wait, which is not.
        iterations: To be measured, after one that is not; several times as many where nothing waits.
        seed: Of the runs.
        ray: Address of a cluster; this machine if not given.
        on_result: Called with each result.
    """
    limits.whole("iterations", iterations, most=limits.MOST_EPISODES)
    limits.seed(seed)
    for count in (*built_in, *waiting):
        require_workers(count, ray)
    results: list[ScaleResult] = []
    most_workers: dict[str, float] = {}
    per_chunk = 0.0
    cases = [_Case(name, preset("default", name), built_in, _QUICKER * iterations) for name in _BUILT_IN]
    cases.append(_Case(WAITING, override(preset("default", "recursive-sorting"), _FEW), waiting, iterations))
    for case, config, counts, length in cases:
        alone: _Measured | None = None
        own: list[ScaleResult] = []
        for workers in (0, *counts):
            with ExitStack() as stack:
                made = stack.enter_context(spread(ship(case, {}), workers, ray)) if workers else None
                measured = _trained(case, config, seed, length, made)
                if made is not None and workers == 1:
                    per_chunk = _seconds_per_chunk(case, made)
            alone = alone or measured
            whole = sum(measured.seconds)
            speed_up = sum(alone.seconds) / whole
            result = ScaleResult(
                case=case.rpartition(":")[2],
                workers=workers,
                iterations=length,
                seconds=round(whole, 3),
                speed_up=round(speed_up, 2),
                serial_share=round(serial_share(workers, speed_up), 3) if workers > 1 else None,
                gradient_share=round(measured.seconds.gradients / whole, 4),
                same=measured.weights == alone.weights,
            )
            own.append(result)
            if on_result is not None:
                on_result(result)
        results += own
        most_workers[own[0].case] = round(most_that_pay(own), 1)
    return ScaleReport(os.cpu_count() or 1, tuple(results), round(per_chunk, 6), most_workers)


def serial_share(workers: int, speed_up: float) -> float:
    """The share s that was not spread, by what two or more workers gained: Karp and Flatt (1990).

    Amdahl: n workers are 1 / (s + (1 - s) / n) times as fast. What sending takes, and what they do twice, counts as s.
    """
    return (1 / speed_up - 1 / workers) / (1 - 1 / workers)


def most_that_pay(results: Sequence[ScaleResult]) -> float:
    """Workers at which each is idle half of its time, by the least share that was seen not to be spread: 1 + 1 / s.

    Each is busy 1 / (s n + 1 - s) of its time. Where none of them were faster than no workers, none pay.
    """
    if max(result.speed_up for result in results) <= 1:
        return 0.0
    seen = [result.serial_share for result in results if result.serial_share is not None]
    return 1 + 1 / max(min(seen, default=results[0].gradient_share), 1e-3)


def _trained(case: str, config: TrainConfig, seed: int, iterations: int, made: Spread | None) -> _Measured:
    trainer = Trainer(unpacked(ship(case, {})), config, seed, spread=made)
    for _ in range(_WARMING):
        trainer.iterate()
    parts = Seconds()
    for _ in range(iterations):
        parts = parts.plus(trainer.iterate().seconds)
    return _Measured(parts, b"".join(tensor.numpy().tobytes() for tensor in trainer.network.state_dict().values()))


def _seconds_per_chunk(case: str, made: Spread) -> float:
    network = create_network(unpacked(ship(case, {})), 0)
    sent = made.workers.network(CompiledEvaluator(network))
    order = RunOrder(sent, 1, (), None, None, None, False)
    made.workers.play([order])
    began = time.perf_counter()
    made.workers.play([order] * _ORDERS)
    return (time.perf_counter() - began) / _ORDERS
