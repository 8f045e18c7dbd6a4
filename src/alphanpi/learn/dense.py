"""Gradient steps on batches of a fixed shape, for devices that record a step once and repeat it.

A batch of `unroll.py` is a trie, with other sizes every time: it computes least, but every operation has to be launched
from Python. Here histories are unrolled side by side, T steps of B chains, padded with steps that count for nothing.
The loss is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alphanpi.learn.situation_table import SituationTable
from alphanpi.learn.unroll import Batch, remember, shares
from alphanpi.network.model import NPINetwork, masked_log_softmax


class DenseBatch(NamedTuple):
    """B chains of at most T steps. Steps that are not there have weight and count 0, and all actions legal."""

    observations: Tensor  # [T, B, fields]
    programs: Tensor  # [B]
    previous: Tensor  # [T, B] action before, as a memory holds it
    legal: Tensor  # [T, B, A]
    log_policies: Tensor  # [T, B, A] logarithm of the target times weight
    weights: Tensor  # [T, B] in the policy loss
    counts: Tensor  # [T, B] in the value loss
    values: Tensor  # [T, B]
    value_variance: Tensor  # [] added to the value loss that is reported

    @property
    def shape(self) -> tuple[int, ...]:
        """T and B, of which a recorded step has one each."""
        return tuple(self.previous.shape)


class DenseLoss(NamedTuple):
    """The paper's two terms, per step."""

    total: Tensor
    policy: Tensor
    value: Tensor


class DenseSituations(NamedTuple):
    """A table of situations, each with the chain of histories that leads to it. J situations, U histories."""

    whole: Batch
    probabilities: NDArray[np.float64]  # [J]
    chains: Tensor  # [T, J] histories, from the first observation of a window on
    ends: Tensor  # [J] step in which each has come to its situation
    programs: Tensor  # [U]
    observations: Tensor  # [U] row of Batch.observations
    previous: Tensor  # [U]

    @classmethod
    def of(cls, table: SituationTable) -> DenseSituations:
        """The same table, for batches of a fixed shape."""
        layers, nodes = table.whole.layers, table.whole.nodes
        sizes = torch.tensor([len(layer.programs) for layer in layers], device=nodes.device)
        firsts = sizes.cumsum(0) - sizes
        layer_of = torch.repeat_interleave(torch.arange(len(layers), device=nodes.device), sizes)
        parents = torch.cat([layer.parents for layer in layers]) + firsts[(layer_of - 1).clamp(min=0)]
        ends = layer_of[nodes]
        chains = nodes.new_zeros(len(layers), len(nodes))
        columns, at = torch.arange(len(nodes), device=nodes.device), nodes
        for back in range(len(layers)):
            there = (ends >= back).nonzero().squeeze(1)
            chains[(ends - back)[there], columns[there]] = at[there]
            at = torch.where(ends > back, parents[at], at)
        return cls(
            whole=table.whole,
            probabilities=table.probabilities,
            chains=chains,
            ends=ends,
            programs=torch.cat([layer.programs for layer in layers]),
            observations=torch.cat([layer.observations for layer in layers]),
            previous=torch.cat([layer.previous for layer in layers]),
        )

    def draw(self, number: int, rng: np.random.Generator) -> DenseBatch:
        """As `SituationTable.draw`."""
        whole, device = self.whole, self.chains.device
        times = rng.multinomial(number, self.probabilities)
        found = np.flatnonzero(times)
        numbers = np.zeros((2, number), np.int64)  # situations, and how often each was drawn
        numbers[:, : len(found)] = found, times[found]
        picked, drawn = torch.from_numpy(numbers).to(device, non_blocking=True)
        counts = drawn.float()
        scale = counts / whole.pair_successes[picked].clamp(min=1e-12)
        chains = self.chains[:, picked]  # [T, B]
        here = torch.arange(len(chains), device=device)[:, None] == self.ends[picked]

        def only_here(values: Tensor) -> Tensor:
            return torch.where(here[..., None] if values.dim() > 1 else here, values, 0.0)

        return DenseBatch(
            observations=whole.observations[self.observations[chains]],
            programs=self.programs[chains[0]],
            previous=self.previous[chains],
            legal=whole.legal[picked] | ~here[..., None],
            log_policies=only_here(whole.log_policies[picked] * scale[:, None]),
            weights=only_here(whole.pair_weights[picked] * scale),
            counts=only_here(counts),
            values=only_here(whole.value_means[whole.nodes[picked]]),
            value_variance=torch.full((), whole.value_variance, device=device),
        )


def dense_loss(network: NPINetwork, batch: DenseBatch, value_weight: float) -> DenseLoss:
    """The loss of `unroll.loss`; sums over programs and actions are matrix products, which add in a fixed order."""
    core = network.core
    length, rows = batch.shape
    share = shares(network, batch.observations.flatten(0, 1))
    gates = share.observation.view(length, rows, -1) + _one_hot(batch.programs, share.program) @ share.program
    gates = gates + _one_hot(batch.previous, share.previous) @ share.previous
    hidden, cell = None, None
    outputs = []
    for step in range(length):
        own = gates[step] if hidden is None else gates[step] + hidden @ core.weight_hh.T
        hidden, cell = remember(own, cell)
        outputs.append(hidden)
    everything = torch.stack(outputs)
    log_policy = masked_log_softmax(network.actor(everything), batch.legal).masked_fill(~batch.legal, 0.0)
    probability = log_policy.exp() * batch.legal
    divergence = probability * (batch.weights[..., None] * log_policy - batch.log_policies)
    policy = divergence.sum() / batch.weights.sum().clamp(min=1e-6)
    said = torch.tanh(network.critic(everything)).squeeze(-1)
    value = (batch.counts * (said - batch.values) ** 2).sum() / batch.counts.sum()
    return DenseLoss(policy + value_weight * value, policy, value + batch.value_variance)


def _one_hot(numbers: Tensor, table: Tensor) -> Tensor:
    """[..., rows of the table]: its product with the table has the rows of these numbers."""
    return (numbers[..., None] == torch.arange(len(table), device=table.device)).to(table.dtype)
