"""The gradient step is the paper's, whatever is shared."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi import NetworkConfig, create_network, make
from alphanpi.learn.unroll import loss, make_batch
from alphanpi.network.model import masked_log_softmax
from tests.helpers.replays import filled_replay


def gradient(parameter) -> torch.Tensor:
    """Zero for what has no part in the loss, as the weights between steps where a window holds one."""
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


@pytest.mark.parametrize("observation", ["paper", "compare"])
@pytest.mark.parametrize("window", [1, 3])
def test_the_shared_gradient_is_the_gradient_of_every_window_unrolled(observation, window):
    environment = make("sorting", observation=observation)
    replay = filled_replay(environment)
    traces, shares = replay.everything(np.ones(6), np.full(6, 0.6))
    network = create_network(environment, 3, NetworkConfig(window=window))
    batch = make_batch(traces, replay, window=window, shares=shares)
    result = loss(network, batch, 0.5)
    result.total.backward()
    shared = {name: gradient(parameter).clone() for name, parameter in network.named_parameters()}
    network.zero_grad()

    policy_terms, value_terms, weights, counts = [], [], [], []
    rows, masks = replay.observations.array(), replay.legal.array().astype(bool)
    for trace, share in zip(traces, shares.tolist(), strict=True):
        weight = share * max(trace.value, 0.0) if trace.success else 0.0
        for step in range(len(trace.observations)):
            hidden = cell = torch.zeros(1, network.config.memory)
            for place in range(max(0, step + 1 - window), step + 1):
                seen = torch.from_numpy(rows[trace.observations[place]][None].astype(np.float32))
                before = torch.tensor([int(trace.previous[place])])
                output = network(torch.tensor([trace.program]), seen, hidden, cell, before)
                hidden, cell = output.hidden, output.cell
            legal = torch.from_numpy(masks[trace.legal[step]][None])
            log_policy = masked_log_softmax(output.logits, legal).masked_fill(~legal, 0.0)
            target = torch.from_numpy(trace.policies[step]).clamp(min=0.01).log()
            policy_terms.append(weight * (log_policy.exp() * legal * (log_policy - target)).sum())
            value_terms.append(share * (output.value - trace.value) ** 2)
            weights.append(weight)
            counts.append(share)
    policy = torch.stack(policy_terms).sum() / sum(weights)
    value = torch.cat(value_terms).sum() / sum(counts)
    (policy + 0.5 * value).backward()

    assert result.policy == pytest.approx(policy.item(), rel=1e-4)
    assert result.value == pytest.approx(value.item(), rel=1e-4)
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(shared[name], gradient(parameter), rtol=1e-3, atol=1e-5)
    assert len(batch.value_counts) < sum(len(trace.observations) for trace in traces)  # something was shared
