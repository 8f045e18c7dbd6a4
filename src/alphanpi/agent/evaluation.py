"""Measuring generalisation: greedy and planning on the same instances, with one success rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from alphanpi.agent.agent import MAX_ACTIONS, Agent, Mode
from alphanpi.agent.compiling import compile_search
from alphanpi.agent.interpreter import Call, Execution, failure_counts
from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.environment.guard import NO_FURTHER_SIZES
from alphanpi.environment.problems import require_known
from alphanpi.environment.provenance import source_sha256
from alphanpi.errors import EnvironmentFault, SpecificationError, UsageError
from alphanpi.runs.records import ScoredAgent, StoredScore
from alphanpi.support import limits
from alphanpi.support.intervals import wilson_interval
from alphanpi.support.limits import percent
from alphanpi.support.markup import table
from alphanpi.support.optional import optional_module

_LARGEST_DEFAULT = 100
_QUICK = 0.5  # seconds after which there may be twice as many


class Score(NamedTuple):
    """Success of one program at one size in one mode."""

    program: str
    size: int
    mode: str
    episodes: int
    successes: int
    rate: float
    low: float  # 95 % Wilson interval
    high: float
    seconds_per_episode: float
    failures: dict[str, int]  # how often each reason occurred


class Scores(list[Score]):
    """Scores, one for each size and mode; a table in a notebook, and rows of a data frame."""

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row for each score; `pandas.DataFrame(scores)` is the same."""
        return optional_module("pandas", "to_pandas").DataFrame(list(self), columns=Score._fields)

    def _repr_html_(self) -> str:
        head = ("program", "size", "mode", "success", "rate", "95 % interval", "seconds each", "failures")
        return table(head, [_row(score) for score in self])


class Measured(NamedTuple):
    """How far a measurement is."""

    size: int
    mode: str
    done: int  # instances of this size and mode
    episodes: int


def evaluate(
    run: Subject,
    program: str | None = None,
    sizes: Sequence[int] | None = None,
    *,
    episodes: int = 40,
    mode: Literal["greedy", "planning", "both"] = "both",
    seed: int = 0,
    max_actions: int = MAX_ACTIONS,
    environment: NamedEnvironment = None,
    keep: bool = True,
    further: Mapping[str, int] = NO_FURTHER_SIZES,
    on_score: Callable[[Score], None] | None = None,
    on_progress: Callable[[Measured], None] | None = None,
) -> Scores:
    """Run a program on random instances of each size; both modes see the same instances.

    The public verb, which takes workers as well, describes the arguments: `alphanpi.evaluate`.
    """
    agent = as_agent(run, environment=environment)
    keep = keep and max_actions == MAX_ACTIONS and not further
    require_known(agent.guard, further)
    if keep and agent.run_directory is not None:
        agent.run_directory.scores(scored(agent))  # a damaged file is found before anything is measured
    if program is None:
        program = agent.environment.library.learned[-1].name
    if sizes is None:
        sizes = [size for size in agent.environment.test_sizes if size <= _LARGEST_DEFAULT]
    program = agent.environment.library.spelt(program)
    entry = agent.environment.library.named(program)
    if entry.atomic:
        raise UsageError(f"{program} is an atomic action; give a program")
    limits.whole("max_actions", max_actions, most=limits.MOST_ACTIONS)
    episodes = limits.whole("episodes", episodes, most=limits.MOST_EPISODES)
    seed = limits.seed(seed)
    if mode not in ("greedy", "planning", "both"):
        raise UsageError(f"unknown mode {mode!r}; there are greedy, planning and both")
    if not sizes:
        raise UsageError(f"{program}: no size to measure it at; give one or more sizes")
    modes: tuple[Mode, ...] = ("greedy", "planning") if mode == "both" else (mode,)
    scores = Scores()
    sizes = [limits.size(f"{program}: size", size) for size in sizes]
    for size in sizes:
        if size < entry.minimum_size:
            raise UsageError(f"{program} cannot start at size {size}; its smallest is {entry.minimum_size}")
    compile_search(agent.device)  # a time that is measured is not that of a compiler
    for size in sizes:
        calls = [
            Call(entry.runs, agent.guard.initial(program, size, np.random.default_rng((seed, size, episode)), further))
            for episode in range(episodes)
        ]
        for one in modes:
            score = _score(agent, calls, size, one, max_actions, on_progress)
            scores.append(score)
            if on_score is not None:
                on_score(score)
    if keep:
        rows = [StoredScore.model_validate({**score._asdict(), "seed": seed}) for score in scores]
        agent.keep(lambda directory: directory.keep_scores(scored(agent), rows))
    return scores


def scored(agent: Agent) -> ScoredAgent:
    """Whose scores they are."""
    return ScoredAgent(agent.weights_hash, source_sha256(type(agent.environment)))


def _row(score: Score) -> tuple[object, ...]:
    return (
        *(score.program, score.size, score.mode, f"{score.successes}/{score.episodes}", percent(score.rate)),
        f"{percent(score.low)} - {percent(score.high)}",
        f"{score.seconds_per_episode:.4f}",
        ", ".join(f"{reason} {count}" for reason, count in score.failures.items()),
    )


def _score(
    agent: Agent,
    calls: list[Call],
    size: int,
    mode: Mode,
    max_actions: int,
    told: Callable[[Measured], None] | None,
) -> Score:
    began = time.perf_counter()
    executions: list[Execution] = []
    together = len(calls) if told is None else agent.at_once
    try:
        while len(executions) < len(calls):
            if told is not None:
                told(Measured(size, mode, len(executions), len(calls)))
            first, before = len(executions), time.perf_counter()
            executions += agent.executions(calls[first : first + together], mode, max_actions=max_actions)
            if time.perf_counter() - before < _QUICK:
                together *= 2
    except (EnvironmentFault, SpecificationError) as fault:
        raise type(fault)(f"{fault} (measuring {calls[0].program} at size {size}, {mode})") from fault
    seconds = time.perf_counter() - began
    successes = sum(execution.success for execution in executions)
    low, high = wilson_interval(successes, len(calls))
    return Score(
        program=calls[0].program,
        size=size,
        mode=mode,
        episodes=len(calls),
        successes=successes,
        rate=successes / len(calls),
        low=low,
        high=high,
        seconds_per_episode=seconds / len(calls),
        failures=failure_counts(executions),
    )
