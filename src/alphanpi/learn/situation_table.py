"""All that the replay knows as one table of situations, and the loss of a batch of them.

What an agent does next depends on program and window alone. So a situation is a distinct window with a legal set, and
holds what all traces have done there; batches are drawn from the table, situations as often as they are met. The
gradient is that of unrolling the window before every step from a zero memory.
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
_NONE = 1e-12  # in place of a sum of shares that is 0


class Batch(NamedTuple):
    """B situations, windows of T observations side by side, their last ones in the last step."""

    observations: Tensor  # [T, B, fields]
    previous: Tensor  # [T, B] action before, as a memory holds it
    there: Tensor  # [T, B] 1, or 0 before the first observation of a call
    programs: Tensor  # [B]
    legal: Tensor  # [B, A]
    policies: Tensor  # [B, A] what to do
    weights: Tensor  # [B] in the policy loss
    counts: Tensor  # [B] how often each was drawn
    values: Tensor  # [B]
    value_variance: Tensor  # [] what no prediction can remove of the value loss

    @property
    def shape(self) -> tuple[int, ...]:
        """T and B, of which a recorded step has one each."""
        return tuple(self.previous.shape)


class Loss(NamedTuple):
    """The paper's two terms, per step."""

    total: Tensor
    policy: Tensor
    value: Tensor


class SituationTable(NamedTuple):
    """The table. J situations, windows of T observations."""

    probabilities: NDArray[np.float64]  # [J] how often each is met
    known: Tensor  # [O, fields] distinct observations
    observations: Tensor  # [J, T] row in them
    previous: Tensor  # [J, T]
    there: Tensor  # [J, T]
    programs: Tensor  # [J]
    legal: Tensor  # [J, A]
    policies: Tensor  # [J, A] geometric mean of the successful steps' targets, by their weights
    weights: Tensor  # [J] mean weight of successful steps
    values: Tensor  # [J] mean over all steps
    value_variance: Tensor  # [] mean squared distance of the steps' values from these means

    @classmethod
    def of(
        cls,
        traces: Sequence[StoredTrace],
        replay: Replay,
        *,
        window: int,
        shares: NDArray[np.float64],
        bars: NDArray[np.float64] | None = None,
        device: str = "cpu",
    ) -> SituationTable:
        """The situations of traces.

        Args:
            traces: What to learn from.
            replay: Where they come from.
            window: How many observations the network sees.
            shares: How much each trace counts.
            bars: For each program the score below which a trace has less weight in the policy loss, if any.
            device: Where the table goes.
        """
        lengths = np.array([len(trace.observations) for trace in traces])
        owner = np.repeat(np.arange(len(traces)), lengths)  # [S] trace of each step
        number = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # [S] in its trace
        observed = np.concatenate([trace.observations for trace in traces]).astype(np.int64)
        previous = np.concatenate([trace.previous for trace in traces]).astype(np.int64)
        legal = np.concatenate([trace.legal for trace in traces]).astype(np.int64)
        programs = np.array([trace.program for trace in traces])[owner]
        values = np.array([trace.value for trace in traces])[owner]
        success = np.array([trace.success for trace in traces])[owner]
        counted = shares[owner]
        weights = _weights(traces, bars)[owner] * counted

        sets = replay.legal.array().astype(bool)
        places = np.arange(1 - min(window, int(lengths.max())), 1)  # [T] of a window's steps, from its last
        there = number[:, None] + places >= 0  # [S, T]
        at = np.where(there, np.arange(len(owner))[:, None] + places, 0)
        first, situation = _numbered(
            [programs, legal, *np.where(there, observed[at] + 1, 0).T, *np.where(there, previous[at], 0).T]
        )

        def summed(column: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.bincount(situation, column, minlength=len(first)).astype(np.float64)

        met, succeeded = summed(counted), np.maximum(summed(counted * success), _NONE)
        means = summed(values * counted) / np.maximum(met, _NONE)
        policies = np.concatenate([trace.policies for trace in traces])  # [S, A]
        logarithms = np.zeros((len(first), policies.shape[1]))
        np.add.at(logarithms, situation, np.log(np.maximum(policies, _FLOOR)) * weights[:, None])
        weighed = summed(weights)
        targets = np.exp(logarithms / np.maximum(weighed, _NONE)[:, None]) * sets[legal[first]]
        used, rows = np.unique(observed[at[first]], return_inverse=True)

        def on_device(array: NDArray[np.generic]) -> Tensor:
            return torch.from_numpy(array.astype(np.float32) if array.dtype == np.float64 else array).to(device)

        return cls(
            probabilities=met / met.sum(),
            known=on_device(replay.observations.array()[used].astype(np.float32)),
            observations=on_device(rows.reshape(at[first].shape)),
            previous=on_device(np.where(there, previous[at], 0)[first]),
            there=on_device(there[first].astype(np.float32)),
            programs=on_device(programs[first]),
            legal=on_device(sets[legal[first]]),
            policies=on_device(targets / targets.sum(axis=1, keepdims=True)),
            weights=on_device(weighed / succeeded),  # what succeeded says what to do, however rarely it did
            values=on_device(means),
            value_variance=torch.tensor(counted @ (values - means[situation]) ** 2 / counted.sum()).float().to(device),
        )

    def draw(self, number: int, rng: np.random.Generator) -> Batch:
        """So many situations, those drawn more than once only once; on a device always as many rows."""
        times = rng.multinomial(number, self.probabilities)
        found = np.flatnonzero(times)
        rows = len(found) if self.programs.device.type == "cpu" else number
        drawn = np.zeros((2, rows), np.int64)
        drawn[:, : len(found)] = found, times[found]
        picked, counts = torch.from_numpy(drawn).to(self.programs.device, non_blocking=True)
        return self.batch(picked, counts.float())

    def batch(self, picked: Tensor, counts: Tensor) -> Batch:
        """Situations by number, and how much each counts."""
        return Batch(
            observations=self.known[self.observations[picked].T],
            previous=self.previous[picked].T,
            there=self.there[picked].T,
            programs=self.programs[picked],
            legal=self.legal[picked],
            policies=self.policies[picked],
            weights=self.weights[picked] * counts,
            counts=counts,
            values=self.values[picked],
            value_variance=self.value_variance,
        )


class Said(NamedTuple):
    """What a network says in the situations of a batch."""

    logits: Tensor  # [B, A]
    values: Tensor  # [B]


def forward(network: NPINetwork, batch: Batch) -> Said:
    """Run the windows of a batch; sums over programs and actions are matrix products, which add in a fixed order."""
    core, sizes = network.core, network.config
    split, end = sizes.observation_encoding, sizes.observation_encoding + sizes.program_embedding
    seen, called, done = core.weight_ih[:, :split], core.weight_ih[:, split:end], core.weight_ih[:, end:]
    constant = network.embedding.weight @ called.T + core.bias_ih + core.bias_hh  # [P, 4H]
    gates = network.encoder(batch.observations) @ seen.T  # [T, B, 4H]
    gates = gates + _one_hot(batch.programs, constant) @ constant
    before = network.previous.weight @ done.T  # [A + 1, 4H]
    gates = gates + _one_hot(batch.previous, before) @ before
    hidden = cell = gates.new_zeros(batch.shape[1], sizes.memory)
    for step, own in enumerate(gates):
        if step:
            own = own + hidden @ core.weight_hh.T
        take, keep, candidate, show = own.chunk(4, dim=1)
        there = batch.there[step, :, None]
        cell = there * (torch.sigmoid(take) * torch.tanh(candidate) + torch.sigmoid(keep) * cell)
        hidden = there * torch.sigmoid(show) * torch.tanh(cell)
    return Said(network.actor(hidden), torch.tanh(network.critic(hidden)).squeeze(-1))


def loss(network: NPINetwork, batch: Batch) -> Loss:
    """Policy loss plus squared error of the value, both as means over the steps.

    The search sees the whole state, the network only the observations. Where states that look the same call for
    different actions, the paper's cross-entropy averages the targets, and the most frequent action wins even if it
    fails in the other states. Here it is that with their geometric mean: the action that is good in all of them. Its
    own entropy is taken off, so that 0 means that the network agrees.
    """
    said = forward(network, batch)
    log_policy = masked_log_softmax(said.logits, batch.legal).masked_fill(~batch.legal, 0.0)
    divergence = torch.xlogy(batch.policies, batch.policies) - batch.policies * log_policy
    policy = (batch.weights[:, None] * divergence).sum() / batch.weights.sum().clamp(min=1e-6)
    value = (batch.counts * (said.values - batch.values) ** 2).sum() / batch.counts.sum()
    return Loss(policy + value, policy, value + batch.value_variance)


def _weights(traces: Sequence[StoredTrace], bars: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The weight of each trace's steps in the policy loss: its value, less where its score falls short."""
    weights = np.array([max(trace.value, 0.0) if trace.success else 0.0 for trace in traces])
    if bars is None:
        return weights
    short = np.array([min(0.0, trace.score - bars[trace.program]) for trace in traces])
    return weights * np.exp(short / _SCORE_SCALE)


class _Kinds(NamedTuple):
    first: NDArray[np.int64]  # [J] a row of each kind
    kind: NDArray[np.int64]  # [S] of each row


def _numbered(columns: Sequence[NDArray[np.int64]]) -> _Kinds:
    """Number the distinct rows of a table of small numbers that is given by columns."""
    kind = np.zeros(len(columns[0]), np.int64)
    first = kind[:1]
    for column in columns:
        _, first, kind = np.unique(kind * (int(column.max()) + 1) + column, return_index=True, return_inverse=True)
    return _Kinds(first, kind)


def _one_hot(numbers: Tensor, table: Tensor) -> Tensor:
    """[..., rows of the table]: its product with the table has the rows of these numbers."""
    return (numbers[..., None] == torch.arange(len(table), device=table.device)).to(table.dtype)
