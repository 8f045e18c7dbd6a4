"""Networks that see the last observations of a call alone: the same for oracle, search, interpreter and learning."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import alphanpi
from alphanpi import NetworkConfig, Request, Search, SearchConfig, create_evaluator, create_network, make
from alphanpi.agent.weights import hash_of
from alphanpi.environment.guard import Guard
from alphanpi.learn.replay import Replay
from alphanpi.learn.situation_table import SituationTable, forward
from alphanpi.network.history_table import HistoryTable
from alphanpi.network.torch_evaluator import TorchEvaluator
from tests.helpers.searches import assert_equal, by_oracle, random_config, random_requests
from tests.helpers.tiny import raise_limit, tiny_run

SMALL = {
    "memory": 8,
    "observation_encoding": 4,
    "encoder_hidden": 8,
    "program_embedding": 4,
    "head_hidden": 8,
    "action_embedding": 4,
}
ENVIRONMENTS = ("hanoi", "sorting", "recursive-sorting-compare")


def network(environment, window: int, seed: int = 0):
    made = create_network(environment, seed, NetworkConfig(window=window, **SMALL))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(3)  # else every answer is nearly the same
    return made


@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_engine_equals_oracle(name, window):
    environment = make(name)
    for case in range(6):
        rng = np.random.default_rng((window, case))
        config, made = random_config(rng), network(environment, window, case)
        evaluator = create_evaluator(made) if case % 3 else TorchEvaluator(made, shapes=(1,))
        requests = random_requests(environment, rng, 3, case, together=4)
        traces = Search(environment, evaluator, config).run(requests)
        for request, trace in zip(requests, traces, strict=True):
            expected = by_oracle(environment, evaluator, config, request)
            assert_equal(trace, expected)


@pytest.mark.parametrize("window", [1, 2, 3])
def test_what_left_the_window_is_forgotten(window):
    environment = make("hanoi")
    table = HistoryTable(environment.library, create_evaluator(network(environment, window)))
    actions = len(environment.library)
    rng = np.random.default_rng(0)

    def observation():
        return tuple(int(bit) for bit in rng.integers(0, 2, len(environment.fields)))

    shared = [(int(rng.integers(1, actions)), observation()) for _ in range(window)]

    def said(first, tail):
        history = table.after(table.beginning(0), first)
        for taken, seen in tail:
            history = table.after(table.following(history, taken), seen)
        return table.logits[history].tolist(), history

    short, one = said(observation(), shared)
    long, other = said(observation(), [(1, observation()), (2, observation()), *shared])
    assert (short, one) == (long, other)
    # One action less in common shows, since the window reaches back to it.
    changed = [(shared[0][0] % (actions - 1) + 1, shared[0][1]), *shared[1:]]
    assert said(observation(), changed)[0] != short


def test_the_hash_of_an_agent_tells_windows_apart():
    environment = make("hanoi")
    hashes = [hash_of(network(environment, window)) for window in (1, 2, 3)]
    assert len(set(hashes)) == 3


def test_with_a_window_of_one_there_are_as_many_histories_as_observations_and_actions():
    environment = make("hanoi")
    search = Search(environment, create_evaluator(network(environment, 1)), SearchConfig(simulations=50))
    guard = Guard(environment)
    requests = [
        Request("HANOI", guard.initial("HANOI", 4, np.random.default_rng(seed)), (seed,), exploring=True)
        for seed in range(6)
    ]
    search.run(requests)
    observed = len({guard.observe(state) for state in search.world.states})
    assert 0 < search.statistics.evaluations <= observed * (1 + len(environment.library))


@pytest.mark.parametrize("window", [1, 2, 3])
def test_learning_computes_what_the_agent_sees(window):
    environment = make("sorting")
    guard, made = Guard(environment), network(environment, window)
    evaluator = create_evaluator(made)
    search = Search(environment, evaluator, SearchConfig(simulations=30))
    programs = ["RSHIFT", "LSHIFT", "COMPSWAP", "RESET"] * 4
    requests = [
        Request(program, guard.initial(program, 3, np.random.default_rng(seed)), (seed,), exploring=True)
        for seed, program in enumerate(programs)
    ]
    replay = Replay(environment, 100)
    for trace in search.run(requests):
        replay.add(trace)
    stored = [trace for ring in replay.rings.values() for trace in ring.traces]
    assert max(len(trace.observations) for trace in stored) > 3
    observations, table = replay.observations.array(), HistoryTable(environment.library, evaluator)
    for one in stored:
        situations = SituationTable.of([one], replay, window=window, shares=np.ones(1))
        count = len(situations.weights)
        with torch.no_grad():
            logits = forward(made, situations.batch(torch.arange(count), torch.ones(count))).logits.numpy()
        expected, context = set(), table.beginning(one.program)
        for step, row in enumerate(one.observations):
            history = table.after(context, tuple(int(entry) for entry in observations[row]))
            expected.add((history, int(one.legal[step])))
            distances = np.abs(logits - table.logits[history]).max(axis=1)
            assert distances.min() < 1e-5
            if step + 1 < len(one.observations):
                context = table.following(history, int(one.previous[step + 1]) - 1)
        assert count == len(expected)


def test_a_run_with_a_window_that_is_resumed_equals_one_that_never_stopped(tmp_path):
    changes = {"network.window": 2, "network.action_embedding": 3}
    tiny_run(tmp_path / "whole", iterations=15, changes=changes)
    tiny_run(tmp_path / "parts", iterations=12, changes=changes)
    raise_limit(tmp_path / "parts", 15)
    alphanpi.resume(tmp_path / "parts")
    agents = [alphanpi.load(tmp_path / name) for name in ("whole", "parts")]
    assert agents[0].weights_hash == agents[1].weights_hash
    assert agents[0].card.network.window == 2


def test_both_evaluators_agree_and_a_verification_compares_double_precision(tmp_path):
    environment = make("hanoi")
    made = network(environment, 2)
    compiled, torched = create_evaluator(made), TorchEvaluator(made, shapes=(4,))
    rng = np.random.default_rng(1)
    memory = rng.normal(size=(5, compiled.memory_width)).astype(np.float32)
    memory[:, -1] = [0, 1, 2, 3, 4]
    observations = rng.integers(0, 2, (5, len(environment.fields))).astype(np.int16)
    answers = [one.evaluate(np.zeros(5, np.int64), observations, memory) for one in (compiled, torched)]
    for one, other in zip(*answers, strict=True):
        assert np.allclose(one, other, atol=1e-5)
    assert (answers[0].memory[:, -1] == 0).all()
    tiny_run(tmp_path / "run", iterations=1, changes={"network.window": 2})
    certificate = alphanpi.verify(tmp_path / "run", max_size=2)
    numerics = certificate.programs[0].numerics
    assert numerics.same_decisions
    assert numerics.double_deviation is not None
    assert numerics.double_deviation < 1e-4
