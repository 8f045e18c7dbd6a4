"""One run of a comparison, from the files in its folder. Nothing is run, so no environment has to be trusted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi.agent.weights import read_weights, saved_hash
from alphanpi.errors import UsageError
from alphanpi.reporting.comparison_records import ComparedRun, ComparedScore, CurveRecord, Status
from alphanpi.reporting.training import thinned
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.records import LAST, MODEL_FILE, STATE_FILE, Iteration, Meta, StoredScores, read_metrics, read_state
from alphanpi.support.config import read_toml
from alphanpi.support.record import read_record
from alphanpi.verification.recheck import read_record as read_certificate

_REASONS = {"time": "time limit", "iterations": "iteration limit"}


class RunEnd(NamedTuple):
    """How a run ended, if it did."""

    status: Status
    note: str


def read_run(directory: RunDirectory, most_iterations: int) -> ComparedRun:
    """What a folder tells about its run; a UsageError where it is damaged."""
    meta = directory.meta()
    found = read_metrics(directory.metrics_file)
    end = run_end(directory, found.iterations)
    notes = [end.note, f"{len(found.damaged)} damaged lines of metrics.jsonl are left out" if found.damaged else ""]
    weights = _newest_weights(directory)
    last = found.iterations[-1] if found.iterations else None
    return ComparedRun(
        path=str(directory.path),
        environment=meta.environment,
        seed=meta.seed,
        settings=_settings(directory, meta),
        status=end.status,
        note="; ".join(filter(None, notes)),
        iterations=0 if last is None else last.iteration,
        seconds=0.0 if last is None else last.elapsed,
        level=None if last is None else last.level,
        verdict=_verdict(directory, weights),
        machine=", ".join([meta.platform, *(f"{name} {version}" for name, version in sorted(meta.packages.items()))]),
        scores=_scores(directory, weights),
        curves=_curves(found.iterations, most_iterations),
    )


def run_end(directory: RunDirectory, iterations: Sequence[Iteration]) -> RunEnd:
    """Whether a run is at work, has ended, and how. An outcome from before the last iterations is not of them."""
    if directory.at_work():
        return RunEnd("running", "")
    outcome = directory.outcome()
    if outcome is None or (iterations and iterations[-1].iteration > outcome.iterations):
        if _completed(directory.checkpoints / LAST):  # before outcomes were written down
            return RunEnd("learned", "")
        return RunEnd("failed", "ended without saying how: an error, or it was killed")
    if outcome.completed:
        return RunEnd("proved" if outcome.proved else "learned", "")
    return RunEnd("stopped", f"{_REASONS.get(outcome.reason, outcome.reason)}: {outcome.explanation}")


def _completed(checkpoint: Path) -> bool:
    return (checkpoint / STATE_FILE).is_file() and read_state(checkpoint).curriculum.completed


def _settings(directory: RunDirectory, meta: Meta) -> dict[str, Any]:
    options = {f"options.{name}": value for name, value in meta.options.items()}
    version = {"alphanpi": meta.packages["alphanpi"]} if "alphanpi" in meta.packages else {}
    own = {"preset": meta.preset, "device": meta.device}
    values = {**read_toml(directory.config_file), **options, **own, **version}
    settings: dict[str, Any] = json.loads(json.dumps(values, default=str))  # TOML has dates, JSON has not
    return settings


def _newest_weights(directory: RunDirectory) -> str | None:
    """Digest of the newest agent; None where there is none, or it cannot be read: a run at work replaces it."""
    try:
        return saved_hash(read_weights(directory.checkpoints / LAST / MODEL_FILE))
    except UsageError:
        return None


def _scores(directory: RunDirectory, weights: str | None) -> list[ComparedScore]:
    if not directory.scores_file.is_file():
        return []
    stored = read_record(directory.scores_file, StoredScores, "delete it")
    if stored.weights_sha256 not in (None, weights):
        return []  # of an agent before
    return [
        ComparedScore(row.program, row.size, row.mode, row.episodes, row.successes)
        for row in sorted(stored.scores, key=lambda row: (row.program, row.size, row.mode))
    ]


def _verdict(directory: RunDirectory, weights: str | None) -> str | None:
    try:
        certificate = read_certificate(directory.certificate_file)
    except UsageError:  # there is none, or it is of an earlier format
        return None
    return str(certificate.claim) if certificate.weights_sha256 == weights else None


def _curves(iterations: Sequence[Iteration], most: int) -> CurveRecord | None:
    if not iterations:
        return None
    kept = thinned(iterations, most)
    programs = list(dict.fromkeys(name for one in iterations for name in one.success))
    return CurveRecord(
        iteration=[one.iteration for one in kept],
        elapsed=[round(one.elapsed, 3) for one in kept],
        level=[one.level for one in kept],
        success={name: [_rounded(one.success.get(name)) for one in kept] for name in programs},
    )


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
