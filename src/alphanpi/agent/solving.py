"""Solving an instance by search alone, without a trained agent."""

from __future__ import annotations

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.search import Search
from alphanpi.environment.given import GivenEnvironment, as_environment
from alphanpi.environment.guard import Guard
from alphanpi.environment.instances import Instance, state_of
from alphanpi.environment.problems import Problem
from alphanpi.network.config import NetworkConfig
from alphanpi.network.evaluator import UNBOUNDED
from alphanpi.network.model import create_evaluator, create_network
from alphanpi.support.limits import MOST_SIMULATIONS, whole


def search(
    environment: GivenEnvironment, program: str, instance: Instance, *, simulations: int = 1500, seed: int = 0
) -> Trace:
    """Solve one instance by search alone, with an untrained network in exploitation mode.

    The environment is an id, a path, a class or an instance of one; the problem what `run` takes.
    """
    environment = as_environment(environment)
    state = instance.state if isinstance(instance, Problem) else state_of(Guard(environment), program, instance)
    whole("simulations", simulations, most=MOST_SIMULATIONS)
    config = SearchConfig(simulations_exploitation=simulations)
    # With a window, a search of one problem would be held to do the same in all states that look alike.
    evaluator = create_evaluator(create_network(environment, seed, NetworkConfig(window=UNBOUNDED)))
    return Search(environment, evaluator, config).run([Request(program, state, seed)])[0]
