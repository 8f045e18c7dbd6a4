"""Solving an instance by search alone, without a trained agent."""

from __future__ import annotations

from typing import Any

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.search import Search
from alphanpi.environment.specification import Environment
from alphanpi.network.model import create_evaluator, create_network
from alphanpi.support.limits import MOST_SIMULATIONS, whole


def search(environment: Environment[Any], program: str, state: Any, *, simulations: int = 1500, seed: int = 0) -> Trace:
    """Solve one instance by search alone, with an untrained network in exploitation mode."""
    whole("simulations", simulations, most=MOST_SIMULATIONS)
    config = SearchConfig(simulations_exploitation=simulations)
    evaluator = create_evaluator(create_network(environment, seed))
    return Search(environment, evaluator, config).run([Request(program, state, seed)])[0]
