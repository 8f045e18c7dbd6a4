"""How far a sweep is: its jobs, those at work, and when it may end."""

from __future__ import annotations

import heapq
import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from alphanpi.errors import UsageError
from alphanpi.runs.records import Iteration
from alphanpi.support.limits import percent
from alphanpi.support.record import lines, parsed_record
from alphanpi.sweeping.jobs import Job, JobFolder
from alphanpi.sweeping.records import JobResult, Status, StoredJob

_TAIL = 2**16  # bytes of a log in which its last line is looked for


class JobState(NamedTuple):
    """A job, and where it stands."""

    job: Job
    folder: Path
    status: Status = "waiting"
    attempts: int = 0  # in this session
    note: str = ""
    result: JobResult | None = None
    began: float | None = None  # by the monotonic clock, where it is at work

    @property
    def run(self) -> Path:
        """The run directory."""
        return JobFolder(self.folder).run.path

    def stored(self, out: Path) -> StoredJob:
        """As `sweep.json` has it, in the folder of the sweep."""
        return StoredJob(
            environment=self.job.name,
            variant=self.job.variant,
            seed=self.job.seed,
            run=str(self.run.relative_to(out.absolute())),
            status=self.status,
            attempts=self.attempts,
            note=self.note,
            result=self.result,
        )


class SweepProgress(NamedTuple):
    """A sweep at one moment."""

    out: Path
    jobs: tuple[JobState, ...]
    seconds_left: float | None  # estimated; None where nothing is known
    stopping: bool = False

    def count(self, *statuses: Status) -> int:
        """How many jobs are in one of these."""
        return sum(state.status in statuses for state in self.jobs)

    @property
    def learned(self) -> int:
        """How many runs have learned every program."""
        return self.count("learned", "proved")

    @property
    def interrupted(self) -> bool:
        """Whether there is more to do."""
        return self.count("waiting", "running") > 0


def doing(state: JobState) -> str:
    """What a job that is at work does, from the files of its run."""
    folder = JobFolder(state.folder)
    if folder.run.outcome_file.exists():
        return "measuring"
    last = _last_iteration(folder.run.metrics_file)
    if last is None:
        return "starting"
    weakest = min(last.success.values(), default=0.0)
    return f"level {last.level}, iteration {last.iteration}, {percent(weakest)}"


def _last_iteration(file: Path) -> Iteration | None:
    """The last line that is complete; one that is being written is not."""
    try:
        with file.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL))
            found = list(lines(log.read().rpartition(b"\n")[0]))
        return parsed_record(found[-1], Iteration, str(file)) if found else None
    except (OSError, UsageError):
        return None


def seconds_left(jobs: Sequence[JobState], slots: int, now: float) -> float | None:
    """When all jobs may have ended, if each takes what others like it took, and the slots are filled in order.

    A job of which none has ended is taken to be like those of its environment, then like any, then to need its limit.
    """
    remaining = []
    for state in jobs:
        if state.status in ("waiting", "running"):
            expected = _expected(state.job, jobs)
            if expected is None:
                return None
            spent = 0.0 if state.began is None else now - state.began
            remaining.append((state.status != "running", max(expected - spent, 0.0)))
    free = [0.0] * max(slots, 1)
    for _, seconds in sorted(remaining, key=lambda pair: pair[0]):  # those at work first
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def _expected(job: Job, jobs: Sequence[JobState]) -> float | None:
    known = [(state.job, state.result) for state in jobs if state.result is not None and state.status != "failed"]
    for alike in (
        lambda other: (other.name, other.variant) == (job.name, job.variant),
        lambda other: other.name == job.name,
        lambda other: True,
    ):
        taken = [result.training_seconds + result.measuring_seconds for other, result in known if alike(other)]
        if taken:
            return statistics.mean(taken)
    return job.time_limit
