"""The gradient step is that of every window unrolled, whatever is shared."""

from __future__ import annotations

from collections import defaultdict
from unittest.mock import patch

import numpy as np
import pytest
import torch

from alphanpi import NetworkConfig, create_network, make
from alphanpi.learn.recorded_step import RecordedStep
from alphanpi.learn.replay import Replay, StoredTrace
from alphanpi.learn.situation_table import Said, SituationTable, forward, loss
from alphanpi.network.model import masked_log_softmax
from tests.helpers.replays import filled_replay


def everything(replay, window: int = 1, bars=None) -> SituationTable:
    traces, shares = replay.everything(np.full(6, 0.75))
    return SituationTable.of(traces, replay, window=window, shares=shares, bars=bars)


def gradient(parameter) -> torch.Tensor:
    """Zero for what has no part in the loss, as the weights between steps where a window holds one."""
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()


@pytest.mark.parametrize("observation", ["paper", "compare"])
@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("bar", [0.0, 1.05])
def test_the_gradient_is_that_of_every_window_unrolled(observation, window, bar):
    environment = make("sorting", observation=observation)
    replay = filled_replay(environment)
    traces, shares = replay.everything(np.full(6, 0.75))
    network = create_network(environment, 3, NetworkConfig(window=window))
    bars = np.array([bar, 0, 0, 0, 0, 0])
    table = SituationTable.of(traces, replay, window=window, shares=shares, bars=bars)
    result = loss(network, table.batch(torch.arange(len(table.weights)), torch.from_numpy(table.probabilities)))
    result.total.backward()
    shared = {name: gradient(parameter) for name, parameter in network.named_parameters()}
    network.zero_grad()

    rows, masks = replay.observations.array(), replay.legal.array().astype(bool)
    met: defaultdict[tuple, float] = defaultdict(float)
    succeeded: defaultdict[tuple, float] = defaultdict(float)
    weight: defaultdict[tuple, float] = defaultdict(float)
    said: dict[tuple, torch.Tensor] = {}
    allowed: dict[tuple, torch.Tensor] = {}
    target: defaultdict[tuple, torch.Tensor] = defaultdict(lambda: torch.ones((), dtype=torch.float64))
    steps: list[tuple[tuple, float, torch.Tensor]] = []
    value = torch.zeros(1)
    for trace, share in zip(traces, shares.tolist(), strict=True):
        own = trace.value if trace.success else 0.0
        if trace.program == 0 and bar > trace.score:
            own *= np.exp((trace.score - bar) / 0.03)
        for step in range(len(trace.observations)):
            hidden = cell = torch.zeros(1, network.config.memory)
            places = range(max(0, step + 1 - window), step + 1)
            for place in places:
                seen = torch.from_numpy(rows[trace.observations[place]][None].astype(np.float32))
                before = torch.tensor([int(trace.previous[place])])
                output = network(torch.tensor([trace.program]), seen, hidden, cell, before)
                hidden, cell = output.hidden, output.cell
            legal = torch.from_numpy(masks[trace.legal[step]][None])
            log_policy = masked_log_softmax(output.logits, legal).masked_fill(~legal, 0.0)
            window_seen = tuple((int(trace.observations[place]), int(trace.previous[place])) for place in places)
            situation = (trace.program, int(trace.legal[step]), window_seen)
            met[situation] += share
            succeeded[situation] += share * trace.success
            weight[situation] += share * own
            said[situation], allowed[situation] = log_policy[0], legal[0]
            steps.append((situation, share * own, torch.from_numpy(trace.policies[step]).double().clamp(min=0.01)))
            value = value + share * (output.value - trace.value) ** 2
    scale = {one: met[one] / max(succeeded[one], 1e-12) for one in met}  # what succeeded says what to do
    for situation, own, policy in steps:
        target[situation] = target[situation] * policy ** (own / weight[situation] if weight[situation] else 0)
    policy_sum = torch.zeros(())
    for one in met:
        mean = (target[one] * allowed[one]).float()
        mean = mean / mean.sum()
        divergence = (mean * (mean.clamp(min=1e-30).log() - said[one])).sum()
        policy_sum = policy_sum + scale[one] * weight[one] * divergence
    policy_loss = policy_sum / sum(scale[one] * weight[one] for one in met)
    value_loss = value.sum() / sum(met.values())
    (policy_loss + value_loss).backward()

    assert result.policy.item() == pytest.approx(policy_loss.item(), rel=1e-4)
    assert result.value.item() == pytest.approx(value_loss.item(), rel=1e-4)
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(shared[name], gradient(parameter), rtol=1e-3, atol=1e-5)
    assert len(table.weights) == len(met) < sum(len(trace.observations) for trace in traces)  # something was shared


def test_what_to_do_is_what_is_good_wherever_it_looks_the_same():
    """Three states that look the same: in two A alone is right, in the third A and B are, as often."""
    environment = make("hanoi")
    replay = Replay(environment, 10)
    legal, width = np.ones(len(environment.library), np.int16), len(environment.library)
    only, either = np.eye(width)[1], (np.eye(width)[1] + np.eye(width)[2]) / 2
    seen = replay.observations.number(np.zeros(len(environment.fields), np.int16))
    for policy in (only, only, either):
        stored = StoredTrace(
            program=0,
            success=True,
            value=0.5,
            observations=np.array([seen], np.int32),
            legal=np.array([replay.legal.number(legal)], np.int32),
            previous=np.zeros(1, np.int32),
            policies=policy[None].astype(np.float32),
            score=1.0,
        )
        replay.put_back(0, True, [*(replay.rings[0, True].traces if replay.rings else []), stored], 0)
    traces, shares = replay.everything(np.ones(1))
    (mean,) = SituationTable.of(traces, replay, window=1, shares=shares).policies.tolist()
    # Roots of 1 * 1 * 0.5 and 0.01 * 0.01 * 0.5, and what is never right: 0.01; then divided by their sum.
    first, second, least = 0.5 ** (1 / 3), (0.01 * 0.01 * 0.5) ** (1 / 3), 0.01
    total = first + second + (width - 2) * least
    expected = [first if action == 1 else second if action == 2 else least for action in range(width)]
    assert mean == pytest.approx([one / total for one in expected], rel=1e-5)


def test_a_network_that_is_sure_of_what_is_wrong_is_told_so():
    """The gradient of the logits is what the network says less what is right, however sure it is."""
    environment = make("sorting")
    network, table = create_network(environment, 3), everything(filled_replay(environment))
    batch = table.batch(torch.arange(len(table.weights)), torch.ones(len(table.weights)))
    logits = (-30 * batch.policies).requires_grad_()
    with patch("alphanpi.learn.situation_table.forward", return_value=Said(logits, batch.values)):
        loss(network, batch).policy.backward()
    probability = torch.softmax(logits.detach().masked_fill(~batch.legal, -torch.inf), dim=1)
    expected = batch.weights[:, None] * (probability - batch.policies) / batch.weights.sum()
    torch.testing.assert_close(logits.grad, expected, rtol=1e-4, atol=1e-6)


def test_every_trace_counts_as_often_as_it_would_be_drawn():
    replay = filled_replay(make("sorting"))
    traces, shares = replay.everything(np.full(6, 0.75))
    assert shares.sum() == pytest.approx(1)
    for program in (0, 2):  # RSHIFT and COMPSWAP count alike
        won = sum(
            share for trace, share in zip(traces, shares, strict=True) if trace.program == program and trace.success
        )
        mixed = (program, False) in replay.rings
        assert won == pytest.approx(0.5 * (0.75 if mixed else 1))
    assert any(not success for _, success in replay.rings)


def test_situations_are_drawn_as_often_as_they_are_met():
    table = everything(filled_replay(make("sorting")))
    batch = table.draw(20_000, np.random.default_rng(0))
    drawn = np.zeros(len(table.weights))
    drawn[: len(batch.counts)] = batch.counts.numpy()
    assert batch.counts.sum() == 20_000
    assert len(batch.counts) == len(table.weights)  # each once, with how often it was drawn
    assert np.abs(drawn / 20_000 - table.probabilities).max() < 0.02


def test_failures_do_not_make_what_succeeds_in_a_situation_count_less():
    table = everything(filled_replay(make("sorting")))
    tried = table.weights > 0
    assert tried.any()
    assert table.weights[tried].min() > 0.8  # the discounted value of a success, whatever share of traces succeeded
    assert table.weights.max() <= 1


@pytest.mark.parametrize("window", [1, 3])
def test_a_device_computes_the_same_from_as_many_rows_in_every_batch(window):
    """Rows that were not drawn count for nothing."""
    environment = make("sorting")
    table = everything(filled_replay(environment), window)
    network = create_network(environment, 1, NetworkConfig(window=window))
    batch = table.draw(40, np.random.default_rng(5))
    picked = torch.zeros(40, dtype=torch.int64)
    counts = torch.zeros(40)
    times = np.random.default_rng(5).multinomial(40, table.probabilities)
    found = np.flatnonzero(times)
    assert batch.shape == (window, len(found))
    picked[: len(found)], counts[: len(found)] = torch.from_numpy(found), torch.from_numpy(times[found]).float()
    padded = table.batch(picked, counts)
    assert padded.shape == (window, 40)
    for one, other in zip(loss(network, batch), loss(network, padded), strict=True):
        assert one.item() == pytest.approx(other.item(), rel=1e-4)
    assert torch.allclose(forward(network, batch).logits, forward(network, padded).logits[: len(found)], atol=1e-5)


def test_a_step_leaves_the_gradient_to_the_optimiser_and_measures_it():
    environment = make("sorting")
    network = create_network(environment, 3)
    measured = RecordedStep(network).gradient(everything(filled_replay(environment)).draw(20, np.random.default_rng(0)))
    norm = torch.stack([parameter.grad.norm() for parameter in network.parameters() if parameter.grad is not None])
    assert float(measured.norm) == pytest.approx(float(norm.norm()), rel=1e-5)
    assert float(measured.norm) > 0.01
