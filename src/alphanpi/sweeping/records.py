"""What a sweep writes down: the result of every job, and `sweep.json` with all of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from alphanpi.runs.records import Seed, Size
from alphanpi.support.record import Count, NonNegative, Record, Share, Text
from alphanpi.sweeping.plan import Name, SweepPlan

SWEEP_FILE = "sweep.json"

Ended = Literal["proved", "learned", "stopped", "failed"]
"""As in a comparison: `stopped` by a limit before everything was learned, `failed` with an error."""
Status = Literal["waiting", "running"] | Ended


class JobScore(Record):
    """Success of a program at one size in one mode; fields as in `Score`."""

    program: Text
    size: Size
    mode: Literal["greedy", "planning"]
    episodes: Count
    successes: Count
    rate: Share
    low: Share
    high: Share
    seconds_per_episode: NonNegative
    failures: dict[str, Count]


class JobResult(Record):
    """What came of a job that has ended by itself."""

    status: Ended
    note: Text  # how training ended, or the error
    iterations: Count = 0
    training_seconds: NonNegative = 0.0
    seconds: dict[str, float] = Field(default_factory=dict)  # where those of training went
    success: dict[str, Share] = Field(default_factory=dict)  # of the last validation, by program
    scores: tuple[JobScore, ...] = ()
    measuring_seconds: NonNegative = 0.0

    @property
    def learned(self) -> bool:
        """Whether training was completed."""
        return self.status in ("learned", "proved")


class StoredJob(Record):
    """Where a job stands."""

    environment: Name
    variant: Name | None
    seed: Seed
    run: Text  # its run directory, from the folder of the sweep
    status: Status
    attempts: Count  # in the last session
    note: Text
    result: JobResult | None


class StoredSweep(Record):
    """`sweep.json`: the plan as it was last, and all of its jobs."""

    version: Text  # of AlphaNPI
    plan: SweepPlan
    jobs: tuple[StoredJob, ...]
