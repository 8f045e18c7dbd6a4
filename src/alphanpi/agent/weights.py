"""Weights files: tensors together with a card that says what they belong to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import safetensors
import torch
from pydantic import Field
from safetensors.torch import load, save

from alphanpi.engine.config import SearchConfig
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.config import NetworkConfig
from alphanpi.network.model import NPINetwork, parameter_count
from alphanpi.runs.records import Seed
from alphanpi.support.files import write_atomically
from alphanpi.support.record import Record, Text, parsed_record, read_bytes

_METADATA = "alphanpi"
_MOST_BYTES = 2**32
_LARGEST_LAYER = 2**16
_SHOWN_NAMES = 3

Tensors = dict[str, torch.Tensor]


class ModelCard(Record):
    """What a weights file says of itself."""

    environment: Annotated[Text, Field(min_length=1)]
    options: dict[str, Any]
    version: int  # of the environment
    library: tuple[Text, ...]
    fields: tuple[Text, ...]
    network: NetworkConfig
    search: SearchConfig  # configuration the agent was trained with; planning starts from it
    seed: Seed


class SavedWeights(NamedTuple):
    """A weights file as it was read."""

    card: ModelCard
    tensors: Tensors
    sha256: str  # of the whole file


class TensorShape(NamedTuple):
    """What a tensor has to be."""

    sizes: tuple[int, ...]
    kind: torch.dtype


def write_weights(path: Path, network: NPINetwork, card: ModelCard) -> None:
    """Save weights together with what they belong to."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    write_atomically(path, save(tensors, metadata={_METADATA: json.dumps(card.model_dump(mode="json"))}))


def read_weights(path: Path) -> SavedWeights:
    """Read weights and their card; anything else than our own file is refused."""
    return parsed_weights(read_bytes(path, most=_MOST_BYTES), str(path))


def parsed_weights(content: bytes, where: str) -> SavedWeights:
    """The same from a file's content."""
    tensors = read_tensors(content, where)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])  # as safetensors defines it
    card = header.get("__metadata__", {}).get(_METADATA)
    if card is None:
        raise UsageError(f"{where}: a weights file, but not one of AlphaNPI's")
    return SavedWeights(
        parsed_record(card, ModelCard, f"{where}: its model card"), tensors, hashlib.sha256(content).hexdigest()
    )


def read_tensors(content: bytes, where: str) -> Tensors:
    """The tensors of a safetensors file."""
    try:
        tensors: Tensors = load(content)
    except (safetensors.SafetensorError, ValueError, TypeError, RuntimeError, KeyError) as error:
        raise UsageError(f"{where}: not a readable weights file: {error}") from error
    return tensors


def network_of(environment: Environment[Any], config: NetworkConfig, tensors: Tensors, where: str) -> NPINetwork:
    """The network of an environment with given weights, which have to fit."""
    for name, size in config.model_dump().items():
        if size > _LARGEST_LAYER:
            raise UsageError(f"{where}: a network with {name} = {size}; no more than {_LARGEST_LAYER:,} can be used")
    library = environment.library
    shape = (len(environment.fields), len(library.learned), len(library))
    if sum(tensor.numel() for tensor in tensors.values()) != parameter_count(*shape, config):
        with torch.device("meta"):  # asks for no memory; else avoided, since it loads torch's compiler, for seconds
            require_fitting(tensors, shapes_of(NPINetwork(*shape, config)), where)
    network = NPINetwork(*shape, config)
    require_fitting(tensors, shapes_of(network), where)
    network.load_state_dict(tensors)
    return network


def shapes_of(network: NPINetwork) -> dict[str, TensorShape]:
    """What the weights of such a network have to be."""
    return {name: TensorShape(tuple(tensor.shape), tensor.dtype) for name, tensor in network.state_dict().items()}


def require_fitting(tensors: Mapping[str, torch.Tensor], expected: Mapping[str, TensorShape], where: str) -> None:
    """Refuse tensors that are missing, left over, of another shape or kind, or no numbers."""
    for what, names in (("missing", expected.keys() - tensors.keys()), ("unknown", tensors.keys() - expected.keys())):
        if names:
            more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
            raise UsageError(f"{where}: {what} tensors: {', '.join(sorted(names)[:_SHOWN_NAMES])}{more}")
    for name, shape in expected.items():
        tensor = tensors[name]
        if (tuple(tensor.shape), tensor.dtype) != shape:
            raise UsageError(
                f"{where}: tensor {name} is {_described(TensorShape(tuple(tensor.shape), tensor.dtype))}; "
                f"expected {_described(shape)}"
            )
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise UsageError(f"{where}: tensor {name} holds values that are no finite numbers")


def _described(shape: TensorShape) -> str:
    return f"{list(shape.sizes)} {str(shape.kind).removeprefix('torch.')}"


def hash_of(network: NPINetwork) -> str:
    """SHA-256 over all weights of a network and, which they do not show, its window."""
    return _hash(network.state_dict(), network.config)


def saved_hash(weights: SavedWeights) -> str:
    """The same of a network that was saved."""
    return _hash(weights.tensors, weights.card.network)


def _hash(tensors: Mapping[str, torch.Tensor], config: NetworkConfig) -> str:
    digest = hashlib.sha256()
    if config.window:
        digest.update(f"window {config.window}".encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().numpy().tobytes())
    return digest.hexdigest()
