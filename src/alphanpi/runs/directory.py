"""The run directory: what belongs where, and writing its records."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shlex
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alphanpi.errors import UsageError
from alphanpi.runs.records import (
    BEGINNING_FILE,
    CARD_FILE,
    CERTIFICATE_FILE,
    CHECKPOINTS,
    LAST,
    META_FILE,
    MODEL_FILE,
    OUTCOME_FILE,
    SCORES_FILE,
    STATE_FILE,
    BeginningRecord,
    Iteration,
    Meta,
    RunIdentity,
    ScoredAgent,
    StoredOutcome,
    StoredScore,
    StoredScores,
    read_meta,
    read_metrics,
    read_run,
    read_state,
    sha256_of,
)
from alphanpi.support.config import C, Config, Overrides, flattened, override, read_toml, to_toml
from alphanpi.support.files import write_atomically
from alphanpi.support.record import read_record
from alphanpi.support.versions import versions

_PACKAGES = ("alphanpi", "torch", "numpy", "numba", "safetensors", "pydantic")
_STOPPING = "max_iterations"  # decides when a run stops, not what it does: it may be changed between sessions
# Keys the configuration got since runs keep its digest; what was started before lacks them.
_ADDED_KEYS = frozenset({"episodes.train_sizes", "validation.size", "network.window", "network.action_embedding"})
# Keys of mechanisms that are gone: a run that was begun with them cannot go on as it would have.
_REMOVED_KEYS = frozenset(
    {
        *("learning.blurred_fraction", "learning.blurred_fields", "learning.continued_fraction", "replay.ordered"),
        *("curriculum.estimate", "curriculum.moving_average", "curriculum.patience", "validation.mode"),
        *("episodes.revisions", "learning.value_weight", "learning.weak_program_weight", "learning.consensus"),
        *("learning.gradient_clip", "learning.unroll", "learning.weight_average", "replay.thrifty"),
        *("validation.exam_search_episodes", "validation.far_exam_episodes", "validation.training_share"),
        *("search.level_term", "learning.min_learning_rate_factor"),
    }
)
_LOCK_FILE = ".lock"


class RunDirectory:
    """A folder with `config.toml`, `meta.json`, `metrics.jsonl`, `tensorboard/` and `checkpoints/`.

    Whoever finds something out about the newest agent writes it here, and all others read it: `outcome.json` is
    training's, `scores.json` is of `eval`, `certificate.json` of `verify`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.toml"
        self.meta_file = path / META_FILE
        self.metrics_file = path / "metrics.jsonl"
        self.checkpoints = path / CHECKPOINTS
        self.beginning_file = path / BEGINNING_FILE
        self.scores_file = path / SCORES_FILE
        self.outcome_file = path / OUTCOME_FILE
        self.certificate_file = path / CERTIFICATE_FILE
        self.card_file = path / CARD_FILE

    def require_new(self) -> None:
        """Refuse a place where something is already."""
        if self.meta_file.exists():
            raise UsageError(f"{self.path}: a run is there already; `alphanpi resume {self.path}`, or another --out")
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path}: not a folder; give another --out")
        if self.path.is_dir() and any(entry.name != _LOCK_FILE for entry in self.path.iterdir()):
            raise UsageError(f"{self.path}: the folder is not empty, and holds no run; give another --out")

    def create(self, meta: Meta, config: Config, beginning: bytes | None = None) -> None:
        """Begin a run, perhaps with weights; a folder that holds one already, or anything else, is refused."""
        self.require_new()
        text = to_toml(config)
        complete = meta.model_copy(update={"configuration": _digest(flattened(tomllib.loads(text)))})
        write_atomically(self.config_file, text)
        write_atomically(self.metrics_file, "")
        if beginning is not None:
            write_atomically(self.beginning_file, beginning)
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

    def at_work(self) -> bool:
        """Whether a process of this machine holds the lock.

        Asked first is whether the one that wrote its number there still lives: a run that is about to begin must find
        the lock free, so it is not touched without need.
        """
        lock = self.path / _LOCK_FILE
        if not lock.is_file():  # nor a pipe, which would have to be waited for
            return False
        try:
            with lock.open() as file:
                owner = int(file.read(20))
                if owner <= 0 or not _lives(owner):
                    return False
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except (OSError, ValueError):  # no lock, or none that could be held
            return False
        return False

    def meta(self) -> Meta:
        """What the run is."""
        if not self.meta_file.exists():
            raise UsageError(f"{self.path}: not a run directory: there is no {META_FILE}")
        return read_meta(self.meta_file)

    def identity(self) -> RunIdentity:
        """What the run is, and its digest."""
        return read_run(self.meta_file)

    def config(self, default: C) -> C:
        """The configuration the run was started with; a UsageError if the file is another one by now."""
        values = read_toml(self.config_file)
        if removed := sorted(_REMOVED_KEYS & values.keys()):
            raise UsageError(
                f"{self.config_file}: {removed[0]} is no longer there: this run was begun with an earlier version, and "
                "can be used but not continued; start a new one"
            )
        try:
            config = override(default, values)
        except UsageError as error:
            raise UsageError(f"{self.config_file}: {error}") from error
        expected = self.meta().configuration
        if expected is not None and _digest(values) != expected:
            raise UsageError(
                f"{self.config_file}: not the configuration this run was started with; put it back "
                f"(only {_STOPPING} may be changed), or start a new run with --config"
            )
        missing = sorted(config.flat().keys() - values.keys() - _ADDED_KEYS) if expected is None else []
        if missing or _STOPPING not in values:
            raise UsageError(f"{self.config_file}: damaged: no {(missing or [_STOPPING])[0]} in it; put it back")
        return config

    def newest_model(self) -> str | None:
        """Digest of the newest agent's weights, as its checkpoint has it; None where there is none."""
        folder = self.checkpoints / LAST
        return read_state(folder).files[MODEL_FILE] if (folder / STATE_FILE).is_file() else None

    def keep_outcome(self, outcome: StoredOutcome) -> None:
        """Write down how training ended."""
        write_atomically(self.outcome_file, json.dumps(outcome.model_dump(), indent=1) + "\n")

    def outcome(self) -> StoredOutcome | None:
        """How training ended; None where it did not, or before this was written down."""
        if not self.outcome_file.exists():
            return None
        return read_record(self.outcome_file, StoredOutcome, "delete it")

    def keep_scores(self, subject: ScoredAgent, rows: Sequence[StoredScore]) -> None:
        """Write down scores of an agent; what is measured again replaces what was measured."""
        before = StoredScores()
        if self.scores_file.exists():
            before = read_record(self.scores_file, StoredScores, "delete it")
        known = [*(before.scores if before.are_of(subject) else ()), *rows]
        latest = {(row.program, row.size, row.mode): row for row in known}
        content = StoredScores(**subject._asdict(), scores=list(latest.values()))
        write_atomically(self.scores_file, json.dumps(content.model_dump(), indent=1) + "\n")

    def scores(self, subject: ScoredAgent) -> tuple[Path, list[StoredScore]] | None:
        """Scores of an agent, and the file they are in; None where there are none."""
        for file in (self.scores_file, self.card_file):
            if file.exists():
                stored = read_record(file, StoredScores, "delete it to have scores measured")
                if stored.scores and stored.are_of(subject):
                    return file, stored.scores
        return None

    def metrics(self) -> tuple[Iteration, ...]:
        """What training logged; nothing where there is no file."""
        found = read_metrics(self.metrics_file)
        if found.damaged:
            raise UsageError(f"{self.metrics_file}: line {found.damaged[0]} is damaged; delete it, or the file")
        return found.iterations

    def keep_metrics_until(self, iteration: int, warn: Callable[[str], None]) -> None:
        """Drop the records of iterations that will be done again, and lines that are damaged."""
        metrics = read_metrics(self.metrics_file)
        for number in metrics.damaged:
            warn(f"{self.metrics_file}: line {number} is damaged; it is left out")
        records = zip(metrics.iterations, metrics.kept, strict=True)
        kept = [line + b"\n" for record, line in records if record.iteration <= iteration]
        write_atomically(self.metrics_file, b"".join(kept))


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:  # somebody else's
        return True
    except (OSError, OverflowError):
        return False
    return True


def _digest(values: Overrides) -> str:
    return sha256_of({key: value for key, value in values.items() if key != _STOPPING})


def new_meta(
    environment: str,
    options: dict[str, Any],
    seed: int,
    preset: str,
    device: str,
    beginning: BeginningRecord | None = None,
) -> Meta:
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
        beginning=beginning,
    )
