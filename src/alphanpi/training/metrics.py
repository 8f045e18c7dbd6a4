"""The record of an iteration, written to `metrics.jsonl` and to TensorBoard."""

from __future__ import annotations

import importlib.util
import json
from contextlib import suppress

from alphanpi.errors import UsageError
from alphanpi.learn.iteration import IterationReport
from alphanpi.runs.directory import RunDirectory


class MetricsWriter:
    """Appends a record per iteration to `metrics.jsonl`, and to TensorBoard where it is installed."""

    def __init__(self, directory: RunDirectory, iteration: int = 0) -> None:
        self._path = directory.metrics_file
        self._file = self._path.open("a")
        self._board = None
        if importlib.util.find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(directory.path / "tensorboard"), purge_step=iteration + 1)

    def write(self, report: IterationReport, elapsed: float) -> None:
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


def scalars(report: IterationReport) -> dict[str, float]:
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
