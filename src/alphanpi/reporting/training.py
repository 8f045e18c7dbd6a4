"""How an agent was trained: what its run directory, or the card beside its weights, tells."""

from __future__ import annotations

from collections.abc import Sequence

from alphanpi.reporting.records import ExamRecord, LearningRecord, TrainingRecord
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.records import Iteration
from alphanpi.support.record import LooseRecord, NonNegative, Text, read_record

_MOST_ITERATIONS = 600
_PASSED = "passed"  # what a run writes of an exam, otherwise how it was failed


class TrainingCard(LooseRecord):
    """What is read of a card.json beside weights."""

    command: Text | None = None
    completed: bool | None = None
    training_seconds: NonNegative | None = None


def training(directory: RunDirectory | None) -> TrainingRecord:
    """Time, preset and command of a run; None for what is not known."""
    if directory is None:
        return TrainingRecord(None, None, None, None, None, None)
    card = TrainingCard()
    if directory.card_file.exists():
        card = read_record(directory.card_file, TrainingCard, "delete it")
    meta = directory.meta() if directory.meta_file.exists() else None
    outcome, metrics = directory.outcome(), directory.metrics()
    last = metrics[-1] if metrics else None
    return TrainingRecord(
        seconds=card.training_seconds if last is None else last.elapsed,
        iterations=None if last is None else last.iteration,
        completed=card.completed if outcome is None else outcome.completed,
        preset=None if meta is None else meta.preset,
        command=card.command if meta is None else meta.command,
        started=None if meta is None else meta.started,
    )


def learning(directory: RunDirectory | None) -> LearningRecord | None:
    """The learning curves of a run; None where there are none."""
    return None if directory is None else learning_curves(directory.metrics())


def learning_curves(metrics: Sequence[Iteration]) -> LearningRecord | None:
    """The curves of some iterations; None where there are none."""
    if not metrics:
        return None
    kept = thinned(metrics, _MOST_ITERATIONS)
    programs = list(dict.fromkeys(name for record in metrics for name in record.success))
    explored = [name for name in programs if any(name in record.explored for record in metrics)]
    return LearningRecord(
        iteration=[record.iteration for record in kept],
        elapsed=[record.elapsed for record in kept],
        level=[record.level for record in kept],
        advanced=[record.advanced for record in kept],
        success={name: [record.success.get(name) for record in kept] for name in programs},
        explored={name: [record.explored.get(name) for record in kept] for name in explored},
        policy_loss=[record.policy_loss for record in kept],
        value_loss=[record.value_loss for record in kept],
        simulations_per_second=[record.simulations / max(sum(record.seconds.values()), 1e-9) for record in kept],
        exams=[
            ExamRecord(record.iteration, record.elapsed, record.exam == _PASSED, record.exam)
            for record in metrics
            if record.exam
        ],
        left_out=len(metrics) - len(kept),
    )


def thinned(iterations: Sequence[Iteration], most: int) -> list[Iteration]:
    """Every n-th iteration, the last, and all in which a level was learned."""
    stride, last = -(-len(iterations) // most), len(iterations) - 1
    return [one for place, one in enumerate(iterations) if place % stride == 0 or place == last or one.advanced]
