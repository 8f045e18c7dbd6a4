"""The sweep: jobs are started as there is room, taken up again where they die, and written down as they end."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi import __version__
from alphanpi.errors import UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.support import limits
from alphanpi.support.files import write_atomically
from alphanpi.support.interrupts import stop_requests
from alphanpi.support.record import read_record
from alphanpi.sweeping.backend import Backend, EndedJob
from alphanpi.sweeping.jobs import JobFolder, jobs_of
from alphanpi.sweeping.local_processes import LocalProcesses
from alphanpi.sweeping.plan import SweepPlan, parsed_plan, read_plan
from alphanpi.sweeping.progress import JobState, SweepProgress, seconds_left
from alphanpi.sweeping.records import SWEEP_FILE, StoredSweep

MOST_JOBS = 10_000  # at a time
_SECONDS_BETWEEN_LOOKS = 0.5

SweepObserver = Callable[[SweepProgress], object]
"""Called about twice a second, and whenever a job begins or ends."""


def sweep(
    plan: str | Path | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    ray: str | None = None,
    resume: bool = False,
    observer: SweepObserver | None = None,
) -> SweepProgress:
    """Train every environment with every setting and every seed, each run in a process of its own.

    Ctrl-C lets the runs at work finish their iteration and returns; a second one ends them at once. Either way, and
    after anything worse, `resume` goes on.

    Args:
        plan: A file in TOML, a table with the same keys, or the folder of a sweep to resume.
        out: Folder of the sweep; `runs/NAME` if not given, as the file is called.
        jobs: Most runs at a time; the number of processors if not given.
        ray: Address of a Ray cluster whose machines do the work and see the same files; this machine if not given.
        resume: Go on with what is in the folder: runs that have ended are kept, others go on from their checkpoint.
            Environments, variants and seeds may be added to the plan; what has begun must not be changed.
        observer: Called with the progress.
    """
    most = None if jobs is None else limits.whole("jobs", jobs, most=MOST_JOBS)
    located = _located(plan, out, resume)
    folder = located.folder
    wanted = jobs_of(located.plan, located.where, located.named)
    states = [JobState(job, (folder / job.place).absolute()) for job in wanted]
    if not resume and (folder / SWEEP_FILE).exists():
        raise UsageError(f"{folder}: a sweep is there already; `alphanpi sweep --resume {folder}`, or another --out")
    for state in states:
        if JobFolder(state.folder).job_file.exists():
            JobFolder(state.folder).require(state.job)
    with _backend(ray, most, located.plan.device) as backend, RunDirectory(folder).locked():
        return _Sweep(folder, located.plan, states, backend, observer or (lambda _: None)).run()


class _LocatedPlan(NamedTuple):
    """A plan, and the folder of its sweep."""

    folder: Path
    plan: SweepPlan
    where: str  # it was found
    named: bool  # whether by it the user has named its environments


def _located(plan: str | Path | Mapping[str, Any], out: str | Path | None, resume: bool) -> _LocatedPlan:
    if isinstance(plan, Mapping):
        return _LocatedPlan(Path(out or "runs/sweep"), parsed_plan(plan, "the plan"), "the plan", named=True)
    path = Path(plan)
    if not path.is_dir():
        return _LocatedPlan(Path(out or Path("runs", path.stem)), read_plan(path), str(path), named=True)
    if not resume:
        raise UsageError(f"{path}: a folder; to go on with a sweep, --resume; to start one, give a file in TOML")
    if out is not None and Path(out) != path:
        raise UsageError(f"{path}: a sweep goes on in its own folder; leave --out away")
    file = path / SWEEP_FILE
    stored = read_record(file, StoredSweep, "give the sweep's own file in TOML, with --out")
    return _LocatedPlan(path, stored.plan, str(file), named=False)


def _backend(ray: str | None, most: int | None, device: str) -> Backend:
    if ray is None:
        return LocalProcesses(most or os.cpu_count() or 1)
    from alphanpi.sweeping.ray_tasks import RayTasks

    return RayTasks(ray, most, on_gpu=device.startswith("cuda"))


class _Sweep:
    """A sweep under way."""

    def __init__(
        self, out: Path, plan: SweepPlan, states: list[JobState], backend: Backend, observer: SweepObserver
    ) -> None:
        self._out = out
        self._plan = plan
        self._states = {state.folder: state for state in states}
        self._backend = backend
        self._observer = observer
        self._waiting: deque[Path] = deque()
        self._stopping = False

    def run(self) -> SweepProgress:
        for state in list(self._states.values()):
            self._prepare(state)
        self._write()
        with stop_requests() as stopped, suppress(KeyboardInterrupt):  # which a second request raises
            self._work(stopped)
        for folder, state in self._states.items():
            if state.status == "running":  # its process ends with the backend
                self._states[folder] = state._replace(status="waiting", began=None)
        self._write()
        return self._tell()

    def _prepare(self, state: JobState) -> None:
        """Keep what has ended; what failed is tried again."""
        folder = JobFolder(state.folder)
        folder.prepare(state.job)
        result = folder.result()
        if result is not None and result.status != "failed":
            self._states[state.folder] = state._replace(status=result.status, note=result.note, result=result)
            return
        folder.result_file.unlink(missing_ok=True)
        self._waiting.append(state.folder)

    def _work(self, stopped: Callable[[], bool]) -> None:
        while self._waiting or any(state.status == "running" for state in self._states.values()):
            changed = self._start_waiting()
            done = self._backend.ended(_SECONDS_BETWEEN_LOOKS)
            if stopped() and not self._stopping:
                self._stopping = True
                self._waiting.clear()
                self._backend.stop()
            for ended in done:
                self._end(ended)
                changed = True
            if changed:
                self._write()
            self._tell()

    def _start_waiting(self) -> bool:
        running = sum(state.status == "running" for state in self._states.values())
        room = min(self._backend.slots() - running, len(self._waiting))
        for _ in range(room):
            folder = self._waiting.popleft()
            state = self._states[folder]
            self._backend.start(folder)
            self._states[folder] = state._replace(status="running", attempts=state.attempts + 1, began=time.monotonic())
        return room > 0

    def _end(self, ended: EndedJob) -> None:
        state = self._states[ended.folder]._replace(began=None)
        result = JobFolder(ended.folder).result()
        if result is not None:
            state = state._replace(status=result.status, note=result.note, result=result)
        elif self._stopping:
            state = state._replace(status="waiting")
        else:
            died = ended.how or "it ended without a result"
            if state.attempts <= self._plan.retries:
                state = state._replace(status="waiting", note=f"taken up again: {died}")
                self._waiting.appendleft(ended.folder)
            else:
                times = "once" if state.attempts == 1 else f"{state.attempts} times"
                state = state._replace(status="failed", note=f"its process died {times}, at last: {died}")
        self._states[ended.folder] = state

    def _tell(self) -> SweepProgress:
        states = tuple(self._states.values())
        left = seconds_left(states, self._backend.slots(), time.monotonic())
        progress = SweepProgress(self._out, states, left, self._stopping)
        self._observer(progress)
        return progress

    def _write(self) -> None:
        jobs = tuple(state.stored(self._out) for state in self._states.values())
        content = StoredSweep(version=__version__, plan=self._plan, jobs=jobs)
        write_atomically(self._out / SWEEP_FILE, content.model_dump_json(indent=1) + "\n")
