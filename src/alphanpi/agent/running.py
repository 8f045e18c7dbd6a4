"""Running a program of an agent on an instance as a user types it, or on one that is drawn."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from alphanpi.agent.agent import MAX_ACTIONS, Mode, RunFailed
from alphanpi.agent.interpreter import Execution, Recording
from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.environment.guard import NO_FURTHER_SIZES
from alphanpi.environment.instances import Instance


class Answer(NamedTuple):
    """What a program gave."""

    program: str
    instance: str
    result: str  # as a user reads it; of a run that failed, why
    success: bool
    seconds: float
    size: int | None = None  # of an instance that was drawn, and its seed
    seed: int | None = None


def run(
    run: Subject,
    program: str | None = None,
    instance: Instance = None,
    *,
    size: int | None = None,
    seed: int | None = None,
    further: Mapping[str, int] = NO_FURTHER_SIZES,
    mode: Mode = "greedy",
    max_actions: int = MAX_ACTIONS,
    environment: NamedEnvironment = None,
) -> Answer:
    """Run a program; an instance that is not solved is an answer, too.

    Args:
        run: An agent, or what `load` takes.
        program: Its name; the last one if omitted.
        instance: As the environment reads it, for example "5 3 9 1", 3 or [5, 3, 9, 1], or a state. If omitted, an
            example of a built-in environment, or one that the environment draws.
        size: Draw one of this size; the validation size by default.
        seed: Draw with this seed; 0 by default.
        further: Draw one of these further sizes.
        mode: The network alone, or with search.
        max_actions: A run of more, those of nested calls too, fails.
        environment: The agent's environment, if `run` names one that is not trusted; see `load`.
    """
    agent = as_agent(run, environment=environment)
    problem = agent.problem(program, instance, size=size, seed=seed, further=further)
    began = time.perf_counter()
    try:
        result, success = agent.run(problem.program, problem, mode, max_actions), True
    except RunFailed as failure:
        result, success = str(failure), False
    seconds = time.perf_counter() - began
    return Answer(problem.program, problem.text, result, success, seconds, problem.size, problem.seed)


def trace(
    run: Subject,
    program: str | None = None,
    instance: Instance = None,
    *,
    size: int | None = None,
    seed: int | None = None,
    further: Mapping[str, int] = NO_FURTHER_SIZES,
    recording: Recording | None = None,
    max_actions: int = MAX_ACTIONS,
    environment: NamedEnvironment = None,
) -> Execution:
    """Run a program greedily and keep its steps: all, or those the recording says; arguments as for `run`."""
    agent = as_agent(run, environment=environment)
    problem = agent.problem(program, instance, size=size, seed=seed, further=further)
    return agent.trace(problem.program, problem, recording, max_actions)
