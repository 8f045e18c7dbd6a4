"""What Adam remembers of each parameter, as tensors of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from alphanpi.agent.weights import Tensors, TensorShape, below, shapes_of
from alphanpi.network.model import NPINetwork


def optimiser_tensors(network: NPINetwork, optimiser: torch.optim.Optimizer) -> Tensors:
    """By name of the parameter; nothing before the first step."""
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    return {
        f"optimiser.{names[id(parameter)]}.{key}": torch.as_tensor(value)
        for parameter, moments in optimiser.state.items()
        for key, value in moments.items()
    }


def optimiser_shapes(network: NPINetwork, tensors: Tensors) -> Iterator[tuple[str, TensorShape]]:
    """What they have to be, of the parameters of which there are any."""
    shapes = shapes_of(network)
    for name, _ in network.named_parameters():
        if below(tensors, f"optimiser.{name}."):
            yield f"optimiser.{name}.step", TensorShape((), torch.float32)
            yield f"optimiser.{name}.exp_avg", shapes[name]
            yield f"optimiser.{name}.exp_avg_sq", shapes[name]


def restore_optimiser(network: NPINetwork, optimiser: torch.optim.Optimizer, tensors: Tensors) -> None:
    """Let it go on from there."""
    each = [below(tensors, f"optimiser.{name}.") for name, _ in network.named_parameters()]
    state = {index: moments for index, moments in enumerate(each) if moments}
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
