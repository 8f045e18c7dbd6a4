"""Gradient steps on batches of a fixed shape, for devices that record a step once and repeat it.

A batch of `unroll.py` is a trie, with other sizes every time: it computes least, but every operation has to be launched
from Python. Here histories are unrolled side by side, T steps of B chains, padded with steps that count for nothing.
The loss is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alphanpi.learn.replay import Replay, StoredTrace
from alphanpi.learn.situation_table import SituationTable
from alphanpi.learn.unroll import Batch, remember, shares, steps_of
from alphanpi.network.model import NPINetwork, masked_log_softmax

_EXACT = 4  # chains up to this length are not padded


class DenseBatch(NamedTuple):
    """B chains of at most T steps. Steps that are not there have weight and count 0, and all actions legal."""

    observations: Tensor  # [T, B, fields]
    programs: Tensor  # [B]
    previous: Tensor  # [T, B] action before, as a memory holds it
    memory: Tensor  # [B, W] with which the chains begin; [B, 0] where with zeros
    legal: Tensor  # [T, B, A]
    policies: Tensor  # [T, B, A] target times weight
    log_policies: Tensor  # [T, B, A] its logarithm times weight
    weights: Tensor  # [T, B] in the policy loss
    counts: Tensor  # [T, B] in the value loss
    values: Tensor  # [T, B]
    value_variance: Tensor  # [] added to the value loss that is reported

    @property
    def shape(self) -> tuple[int, ...]:
        """T, B and the width of the memory, of which a recorded step has one each."""
        return (*self.previous.shape, self.memory.shape[1])


class DenseLoss(NamedTuple):
    """The paper's two terms, per step."""

    total: Tensor
    policy: Tensor
    value: Tensor


def padded_length(steps: int) -> int:
    """T for chains of so many steps: one of few, so that few have to be recorded."""
    if steps <= _EXACT:
        return steps
    power = 1 << (steps - 1).bit_length()
    return power * 3 // 4 if steps <= power * 3 // 4 else power


def dense_traces(
    traces: Sequence[StoredTrace],
    replay: Replay,
    *,
    weight_by_value: bool,
    unrolled: bool,
    rows: int,
    device: str | torch.device,
) -> DenseBatch:
    """Traces side by side, as `make_batch` arranges them; single steps begin with the memories stored with them."""
    steps = steps_of(traces, weight_by_value)
    length = padded_length(int(steps.step.max()) + 1)
    shape, at = (length, rows), (steps.step, steps.owner)
    entries, fields = steps.policies.shape[1], replay.observations.width
    programs = np.zeros(rows, np.int64)
    programs[: len(traces)] = steps.programs
    width = traces[0].memories.shape[1] if not unrolled else 0
    memory = np.zeros((rows, width), np.float32)
    if width:
        memory[: len(traces)] = np.concatenate([trace.memories for trace in traces])

    def spread(values: NDArray[np.generic], fill: float = 0, *further: int) -> Tensor:
        array = np.full((*shape, *further), fill, values.dtype)
        array[at] = values
        return torch.from_numpy(array).to(device)

    return DenseBatch(
        observations=spread(replay.observations.array()[steps.observed].astype(np.float32), 0, fields),
        programs=torch.from_numpy(programs).to(device),
        previous=spread(steps.previous),
        memory=torch.from_numpy(memory).to(device),
        legal=spread(replay.legal.array()[steps.legal].astype(bool), True, entries),
        policies=spread(steps.policies * steps.weights[:, None], 0, entries),
        log_policies=spread(steps.log_policies * steps.weights[:, None], 0, entries),
        weights=spread(steps.weights),
        counts=spread(steps.counted),
        values=spread(steps.values),
        value_variance=torch.zeros((), device=device),
    )


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
            memory=counts.new_zeros(number, 0),
            legal=whole.legal[picked] | ~here[..., None],
            policies=only_here(whole.policies[picked] * scale[:, None]),
            log_policies=only_here(whole.log_policies[picked] * scale[:, None]),
            weights=only_here(whole.pair_weights[picked] * scale),
            counts=only_here(counts),
            values=only_here(whole.value_means[whole.nodes[picked]]),
            value_variance=torch.full((), whole.value_variance, device=device),
        )


def dense_loss(network: NPINetwork, batch: DenseBatch, value_weight: float, consensus: float) -> DenseLoss:
    """The loss of `unroll.loss`; sums over programs and actions are matrix products, which add in a fixed order."""
    core, units = network.core, network.config.memory
    length, rows, width = batch.shape
    share = shares(network, batch.observations.flatten(0, 1))
    gates = share.observation.view(length, rows, -1) + _one_hot(batch.programs, share.program) @ share.program
    if share.previous is not None:
        gates = gates + _one_hot(batch.previous, share.previous) @ share.previous
    hidden = batch.memory[:, :units] if width else None
    cell = batch.memory[:, units : 2 * units] if width else None
    outputs = []
    for step in range(length):
        own = gates[step] if hidden is None else gates[step] + hidden @ core.weight_hh.T
        hidden, cell = remember(own, cell)
        outputs.append(hidden)
    everything = torch.stack(outputs)
    log_policy = masked_log_softmax(network.actor(everything), batch.legal).masked_fill(~batch.legal, 0.0)
    policy = -(batch.policies * log_policy).sum()
    if consensus > 0:
        probability = log_policy.exp() * batch.legal
        divergence = probability * (batch.weights[..., None] * log_policy - batch.log_policies)
        policy = (1 - consensus) * policy + consensus * divergence.sum()
    policy = policy / batch.weights.sum().clamp(min=1e-6)
    said = torch.tanh(network.critic(everything)).squeeze(-1)
    value = (batch.counts * (said - batch.values) ** 2).sum() / batch.counts.sum()
    return DenseLoss(policy + value_weight * value, policy, value + batch.value_variance)


def _one_hot(numbers: Tensor, table: Tensor) -> Tensor:
    """[..., rows of the table]: its product with the table has the rows of these numbers."""
    return (numbers[..., None] == torch.arange(len(table), device=table.device)).to(table.dtype)
