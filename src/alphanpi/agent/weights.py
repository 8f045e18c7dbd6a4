"""Weights files: tensors together with a card that says what they belong to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import safetensors
import torch
from pydantic import Field, field_validator
from safetensors.torch import load, save

from alphanpi.engine.config import SearchConfig
from alphanpi.environment.library import learned_names
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.config import NetworkConfig
from alphanpi.network.evaluator import UNBOUNDED
from alphanpi.network.frozen import FrozenNetwork, FrozenRecord, placed
from alphanpi.network.model import NPINetwork, parameter_count
from alphanpi.runs.records import Seed
from alphanpi.support.files import write_atomically
from alphanpi.support.record import Record, Sha256, Text, parsed_record, read_bytes

_METADATA = "alphanpi"
_MOST_BYTES = 2**32
_LARGEST_LAYER = 2**16
_SHOWN_NAMES = 3
_SETTINGS_NO_MORE = {
    *("recursion_bonus", "noise_at", "failed_call_exploration", "failed_call_exploitation", "level_term"),
}

Tensors = dict[str, torch.Tensor]


class WeightsOrigin(Record):
    """Whose weights a training began from."""

    environment: Text
    weights: Sha256  # hash of all of them


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
    calls: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)  # what each program may call; not in older files
    origin: WeightsOrigin | None = None
    frozen: tuple[FrozenRecord, ...] = ()

    @field_validator("network", mode="before")
    @classmethod
    def _with_its_window(cls, value: Any) -> Any:
        """Files from before there were windows do not name one: their networks see all of a call."""
        return {"window": UNBOUNDED, **value} if isinstance(value, dict) else value

    @field_validator("search", mode="before")
    @classmethod
    def _of_any_version(cls, value: Any) -> Any:
        """Files of earlier versions have settings of exploration that are no more, and two for failed calls."""
        if not isinstance(value, dict):
            return value
        kept = {name: item for name, item in value.items() if name not in _SETTINGS_NO_MORE}
        failed_call = value.get("failed_call_exploitation")
        return kept if failed_call is None else {**kept, "failed_call": failed_call}


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
    write_atomically(path, packed(network.state_dict(), card))


def packed(tensors: Mapping[str, torch.Tensor], card: ModelCard) -> bytes:
    """The content of a weights file."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(plain, metadata={_METADATA: json.dumps(card.model_dump(mode="json"))})


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


def network_of(
    environment: Environment[Any],
    config: NetworkConfig,
    tensors: Tensors,
    where: str,
    frozen: Sequence[FrozenRecord] = (),
) -> NPINetwork:
    """The network of an environment with given weights, which have to fit."""
    for name, size in config.model_dump().items():
        if size > _LARGEST_LAYER:
            raise UsageError(f"{where}: a network with {name} = {size}; no more than {_LARGEST_LAYER:,} can be used")
    library = environment.library
    own, *others = separated(tensors, len(frozen))
    parts = [
        frozen_network(environment, record, config, weights, where)
        for record, weights in zip(frozen, others, strict=True)
    ]
    shape = (len(environment.fields), len(library.learned), len(library))
    return with_frozen(network_of_shape(shape, config, own, where), parts)


def with_frozen(network: NPINetwork, parts: Sequence[FrozenNetwork]) -> NPINetwork:
    """The network, and frozen ones beside it."""
    network.frozen = torch.nn.ModuleList(parts)  # type: ignore[assignment]
    return network


def frozen_network(
    environment: Environment[Any], record: FrozenRecord, config: NetworkConfig, tensors: Tensors, where: str
) -> FrozenNetwork:
    """A network that goes on deciding for its programs in an environment that has all they know."""
    embeddings = tensors.get("embedding.weight")
    learned = 0 if embeddings is None or embeddings.dim() == 0 else len(embeddings)
    missing = [name for name in record.library if name not in environment.library.names]
    missing += [name for name in record.fields if name not in environment.fields]
    own = learned_names(record.library, learned) if 0 < learned < len(record.library) else ()
    missing += [
        name
        for name in record.programs
        if name not in own or name not in {entry.name for entry in environment.library.learned}
    ]
    if missing:
        raise UsageError(f"{where}: frozen programs need {missing[0]}, which does not fit the environment")
    if bool(record.window) != bool(config.window) or record.window > config.window:
        raise UsageError(
            f"{where}: frozen programs with a window of {record.window}, beside a network with one of {config.window}"
        )
    shape = (len(record.fields), learned, len(record.library))
    network = network_of_shape(shape, config.model_copy(update={"window": record.window}), tensors, where)
    return FrozenNetwork(network, record, placed(record, learned, environment.library, environment.fields))


def network_of_shape(shape: tuple[int, int, int], config: NetworkConfig, tensors: Tensors, where: str) -> NPINetwork:
    """A network of a shape (fields, programs, entries) with given weights, which have to fit."""
    if sum(tensor.numel() for tensor in tensors.values()) != parameter_count(*shape, config):
        with torch.device("meta"):  # asks for no memory; else avoided, since it loads torch's compiler, for seconds
            require_fitting(tensors, shapes_of(NPINetwork(*shape, config)), where)
    network = NPINetwork(*shape, config)
    require_fitting(tensors, shapes_of(network), where)
    network.load_state_dict(tensors)
    return network


def separated(tensors: Tensors, frozen: int) -> list[Tensors]:
    """The tensors of the network itself, and of each of the frozen ones beside it."""
    prefixes = [f"frozen.{number}.network." for number in range(frozen)]
    own = {name: tensor for name, tensor in tensors.items() if not name.startswith(tuple(prefixes))}
    return [own, *(below(tensors, prefix) for prefix in prefixes)]


def below(tensors: Mapping[str, torch.Tensor], prefix: str) -> Tensors:
    """The tensors whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


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
    """SHA-256 over all weights of a network and, which they do not show, its window and what is frozen."""
    return _hash(network.state_dict(), network.config.window, [part.record for part in network.frozen])


def saved_hash(weights: SavedWeights) -> str:
    """The same of a network that was saved."""
    return _hash(weights.tensors, weights.card.network.window, weights.card.frozen)


def frozen_hashes(network: NPINetwork) -> dict[str, str]:
    """By frozen program, the hash of the network that decides for it: what the agent had that learned it alone."""
    return {
        name: _hash(part.network.state_dict(), part.record.window, ())
        for part in network.frozen
        for name in part.record.programs
    }


def _hash(tensors: Mapping[str, torch.Tensor], window: int, frozen: Sequence[FrozenRecord]) -> str:
    digest = hashlib.sha256()
    if window:
        digest.update(f"window {window}".encode())
    for record in frozen:
        digest.update(record.model_dump_json().encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().numpy().tobytes())
    return digest.hexdigest()
