"""The network in torch, on any device, in batches of fixed shapes: weights and memories stay there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from alphanpi.errors import UsageError
from alphanpi.network.evaluator import Evaluation, Evaluator
from alphanpi.network.frozen import FrozenNetwork, NetworkOutput, routed
from alphanpi.network.memories import NO_ROW, Answers

if TYPE_CHECKING:
    from alphanpi.network.model import NPINetwork

Linear = Callable[[Tensor, Tensor, Tensor], Tensor]
"""inputs [R, K], weight [N, K], bias [N] -> [R, N]; a row's result is that of the row alone at a given R."""

_FIXED = (64,)  # rows of a batch, where a row's result may depend on how many there are
_INVARIANT = (64, 256, 1024, 4096)  # where it does not
_PROGRAM, _PREVIOUS, _PARENT, _FIELDS = 0, 1, 2, 3  # columns of what is sent to the device
_WARMING = 3  # passes before a graph is recorded


class RefreshableEvaluator(Evaluator):
    """An evaluator over a network whose weights may change."""

    network: NPINetwork

    @property
    def window(self) -> int:
        """How many observations of a call the network sees."""
        return self.network.config.window

    @property
    def windows(self) -> list[int]:
        """The same by program: a frozen one sees as many as it did."""
        windows = [self.window] * self.network.embedding.num_embeddings
        for part in self.network.frozen:
            windows = [
                part.record.window if decides else window
                for window, decides in zip(windows, part.placement.decides, strict=True)
            ]
        return windows

    @property
    def memory_width(self) -> int:
        """Hidden and cell state side by side and, with a window, the action before."""
        return 2 * self.network.config.memory + bool(self.window)

    def refresh(self) -> None:
        """Read the network's weights again."""
        raise NotImplementedError


class TorchEvaluator(RefreshableEvaluator):
    """Evaluates rows with torch on any device, in batches padded to a few fixed shapes.

    A matrix product of a library rounds differently for different numbers of rows. Where there is one that does not
    (`network/invariant_linear.py`, for CUDA), small batches take small shapes; else there is one shape for all.
    """

    def __init__(self, network: NPINetwork, device: str = "cpu", shapes: Sequence[int] = ()) -> None:
        try:
            self.network = network.to(device)
        except (RuntimeError, AssertionError) as error:
            reason = str(error).split("\n")[0]
            raise UsageError(f"device {device!r} cannot be used: {reason}; use --device cpu") from error
        self.device = torch.device(device)
        invariant = _invariant_linear(self.device)
        self._linear = invariant or nn.functional.linear
        self.shapes = tuple(sorted(shapes or (_INVARIANT if invariant else _FIXED)))
        self._passes: dict[int, _Pass] = {}

    def refresh(self) -> None:
        """Nothing to do: the network itself is called."""

    def memories(self, rows: int) -> DeviceMemories:
        """A table of memories on the device."""
        return DeviceMemories(self, rows)

    def evaluate(
        self, programs: NDArray[np.int64], observations: NDArray[np.int16], memory: NDArray[np.float32]
    ) -> Evaluation:
        """Extend each history by one observation; memories come from the host, and go there."""
        units, count = self.network.config.memory, len(programs)
        table = self.memories(2 * count)
        table.write(0, memory[:, : 2 * units])
        noted = memory[:, 2 * units].astype(np.int64) if self.window else None
        answers = table.extend(count, np.arange(count), programs, observations, noted)
        after = table.read(np.arange(count, 2 * count))
        return Evaluation(answers.logits, answers.values, after)

    def block(self, rows: int) -> _Pass:
        """The smallest pass that takes so many rows; the largest there is, if none does."""
        shape = next((shape for shape in self.shapes if shape >= rows), self.shapes[-1])
        if shape not in self._passes:
            self._passes[shape] = _Pass(self.network, self._linear, self.device, shape)
        return self._passes[shape]


class DeviceMemories:
    """Memories on the device, as `Memories` asks for them.

    Only histories have a row there: one that is another with an action noted is a number on the host.
    """

    def __init__(self, evaluator: TorchEvaluator, rows: int) -> None:
        self._evaluator = evaluator
        self._table = self._zeros(rows)  # [rows + 1, 2H] row r is kept at r + 1; the first stays zero
        self._source = np.arange(1, rows + 1)
        self._noted = np.zeros(rows, np.int64)

    def reserve(self, rows: int) -> None:
        """Have room for so many rows."""
        before = len(self._source)
        if rows > before:
            larger = self._zeros(rows)
            larger[: before + 1] = self._table
            self._table = larger
            self._source = np.concatenate([self._source, np.arange(before + 1, rows + 1)])
            self._noted = np.concatenate([self._noted, np.zeros(rows - before, np.int64)])

    def put(self, row: int, source: int, noted: int) -> None:
        """A row is another one, or zeros, with the action before as a memory holds it."""
        self._source[row] = 0 if source == NO_ROW else self._source[source]
        self._noted[row] = noted

    def write(self, first: int, memory: NDArray[np.float32]) -> None:
        """Put memories from the host into the rows from `first` on."""
        self._table[first + 1 : first + 1 + len(memory)] = torch.from_numpy(memory.copy()).to(self._table.device)

    @torch.inference_mode()
    def extend(
        self,
        first: int,
        parents: NDArray[np.int64],
        programs: NDArray[np.int64],
        observations: NDArray[np.int16],
        noted: NDArray[np.int64] | None = None,
    ) -> Answers:
        """Evaluate histories, each an observation after the memory of a parent."""
        count, most = len(parents), self._evaluator.shapes[-1]
        places = np.where(parents == NO_ROW, 0, self._source[parents])
        noted = np.where(parents == NO_ROW, 0, self._noted[parents]) if noted is None else noted
        self._source[first : first + count] = np.arange(first + 1, first + count + 1)
        self._noted[first : first + count] = 0
        answers = []
        for start in range(0, count, most):
            part = slice(start, min(start + most, count))
            rows = part.stop - start
            block = self._evaluator.block(rows)
            block.send(programs[part], noted[part], places[part], observations[part])
            torch.index_select(self._table, 0, block.parents[:rows], out=block.memory[:rows])
            block.run()
            self._table[first + 1 + start : first + 1 + part.stop] = block.after[:rows]
            answers.append(block.said[:rows].cpu().numpy())
        said = answers[0] if len(answers) == 1 else np.concatenate(answers)
        return Answers(said[:, :-1], said[:, -1])

    def read(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Memories: [R, W]."""
        places = torch.from_numpy(self._source[rows]).to(self._table.device)
        memory = self._table[places].cpu().numpy()
        noted = self._noted[rows].astype(np.float32)
        return np.concatenate([memory, noted[:, np.newaxis]], axis=1) if self._evaluator.window else memory

    def _zeros(self, rows: int) -> Tensor:
        return torch.zeros(rows + 1, 2 * self._evaluator.network.config.memory, device=self._evaluator.device)


class _Pass:
    """One step of the network for a fixed number R of rows, recorded as a graph where the device can do that."""

    def __init__(self, network: NPINetwork, linear: Linear, device: torch.device, rows: int) -> None:
        self._network, self._linear = network, linear
        fields = _layer(network.encoder, 0).in_features
        on_cuda = device.type == "cuda"
        self._host = torch.zeros(rows, _FIELDS + fields, dtype=torch.int32, pin_memory=on_cuda)
        self._numbers = torch.zeros(rows, _FIELDS + fields, dtype=torch.int32, device=device)
        self.memory = torch.zeros(rows, 2 * network.config.memory, device=device)
        self._graph: torch.cuda.CUDAGraph | None = None
        self.said = self.after = self.memory.new_zeros(0)  # [R, A + 1] logits and value; [R, 2H]
        if on_cuda:
            self._record()

    @property
    def parents(self) -> Tensor:
        """[R] rows of the table of memories."""
        return self._numbers[:, _PARENT]

    def send(
        self,
        programs: NDArray[np.int64],
        previous: NDArray[np.int64],
        parents: NDArray[np.int64],
        observations: NDArray[np.int16],
    ) -> None:
        """Send rows to the device; those after them are what they were, and count for nothing."""
        host, count = self._host.numpy(), len(programs)
        host[:count, _PROGRAM], host[:count, _PREVIOUS], host[:count, _PARENT] = programs, previous, parents
        host[:count, _FIELDS:] = observations
        self._numbers[:count].copy_(self._host[:count], non_blocking=True)

    def run(self) -> None:
        """Compute `said` and `after` from what was sent and from `memory`."""
        if self._graph is not None:
            self._graph.replay()
        else:
            self.said, self.after = self._step()

    def _step(self) -> _Outputs:
        network, numbers, units = self._network, self._numbers, self._network.config.memory
        output = routed(
            partial(_step_of, network, self._linear),
            [_Part(part, partial(_step_of, part.network, self._linear)) for part in network.frozen],
            numbers[:, _PROGRAM],
            numbers[:, _FIELDS:].float(),
            self.memory[:, :units].contiguous(),
            self.memory[:, units:],
            numbers[:, _PREVIOUS] if network.config.window else None,
        )
        said = torch.cat([output.logits, output.value[:, None]], dim=1)
        return _Outputs(said, torch.cat([output.hidden, output.cell], dim=1))

    @torch.inference_mode()
    def _record(self) -> None:
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARMING):
                self._step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.said, self.after = self._step()
        self._graph = graph


class _Outputs(NamedTuple):
    said: Tensor
    after: Tensor


class _Part(NamedTuple):
    """A frozen network, computed in another way."""

    part: FrozenNetwork
    step: Callable[..., NetworkOutput]

    @property
    def decides(self) -> Tensor:
        return self.part.decides

    def __call__(self, *inputs: Any) -> NetworkOutput:
        return self.part.ask(self.step, *inputs)


def _step_of(
    network: Any, linear: Linear, programs: Tensor, observations: Tensor, hidden: Tensor, cell: Tensor, previous: Any
) -> NetworkOutput:
    """`NPINetwork.forward` without frozen networks, by another linear layer."""
    core = network.core
    inputs = [_perceived(network.encoder, observations, linear), network.embedding.weight[programs]]
    if previous is not None:
        inputs.append(network.previous.weight[previous])
    gates = linear(torch.cat(inputs, dim=1), core.weight_ih, core.bias_ih)
    gates = gates + linear(hidden, core.weight_hh, core.bias_hh)
    take, keep, candidate, show = gates.chunk(4, dim=1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(take) * torch.tanh(candidate)
    hidden = torch.sigmoid(show) * torch.tanh(cell)
    value = torch.tanh(_perceived(network.critic, hidden, linear)).squeeze(1)
    return NetworkOutput(_perceived(network.actor, hidden, linear), value, hidden, cell)


def _perceived(perceptron: nn.Sequential, inputs: Tensor, linear: Linear) -> Tensor:
    first, last = _layer(perceptron, 0), _layer(perceptron, 2)
    return linear(torch.relu(linear(inputs, first.weight, first.bias)), last.weight, last.bias)


def _layer(perceptron: nn.Sequential, number: int) -> nn.Linear:
    layer = perceptron[number]
    assert isinstance(layer, nn.Linear)
    return layer


def _invariant_linear(device: torch.device) -> Linear | None:
    """A linear layer whose rows do not depend on their number, where there is one."""
    if device.type != "cuda":
        return None
    try:
        from alphanpi.network.invariant_linear import linear
    except ImportError:  # a build of torch without Triton
        return None
    return linear
