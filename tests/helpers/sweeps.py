"""Sweeps of tiny runs, and a backend that runs jobs in this process, or lets them die as a test wishes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import alphanpi
from alphanpi.sweeping.backend import EndedJob
from alphanpi.sweeping.job_process import run_job
from alphanpi.sweeping.jobs import JobFolder
from alphanpi.sweeping.records import JobResult
from tests.helpers.tiny import SETTINGS

Behaviour = Callable[[Path], str]
"""What becomes of the job in a folder; how its process ended."""


def plan(**changes) -> dict:
    """Two variants of a run that does almost nothing."""
    usual = {
        "environments": ["hanoi"],
        "seeds": [0],
        "settings": {**SETTINGS, "max_iterations": 2},
        "variants": {"usual": {}, "narrow": {"network.memory": 2}},
    }
    return {key: value for key, value in {**usual, **changes}.items() if value is not None}


def really(folder: Path) -> str:
    run_job(folder)
    return ""


def at_once(folder: Path, status: str = "learned", note: str = "") -> str:
    """A job that trains nothing."""
    result = JobResult(status=status, note=note, training_seconds=10.0)  # type: ignore[arg-type]
    JobFolder(folder).result_file.write_text(result.model_dump_json())
    return ""


class InThisProcess:
    """Jobs end when they are looked at, one at a time; remembers which were started."""

    def __init__(self, behaviour: Behaviour, most: int = 2) -> None:
        self.behaviour = behaviour
        self.most = most
        self.running: list[Path] = []
        self.started: list[str] = []
        self.most_at_work = 0
        self.stopped = False

    def slots(self) -> int:
        return self.most

    def start(self, folder: Path) -> None:
        self.running.append(folder)
        self.started.append("/".join(folder.parts[-3:]))
        self.most_at_work = max(self.most_at_work, len(self.running))

    def ended(self, seconds: float) -> list[EndedJob]:
        folder = self.running[0]
        how = "" if self.stopped else self.behaviour(folder)
        self.running.remove(folder)
        return [EndedJob(folder, how)]

    def stop(self) -> None:
        self.stopped = True

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.running.clear()


def swept(monkeypatch, out: Path, behaviour: Behaviour, given=None, **arguments):
    """A sweep with that backend: its progress in the end, and the backend."""
    backend = InThisProcess(behaviour)
    monkeypatch.setattr("alphanpi.sweeping.sweep._backend", lambda *_: backend)
    return alphanpi.sweep(plan() if given is None else given, out=out, **arguments), backend


def stored(out: Path) -> dict[str, dict]:
    """The jobs of `sweep.json`, by run."""
    return {job["run"]: job for job in json.loads((out / "sweep.json").read_text())["jobs"]}
