"""How an agent was trained: what its run directory, or the card beside its weights, tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from alphanpi.errors import UsageError
from alphanpi.reporting.records import LearningRecord, TrainingRecord

_MOST_ITERATIONS = 600


def training(folder: Path) -> TrainingRecord:
    """Time, preset and command of a run; None for what is not known."""
    meta, card = _object(folder / "meta.json"), _object(folder / "card.json")
    metrics = _metrics(folder / "metrics.jsonl")
    seconds = card.get("training_seconds")
    completed = card.get("completed")
    if metrics:
        seconds, last = metrics[-1]["elapsed"], metrics[-1]
        completed = bool(last["advanced"]) and all(value > 0.5 for value in last["success"].values())
    return TrainingRecord(
        seconds=seconds,
        iterations=metrics[-1]["iteration"] if metrics else None,
        completed=completed,
        preset=meta.get("preset"),
        command=meta.get("command") or card.get("command"),
        started=meta.get("started"),
    )


def learning(folder: Path) -> LearningRecord | None:
    """The learning curves of a run; None where there are none."""
    metrics = _metrics(folder / "metrics.jsonl")
    if not metrics:
        return None
    kept = _thinned(metrics)
    programs = list(dict.fromkeys(name for record in metrics for name in record["success"]))
    return LearningRecord(
        iteration=[record["iteration"] for record in kept],
        elapsed=[record["elapsed"] for record in kept],
        level=[record["level"] for record in kept],
        advanced=[record["advanced"] for record in kept],
        success={name: [record["success"].get(name) for record in kept] for name in programs},
        policy_loss=[record["policy_loss"] for record in kept],
        value_loss=[record["value_loss"] for record in kept],
        simulations_per_second=[record["simulations"] / max(sum(record["seconds"].values()), 1e-9) for record in kept],
        left_out=len(metrics) - len(kept),
    )


def _thinned(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every n-th iteration, and all in which a level was learned."""
    stride = -(-len(metrics) // _MOST_ITERATIONS)
    last = len(metrics) - 1
    return [
        record for place, record in enumerate(metrics) if place % stride == 0 or place == last or record["advanced"]
    ]


def _metrics(file: Path) -> list[dict[str, Any]]:
    if not file.is_file():
        return []
    records = []
    for line in file.read_text().splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            break  # cut off in the middle: the run was killed, or is being written
    return records


def _object(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text())
    except json.JSONDecodeError as error:
        raise UsageError(f"{file}: cannot be read: {error}") from error
    return content if isinstance(content, dict) else {}
