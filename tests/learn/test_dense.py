"""Batches of a fixed shape have the loss and the gradient of those that share histories."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi import NetworkConfig, create_network, make
from alphanpi.learn.dense import DenseSituations, dense_loss, dense_traces, padded_length
from alphanpi.learn.recorded_step import RecordedStep
from alphanpi.learn.situation_table import SituationTable
from alphanpi.learn.unroll import loss, make_batch
from tests.helpers.replays import filled_replay


def assert_same(network, batch, dense, consensus: float = 0.3) -> None:
    shared = loss(network, batch, 0.5, consensus)
    shared.total.backward()
    expected = [parameter.grad for parameter in network.parameters()]
    network.zero_grad(set_to_none=True)
    side_by_side = dense_loss(network, dense, 0.5, consensus)
    side_by_side.total.backward()
    assert side_by_side.policy.item() == pytest.approx(shared.policy, rel=1e-4)
    assert side_by_side.value.item() == pytest.approx(shared.value, rel=1e-4)
    for parameter, gradient in zip(network.parameters(), expected, strict=True):
        assert (parameter.grad is None) == (gradient is None)
        if gradient is not None:
            torch.testing.assert_close(parameter.grad, gradient, rtol=1e-3, atol=1e-6)
    assert any(gradient.abs().max() > 1e-4 for gradient in expected if gradient is not None)


@pytest.mark.parametrize("unrolled", [True, False])
def test_traces_side_by_side(unrolled):
    environment = make("sorting")
    replay = filled_replay(environment, keep_memories=not unrolled)
    rng = np.random.default_rng(0)
    traces = replay.sample(np.ones(6), 20, np.full(6, 0.6), rng) if unrolled else replay.sample_steps(20, 0.5, rng)
    batch = make_batch(traces, replay, weight_by_value=unrolled, unrolled=unrolled)
    dense = dense_traces(traces, replay, weight_by_value=unrolled, unrolled=unrolled, rows=23, device="cpu")
    assert dense.shape[1] == 23
    assert_same(create_network(environment, 3), batch, dense)


@pytest.mark.parametrize("window", [1, 3])
def test_situations_side_by_side(window):
    environment = make("sorting")
    replay = filled_replay(environment)
    traces, shares = replay.everything(np.ones(6), np.full(6, 0.75))
    whole = make_batch(traces, replay, weight_by_value=True, unrolled=True, window=window, shares=shares)
    network = create_network(environment, 1, NetworkConfig(window=window))
    table = SituationTable.of(whole, network)
    batch = table.draw(40, np.random.default_rng(5))
    dense = DenseSituations.of(table).draw(40, np.random.default_rng(5))
    assert dense.shape == (window, 40, 0)
    assert_same(network, batch, dense)


def test_lengths_are_few_and_no_shorter_than_what_they_hold():
    lengths = [padded_length(steps) for steps in range(1, 1000)]
    assert lengths == sorted(lengths)
    assert all(steps <= length <= 1.5 * steps for steps, length in enumerate(lengths, 1))
    assert len(set(lengths)) < 24


def test_a_step_clips_what_it_leaves_to_the_optimiser():
    environment = make("sorting")
    replay = filled_replay(environment)
    traces = replay.sample(np.ones(6), 20, np.full(6, 0.6), np.random.default_rng(0))
    dense = dense_traces(traces, replay, weight_by_value=True, unrolled=True, rows=20, device="cpu")
    network = create_network(environment, 3)
    measured = RecordedStep(network, 0.5, 1.0, 0.01).gradient(dense)
    norm = torch.stack([parameter.grad.norm() for parameter in network.parameters() if parameter.grad is not None])
    assert float(measured.norm) > 0.01
    assert float(norm.norm()) == pytest.approx(0.01, rel=1e-3)
