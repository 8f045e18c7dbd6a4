"""The gradient of a batch, recorded once for each shape as a CUDA graph: one launch instead of hundreds."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from alphanpi.learn.situation_table import Batch, loss
from alphanpi.network.model import NPINetwork

_WARMING = 3  # passes before a graph is recorded


class MeasuredGradient(NamedTuple):
    """What is known after a gradient was computed; on the device."""

    policy: Tensor
    value: Tensor
    norm: Tensor


def gradient_norm(network: NPINetwork) -> Tensor:
    """The length of the gradient that the optimiser will find."""
    found = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    return torch.nn.utils.get_total_norm(found)


class RecordedStep:
    """Computes gradients of one network; where the device cannot record, operation by operation."""

    def __init__(self, network: NPINetwork) -> None:
        self.network = network
        self._recordings: dict[tuple[int, ...], _Recording] = {}

    def gradient(self, batch: Batch) -> MeasuredGradient:
        """Put the gradient of a batch where the optimiser looks for it."""
        if batch.weights.device.type != "cuda":
            return self._compute(batch)
        recording = self._recordings.get(batch.shape)
        if recording is None:
            recording = self._recordings[batch.shape] = self._record(batch)
        for mine, theirs in zip(recording.batch, batch, strict=True):
            mine.copy_(theirs)
        recording.graph.replay()
        for parameter, gradient in zip(self.network.parameters(), recording.gradients, strict=True):
            parameter.grad = gradient
        return MeasuredGradient(*(number.clone() for number in recording.measured))

    def _compute(self, batch: Batch) -> MeasuredGradient:
        for parameter in self.network.parameters():
            parameter.grad = None
        found = loss(self.network, batch)
        found.total.backward()  # type: ignore[no-untyped-call]
        return MeasuredGradient(found.policy.detach(), found.value.detach(), gradient_norm(self.network))

    def _record(self, batch: Batch) -> _Recording:
        own = Batch(*(tensor.clone() for tensor in batch))
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARMING):
                self._compute(own)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            measured = self._compute(own)
        gradients = [parameter.grad for parameter in self.network.parameters()]
        return _Recording(own, graph, measured, gradients)


class _Recording(NamedTuple):
    batch: Batch
    graph: torch.cuda.CUDAGraph
    measured: MeasuredGradient
    gradients: list[Tensor | None]
