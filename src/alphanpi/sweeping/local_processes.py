"""Jobs as processes of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from alphanpi.sweeping.backend import EndedJob
from alphanpi.sweeping.jobs import JobFolder

_LOOK = 0.05  # seconds
_SHOWN = 300  # characters of what a process said last


class LocalProcesses:
    """At most so many processes at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: dict[Path, subprocess.Popen[bytes]] = {}

    def slots(self) -> int:
        """How many may be at work at once."""
        return self._most

    def start(self, folder: Path) -> None:
        """Begin a job; Ctrl-C in the terminal does not reach it, but the end of this process does."""
        places = os.pathsep.join(os.path.abspath(place) for place in sys.path)
        with JobFolder(folder).output_file.open("ab") as output:
            self._running[folder] = subprocess.Popen(
                [sys.executable, "-P", "-m", "alphanpi.sweeping.job_process", str(folder)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env={**os.environ, "PYTHONPATH": places},
                start_new_session=True,
            )

    def ended(self, seconds: float) -> list[EndedJob]:
        """The jobs that have ended; waits at most so long for the first."""
        deadline = time.monotonic() + seconds
        while True:
            done = [folder for folder, process in self._running.items() if process.poll() is not None]
            if done or time.monotonic() >= deadline:
                return [
                    EndedJob(folder, _words(self._forget(folder), JobFolder(folder).output_file)) for folder in done
                ]
            time.sleep(_LOOK)

    def stop(self) -> None:
        """Let all jobs end soon: each finishes its iteration."""
        for process in self._running.values():
            _release(process)

    def __enter__(self) -> LocalProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._running.values():
            process.kill()
        for folder in list(self._running):
            self._forget(folder)

    def _forget(self, folder: Path) -> int:
        process = self._running.pop(folder)
        _release(process)
        return process.wait()


def _release(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()


def _words(code: int, output: Path) -> str:
    """How a process ended; empty where it was in good order."""
    if code > 0:
        said = [line for line in output.read_text(errors="replace").split("\n") if line.strip()]
        return f"exit code {code}" + (f": {said[-1].strip()[:_SHOWN]}" if said else "")
    try:
        return f"killed by {signal.Signals(-code).name}" if code else ""
    except ValueError:
        return f"killed by signal {-code}"
