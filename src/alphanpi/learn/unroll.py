"""The loss of traces, each distinct history computed once.

Steps before which the agent saw the same share their network evaluations, just as in the search: traces become a trie
over what the window holds, and the loss of a node is the sum over all steps that pass through it. The gradient is
exactly that of unrolling every window from a zero memory, at a fraction of the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alphanpi.learn.replay import Replay, StoredTrace
from alphanpi.network.model import NPINetwork, masked_log_softmax

_FLOOR = 0.01  # least probability of a target whose logarithm is taken
_SCORE_SCALE = 0.03  # by which a trace's score may fall short for its weight to fall to 1/e


class Layer(NamedTuple):
    """The distinct histories of one length. N nodes."""

    parents: Tensor  # [N] node of the layer before; for the first layer unused
    programs: Tensor  # [N]
    observations: Tensor  # [N] row of Batch.observations
    previous: Tensor  # [N] action before, as a memory holds it


class Batch(NamedTuple):
    """A batch of traces as a trie. U histories in all, J pairs of a history and a legal set."""

    layers: tuple[Layer, ...]
    observations: Tensor  # [O, fields] distinct observations
    nodes: Tensor  # [J] history of each pair
    legal: Tensor  # [J, A]
    log_policies: Tensor  # [J, A] weighted sum of the targets' logarithms, those below a floor raised to it
    pair_weights: Tensor  # [J] sum of the weights
    pair_shares: Tensor  # [J] sum of the shares of the steps
    pair_successes: Tensor  # [J] the same of traces that succeeded
    policy_weight: float  # sum of all weights
    value_counts: Tensor  # [U] sum of the shares of the steps that pass through a history
    value_means: Tensor  # [U] their mean value
    value_variance: float  # mean squared distance of values from their history's mean: the loss nothing can remove


class Steps(NamedTuple):
    """All steps of some traces, one after another. S steps."""

    owner: NDArray[np.int64]  # [S] trace
    step: NDArray[np.int64]  # [S] number in the trace
    observed: NDArray[np.int64]  # [S] row in the replay's table of observations
    legal: NDArray[np.int64]  # [S] row in its table of legal sets
    previous: NDArray[np.int64]  # [S] action before, as a memory holds it
    policies: NDArray[np.float32]  # [S, A]
    values: NDArray[np.float32]  # [S]
    counted: NDArray[np.float32]  # [S] how much each counts
    programs: NDArray[np.int64]  # [traces]
    success: NDArray[np.bool_]  # [S]
    weights: NDArray[np.float32]  # [S] in the policy loss

    @property
    def log_policies(self) -> NDArray[np.float32]:
        """Logarithms of the targets, those below a floor raised to it; [S, A]."""
        return np.log(np.maximum(self.policies, _FLOOR))


class Loss(NamedTuple):
    """The paper's two terms, per step."""

    total: Tensor
    policy: float
    value: float


def make_batch(
    traces: Sequence[StoredTrace],
    replay: Replay,
    *,
    window: int,
    shares: NDArray[np.float64],
    bars: NDArray[np.float64] | None = None,
    device: str = "cpu",
) -> Batch:
    """Arrange traces for one gradient step.

    Args:
        traces: What to learn from.
        replay: Where they come from.
        window: How many observations the network sees.
        shares: How much each trace counts.
        bars: For each program the score below which a trace has less weight in the policy loss, if any.
        device: Where the batch goes.
    """
    steps = steps_of(traces, shares, bars)
    owner, step, previous, legal = steps.owner, steps.step, steps.previous, steps.legal
    values, counted, success, weights = steps.values, steps.counted, steps.success, steps.weights
    program = steps.programs[owner]

    observations, rows = _distinct_observations(replay.observations.array(), steps.observed)
    layers, node_of_step = _windows(step, rows, previous, program, window, len(observations))
    count = sum(len(level.programs) for level in layers)
    counts = np.bincount(node_of_step, counted, minlength=count)
    means = np.bincount(node_of_step, values * counted, minlength=count) / np.where(counts > 0, counts, 1)

    sets = replay.legal.array().astype(bool)
    pairs, pair_of_step = np.unique(node_of_step * len(sets) + legal, return_inverse=True)
    order = np.argsort(pair_of_step, kind="stable")
    first_of_pair = np.searchsorted(pair_of_step[order], np.arange(len(pairs)))

    def summed(rows: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.add.reduceat((rows * weights[:, None])[order], first_of_pair)

    def on_device(array: NDArray[np.generic]) -> Tensor:
        array = array.astype(np.float32) if array.dtype == np.float64 else array
        return torch.from_numpy(array).to(device)

    return Batch(
        layers=tuple(Layer(*(on_device(array) for array in level)) for level in layers),
        observations=on_device(observations.astype(np.float32)),
        nodes=on_device(pairs // len(sets)),
        legal=on_device(sets[pairs % len(sets)]),
        log_policies=on_device(summed(steps.log_policies)),
        pair_weights=on_device(np.bincount(pair_of_step, weights)),
        pair_shares=on_device(np.bincount(pair_of_step, counted)),
        pair_successes=on_device(np.bincount(pair_of_step, counted * success)),
        policy_weight=float(weights.sum()),
        value_counts=on_device(counts),
        value_means=on_device(means),
        value_variance=float(np.average((values - means[node_of_step]) ** 2, weights=counted)),
    )


def steps_of(
    traces: Sequence[StoredTrace], shares: NDArray[np.float64], bars: NDArray[np.float64] | None = None
) -> Steps:
    """The steps of traces with their weights, as `make_batch` says."""
    lengths = np.array([len(trace.observations) for trace in traces])
    owner = np.repeat(np.arange(len(traces)), lengths)
    firsts = np.cumsum(lengths) - lengths
    values = np.array([trace.value for trace in traces], np.float32)[owner]
    counted = shares.astype(np.float32)[owner]
    success = np.array([trace.success for trace in traces])[owner]
    weights = np.where(success, np.maximum(values, 0), 0)
    if bars is not None:
        short = np.minimum(0, [trace.score - bars[trace.program] for trace in traces])
        weights = weights * np.exp(short / _SCORE_SCALE)[owner].astype(np.float32)
    return Steps(
        owner=owner,
        step=np.arange(len(owner)) - np.repeat(firsts, lengths),
        observed=np.concatenate([trace.observations for trace in traces]).astype(np.int64),
        legal=np.concatenate([trace.legal for trace in traces]).astype(np.int64),
        previous=np.concatenate([trace.previous for trace in traces]).astype(np.int64),
        policies=np.concatenate([trace.policies for trace in traces]),
        values=values,
        counted=counted,
        programs=np.array([trace.program for trace in traces]),
        success=success,
        weights=weights * counted,
    )


def _distinct_observations(
    table: NDArray[np.int16], observed: NDArray[np.int64]
) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """The observations that occur, [O, fields], and for every step its row in them."""
    used, rows = np.unique(observed, return_inverse=True)
    return table[used], rows


class _Level(NamedTuple):
    parents: NDArray[np.int64]
    programs: NDArray[np.int64]
    observations: NDArray[np.int64]
    previous: NDArray[np.int64]


def _windows(
    step: NDArray[np.int64],
    rows: NDArray[np.int64],
    previous: NDArray[np.int64],
    program: NDArray[np.int64],
    window: int,
    distinct: int,
) -> tuple[list[_Level], NDArray[np.int64]]:
    """The last pairs of every step as a trace of its own; also where each of these ends."""
    length = np.minimum(step + 1, window)
    of_step = np.repeat(np.arange(len(step)), length)
    place = np.arange(len(of_step)) - np.repeat(np.cumsum(length) - length, length)
    at = of_step - np.repeat(length, length) + 1 + place
    levels, node = _trie(place, of_step, rows[at], program[at], program, distinct, previous[at])
    return levels, node[np.cumsum(length) - 1]


def _trie(
    step: NDArray[np.int64],
    owner: NDArray[np.int64],
    rows: NDArray[np.int64],
    program: NDArray[np.int64],
    beginning: NDArray[np.int64],
    distinct: int,
    previous: NDArray[np.int64],
) -> tuple[list[_Level], NDArray[np.int64]]:
    """Number the distinct histories layer by layer; also the history of every step.

    Traces with the same `beginning` start from the same memory.
    """
    kinds = rows + distinct * previous
    most = distinct * (int(previous.max(initial=0)) + 1)
    node_of_step = np.zeros(len(step), np.int64)
    node_of_trace = np.zeros(int(owner.max()) + 1, np.int64)  # in the layer before
    levels, first = [], 0
    for length in range(int(step.max()) + 1):
        here = np.flatnonzero(step == length)
        above = beginning[owner[here]] if length == 0 else node_of_trace[owner[here]]
        _, example, local = np.unique(above * most + kinds[here], return_index=True, return_inverse=True)
        found = here[example]
        levels.append(_Level(above[example], program[found], rows[found], previous[found]))
        node_of_trace[owner[here]] = local
        node_of_step[here] = first + local
        first += len(example)
    return levels, node_of_step


class Shares(NamedTuple):
    """What observations, programs and the actions before add to the gates."""

    observation: Tensor  # [O, 4H]
    program: Tensor  # [P, 4H]
    previous: Tensor  # [A + 1, 4H]


def shares(network: NPINetwork, observations: Tensor) -> Shares:
    """The three shares of the LSTM's input."""
    core, sizes = network.core, network.config
    split, end = sizes.observation_encoding, sizes.observation_encoding + sizes.program_embedding
    return Shares(
        observation=network.encoder(observations) @ core.weight_ih[:, :split].T,
        program=network.embedding.weight @ core.weight_ih[:, split:end].T + core.bias_ih + core.bias_hh,
        previous=network.previous.weight @ core.weight_ih[:, end:].T,
    )


def remember(gates: Tensor, previous: Tensor | None) -> tuple[Tensor, Tensor]:
    """Hidden and cell state after one step: the LSTM's equations; without a previous cell, it is zero."""
    take, keep, candidate, show = gates.chunk(4, dim=1)
    cell = torch.sigmoid(take) * torch.tanh(candidate)
    if previous is not None:
        cell = cell + torch.sigmoid(keep) * previous
    return torch.sigmoid(show) * torch.tanh(cell), cell


def forward(network: NPINetwork, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits [U, A] and values [U] of all histories of a batch."""
    core, units = network.core, network.config.memory
    share = shares(network, batch.observations)
    hidden = cell = share.observation.new_zeros(0, units)
    outputs = []
    for length, layer in enumerate(batch.layers):
        gates = share.observation[layer.observations] + share.program[layer.programs] + share.previous[layer.previous]
        before = None
        if length > 0:
            gates = gates + (hidden @ core.weight_hh.T)[layer.parents]
            before = cell[layer.parents]
        hidden, cell = remember(gates, before)
        outputs.append(hidden)
    everything = torch.cat(outputs)
    return network.actor(everything), torch.tanh(network.critic(everything)).squeeze(1)


def loss(network: NPINetwork, batch: Batch, value_weight: float) -> Loss:
    """Policy loss plus squared error of the value, both as means over the steps.

    The search sees the whole state, the network only the observations. Where states that look the same call for
    different actions, cross-entropy (the paper's) averages the targets, and the most frequent action wins even if it
    fails in the other states. The reversed divergence KL(pi || pi_mcts) takes their geometric mean instead: the action
    that is good in all of them.
    """
    logits, values = forward(network, batch)
    log_policy = masked_log_softmax(logits[batch.nodes], batch.legal).masked_fill(~batch.legal, 0.0)
    probability = log_policy.exp() * batch.legal
    divergence = probability * (batch.pair_weights[:, None] * log_policy - batch.log_policies)
    policy = divergence.sum() / max(batch.policy_weight, 1e-6)
    value = (batch.value_counts * (values - batch.value_means) ** 2).sum() / batch.value_counts.sum()
    return Loss(policy + value_weight * value, float(policy.detach()), float(value.detach()) + batch.value_variance)
