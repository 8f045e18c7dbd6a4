"""What a comparison of runs holds. The JSON object is exactly these records, fields by name; see docs/compare.md."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

COMPARISON_SCHEMA = 1

Status = Literal["proved", "learned", "stopped", "failed", "running"]


class CurveRecord(NamedTuple):
    """A run's learning curves, one entry per kept iteration in every list."""

    iteration: list[int]
    elapsed: list[float]  # seconds
    level: list[int]
    success: dict[str, list[float | None]]  # of validation, by program; None before it was unlocked


class ComparedScore(NamedTuple):
    """Success of a run's newest agent, as `alphanpi eval` has stored it."""

    program: str
    size: int
    mode: str
    episodes: int
    successes: int


class ComparedRun(NamedTuple):
    """One run."""

    path: str
    environment: str
    seed: int
    settings: dict[str, Any]  # that decide what it does, all but the seed
    status: Status
    note: str  # why it stopped, or what is in the way of it
    iterations: int
    seconds: float
    level: int | None
    verdict: str | None  # of the certificate in its folder, as it says of itself
    machine: str
    scores: list[ComparedScore]
    curves: CurveRecord | None


class UnreadableRun(NamedTuple):
    """A folder that was one."""

    path: str
    reason: str


class MedianRecord(NamedTuple):
    """A median over runs and its interval of order statistics; None where so many runs did not get there."""

    median: float | None
    low: float | None
    high: float | None
    coverage: float  # 0.95 or more where there are enough runs for it


class GroupScore(NamedTuple):
    """Success over all runs of a group: episodes together with their 95 % Wilson interval, and each run's own rate."""

    program: str
    size: int
    mode: str
    episodes: int
    successes: int
    rate: float
    low: float
    high: float
    runs: list[int]  # places in the comparison's list
    rates: list[float]  # of each of these


class GroupRecord(NamedTuple):
    """Runs that differ in nothing but the seed."""

    label: str
    settings: dict[str, Any]  # in which it differs from other groups
    runs: list[int]  # places in the comparison's list
    ended: int  # all but those at work
    learned: int  # of these
    learned_low: float  # 95 % Wilson interval of the share
    learned_high: float
    seconds: MedianRecord | None  # until everything was learned, over those that ended; None where none did
    iterations: MedianRecord | None  # likewise
    verdicts: dict[str, int]
    scores: list[GroupScore]
    notes: list[str]


class EnvironmentGroups(NamedTuple):
    """All runs of one environment."""

    environment: str
    programs: list[str]
    settings: list[str]  # names of those that differ between its groups
    groups: list[GroupRecord]


class ComparisonRecord(NamedTuple):
    """The whole comparison."""

    schema: int
    version: str
    runs: list[ComparedRun]
    environments: list[EnvironmentGroups]
    unreadable: list[UnreadableRun]
