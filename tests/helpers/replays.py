"""Traces of an untrained agent, and a replay filled with them."""

from __future__ import annotations

import numpy as np

from alphanpi import NetworkConfig, SearchConfig, create_evaluator, create_network
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.learn.replay import Replay


def explored(environment, program: str, size: int, count: int, seed: int = 0, simulations: int = 60):
    config = SearchConfig(simulations=simulations)
    search = Search(environment, create_evaluator(create_network(environment, seed, NetworkConfig(window=0))), config)
    rng = np.random.default_rng(seed)
    return search.run([Request(program, environment.initial(program, size, rng), i, True) for i in range(count)])


def filled_replay(environment) -> Replay:
    replay = Replay(environment, capacity=100)
    for program in ("RSHIFT", "COMPSWAP"):
        for trace in explored(environment, program, 3, 30):
            replay.add(trace)
    return replay
