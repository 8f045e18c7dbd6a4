"""Batches of situations hold what the traces hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi import NetworkConfig, create_network, make
from alphanpi.learn.situation_table import SituationTable
from alphanpi.learn.unroll import forward, make_batch
from tests.helpers.replays import filled_replay


def whole(replay, window: int = 1, bars=None):
    traces, shares = replay.everything(np.array([1.0, 1, 3, 1, 1, 1]), np.full(6, 0.75))
    return make_batch(traces, replay, window=window, shares=shares, bars=bars)


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
    part = SituationTable.of(every).draw(12, np.random.default_rng(0))
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
        means = [every.log_policies[place] / every.pair_successes[place].clamp(min=1e-12) for place in places]
        drawn = part.log_policies[pair] / part.pair_shares[pair]
        assert any(torch.allclose(drawn, mean, atol=1e-5) for mean in means)


def test_failures_do_not_make_what_succeeds_in_a_situation_count_less():
    every = whole(filled_replay(make("sorting")))
    part = SituationTable.of(every).draw(200, np.random.default_rng(0))
    tried = (part.pair_successes > 0) & (part.pair_weights > 0)
    assert tried.any()
    values = (part.pair_weights / part.pair_shares)[tried]
    assert values.min() > 0.8  # the discounted value of a success, whatever share of the traces succeeded
    assert values.max() <= 1
