"""Running a program of an agent on an instance as a user types it."""

from __future__ import annotations

import time
from typing import NamedTuple

from alphanpi.agent.agent import MAX_ACTIONS, Mode, RunFailed
from alphanpi.agent.instances import Instance, text_of
from alphanpi.agent.interpreter import Execution, Recording
from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent


class Answer(NamedTuple):
    """What a program gave."""

    program: str
    instance: str
    result: str  # as a user reads it; of a run that failed, why
    success: bool
    seconds: float


def run(
    run: Subject,
    program: str,
    instance: Instance,
    *,
    mode: Mode = "greedy",
    max_actions: int = MAX_ACTIONS,
    environment: NamedEnvironment = None,
) -> Answer:
    """Run a program; an instance that is not solved is an answer, too.

    Args:
        run: An agent, or what `load` takes.
        program: Its name.
        instance: As the environment reads it, for example "5 3 9 1", 3 or [5, 3, 9, 1]; or a state.
        mode: The network alone, or with search.
        max_actions: A run of more, those of nested calls too, fails.
        environment: The agent's environment, if `run` names one that is not trusted; see `load`.
    """
    agent = as_agent(run, environment=environment)
    began = time.perf_counter()
    try:
        result, success = agent.run(program, instance, mode, max_actions), True
    except RunFailed as failure:
        result, success = str(failure), False
    return Answer(program, text_of(agent.guard, instance), result, success, time.perf_counter() - began)


def trace(
    run: Subject,
    program: str,
    instance: Instance,
    *,
    recording: Recording | None = None,
    max_actions: int = MAX_ACTIONS,
    environment: NamedEnvironment = None,
) -> Execution:
    """Run a program greedily and keep its steps: all, or those the recording says; arguments as for `run`."""
    return as_agent(run, environment=environment).trace(program, instance, recording, max_actions)
