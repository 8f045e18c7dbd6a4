"""The run directory: what belongs where, and writing its records."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import platform
import shlex
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from alphanpi.config import TrainConfig
from alphanpi.errors import UsageError
from alphanpi.files import write_atomically
from alphanpi.learn.presets import Overrides, flatten, flattened, override, read_toml, to_toml
from alphanpi.learn.trainer import Report
from alphanpi.packages import versions
from alphanpi.run_records import CHECKPOINTS, META_FILE, Meta, Run, read_meta, read_metrics, read_run, sha256_of

_PACKAGES = ("alphanpi", "torch", "numpy", "numba", "safetensors", "pydantic")
_STOPPING = "max_iterations"  # decides when a run stops, not what it does: it may be changed between sessions
# Keys the configuration got since runs keep its digest; what was started before lacks them.
_ADDED_KEYS = frozenset({"episodes.train_sizes", "validation.size"})
_LOCK_FILE = ".lock"


class RunDirectory:
    """A folder with `config.toml`, `meta.json`, `metrics.jsonl`, `tensorboard/` and `checkpoints/`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.toml"
        self.meta_file = path / META_FILE
        self.metrics_file = path / "metrics.jsonl"
        self.checkpoints = path / CHECKPOINTS

    def require_new(self) -> None:
        """Refuse a place where something is already."""
        if self.meta_file.exists():
            raise UsageError(f"{self.path}: a run is there already; `alphanpi resume {self.path}`, or another --out")
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path}: not a folder; give another --out")
        if self.path.is_dir() and any(entry.name != _LOCK_FILE for entry in self.path.iterdir()):
            raise UsageError(f"{self.path}: the folder is not empty, and holds no run; give another --out")

    def create(self, meta: Meta, config: TrainConfig) -> None:
        """Begin a run; a folder that holds one already, or anything else, is refused."""
        self.require_new()
        text = to_toml(config)
        complete = meta.model_copy(update={"configuration": _digest(flattened(tomllib.loads(text)))})
        write_atomically(self.config_file, text)
        write_atomically(self.metrics_file, "")
        write_atomically(self.meta_file, json.dumps(complete.model_dump(mode="json"), indent=2) + "\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing here; a lock ends with its process, however that ends."""
        try:
            str(self.path).encode()  # TensorBoard cannot write into a folder whose name is not UTF-8
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / _LOCK_FILE).open("a+")
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error.strerror}") from error
        except ValueError as error:
            raise UsageError(
                f"{self.path}: no name of a folder in UTF-8; give the run directory another name"
            ) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                owner = file.read(20).strip() or "unknown"
                raise UsageError(
                    f"{self.path}: process {owner} is at work on this run; wait until it ends, or stop it"
                ) from None
            except OSError:  # a file system without locks
                yield
                return
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            yield

    def meta(self) -> Meta:
        """What the run is."""
        if not self.meta_file.exists():
            raise UsageError(f"{self.path}: not a run directory: there is no {META_FILE}")
        return read_meta(self.meta_file)

    def identity(self) -> Run:
        """What the run is, and its digest."""
        return read_run(self.meta_file)

    def config(self) -> TrainConfig:
        """The resolved configuration the run was started with; a UsageError if the file is another one by now."""
        values = read_toml(self.config_file)
        try:
            config = override(TrainConfig(), values)
        except UsageError as error:
            raise UsageError(f"{self.config_file}: {error}") from error
        expected = self.meta().configuration
        if expected is not None and _digest(values) != expected:
            raise UsageError(
                f"{self.config_file}: not the configuration this run was started with; put it back "
                f"(only {_STOPPING} may be changed), or start a new run with --config"
            )
        missing = sorted(flatten(config).keys() - values.keys() - _ADDED_KEYS) if expected is None else []
        if missing or _STOPPING not in values:
            raise UsageError(f"{self.config_file}: damaged: no {(missing or [_STOPPING])[0]} in it; put it back")
        return config

    def keep_metrics_until(self, iteration: int, warn: Callable[[str], None]) -> None:
        """Drop the records of iterations that will be done again, and lines that are damaged."""
        metrics = read_metrics(self.metrics_file)
        for number in metrics.damaged:
            warn(f"{self.metrics_file}: line {number} is damaged; it is left out")
        records = zip(metrics.iterations, metrics.kept, strict=True)
        kept = [line + b"\n" for record, line in records if record.iteration <= iteration]
        write_atomically(self.metrics_file, b"".join(kept))


def _digest(values: Overrides) -> str:
    return sha256_of({key: value for key, value in values.items() if key != _STOPPING})


class MetricsWriter:
    """Appends a record per iteration to `metrics.jsonl`, and to TensorBoard where it is installed."""

    def __init__(self, directory: RunDirectory, iteration: int = 0) -> None:
        self._path = directory.metrics_file
        self._file = self._path.open("a")
        self._board = None
        if importlib.util.find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(directory.path / "tensorboard"), purge_step=iteration + 1)

    def write(self, report: Report, elapsed: float) -> None:
        """Add an iteration."""
        record = {**report._asdict(), "seconds": report.seconds._asdict(), "elapsed": elapsed}
        try:
            self._file.write(json.dumps(record, allow_nan=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise UsageError(f"{self._path}: cannot be written: {error.strerror or error}") from error
        if self._board is not None:
            for tag, value in scalars(report).items():
                self._board.add_scalar(tag, value, report.iteration)

    def close(self) -> None:
        """Finish writing; what could not be written has been said before."""
        for part in (self._file, self._board):
            with suppress(OSError):
                if part is not None:
                    part.close()


def scalars(report: Report) -> dict[str, float]:
    """An iteration as TensorBoard tags."""
    tags = {
        "train/loss_policy": report.policy_loss,
        "train/loss_value": report.value_loss,
        "train/gradient_norm": report.gradient_norm,
        "curriculum/level": report.level,
        "search/simulations_per_s": report.simulations / max(report.elapsed, 1e-9),
        "search/evaluations": report.evaluations,
        "rollout/episode_length": report.episode_length,
        "replay/traces": report.replay_traces,
    }
    tags |= {f"eval/success/{name}": value for name, value in report.success.items()}
    tags |= {f"rollout/success/{name}": value for name, value in report.explored.items()}
    tags |= {f"time/{name}": value for name, value in report.seconds._asdict().items()}
    return tags


def new_meta(environment: str, options: dict[str, Any], seed: int, preset: str, device: str) -> Meta:
    """Describe a run that starts now."""
    return Meta(
        environment=environment,
        options=options,
        seed=seed,
        preset=preset,
        device=device,
        command=shlex.join(["alphanpi", *sys.argv[1:]]) if sys.argv[0].endswith("alphanpi") else "python",
        started=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        python=platform.python_version(),
        platform=f"{platform.platform()}, {os.cpu_count()} cores",
        packages=versions(_PACKAGES),
    )
