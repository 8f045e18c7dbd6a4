"""From which size of the network on another device than the CPU pays, as `alphanpi bench device` found it out."""

from __future__ import annotations

import torch

from alphanpi.network.model import NPINetwork

PAYING = 5.0  # how many times as fast as one core a device has to be, in whole iterations of training
PAYS_FROM = 5_000_000  # parameters; results/bench-device.json, docs/gpu.md


def parameters_of(network: NPINetwork) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in network.parameters())


def device_advice(network: NPINetwork, device: str) -> str:
    """What to say of a network that is too small for its device; empty where it is not."""
    count = parameters_of(network)
    if torch.device(device).type == "cpu" or count >= PAYS_FROM:
        return ""
    return (
        f"device {device}: a network of {count:,} parameters is too small for it to pay; that begins at about "
        f"{PAYS_FROM:,} (network.memory = 1024), see `alphanpi bench device`; --device cpu may well be faster"
    )
