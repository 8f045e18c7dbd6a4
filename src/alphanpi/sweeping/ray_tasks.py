"""Jobs as tasks of a Ray cluster. A task gets the path of a folder and nothing else; all data is in files."""

from __future__ import annotations

import hashlib
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from alphanpi.cluster.connection import connected
from alphanpi.errors import UsageError
from alphanpi.sweeping.backend import EndedJob
from alphanpi.sweeping.jobs import JobFolder

_SHOWN = 300  # characters of an error


class RayTasks:
    """A task for each job, in a worker of its own; dying ones are told of, and not taken up again by Ray itself.

    Args:
        address: Of the cluster.
        most: Tasks at a time; as many as the cluster has processors, at the moment, if None.
        on_gpu: Whether each needs a GPU.
    """

    def __init__(self, address: str, most: int | None, on_gpu: bool) -> None:
        self._address = address
        self._most = most
        self._on_gpu = on_gpu
        self._tasks: dict[Any, Path] = {}
        self._connection = ExitStack()
        self._ray: Any = None

    def slots(self) -> int:
        """How many may be at work at once; machines may join the cluster and leave it."""
        if self._most is not None:
            return self._most
        return max(1, int(self._ray.cluster_resources().get("GPU" if self._on_gpu else "CPU", 0)))

    def start(self, folder: Path) -> None:
        """Hand a job to the cluster."""
        digest = hashlib.sha256(JobFolder(folder).job_file.read_bytes()).hexdigest()
        # A worker that has done a job ends (max_calls): every job has a fresh process.
        task = self._ray.remote(max_calls=1, max_retries=0, num_cpus=1, num_gpus=int(self._on_gpu))(run_if_seen)
        self._tasks[task.remote(str(folder), digest)] = folder

    def ended(self, seconds: float) -> list[EndedJob]:
        """The jobs that have ended; waits at most so long for the first."""
        if not self._tasks:
            time.sleep(seconds)
            return []
        self._ray.wait(list(self._tasks), num_returns=1, timeout=seconds)
        done, _ = self._ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)
        return [self._end(task) for task in done]

    def stop(self) -> None:
        """Let all jobs end soon: as after Ctrl-C, each finishes its iteration."""
        self._cancel(force=False)

    def __enter__(self) -> RayTasks:
        self._ray = self._connection.enter_context(connected(self._address))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cancel(force=True)
        self._connection.close()

    def _cancel(self, force: bool) -> None:
        for task in self._tasks:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(task, force=force)

    def _end(self, task: Any) -> EndedJob:
        folder = self._tasks.pop(task)
        try:
            blind = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            message = " ".join(str(cause).split())
            return EndedJob(folder, f"{type(cause).__name__}: {message}"[:_SHOWN])
        if blind:
            raise UsageError(
                f"{folder}: the machine {blind} of the cluster does not see it; the folder of the sweep has to be on a "
                "file system that all machines share, under the same path: give another --out"
            )
        return EndedJob(folder, "")


def run_if_seen(folder: str, digest: str) -> str:
    """Do a job, on whatever machine this is; the name of one that does not see the very file of the job."""
    from alphanpi.sweeping.job_process import run_job

    file = JobFolder(Path(folder)).job_file
    if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
        return socket.gethostname()
    run_job(Path(folder))
    return ""
