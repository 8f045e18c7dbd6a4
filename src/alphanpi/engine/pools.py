"""The nodes and frames of all searches under way, with free lists that the kernel takes from and gives back to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine.tables import EDGE, FRAME, NODE, NONE, Failure, LimitReachedError, Records, extended, linked

_FIRST_NODES = 1 << 14
_FIRST_FRAMES = 256
_MOST_NODES = 1 << 24


class Pools:
    """See Tables for the shapes. Between episodes everything is free."""

    def __init__(self, widest: int) -> None:
        """Edges for nodes with at most `widest` legal actions."""
        self.widest = widest
        self.reset()

    def reset(self) -> None:
        """Start again, small and free: for episodes that were given up."""
        self.nodes: Records = np.zeros(_FIRST_NODES, NODE)
        self.edges: Records = np.zeros((_FIRST_NODES, self.widest), EDGE)
        self.frames: Records = np.zeros(_FIRST_FRAMES, FRAME)
        self.free: NDArray[np.int32] = np.full(2, NONE, np.int32)  # first free node, first free frame
        linked(self.nodes, "link", 0, self.free[:1])
        linked(self.frames, "caller", 0, self.free[1:])

    def reserve(self, episodes: int) -> None:
        """Make sure that so many episodes can begin."""
        while len(self.frames) < 2 * episodes:
            self._grow_frames()
        while len(self.nodes) < 2 * episodes:
            self._grow_nodes()

    def make_room_for_nodes(self) -> None:
        """More nodes, if there are none left: several episodes may ask for the same."""
        if self.free[0] == NONE:
            self._grow_nodes()

    def make_room_for_frames(self) -> None:
        """More frames, if there are none left."""
        if self.free[1] == NONE:
            self._grow_frames()

    @property
    def bytes(self) -> int:
        """Memory of the pools."""
        return self.nodes.nbytes + self.edges.nbytes + self.frames.nbytes

    def _grow_nodes(self) -> None:
        rows = len(self.nodes)
        if 2 * rows > _MOST_NODES:
            raise LimitReachedError(Failure.NODES)
        self.nodes, self.edges = extended(self.nodes, 2 * rows), extended(self.edges, 2 * rows)
        linked(self.nodes, "link", rows, self.free[:1])

    def _grow_frames(self) -> None:
        rows = len(self.frames)
        self.frames = extended(self.frames, 2 * rows)
        linked(self.frames, "caller", rows, self.free[1:])
