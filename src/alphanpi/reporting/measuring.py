"""Scores of a report: those stored beside the weights, or measured here within a time limit."""

from __future__ import annotations

import time
from collections.abc import Set
from typing import NamedTuple

import numpy as np

from alphanpi.agent.agent import Agent, Mode
from alphanpi.agent.evaluation import evaluate, scored
from alphanpi.agent.interpreter import Call, Recording
from alphanpi.engine.tables import Failure
from alphanpi.environment.registration import registration
from alphanpi.errors import UsageError
from alphanpi.reporting.records import CallCount, GeneralisationRecord, ReliabilityRecord, ScoreRecord
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.records import StoredScore
from alphanpi.support.intervals import wilson_interval

SECONDS = 15.0
_EPISODES = 20
_RELIABILITY_EPISODES = 10
_MOST_ACTIONS = 200_000
_MOST_TRIED = 2_000_000  # actions, by a search


class CallStatistics(NamedTuple):
    """What measured runs say of calls."""

    reliability: list[ReliabilityRecord]
    calls: list[CallCount]


def generalisation(
    agent: Agent, program: str, directory: RunDirectory | None, seconds: float, observed: CallStatistics
) -> GeneralisationRecord:
    """Success by size: what is stored, and what is missing of the program's test sizes, measured."""
    stored = None if directory is None else directory.scores(scored(agent))
    file, rows = (None, []) if stored is None else stored
    unknown = [row.program for row in rows if row.program not in agent.environment.library.names]
    if unknown:
        raise UsageError(f"{file}: scores of {unknown[0]!r}, no program of this agent; delete the file")
    scores = [_score(agent, row) for row in rows]
    notes = [] if file is None else [f"From {file.name} beside the weights."]
    origin = "stored"
    if directory is None or file != directory.card_file:  # a card is what its agent was published with
        known = {(row.size, row.mode) for row in rows if row.program == program}
        measured = _measured(agent, program, seconds, known)
        if measured.scores or not rows:
            origin, scores, notes = "measured", [*scores, *measured.scores], [*notes, measured.note]
    scores.sort(key=lambda score: (score.program != program, score.program, score.size, score.mode))
    return GeneralisationRecord(origin, " ".join(notes), scores, observed.reliability)


def _score(agent: Agent, row: StoredScore) -> ScoreRecord:
    low, high = wilson_interval(row.successes, row.episodes)
    return ScoreRecord(
        program=row.program,
        size=row.size,
        mode=row.mode,
        episodes=row.episodes,
        successes=row.successes,
        rate=row.successes / row.episodes,
        low=low,
        high=high,
        paper=registration(agent.card.environment).published_success(row.program, row.mode, row.size),
    )


def _measured(agent: Agent, program: str, seconds: float, known: Set[tuple[int, str]]) -> GeneralisationRecord:
    """Small sizes first, both modes of a size together, one instance at a time until the time is used up."""
    deadline = time.monotonic() + seconds
    scores: list[ScoreRecord] = []
    skipped: list[int] = []
    smallest = agent.environment.library.named(program).minimum_size
    modes: tuple[Mode, ...] = ("greedy", "planning")
    for size in sorted(set(agent.environment.test_sizes)):
        if size < smallest:
            continue
        missing = [mode for mode in modes if (size, mode) not in known]
        if not missing:
            continue
        rows = [_successes(agent, program, size, mode, deadline) for mode in missing if not skipped]
        if None in rows or not rows:
            skipped.append(size)
        scores += [_score(agent, row) for row in rows if row is not None and not skipped]
    note = f"Measured for this report: {_EPISODES} instances per size, seeds 0 to {_EPISODES - 1}."
    if skipped:
        note += f" Left out for time: {', '.join(map(str, skipped))}; `alphanpi eval --sizes` measures them."
    return GeneralisationRecord("measured", note, scores, [])


def _successes(agent: Agent, program: str, size: int, mode: Mode, deadline: float) -> StoredScore | None:
    """How many instances are solved; None where there is no time for all instances, or one takes very many actions."""
    successes, most = 0, _MOST_ACTIONS if mode == "greedy" else _MOST_TRIED
    for seed in range(_EPISODES):
        if time.monotonic() > deadline:
            return None
        [score] = evaluate(agent, program, [size], episodes=1, mode=mode, seed=seed, max_actions=most, keep=False)
        if Failure.ACTIONS.name.lower() in score.failures:
            return None
        successes += score.successes
    return StoredScore(program=program, size=size, mode=mode, episodes=_EPISODES, successes=successes)


def observe_calls(agent: Agent, program: str, seed: int = 0) -> CallStatistics:
    """Run instances of the validation size greedily and count who calls whom, and which calls fail."""
    library = agent.environment.library
    entry, guard = library.named(program), agent.guard
    size = max(entry.size_to_validate(agent.environment.validation_size), entry.minimum_size)
    calls = [
        Call(program, guard.initial(program, size, np.random.default_rng((seed, size, episode))))
        for episode in range(_RELIABILITY_EPISODES)
    ]
    executions = agent.interpreter.run(calls, Recording(steps=0), _MOST_ACTIONS)
    made: dict[str, int] = {program: len(calls)}
    failed: dict[str, int] = {}
    counts: dict[tuple[str, str], int] = {}
    for execution in executions:
        assert execution.tally is not None
        for (caller, action), count in execution.tally.choices.items():
            called = library.called(action)
            counts[caller, called.name] = counts.get((caller, called.name), 0) + count
            if not called.atomic:
                made[called.name] = made.get(called.name, 0) + count
        if execution.culprit is not None and execution.failure != Failure.ACTIONS:
            failed[execution.culprit.program] = failed.get(execution.culprit.program, 0) + 1
    reliability = []
    for one in library.learned:
        if made.get(one.name):
            number, failures = made[one.name], failed.get(one.name, 0)
            low, high = wilson_interval(number - failures, number)
            reliability.append(ReliabilityRecord(one.name, number, failures, 1 - failures / number, low, high))
    index = library.index_of
    return CallStatistics(
        reliability,
        [CallCount(index(caller), index(action), count) for (caller, action), count in sorted(counts.items())],
    )
