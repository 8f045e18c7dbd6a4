"""What the page of a run under way is told, again and again."""

from __future__ import annotations

from typing import Literal, NamedTuple

from alphanpi.reporting.comparison_records import Status
from alphanpi.reporting.records import LearningRecord


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
    curves: LearningRecord | None
    log: list[LogLine]
    report: str  # the command that shows what was learned
