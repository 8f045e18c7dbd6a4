"""From which size of the network on a device pays: the CPU and the device side by side, in one run on one machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from alphanpi.environment.registry import make
from alphanpi.errors import UsageError
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.trainer import Trainer
from alphanpi.network.config import MOST_UNITS
from alphanpi.network.memories import memories_of
from alphanpi.network.model import create_evaluator, create_network, usable_device
from alphanpi.network.paying import PAYING, parameters_of
from alphanpi.support import limits
from alphanpi.support.config import override
from alphanpi.training.presets import preset

ENVIRONMENT = "recursive-sorting"
UNITS = (128, 256, 512, 1024, 2048)
_ROWS_ON_CPU, _ROWS_ON_DEVICE = 256, 4096  # of a batch; on the CPU each row is computed by itself
_EVALUATION_SECONDS = 1.0


class Speed(NamedTuple):
    """What one device does with one network."""

    evaluations_per_s: float  # in batches as large as it likes
    gradient_steps_per_s: float  # in training, batches drawn
    seconds_per_iteration: float  # search, environment, gradient steps and validation


class DeviceResult(NamedTuple):
    """The CPU, one core of it, and a device with the same network."""

    units: int  # network.memory
    parameters: int
    cpu: Speed
    device: Speed
    evaluation_ratio: float
    gradient_ratio: float
    iteration_ratio: float


class DeviceReport(NamedTuple):
    """All sizes, and what follows from them; None where no size that was measured is large enough."""

    device: str
    environment: str
    iterations: int
    seed: int
    results: tuple[DeviceResult, ...]
    faster_from: int | None  # units from which on whole iterations are faster than on the CPU
    pays_from: int | None  # at least PAYING times as fast


def bench_device(
    units: Sequence[int] = UNITS,
    device: str = "cuda",
    iterations: int = 3,
    seed: int = 0,
    environment: str = ENVIRONMENT,
    config: TrainConfig | None = None,
    on_result: Callable[[DeviceResult], None] | None = None,
) -> DeviceReport:
    """Measure evaluations, gradient steps and whole iterations of training with networks of several sizes.

    Args:
        units: Sizes of the network, each a number for `network.memory`; all else is as configured.
        device: What to compare with the CPU.
        iterations: Measured after a first one, in which functions are compiled and steps recorded.
        seed: Of networks and training.
        environment: Whose programs are learned.
        config: Settings of the training; the default preset if not given.
        on_result: Told of every size.
    """
    limits.whole("iterations", iterations, most=limits.MOST_EPISODES)
    limits.seed(seed)
    for size in units:
        limits.whole("units", size, most=MOST_UNITS)
    if not units:
        raise UsageError("units: give at least one size, for example 128,1024")
    usable_device(device)
    base = config or preset("default", environment)
    results = []
    for size in sorted(set(units)):
        sized = override(base, {"network.memory": size})
        cpu = _speed(environment, sized, "cpu", iterations, seed)
        other = _speed(environment, sized, device, iterations, seed)
        results.append(
            DeviceResult(
                units=size,
                parameters=parameters_of(create_network(make(environment), seed, sized.network)),
                cpu=cpu,
                device=other,
                evaluation_ratio=round(other.evaluations_per_s / cpu.evaluations_per_s, 2),
                gradient_ratio=round(other.gradient_steps_per_s / cpu.gradient_steps_per_s, 2),
                iteration_ratio=round(cpu.seconds_per_iteration / other.seconds_per_iteration, 2),
            )
        )
        if on_result is not None:
            on_result(results[-1])
    return DeviceReport(
        device=torch.cuda.get_device_name(device) if torch.device(device).type == "cuda" else device,
        environment=environment,
        iterations=iterations,
        seed=seed,
        results=tuple(results),
        faster_from=_from(results, 1.0),
        pays_from=_from(results, PAYING),
    )


def _from(results: Sequence[DeviceResult], ratio: float) -> int | None:
    """The smallest size from which on all have at least that ratio."""
    found = None
    for result in reversed(results):
        if result.iteration_ratio < ratio:
            break
        found = result.units
    return found


def _speed(environment: str, config: TrainConfig, device: str, iterations: int, seed: int) -> Speed:
    trainer = Trainer(make(environment), config, seed, device)
    trainer.iterate()
    began = time.perf_counter()
    reports = [trainer.iterate() for _ in range(iterations)]
    seconds = time.perf_counter() - began
    gradients = sum(report.seconds.gradients for report in reports)
    return Speed(
        evaluations_per_s=round(_evaluations_per_second(environment, config, device, seed), 1),
        gradient_steps_per_s=round(iterations * config.learning.gradient_steps / gradients, 1),
        seconds_per_iteration=round(seconds / iterations, 4),
    )


def _evaluations_per_second(environment: str, config: TrainConfig, device: str, seed: int) -> float:
    created = make(environment)
    evaluator = create_evaluator(create_network(created, seed, config.network), device)
    rows = _ROWS_ON_CPU if torch.device(device).type == "cpu" else _ROWS_ON_DEVICE
    memories, rng = memories_of(evaluator, 2 * rows), np.random.default_rng(seed)
    programs = rng.integers(len(created.library.learned), size=rows)
    observations = rng.integers(0, 2, (rows, len(created.fields))).astype(np.int16)
    parents = np.arange(rows)
    memories.extend(0, parents, programs, observations)  # compiles, and puts memories there
    evaluated, began = 0, time.perf_counter()
    while time.perf_counter() - began < _EVALUATION_SECONDS:
        memories.extend(rows, parents, programs, observations)
        evaluated += rows
    return evaluated / (time.perf_counter() - began)
