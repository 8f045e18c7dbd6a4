"""Training runs: start one, resume one, stop in good order."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from alphanpi.agent import describe
from alphanpi.config import TrainConfig
from alphanpi.errors import UsageError
from alphanpi.interrupts import insist
from alphanpi.learn.checkpoint import restore, save_checkpoint
from alphanpi.learn.presets import preset as preset_config
from alphanpi.learn.rundir import MetricsWriter, RunDirectory, new_meta
from alphanpi.learn.trainer import Report, Seconds, Trainer
from alphanpi.registry import make

CHECKPOINT_ITERATIONS = 10

Observer = Callable[[Trainer, Report, float], None]


class Outcome(NamedTuple):
    """How a run ended."""

    run: Path
    completed: bool
    reason: str  # completed, iterations, time, interrupted
    iterations: int
    elapsed: float  # seconds, over all sessions of the run
    seconds: Seconds
    success: dict[str, float]
    explanation: str
    proved: bool  # whether the run was to go on until verified, and was


def train(
    environment: str,
    *,
    seed: int | None = None,
    out: str | Path | None = None,
    preset: str = "default",
    config: TrainConfig | None = None,
    time_limit: float | None = None,
    device: str = "cpu",
    observer: Observer | None = None,
    **options: Any,
) -> Outcome:
    """Train an agent from scratch; everything about the run goes into its directory.

    Args:
        environment: Id, path/to/file.py:ClassName or package.module:ClassName.
        seed: Decides every random draw; drawn and recorded if not given.
        out: Run directory; below `runs/` if not given.
        preset: `default` or `paper`.
        config: Used instead of the preset.
        time_limit: Seconds after which the run stops, with a checkpoint.
        device: Where the network lives.
        observer: Called after every iteration.
        **options: Of the environment, for example observation="compare".
    """
    created = make(environment, **options)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    if ".py" in environment:
        file, separator, name = (
            environment.rpartition(":") if not environment.endswith(".py") else (environment, "", "")
        )
        environment = f"{Path(file).resolve()}{separator}{name}"
    short = environment.rpartition("/")[2].replace(".py", "").replace(":", "-")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    directory = RunDirectory(Path(out) if out is not None else Path("runs") / short / f"{stamp}-seed{seed}")
    resolved = config if config is not None else preset_config(preset, environment)
    trainer = Trainer(created, resolved, seed, device)
    directory.create(new_meta(environment, options, seed, preset, device), resolved)
    return _go_on(directory, trainer, 0.0, Seconds(), time_limit, observer)


def resume(
    run: str | Path,
    *,
    time_limit: float | None = None,
    observer: Observer | None = None,
    warn: Callable[[str], None] | None = None,
) -> Outcome:
    """Go on with a run from its newest checkpoint, exactly as if it had never stopped."""
    directory = RunDirectory(Path(run))
    meta = directory.meta()
    trainer = Trainer(make(meta.environment, **meta.options), directory.config(), meta.seed, meta.device)
    elapsed, seconds = 0.0, Seconds()
    if any(directory.checkpoints.glob("iteration_*")):
        progress, warnings = restore(directory.checkpoints, trainer)
        elapsed, seconds = progress.elapsed, progress.seconds
        for warning in warnings:
            if warn is not None:
                warn(warning)
    elif warn is not None:
        warn(f"{directory.path}: it stopped before its first checkpoint; starting again")
    directory.keep_metrics_until(trainer.iteration)
    return _go_on(directory, trainer, elapsed, seconds, time_limit, observer)


def _go_on(
    directory: RunDirectory,
    trainer: Trainer,
    elapsed: float,
    seconds: Seconds,
    time_limit: float | None,
    observer: Observer | None,
) -> Outcome:
    if time_limit is not None and time_limit <= 0:
        raise UsageError(f"a time limit of {time_limit} leaves no time; give a positive number of seconds")
    meta = directory.meta()
    card = describe(
        meta.environment, meta.options, trainer.environment, trainer.acting, trainer.config.search, trainer.seed
    )
    writer = MetricsWriter(directory, trainer.iteration)
    began, before = time.perf_counter(), elapsed
    reason = "completed" if trainer.curriculum.completed else ""
    if trainer.iteration >= trainer.config.max_iterations:
        reason = reason or "iterations"
    with _stop_requests() as stopped:
        while not reason:
            report = trainer.iterate()
            seconds = seconds.plus(report.seconds)
            elapsed = before + time.perf_counter() - began
            writer.write(report, elapsed)
            if observer is not None:
                observer(trainer, report, elapsed)
            if trainer.curriculum.completed:
                reason = "completed"
            elif stopped():
                reason = "interrupted"
            elif trainer.iteration >= trainer.config.max_iterations:
                reason = "iterations"
            elif time_limit is not None and time.perf_counter() - began > time_limit:
                reason = "time"
            if reason or report.advanced or trainer.iteration % CHECKPOINT_ITERATIONS == 0:
                save_checkpoint(directory.checkpoints, trainer, card, elapsed, seconds)
    writer.close()
    return Outcome(
        run=directory.path,
        completed=trainer.curriculum.completed,
        reason=reason,
        iterations=trainer.iteration,
        elapsed=elapsed,
        seconds=seconds,
        success=dict(trainer.curriculum.success),
        explanation=trainer.curriculum.explain(),
        proved=trainer.curriculum.completed and trainer.config.until == "verified",
    )


@contextmanager
def _stop_requests() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C or SIGTERM finish the iteration; a second one stops at once."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)
        insist()

    handled = (signal.SIGINT, signal.SIGTERM)
    try:
        previous = [signal.signal(number, note) for number in handled]
        insist()
    except ValueError:  # not in the main thread: nobody sends us signals
        yield lambda: False
        return
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in zip(handled, previous, strict=True):
            signal.signal(number, handler)
