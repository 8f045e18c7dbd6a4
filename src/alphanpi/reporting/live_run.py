"""A run that is being written, read again and again: what is half there is read the next time."""

from __future__ import annotations

import os
import shlex
import threading
import time
from pathlib import Path

from alphanpi import __version__
from alphanpi.errors import UsageError
from alphanpi.reporting.live_records import LiveRecord, LogLine
from alphanpi.reporting.run_reading import run_end
from alphanpi.reporting.training import learning_curves
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.records import Iteration
from alphanpi.support.limits import percent
from alphanpi.support.record import parsed_record

_MOST_LINES = 200
_MOST_BYTES = 2**26  # read at once


class LiveRun:
    """A run's folder, which need not be there yet; of its metrics, only what is new is read."""

    def __init__(self, path: Path) -> None:
        self.directory = RunDirectory(path)
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._file, self._offset, self._damaged = 0, 0, 0
        self._iterations: list[Iteration] = []

    def read(self) -> LiveRecord:
        """The run as it is now."""
        with self._lock:
            written = self._read_metrics()
            return self._record(None if written is None else max(0.0, time.time() - written))

    def _read_metrics(self) -> float | None:
        """Take in whole lines that were added, and say when; a file that was replaced is read from its beginning."""
        try:
            if not self.directory.metrics_file.is_file():  # nor a pipe, which would have to be waited for
                raise FileNotFoundError
            with self.directory.metrics_file.open("rb") as file:
                facts = os.fstat(file.fileno())
                if facts.st_ino != self._file or facts.st_size < self._offset:
                    self._forget()
                    self._file = facts.st_ino
                file.seek(self._offset)
                content = file.read(_MOST_BYTES)
        except OSError:  # not there yet, or no more
            self._forget()
            return None
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            try:
                self._iterations.append(parsed_record(line, Iteration, str(self.directory.metrics_file)))
            except UsageError:
                self._damaged += 1
        return facts.st_mtime

    def _record(self, since: float | None) -> LiveRecord:
        exams = [one.exam for one in self._iterations if one.exam]
        record = LiveRecord(
            version=__version__,
            run=str(self.directory.path),
            status="waiting",
            note="",
            environment="",
            seed=None,
            command="",
            since=since,
            explanation=self._iterations[-1].explanation if self._iterations else "",
            exam=exams[-1] if exams else "",
            damaged=self._damaged,
            curves=learning_curves(self._iterations),
            log=_log(self._iterations),
            report=f"alphanpi report {shlex.quote(str(self.directory.path))}",
        )
        if not self.directory.meta_file.is_file():
            return record
        try:
            meta, end = self.directory.meta(), run_end(self.directory, self._iterations)
        except UsageError as error:
            return record._replace(note=str(error))
        return record._replace(
            status=end.status, note=end.note, environment=meta.environment, seed=meta.seed, command=meta.command
        )


def _log(iterations: list[Iteration]) -> list[LogLine]:
    lines = []
    for one in iterations:
        if one.advanced:
            success = ", ".join(f"{name} {percent(share)}" for name, share in one.success.items())
            lines.append(LogLine(one.iteration, one.elapsed, "learned", f"level {one.level}: {success}"))
        if one.exam:
            lines.append(LogLine(one.iteration, one.elapsed, "exam", one.exam))
        if one.verdict:
            lines.append(LogLine(one.iteration, one.elapsed, "verified", one.verdict))
        if one.memory:
            lines.append(LogLine(one.iteration, one.elapsed, "memory", one.memory))
    return lines[-_MOST_LINES:]
