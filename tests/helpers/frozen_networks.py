"""Networks of an environment that grows, with what was learned before frozen beside them."""

from __future__ import annotations

import torch

from alphanpi import NetworkConfig, SearchConfig, create_network
from alphanpi.agent.beginning import Beginning
from alphanpi.agent.loading import describe
from alphanpi.agent.weights import SavedWeights

SIZES = {"memory": 6, "observation_encoding": 4, "encoder_hidden": 7, "program_embedding": 5, "head_hidden": 6}


def random_network(environment, window: int, seed: int):
    network = create_network(environment, seed, NetworkConfig(window=window, action_embedding=3, **SIZES))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)
    return network


def grown(network, environment, larger, window: int, freeze: bool = True):
    """A network for the larger environment that begins with the given one."""
    card = describe("old", {}, environment, network, SearchConfig(), 0)
    beginning = Beginning("old", SavedWeights(card, dict(network.state_dict()), ""), freeze)
    narrower = beginning.environment(larger)
    return beginning.network(narrower, 1, network.config.model_copy(update={"window": window})), narrower
