"""Batches of a fixed shape have the loss and the gradient of those that share histories."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi import NetworkConfig, create_network, make
from alphanpi.learn.dense import DenseSituations, dense_loss
from alphanpi.learn.recorded_step import RecordedStep
from alphanpi.learn.situation_table import SituationTable
from alphanpi.learn.unroll import loss, make_batch
from tests.helpers.replays import filled_replay


def assert_same(network, batch, dense) -> None:
    shared = loss(network, batch, 0.5)
    shared.total.backward()
    expected = [parameter.grad for parameter in network.parameters()]
    network.zero_grad(set_to_none=True)
    side_by_side = dense_loss(network, dense, 0.5)
    side_by_side.total.backward()
    assert side_by_side.policy.item() == pytest.approx(shared.policy, rel=1e-4)
    assert side_by_side.value.item() == pytest.approx(shared.value, rel=1e-4)
    for parameter, gradient in zip(network.parameters(), expected, strict=True):
        assert (parameter.grad is None) == (gradient is None)
        if gradient is not None:
            torch.testing.assert_close(parameter.grad, gradient, rtol=1e-3, atol=1e-6)
    assert any(gradient.abs().max() > 1e-4 for gradient in expected if gradient is not None)


@pytest.mark.parametrize("window", [1, 3])
def test_situations_side_by_side(window):
    environment = make("sorting")
    replay = filled_replay(environment)
    traces, shares = replay.everything(np.ones(6), np.full(6, 0.75))
    whole = make_batch(traces, replay, window=window, shares=shares)
    network = create_network(environment, 1, NetworkConfig(window=window))
    table = SituationTable.of(whole)
    batch = table.draw(40, np.random.default_rng(5))
    dense = DenseSituations.of(table).draw(40, np.random.default_rng(5))
    assert dense.shape == (window, 40)
    assert_same(network, batch, dense)


def test_a_step_leaves_the_gradient_to_the_optimiser_and_measures_it():
    environment = make("sorting")
    replay = filled_replay(environment)
    traces, shares = replay.everything(np.ones(6), np.full(6, 0.6))
    network = create_network(environment, 3)
    table = SituationTable.of(make_batch(traces, replay, window=1, shares=shares))
    dense = DenseSituations.of(table).draw(20, np.random.default_rng(0))
    measured = RecordedStep(network, 0.5).gradient(dense)
    norm = torch.stack([parameter.grad.norm() for parameter in network.parameters() if parameter.grad is not None])
    assert float(measured.norm) == pytest.approx(float(norm.norm()), rel=1e-5)
    assert float(measured.norm) > 0.01
