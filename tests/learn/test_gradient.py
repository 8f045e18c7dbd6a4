"""The gradient step is the paper's, whatever is shared."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi import create_network, make
from alphanpi.learn.unroll import forward, loss, make_batch
from alphanpi.network.model import masked_log_softmax
from tests.helpers.replays import filled_replay


def gradient(parameter) -> torch.Tensor:
    assert parameter.grad is not None
    gradient: torch.Tensor = parameter.grad
    return gradient


@pytest.mark.parametrize("observation", ["paper", "compare"])
def test_the_shared_gradient_is_the_gradient_of_every_trace_unrolled(observation):
    environment = make("sorting", observation=observation)
    replay = filled_replay(environment)
    traces = replay.sample(np.ones(6), 40, np.full(6, 0.6), np.random.default_rng(0))
    network = create_network(environment, 3)
    batch = make_batch(traces, replay, weight_by_value=True, unrolled=True)
    result = loss(network, batch, 0.5)
    result.total.backward()
    shared = {name: gradient(parameter).clone() for name, parameter in network.named_parameters()}
    network.zero_grad()

    policy_terms, value_terms, weights = [], [], []
    rows, masks = replay.observations.array(), replay.legal.array().astype(bool)
    for trace in traces:
        hidden = cell = torch.zeros(1, network.config.memory)
        weight = max(trace.value, 0.0) if trace.success else 0.0
        for step in range(len(trace.observations)):
            seen = torch.from_numpy(rows[trace.observations[step]][None].astype(np.float32))
            output = network(torch.tensor([trace.program]), seen, hidden, cell)
            hidden, cell = output.hidden, output.cell
            legal = torch.from_numpy(masks[trace.legal[step]][None])
            log_policy = masked_log_softmax(output.logits, legal).masked_fill(~legal, 0.0)
            policy_terms.append(-weight * (torch.from_numpy(trace.policies[step]) * log_policy).sum())
            value_terms.append((output.value - trace.value) ** 2)
            weights.append(weight)
    policy = torch.stack(policy_terms).sum() / sum(weights)
    value = torch.cat(value_terms).mean()
    (policy + 0.5 * value).backward()

    assert result.policy == pytest.approx(policy.item(), rel=1e-4)
    assert result.value == pytest.approx(value.item(), rel=1e-4)
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(shared[name], parameter.grad, rtol=1e-3, atol=1e-5)
    assert len(batch.value_counts) < int(batch.value_counts.sum())  # something was shared


def test_stored_memories_give_single_steps():
    environment = make("sorting")
    replay = filled_replay(environment, keep_memories=True)
    steps = replay.sample_steps(50, 0.5, np.random.default_rng(0))
    assert all(len(step.observations) == 1 for step in steps)
    batch = make_batch(steps, replay, weight_by_value=False, unrolled=False)
    network = create_network(environment, 0)  # the weights the traces were played with
    logits, _ = forward(network, batch)
    later = next(i for i, step in enumerate(steps) if np.abs(step.memories).max() > 0)
    memory = torch.from_numpy(steps[later].memories)
    seen = torch.from_numpy(replay.observations.array()[steps[later].observations].astype(np.float32))
    expected = network(torch.tensor([steps[later].program]), seen, memory[:, :128], memory[:, 128:])
    torch.testing.assert_close(logits[later], expected.logits[0], rtol=1e-4, atol=1e-5)
