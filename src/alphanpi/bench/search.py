"""Speed of the search beside that of the oracle: ratios, in one run on one machine."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from alphanpi.bench import oracle
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search, Statistics
from alphanpi.environment.guard import Guard
from alphanpi.environment.registry import make
from alphanpi.environment.specification import Environment
from alphanpi.network.config import NetworkConfig
from alphanpi.network.evaluator import UNBOUNDED
from alphanpi.network.model import CompiledEvaluator, NPINetwork, create_network
from alphanpi.network.torch_evaluator import TorchEvaluator
from alphanpi.support import limits

_FORWARD_ROWS = 256
_ENGINE_RUNS = 7
_SORTING_PROGRAMS = ("RSHIFT", "LSHIFT", "COMPSWAP", "RESET", "BUBBLE", "BUBBLESORT")


class SearchCase(NamedTuple):
    """What `bench search` measures: a program, an instance size, and the search that solves it."""

    case: str
    environment: str
    program: str
    size: int
    config: SearchConfig


class SearchResult(NamedTuple):
    """Speed of the engine and of the oracle on the same episodes, tables cold."""

    case: str
    engine_simulations_per_s: float
    oracle_simulations_per_s: float
    ratio: float
    evaluations: int
    evaluations_per_s: float
    evaluation_fraction_of_bare_forward: float
    simulations: int
    seconds: float
    engine_megabytes: float
    peak_process_megabytes: float


def search_cases() -> list[SearchCase]:
    """Hanoi as in the paper, and every program of every sorting environment.

    Failed calls are penalised, not discarded: with an untrained network a discarding search of a program that calls
    others ends at once and measures nothing.
    """
    hanoi = SearchConfig(simulations=1500, noise_fraction=0.5, noise_concentration=0.5)
    sorting = SearchConfig(simulations=200)
    cases = [SearchCase("hanoi/HANOI", "hanoi", "HANOI", 2, hanoi)]
    for environment in ("sorting", "recursive-sorting"):
        cases += [
            SearchCase(f"{environment}/{program}", environment, program, 4, sorting) for program in _SORTING_PROGRAMS
        ]
    cases.append(SearchCase("flat-sorting/BUBBLESORT", "flat-sorting", "BUBBLESORT", 4, sorting))
    return cases


def bench_search(
    cases: Sequence[SearchCase] | None = None,
    episodes: int = 20,
    oracle_seconds: float = 5.0,
    seed: int = 0,
    on_result: Callable[[SearchResult], None] | None = None,
) -> list[SearchResult]:
    """Measure engine and oracle on each case.

    The engine plays all episodes side by side, several times before and after the oracle, each time with empty tables;
    the median counts. The oracle plays the same episodes one after another until its time is up, at least one; it calls
    the network with one row at a time, its fastest way.
    """
    limits.whole("episodes", episodes, most=limits.MOST_EPISODES)
    limits.seconds("oracle seconds", oracle_seconds)  # 0: one episode of each case
    limits.seed(seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    results = []
    for case in cases if cases is not None else search_cases():
        results.append(_measure(case, episodes, oracle_seconds, seed))
        if on_result is not None:
            on_result(results[-1])
    torch.set_num_threads(threads)
    return results


def _measure(case: SearchCase, episodes: int, oracle_seconds: float, seed: int) -> SearchResult:
    environment = make(case.environment)
    network = create_network(environment, seed, NetworkConfig(window=UNBOUNDED))
    requests = list(_requests(environment, case, episodes, seed))
    evaluator = CompiledEvaluator(network)
    Search(environment, evaluator, case.config).run(requests[:1])  # compiles
    runs = [_engine_run(environment, evaluator, case, requests) for _ in range(_ENGINE_RUNS)]
    oracle_per_second = _oracle_speed(environment, network, case, requests, oracle_seconds)
    runs += [_engine_run(environment, evaluator, case, requests) for _ in range(_ENGINE_RUNS)]
    seconds, statistics = median(run.seconds for run in runs), runs[-1]
    per_second = statistics.simulations / seconds
    evaluations_per_second = statistics.evaluations / seconds
    return SearchResult(
        case=case.case,
        engine_simulations_per_s=round(per_second, 1),
        oracle_simulations_per_s=round(oracle_per_second, 1),
        ratio=round(per_second / oracle_per_second, 1),
        evaluations=statistics.evaluations,
        evaluations_per_s=round(evaluations_per_second, 1),
        evaluation_fraction_of_bare_forward=round(
            evaluations_per_second / bare_forward_rows_per_second(network, len(environment.fields)), 4
        ),
        simulations=statistics.simulations,
        seconds=round(seconds, 4),
        engine_megabytes=round(statistics.peak_bytes / 2**20, 1),
        peak_process_megabytes=round(_peak_megabytes(), 1),
    )


def _engine_run(
    environment: Environment[Any], evaluator: CompiledEvaluator, case: SearchCase, requests: Sequence[Request]
) -> Statistics:
    """One run with empty tables; the seconds are those of the search alone."""
    engine = Search(environment, evaluator, case.config)
    engine.run(requests)
    return engine.statistics


def _requests(environment: Environment[Any], case: SearchCase, episodes: int, seed: int) -> Iterator[Request]:
    guard = Guard(environment)
    for episode in range(episodes):
        state = guard.initial(case.program, case.size, np.random.default_rng((seed, episode)))
        yield Request(case.program, state, (seed, episode), exploring=True)


def _oracle_speed(
    environment: Environment[Any],
    network: NPINetwork,
    case: SearchCase,
    requests: Sequence[Request],
    limit: float,
) -> float:
    evaluator = TorchEvaluator(network, shapes=(1,))
    simulations, began = 0, time.perf_counter()
    for request in requests:
        result = oracle.search(
            environment, evaluator, case.config, request.program, request.state, request.seed, exploring=True
        )
        simulations += result.simulations
        if time.perf_counter() - began > limit:
            break
    return simulations / (time.perf_counter() - began)


def bare_forward_rows_per_second(network: NPINetwork, fields: int, rows: int = _FORWARD_ROWS) -> float:
    """Rows per second of the torch module alone, in one large batch on one thread: the yardstick."""
    units = network.config.memory
    programs, observations = torch.zeros(rows, dtype=torch.int64), torch.zeros(rows, fields)
    hidden, cell = torch.zeros(rows, units), torch.zeros(rows, units)
    with torch.inference_mode():
        for _ in range(5):
            network(programs, observations, hidden, cell)
        repeats, began = 30, time.perf_counter()
        for _ in range(repeats):
            network(programs, observations, hidden, cell)
    return repeats * rows / (time.perf_counter() - began)


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
