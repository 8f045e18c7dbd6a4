"""Measuring generalisation, here or by workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from alphanpi.agent import evaluation
from alphanpi.agent.agent import MAX_ACTIONS
from alphanpi.agent.evaluation import Measured, Score, Scores
from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.cluster.agents import spread_agent
from alphanpi.environment.guard import NO_FURTHER_SIZES


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
    workers: int | None = None,
    ray: str | None = None,
) -> Scores:
    """Run a program on random instances of each size; both modes see the same instances.

    Args:
        run: An agent, or what `load` takes.
        program: The last one if omitted.
        sizes: The environment's test sizes up to 100 if omitted.
        episodes: Instances per size.
        mode: The network alone, with search, or both.
        seed: Decides the instances.
        max_actions: An execution of more, those of nested calls too, fails: a program may be right and yet take
            exponential time.
        environment: The agent's environment, if `run` names one that is not trusted; see `load`.
        keep: Write the scores into the run's directory, if the agent is the newest of a run and neither `max_actions`
            nor `further` is given; reports show them.
        further: Values of the environment's `further_sizes`; those that are left out are drawn as in training.
        on_score: Called with each score.
        on_progress: Called every now and then inside a size.
        workers: Processes of Ray that run the instances; scores do not depend on them, times do.
        ray: Address of the cluster they are in; this machine if not given.
    """
    with spread_agent(as_agent(run, environment=environment), workers, ray) as agent:
        return evaluation.evaluate(
            agent,
            program,
            sizes,
            episodes=episodes,
            mode=mode,
            seed=seed,
            max_actions=max_actions,
            keep=keep,
            further=further,
            on_score=on_score,
            on_progress=on_progress,
        )
