"""What the page of a run under way is told, again and again."""

from __future__ import annotations

from typing import Literal, NamedTuple

from alphanpi.reporting.comparison_records import Status


class LiveCurves(NamedTuple):
    """One entry per kept iteration in every list."""

    iteration: list[int]
    elapsed: list[float]
    level: list[int]
    advanced: list[bool]
    success: dict[str, list[float | None]]  # of validation
    explored: dict[str, list[float | None]]  # of the episodes that were played
    policy_loss: list[float]
    value_loss: list[float]
    simulations_per_second: list[float]


class LogLine(NamedTuple):
    """Something worth telling about an iteration."""

    iteration: int
    elapsed: float
    kind: Literal["learned", "exam", "verified", "memory"]
    text: str


class LiveRecord(NamedTuple):
    """A run as it is now; all but the first four are empty as long as nothing has begun."""

    version: str
    run: str
    status: Status | Literal["waiting"]
    note: str
    environment: str
    seed: int | None
    command: str
    since: float | None  # seconds since something was written
    explanation: str  # what the curriculum waits for
    exam: str  # the last one
    damaged: int  # lines that could not be read
    curves: LiveCurves | None
    log: list[LogLine]
    report: str  # the command that shows what was learned
