"""Batches of situations hold what the traces hold, and more of what is not yet learned."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from alphanpi import NetworkConfig, create_network, make
from alphanpi.learn.situation_table import SituationTable
from alphanpi.learn.unroll import forward, loss, make_batch
from tests.helpers.replays import filled_replay


def whole(replay, window: int = 1, bars=None):
    traces, shares = replay.everything(np.array([1.0, 1, 3, 1, 1, 1]), np.full(6, 0.75))
    return make_batch(traces, replay, weight_by_value=True, unrolled=True, window=window, shares=shares, bars=bars)


def test_every_trace_counts_as_often_as_it_would_be_drawn():
    replay = filled_replay(make("sorting"))
    traces, shares = replay.everything(np.array([1.0, 1, 3, 1, 1, 1]), np.full(6, 0.75))
    assert shares.sum() == pytest.approx(1)
    for program, of_all in ((0, 0.25), (2, 0.75)):  # RSHIFT and COMPSWAP, weights 1 and 3
        won = sum(
            share for trace, share in zip(traces, shares, strict=True) if trace.program == program and trace.success
        )
        mixed = (program, False) in replay.rings
        assert won == pytest.approx(of_all * (0.75 if mixed else 1))
    assert any(not success for _, success in replay.rings)


@pytest.mark.parametrize("window", [1, 2, 3])
def test_a_part_is_computed_like_the_whole(window):
    environment = make("sorting")
    replay = filled_replay(environment)
    network = create_network(environment, 1, NetworkConfig(window=window))
    every = whole(replay, window)
    part = SituationTable.of(every, network).draw(12, np.random.default_rng(0))
    assert float(part.value_counts.sum()) == pytest.approx(12)
    assert len(part.value_counts) < len(every.value_counts)
    with torch.no_grad():
        logits, values = forward(network, every)
        own_logits, own_values = forward(network, part)
    for pair, node in enumerate(part.nodes.tolist()):
        near = (logits - own_logits[node]).abs().max(dim=1).values < 1e-5
        assert near.any()
        assert (values[near] - own_values[node]).abs().max() < 1e-5
        # The targets are those of the whole, per time drawn.
        places = [place for place, at in enumerate(every.nodes.tolist()) if near[at]]
        means = [every.policies[place] / every.pair_successes[place].clamp(min=1e-12) for place in places]
        drawn = part.policies[pair] / part.pair_shares[pair]
        assert any(torch.allclose(drawn, mean, atol=1e-5) for mean in means)


def test_failures_do_not_make_what_succeeds_in_a_situation_count_less():
    replay = filled_replay(make("sorting"))
    network = create_network(make("sorting"), 1, NetworkConfig(window=1))
    every = whole(replay)
    part = SituationTable.of(every, network).draw(200, np.random.default_rng(0))
    tried = (part.pair_successes > 0) & (part.pair_weights > 0)
    assert tried.any()
    values = (part.pair_weights / part.pair_shares)[tried]
    assert values.min() > 0.8  # the discounted value of a success, whatever share of the traces succeeded
    assert values.max() <= 1


def test_what_the_network_does_not_agree_with_is_drawn_more_often_until_it_does():
    environment = make("sorting", observation="compare")
    network = create_network(environment, 1, NetworkConfig(window=1))
    every = whole(filled_replay(environment))
    met = every.pair_shares.numpy().astype(float)
    before = SituationTable.of(every, network)

    def distance(found: SituationTable) -> float:
        return float(np.abs(found.probabilities - met / met.sum()).sum())

    optimiser = torch.optim.Adam(network.parameters(), 1e-2)
    rng = np.random.default_rng(0)
    for _ in range(150):
        optimiser.zero_grad()
        loss(network, before.draw(64, rng), 0.5).total.backward()
        optimiser.step()
    assert distance(before) > 0.1
    assert distance(SituationTable.of(every, network)) < distance(before) / 2


def test_the_last_successes_of_a_situation_say_what_to_do_there():
    replay = filled_replay(make("sorting", observation="compare"))
    traces, shares = replay.everything(np.ones(6), np.full(6, 0.75))
    batch_of = partial(make_batch, traces, replay, weight_by_value=True, unrolled=True, window=1, shares=shares)
    every, newest = batch_of(), batch_of(latest=1)
    counts = (every.pair_successes / newest.pair_successes.clamp(min=1e-12))[every.pair_successes > 0]
    assert counts.max() > 3
    assert torch.equal(every.pair_shares, newest.pair_shares)  # what is met is met
    last = {}
    for trace in traces:
        if trace.success:
            for step, observation in enumerate(trace.observations):
                last[trace.program, int(observation), int(trace.previous[step])] = trace.policies[step]
    used, layer = np.unique([row for trace in traces for row in trace.observations]), newest.layers[0]
    for pair, node in enumerate(newest.nodes.tolist()):
        key = int(layer.programs[node]), int(used[layer.observations[node]]), int(layer.previous[node])
        if newest.pair_weights[pair] > 0:
            found = newest.policies[pair] / newest.pair_weights[pair]
            np.testing.assert_allclose(found.numpy(), last[key], atol=1e-5)
