"""One job in a process of its own: `python -m alphanpi.sweeping.job_process FOLDER`.

What the job is stands in its folder, and so does, in the end, what came of it. However often it is begun, it goes on
where it was. Whoever starts it holds its standard input open: when that ends, so does the job, with a checkpoint.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import torch

from alphanpi.agent.agent import MAX_ACTIONS
from alphanpi.agent.evaluation import Score, evaluate
from alphanpi.agent.loading import load
from alphanpi.environment.given import remember
from alphanpi.environment.registry import make
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.records import LAST, StoredOutcome, read_state
from alphanpi.support.files import write_atomically
from alphanpi.support.record import read_record
from alphanpi.sweeping.jobs import Job, JobFolder
from alphanpi.sweeping.plan import Measurement
from alphanpi.sweeping.records import JobResult, JobScore
from alphanpi.training.train import resume, train

_FINAL = ("completed", "time", "iterations")  # how training ends by itself
_LEAST_SECONDS = 1.0  # of a session, where almost all of its time was spent before
_PATIENCE = 120.0  # seconds: a process of an earlier sweep finishes its iteration
_GRACE = 60.0  # seconds from the wish that it ends to its end
_LOOK = 0.2


def run_job(path: Path) -> None:
    """Do, or go on with, the job in a folder; its result is written unless it is interrupted."""
    torch.set_num_threads(1)  # one core for each of the jobs side by side
    folder = JobFolder(path)
    job = read_record(folder.job_file, Job)
    try:
        outcome = _trained(job, folder.run)
        result = None if outcome is None else _measured(job, folder.run, outcome)
    except AlphaNPIError as error:
        result = JobResult(status="failed", note=str(error))
    if result is not None:
        write_atomically(folder.result_file, result.model_dump_json(indent=1) + "\n")


def _trained(job: Job, run: RunDirectory) -> StoredOutcome | None:
    """Training from where it is to its end; None where it was interrupted."""
    _await_predecessor(run)
    environment = make(job.environment, **job.options)
    if run.path.exists() and not run.meta_file.exists():
        shutil.rmtree(run.path)  # it was killed before the run had begun
    outcome = run.outcome() if run.meta_file.exists() else None
    if outcome is None or outcome.reason not in _FINAL:
        if run.meta_file.exists():
            remember(run.path, environment)
            resume(run.path, time_limit=_remaining(job, run), warn=lambda warning: print(warning, flush=True))
        else:
            train(
                job.environment,
                seed=job.seed,
                out=run.path,
                preset=job.preset,
                settings=job.settings,
                until=job.until,
                time_limit=job.time_limit,
                device=job.device,
                **job.options,
            )
        outcome = run.outcome()
    remember(run.path, environment)
    return outcome if outcome is not None and outcome.reason in _FINAL else None


def _await_predecessor(run: RunDirectory) -> None:
    """Wait until the run is free, as whoever was at work on it before ends."""
    deadline = time.monotonic() + _PATIENCE
    while run.path.exists():
        try:
            with run.locked():
                return
        except UsageError:
            if time.monotonic() > deadline:
                raise
        time.sleep(_LOOK)


def _remaining(job: Job, run: RunDirectory) -> float | None:
    """Of the time limit, which is for all sessions together."""
    if job.time_limit is None:
        return None
    try:
        spent = read_state(run.checkpoints / LAST).elapsed
    except UsageError:  # no checkpoint yet; a damaged one is `resume`'s to see to
        spent = 0.0
    return max(job.time_limit - spent, _LEAST_SECONDS)


def _measured(job: Job, run: RunDirectory, outcome: StoredOutcome) -> JobResult:
    began = time.monotonic()
    scores: list[Score] = []
    agent = load(run.path, job.device) if job.evaluate else None
    for measurement in job.evaluate:
        if agent is not None and _wanted(measurement, outcome, scores):
            scores += evaluate(
                agent,
                measurement.program,
                measurement.sizes,
                episodes=measurement.episodes,
                mode=measurement.mode,
                seed=measurement.seed,
                max_actions=measurement.max_actions or MAX_ACTIONS,
            )
    state = read_state(run.checkpoints / LAST)
    parts = {part: seconds for part, seconds in state.seconds.items() if part != "other"}
    return JobResult(
        status=("proved" if outcome.proved else "learned") if outcome.completed else "stopped",
        note=outcome.explanation,
        iterations=outcome.iterations,
        training_seconds=outcome.elapsed,
        seconds={**parts, "other": outcome.elapsed - sum(parts.values())},
        success=state.curriculum.success,
        scores=tuple(JobScore.model_validate(score._asdict()) for score in scores),
        measuring_seconds=time.monotonic() - began,
    )


def _wanted(measurement: Measurement, outcome: StoredOutcome, before: list[Score]) -> bool:
    bar = measurement.above
    return bar is None or (outcome.completed and all(score.rate > bar for score in before))


def _end_with_owner() -> None:
    """Wait until nobody holds standard input any more, as whoever started this has ended or wishes its end."""
    while os.read(sys.stdin.fileno(), 1):  # not through Python's buffer, whose lock would be held as the process ends
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # training finishes its iteration
    time.sleep(_GRACE)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Do the job that the command line names."""
    threading.Thread(target=_end_with_owner, daemon=True).start()
    run_job(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
