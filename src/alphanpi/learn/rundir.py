"""The run directory: what belongs where, and writing its records."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shlex
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi.config import TrainConfig
from alphanpi.errors import UsageError
from alphanpi.files import write_atomically
from alphanpi.learn.presets import override, read_toml, to_toml
from alphanpi.learn.trainer import Report
from alphanpi.packages import versions

_PACKAGES = ("alphanpi", "torch", "numpy", "numba", "safetensors", "pydantic")


class Meta(NamedTuple):
    """What a run is: enough to repeat it."""

    environment: str
    options: dict[str, Any]
    seed: int
    preset: str
    device: str
    command: str
    started: str
    python: str
    platform: str
    packages: dict[str, str]


class RunDirectory:
    """A folder with `config.toml`, `meta.json`, `metrics.jsonl`, `tensorboard/` and `checkpoints/`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.toml"
        self.meta_file = path / "meta.json"
        self.metrics_file = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"

    def create(self, meta: Meta, config: TrainConfig) -> None:
        """Begin a run; a folder that holds one already is refused."""
        if self.meta_file.exists():
            raise UsageError(f"{self.path}: a run is there already; `alphanpi resume {self.path}`, or another --out")
        self.path.mkdir(parents=True, exist_ok=True)
        write_atomically(self.config_file, to_toml(config))
        write_atomically(self.meta_file, json.dumps(meta._asdict(), indent=2) + "\n")
        self.metrics_file.write_text("")

    def meta(self) -> Meta:
        """What the run is."""
        try:
            return Meta(**json.loads(self.meta_file.read_text()))
        except FileNotFoundError:
            raise UsageError(f"{self.path}: not a run directory: there is no meta.json") from None
        except (json.JSONDecodeError, TypeError) as error:
            raise UsageError(f"{self.meta_file}: cannot be read: {error}") from error

    def config(self) -> TrainConfig:
        """The resolved configuration the run was started with."""
        return override(TrainConfig(), read_toml(self.config_file))

    def keep_metrics_until(self, iteration: int) -> None:
        """Drop the records of iterations that will be done again, and a record cut off in the middle."""
        kept = []
        for line in self.metrics_file.read_text().splitlines() if self.metrics_file.exists() else []:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                break
            if record["iteration"] > iteration:
                break
            kept.append(line + "\n")
        write_atomically(self.metrics_file, "".join(kept))


class MetricsWriter:
    """Appends a record per iteration to `metrics.jsonl`, and to TensorBoard where it is installed."""

    def __init__(self, directory: RunDirectory, iteration: int = 0) -> None:
        self._file = directory.metrics_file.open("a")
        self._board = None
        if importlib.util.find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(directory.path / "tensorboard"), purge_step=iteration + 1)

    def write(self, report: Report, elapsed: float) -> None:
        """Add an iteration."""
        record = {**report._asdict(), "seconds": report.seconds._asdict(), "elapsed": elapsed}
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()
        if self._board is not None:
            for tag, value in scalars(report).items():
                self._board.add_scalar(tag, value, report.iteration)

    def close(self) -> None:
        """Finish writing."""
        self._file.close()
        if self._board is not None:
            self._board.close()


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
