"""Where jobs are run: what every backend can do, and nothing about what a job is."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol


class EndedJob(NamedTuple):
    """A job that is not at work any more; whether it did what it was to do, its folder says."""

    folder: Path
    how: str  # its process ended, in words; empty where it ended in good order


class Backend(Protocol):
    """Runs jobs, and tells when each ends or dies; as a context manager, it leaves none behind."""

    def slots(self) -> int:
        """How many may be at work at once, as of now."""

    def start(self, folder: Path) -> None:
        """Begin the job in a folder, in a fresh process."""

    def ended(self, seconds: float) -> list[EndedJob]:
        """The jobs that have ended, each told once; waits at most so long for the first."""

    def stop(self) -> None:
        """Let all jobs end soon, with a checkpoint."""

    def __enter__(self) -> Backend: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
