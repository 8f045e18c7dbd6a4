"""The network: the five modules of the paper, and how the engine and the interpreter call it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.compiled import Routed, Weights, forward
from alphanpi.network.config import NetworkConfig
from alphanpi.network.evaluator import Evaluation
from alphanpi.network.frozen import NEVER, FrozenNetwork, NetworkOutput, Placement, routed
from alphanpi.network.torch_evaluator import RefreshableEvaluator, TorchEvaluator
from alphanpi.support import limits

_COPIES = 6  # of every parameter: network, fresh one, gradient, two moments of Adam, what the compiled evaluator reads
_FLOAT_BYTES = 4


class NPINetwork(nn.Module):
    """Encoder, program embeddings, LSTM core, actor, critic.

    s_t = f_enc(e_t), p_t = M_prog[i_t], h_t = f_lstm(s_t, p_t, h_{t-1}), pi_t = f_actor(h_t), V_t = f_value(h_t)

    Beside it there may be frozen ones, which decide for the programs they have learned.
    """

    def __init__(
        self,
        fields: int,
        programs: int,
        entries: int,
        config: NetworkConfig | None = None,
        frozen: Iterable[FrozenNetwork] = (),
    ) -> None:
        """Build a network for observations of `fields` entries, `programs` to learn and `entries` to call."""
        super().__init__()
        sizes = config or NetworkConfig()
        self.config = sizes
        self.encoder = _perceptron(fields, sizes.encoder_hidden, sizes.observation_encoding)
        self.embedding = nn.Embedding(programs, sizes.program_embedding)
        inputs = sizes.observation_encoding + sizes.program_embedding
        if sizes.window:
            self.previous = nn.Embedding(entries + 1, sizes.action_embedding)
            inputs += sizes.action_embedding
        self.core = nn.LSTMCell(inputs, sizes.memory)
        self.actor = _perceptron(sizes.memory, sizes.head_hidden, entries)
        self.critic = _perceptron(sizes.memory, sizes.head_hidden, 1)
        self.frozen: Iterable[FrozenNetwork] = nn.ModuleList(frozen)  # type: ignore[assignment]

    def forward(
        self, programs: Tensor, observations: Tensor, hidden: Tensor, cell: Tensor, previous: Tensor | None = None
    ) -> NetworkOutput:
        """One step: `programs` [R], `observations` [R, fields], `hidden` and `cell` [R, H].

        With a window, `previous` [R] is the action before, as a memory holds it.
        """
        return routed(self._own, tuple(self.frozen), programs, observations, hidden, cell, previous)

    def _own(
        self, programs: Tensor, observations: Tensor, hidden: Tensor, cell: Tensor, previous: Tensor | None
    ) -> NetworkOutput:
        inputs = [self.encoder(observations), self.embedding(programs)]
        if previous is not None:
            inputs.append(self.previous(previous))
        hidden, cell = self.core(torch.cat(inputs, dim=1), (hidden, cell))
        value = torch.tanh(self.critic(hidden)).squeeze(1)
        return NetworkOutput(self.actor(hidden), value, hidden, cell)


def masked_log_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities over the legal actions; illegal ones are masked before the softmax and get -inf."""
    return torch.log_softmax(logits.masked_fill(~legal, -torch.inf), dim=-1)


def create_network(environment: Environment[Any], seed: int = 0, config: NetworkConfig | None = None) -> NPINetwork:
    """A network of the right shape for an environment, initialised from the seed alone."""
    library = environment.library
    shape = (len(environment.fields), len(library.learned), len(library))
    count = parameter_count(*shape, config or NetworkConfig())
    limits.require_memory(_COPIES * _FLOAT_BYTES * count, f"training a network of {count:,} parameters")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(limits.seed(seed))
        return NPINetwork(*shape, config)


def parameter_count(fields: int, programs: int, entries: int, sizes: NetworkConfig) -> int:
    """Parameters of a network, without making it."""
    gates, inputs = 4 * sizes.memory, sizes.observation_encoding + sizes.program_embedding
    actions = 0
    if sizes.window:
        actions, inputs = (entries + 1) * sizes.action_embedding, inputs + sizes.action_embedding
    encoder = (fields + 1) * sizes.encoder_hidden + (sizes.encoder_hidden + 1) * sizes.observation_encoding
    heads = 2 * (sizes.memory + 1) * sizes.head_hidden + (sizes.head_hidden + 1) * (entries + 1)
    return encoder + actions + programs * sizes.program_embedding + gates * (inputs + sizes.memory + 2) + heads


def usable_device(device: str) -> str:
    """The device, if torch can compute on it here."""
    there = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        there.append("mps")
    if device not in {*there, *(name.partition(":")[0] for name in there)}:
        raise UsageError(f"device {device!r} cannot be used here; there is {', '.join(there)}")
    return device


def create_evaluator(network: NPINetwork, device: str = "cpu") -> RefreshableEvaluator:
    """The fastest evaluator for a device: compiled per-row arithmetic on the CPU, large batches elsewhere."""
    if usable_device(device) == "cpu":
        return CompiledEvaluator(network)
    return TorchEvaluator(network, device)


@final
class CompiledEvaluator(RefreshableEvaluator):
    """Evaluates rows on the CPU in compiled code, each by itself, so that batching cannot change a bit.

    `alphanpi bench search` relates the evaluations of a whole search to those of the bare torch module.
    """

    def __init__(self, network: NPINetwork) -> None:
        self.network = network
        self.refresh()

    def refresh(self) -> None:
        """Read the network's weights again."""
        network = self.network
        own = _weights(network)
        parts = [own, *(_placed(_weights(part.network), part.placement, own) for part in network.frozen)]
        deciding = np.zeros(len(own.gates_bias), np.int64)
        fields = np.tile(np.arange(len(own.encoder_1)), (len(parts), 1))
        for number, part in enumerate(network.frozen, start=1):
            deciding[np.array(part.placement.decides)] = number
            fields[number] = _in_order(part.placement, len(own.encoder_1))
        self.weights = Routed(deciding, fields, Weights(*(np.stack(arrays) for arrays in zip(*parts, strict=True))))

    def evaluate(
        self, programs: NDArray[np.int64], observations: NDArray[np.int16], memory: NDArray[np.float32]
    ) -> Evaluation:
        """Extend each history by one observation."""
        logits, values, after = forward(self.weights, programs, observations.astype(np.float32), memory)
        return Evaluation(logits, values, after)


def _perceptron(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def _weights(network: Any) -> Weights:
    """The weights of a network itself, without frozen ones."""
    state = {name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}
    sizes = network.config
    split, end = sizes.observation_encoding, sizes.observation_encoding + sizes.program_embedding
    input_weight = state["core.weight_ih"]
    # Embeddings are constant, so a program and the action before it have a bias as their share of the gates.
    bias = state["embedding.weight"] @ input_weight[:, split:end].T + state["core.bias_ih"] + state["core.bias_hh"]
    bias = bias[:, np.newaxis]
    if sizes.window:
        bias = bias + state["previous.weight"] @ input_weight[:, end:].T
    return Weights(
        encoder_1=_transposed(state["encoder.0.weight"]),
        encoder_1_bias=state["encoder.0.bias"].copy(),
        encoder_2=_transposed(state["encoder.2.weight"]),
        encoder_2_bias=state["encoder.2.bias"].copy(),
        gates_input=_transposed(input_weight[:, :split]),
        gates_hidden=_transposed(state["core.weight_hh"]),
        gates_bias=np.ascontiguousarray(bias),
        actor_1=_transposed(state["actor.0.weight"]),
        actor_1_bias=state["actor.0.bias"].copy(),
        actor_2=_transposed(state["actor.2.weight"]),
        actor_2_bias=state["actor.2.bias"].copy(),
        critic_1=_transposed(state["critic.0.weight"]),
        critic_1_bias=state["critic.0.bias"].copy(),
        critic_2=_transposed(state["critic.2.weight"]),
        critic_2_bias=state["critic.2.bias"].copy(),
    )


def _placed(part: Weights, placement: Placement, own: Weights) -> Weights:
    """A frozen network's weights in the shapes of today: its sums are the same, but for zeros added at their ends."""
    encoder_1 = np.zeros_like(own.encoder_1)
    encoder_1[: len(placement.fields)] = part.encoder_1
    actor_2, actor_2_bias = np.zeros_like(own.actor_2), np.full_like(own.actor_2_bias, NEVER)
    actor_2[:, placement.entries], actor_2_bias[placement.entries] = part.actor_2, part.actor_2_bias
    previous = placement.previous if own.gates_bias.shape[1] > 1 else [0]
    gates_bias = np.ascontiguousarray(part.gates_bias[placement.programs][:, previous])
    return part._replace(encoder_1=encoder_1, actor_2=actor_2, actor_2_bias=actor_2_bias, gates_bias=gates_bias)


def _in_order(placement: Placement, fields: int) -> list[int]:
    """The fields of today as a frozen network reads them: its own first."""
    return [*placement.fields, *(field for field in range(fields) if field not in placement.fields)]


def _transposed(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.ascontiguousarray(weight.T)
