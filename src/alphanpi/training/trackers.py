"""Experiment trackers: what TensorBoard shows of an iteration, for wandb and MLflow, through their own clients.

Where they write to is theirs to say: `WANDB_MODE`, `WANDB_PROJECT`, `MLFLOW_TRACKING_URI` and so on are heeded. A run
that is resumed goes on in the same place: it is known there by the digest of its meta.json.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.learn.iteration import IterationReport
from alphanpi.runs.directory import RunDirectory
from alphanpi.support.config import Config
from alphanpi.training.metrics import scalars

Log = Callable[[IterationReport], None]
_PROJECT = "alphanpi"
_RUN_TAG = "alphanpi.run"
_MOST_PARAMETERS = 100  # of one call of MLflow's
_ID_LENGTH = 16


def tracker_names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """The trackers asked for, all of which are known and installed."""
    names = () if given is None else tuple(given.split(",")) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in _TRACKERS:
            raise UsageError(f"log {name!r} is unknown; there are {' and '.join(_TRACKERS)}")
        if importlib.util.find_spec(name) is None:
            raise UsageError(f"log {name!r} needs a package that is not installed: pip install {name}")
    return names


@contextmanager
def tracked(names: Sequence[str], directory: RunDirectory, config: Config) -> Iterator[tuple[Log, ...]]:
    """Functions to be told of every iteration; the trackers' runs end with the context."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(_reported(name, directory, config)) for name in names)


@contextmanager
def _reported(name: str, directory: RunDirectory, config: Config) -> Iterator[Log]:
    """A tracker whose faults are one line that names it."""
    client = importlib.import_module(name)
    with ExitStack() as stack:
        log = _guarded(name, directory, lambda: stack.enter_context(_TRACKERS[name](client, directory, config)))
        yield lambda report: _guarded(name, directory, lambda: log(report))


def _guarded(name: str, directory: RunDirectory, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except AlphaNPIError:
        raise
    except Exception as error:  # whatever a client raises where it has no account, no server or no disk
        reason = f"{type(error).__name__}: {' '.join(str(error).split()):.300}"
        raise UsageError(f"log {name!r}: {reason}; `alphanpi resume {directory.path}` goes on without it") from error


@contextmanager
def _wandb(client: Any, directory: RunDirectory, config: Config) -> Iterator[Log]:
    meta, digest = directory.identity()
    run = client.init(
        project=os.environ.get("WANDB_PROJECT", _PROJECT),
        name=directory.path.name,
        id=digest[:_ID_LENGTH],
        resume="allow",
        dir=str(directory.path),
        config={"environment": meta.environment, "options": meta.options, "seed": meta.seed, **config.flat()},
    )
    try:
        yield lambda report: run.log(scalars(report), step=report.iteration)
    finally:
        run.finish()


@contextmanager
def _mlflow(client: Any, directory: RunDirectory, config: Config) -> Iterator[Log]:
    meta, digest = directory.identity()
    store, entities = client.MlflowClient(), importlib.import_module("mlflow.entities")
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME", _PROJECT)
    known = store.get_experiment_by_name(name)
    experiment = store.create_experiment(name) if known is None else known.experiment_id
    earlier = store.search_runs([experiment], f"tags.`{_RUN_TAG}` = '{digest}'", max_results=1)
    if earlier:
        run = earlier[0].info.run_id
        store.update_run(run, status="RUNNING")
    else:
        run = store.create_run(experiment, run_name=directory.path.name, tags={_RUN_TAG: digest}).info.run_id
        said = {"environment": meta.environment, "options": meta.options, "seed": meta.seed, **config.flat()}
        parameters = [entities.Param(key, str(value)) for key, value in said.items()]
        for start in range(0, len(parameters), _MOST_PARAMETERS):
            store.log_batch(run, params=parameters[start : start + _MOST_PARAMETERS])

    def log(report: IterationReport) -> None:
        now = int(1000 * time.time())
        store.log_batch(
            run, [entities.Metric(tag, value, now, report.iteration) for tag, value in scalars(report).items()]
        )

    try:
        yield log
    finally:
        store.set_terminated(run)


_TRACKERS = {"wandb": _wandb, "mlflow": _mlflow}
