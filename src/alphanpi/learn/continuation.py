"""Memories of calls that have been running for long, for programs whose traces grow with the problem.

Such a program is trained on short traces and run on long ones, in which the network's memory drifts to where it has
never been. So part of its traces are learned as if they went on after a long run: a random rest of the trace, begun
with the memory that many steps of other traces have left behind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from alphanpi.environment.specification import Library
from alphanpi.learn.replay import Replay, StoredTrace
from alphanpi.learn.unroll import remember, shares
from alphanpi.network.model import NPINetwork

_CHAINS = 32  # runs per program
_LENGTH = 160  # steps of each


class Continuations:
    """Memories after 1 to 160 steps, per program whose depth is a function of the state."""

    def __init__(
        self, network: NPINetwork, replay: Replay, library: Library, rng: np.random.Generator, device: str
    ) -> None:
        growing = {index for index, program in enumerate(library.learned) if program.growing}
        self.memories: dict[int, NDArray[np.float32]] = {}  # [steps, W] per program
        for program in sorted(growing & set(replay.learnable())):
            chains = _chains(replay.rings[program, True].traces, rng)
            self.memories[program] = _memories(network, replay, program, chains, device)

    def applied(self, traces: Sequence[StoredTrace], fraction: float, rng: np.random.Generator) -> list[StoredTrace]:
        """The traces, of which that share goes on after a long run."""
        return [
            self._continued(trace, rng) if trace.program in self.memories and rng.random() < fraction else trace
            for trace in traces
        ]

    def _continued(self, trace: StoredTrace, rng: np.random.Generator) -> StoredTrace:
        first = int(rng.integers(len(trace.observations)))
        pool = self.memories[trace.program]
        return trace._replace(
            observations=trace.observations[first:],
            legal=trace.legal[first:],
            previous=trace.previous[first:],
            policies=trace.policies[first:],
            memories=pool[int(rng.integers(len(pool)))][None],
        )


def _chains(traces: Sequence[StoredTrace], rng: np.random.Generator) -> NDArray[np.int64]:
    """Observations of long runs, pieced together from the insides of traces: [chains, length]."""
    chains = np.zeros((_CHAINS, _LENGTH), np.int64)
    for chain in chains:
        filled = 0
        while filled < _LENGTH:
            observations = traces[int(rng.integers(len(traces)))].observations
            inside = observations[1:-1] if len(observations) > 2 else observations  # its ends are unlike the middle
            taken = inside[: _LENGTH - filled]
            chain[filled : filled + len(taken)] = taken
            filled += len(taken)
    return chains


@torch.no_grad()
def _memories(
    network: NPINetwork, replay: Replay, program: int, chains: NDArray[np.int64], device: str
) -> NDArray[np.float32]:
    """What the network carries after every step of the chains: [chains * length, W]."""
    used, rows = np.unique(chains, return_inverse=True)
    observations = torch.from_numpy(replay.observations.array()[used].astype(np.float32)).to(device)
    share = shares(network, observations)
    hidden = cell = observations.new_zeros(len(chains), network.config.memory)
    memories = []
    for place in rows.reshape(chains.shape).T:
        gates = share.observation[torch.from_numpy(place).to(device)] + share.program[program]
        hidden, cell = remember(gates + hidden @ network.core.weight_hh.T, cell)
        memories.append(torch.cat([hidden, cell], dim=1))
    stacked: NDArray[np.float32] = torch.cat(memories).cpu().numpy()
    return stacked
