"""Random searches, and what makes two traces equal."""

from __future__ import annotations

import numpy as np
import torch

from alphanpi import Failure, NetworkConfig, Request, SearchConfig, create_evaluator, create_network
from alphanpi.bench import oracle
from tests.helpers.networks import HashNetwork

ENVIRONMENTS = [
    ("hanoi", {}),
    ("sorting", {"observation": "paper"}),
    ("sorting", {"observation": "compare"}),
    ("recursive-sorting", {"observation": "paper"}),
    ("recursive-sorting", {"observation": "compare"}),
    ("flat-sorting", {"observation": "paper"}),
    ("flat-sorting", {"observation": "compare"}),
]


def random_config(rng: np.random.Generator) -> SearchConfig:
    return SearchConfig(
        simulations=int(rng.integers(1, 40)),
        simulations_exploitation=int(rng.integers(1, 8)),
        c_puct=float(rng.choice([0.5, 2.0])),
        c_level=float(rng.choice([0.0, 3.0])),
        q_temperature=float(rng.choice([0.5, 1.0, 3.0])),
        policy_temperature=float(rng.choice([1.0, 1.3])),
        recursion_penalty=float(rng.choice([0.0, 0.9])),
        recursion_penalty_where=str(rng.choice(["legal", "possible"])),
        noise_fraction=float(rng.choice([0.0, 0.25, 0.5])),
        noise_concentration=float(rng.choice([0.03, 0.5])),
        failed_call=str(rng.choice(["discard", "penalise"])),
        max_call_depth=int(rng.choice([2, 100])),
        max_nodes=int(rng.choice([15, 1000, 1000])),
    )


def random_evaluator(environment, rng: np.random.Generator):
    """A random network of random sharpness, or a hash in its place."""
    if rng.random() < 0.3:
        return HashNetwork(len(environment.library), int(rng.integers(10**6)), float(rng.choice([0.3, 3.0])))
    window = int(rng.choice([0, 0, 1, 2]))
    network = create_network(environment, int(rng.integers(10**6)), NetworkConfig(window=window))
    with torch.no_grad():
        for parameter in network.actor.parameters():
            parameter.mul_(float(rng.choice([1, 10, 30])))
    return create_evaluator(network)


def random_requests(environment, rng: np.random.Generator, count: int, seed: int, together: int = 1) -> list[Request]:
    """Episodes of one program, some of them with several problems where `together` is more than one."""
    learned = environment.library.learned
    chosen = learned[rng.integers(len(learned))]
    size = max(chosen.minimum_size, int(rng.integers(1, 5)))
    requests = []
    for episode in range(count):
        start, exploring = environment.initial(chosen.name, size, rng), bool(rng.integers(2))
        own = np.random.default_rng((seed, episode))
        further = tuple(
            environment.initial(chosen.name, max(chosen.minimum_size, int(own.integers(1, 5))), own)
            for _ in range(int(own.choice([0, 0, 1, 3])) if together > 1 else 0)
        )
        requests.append(Request(chosen.name, start, (seed, episode), exploring, further))
    return requests


def by_oracle(environment, evaluator, config: SearchConfig, request: Request):
    """What the oracle does with a request."""
    return oracle.search(
        environment,
        evaluator,
        config,
        request.program,
        request.state,
        request.seed,
        request.exploring,
        request.further,
    )


def assert_equal(trace, expected) -> None:
    assert trace.failure == expected.failure
    assert trace.success == (expected.failure == Failure.NONE)
    if expected.failure == Failure.CALL_DEPTH:
        return  # raised from inside a nested search: the oracle has no trace then
    assert trace.actions.tolist() == expected.actions
    assert trace.visits.tolist() == expected.visits
    assert trace.policies.tolist() == expected.policies
    assert list(trace.states) == expected.states
    assert trace.final == expected.final
    assert trace.value == expected.value
    worth = [value for value, action in zip(trace.values.tolist(), expected.actions, strict=True) if action == 0]
    assert worth[: len(expected.worth)] == expected.worth
    if expected.failure in (Failure.NONE, Failure.POST, Failure.DEPTH):
        assert trace.simulations == expected.simulations
