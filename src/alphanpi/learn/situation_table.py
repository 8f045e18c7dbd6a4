"""Gradient steps on situations.

What an agent does next depends on program and window alone, so all that the replay knows fits in one table: a situation
is a distinct history with a legal set, and holds what all traces have done there. Batches are drawn from the table,
situations as often as they are met.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alphanpi.learn.unroll import Batch, Layer

_NONE = 1e-12  # in place of a sum of shares that is 0


class SituationTable(NamedTuple):
    """All that there is to learn from, and how often each of it is drawn. J situations."""

    whole: Batch
    probabilities: NDArray[np.float64]  # [J]

    @classmethod
    def of(cls, whole: Batch) -> SituationTable:
        """The table of a batch of all traces."""
        probabilities = whole.pair_shares.cpu().numpy().astype(np.float64)
        return cls(whole, probabilities / probabilities.sum())

    def draw(self, number: int, rng: np.random.Generator) -> Batch:
        """So many situations, some of them more than once."""
        return _part(self.whole, rng.multinomial(number, self.probabilities))


def _part(whole: Batch, times: NDArray[np.int64]) -> Batch:
    """Some situations of a batch, each so many times, with the histories that lead to them."""
    device = whole.nodes.device
    picked = torch.from_numpy(np.flatnonzero(times)).to(device)
    counts = torch.from_numpy(times[times > 0].astype(np.float32)).to(device)
    # What succeeded says what to do, however rarely it did.
    scale = counts / whole.pair_successes[picked].clamp(min=_NONE)
    needed = torch.zeros(len(whole.value_counts), dtype=torch.bool, device=device)
    needed[whole.nodes[picked]] = True
    sizes = [len(layer.programs) for layer in whole.layers]
    parts = torch.split(needed, sizes)  # views: they see what is set below
    for before, own, layer in zip(reversed(parts[:-1]), reversed(parts[1:]), reversed(whole.layers[1:]), strict=True):
        before[layer.parents[own]] = True
    seen = torch.cat([layer.observations[own] for layer, own in zip(whole.layers, parts, strict=True)])
    used, rows = torch.unique(seen, return_inverse=True)
    layers, first = [], 0
    for number, (layer, own) in enumerate(zip(whole.layers, parts, strict=True)):
        parents = layer.parents[own]
        layers.append(
            Layer(
                parents=_renumbered(parts[number - 1])[parents] if number else parents,
                programs=layer.programs[own],
                observations=rows[first : first + len(parents)],
                previous=layer.previous[own],
            )
        )
        first += len(parents)
    nodes = _renumbered(needed)[whole.nodes[picked]]
    pair_weights = whole.pair_weights[picked] * scale
    return Batch(
        layers=tuple(layers),
        observations=whole.observations[used],
        nodes=nodes,
        legal=whole.legal[picked],
        log_policies=whole.log_policies[picked] * scale[:, None],
        pair_weights=pair_weights,
        pair_shares=counts,
        pair_successes=counts * (whole.pair_successes[picked] > 0),
        policy_weight=float(pair_weights.sum()),
        value_counts=torch.zeros(first, device=device).index_add_(0, nodes, counts),
        value_means=whole.value_means[needed],
        value_variance=whole.value_variance,
    )


def _renumbered(kept: Tensor) -> Tensor:
    return kept.cumsum(0) - 1
