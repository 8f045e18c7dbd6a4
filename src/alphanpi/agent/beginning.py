"""Beginning from what another agent has learned: weights go by name, and may be frozen.

What belongs to an entry of the library or to a field is carried over by its name: outputs of the actor, embeddings of
programs and of actions before, columns of the encoder. What is new begins fresh. With `freeze`, the old network also
stays as it is beside the one that learns, and goes on deciding for its programs; these may call nothing that is new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from alphanpi.agent.loading import Subject, as_agent, frozen_calls, read_intact, weights_path
from alphanpi.agent.weights import (
    ModelCard,
    SavedWeights,
    Tensors,
    WeightsOrigin,
    frozen_network,
    network_of_shape,
    packed,
    parsed_weights,
    saved_hash,
    separated,
    with_frozen,
)
from alphanpi.environment.library import learned_names
from alphanpi.environment.narrowing import narrowed
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.config import NetworkConfig
from alphanpi.network.frozen import FrozenRecord
from alphanpi.network.model import NPINetwork, create_network
from alphanpi.runs.records import BeginningRecord
from alphanpi.support.record import read_bytes

_MOST_BYTES = 2**32
_FREE = ("largest_window",)  # settings of a network that no weights depend on


class Beginning(NamedTuple):
    """The weights a training begins from."""

    name: str  # as the user gave it
    weights: SavedWeights
    freeze: bool

    @property
    def content(self) -> bytes:
        """As a file of the run that begins."""
        return packed(self.weights.tensors, self.weights.card)

    @property
    def record(self) -> BeginningRecord:
        """What the run says of it."""
        return BeginningRecord(name=self.name, file=hashlib.sha256(self.content).hexdigest(), freeze=self.freeze)

    @property
    def origin(self) -> WeightsOrigin:
        """What the card of an agent says of it."""
        return WeightsOrigin(environment=self.weights.card.environment, weights=saved_hash(self.weights))

    @property
    def _learned(self) -> tuple[str, ...]:
        """The programs of the old library."""
        library, embeddings = self.weights.card.library, self.weights.tensors.get("embedding.weight")
        count = 0 if embeddings is None or embeddings.dim() == 0 else len(embeddings)
        if not 0 < count < len(library):
            raise UsageError(f"{self.name}: its weights do not fit its programs")
        return learned_names(library, count)

    @property
    def frozen(self) -> tuple[FrozenRecord, ...]:
        """What stays as it is: what was frozen before and, with `freeze`, all other programs of the old library."""
        card = self.weights.card
        already = {name for record in card.frozen for name in record.programs}
        others = tuple(name for name in self._learned if name not in already)
        if not self.freeze or not others:
            return card.frozen
        own = FrozenRecord(library=card.library, fields=card.fields, programs=others, window=card.network.window)
        return (*card.frozen, own)

    @property
    def frozen_programs(self) -> frozenset[str]:
        """The programs that stay as they are."""
        return frozenset(name for record in self.frozen for name in record.programs)

    def network_config(self, asked: NetworkConfig, usual: NetworkConfig) -> NetworkConfig:
        """The sizes of the old network; a setting that asks for others, where the preset does not, is refused."""
        old = self.weights.card.network
        for key in NetworkConfig.model_fields:
            there, here = getattr(old, key), getattr(asked, key)
            if key not in _FREE and here not in (there, getattr(usual, key)):
                raise UsageError(
                    f"--from {self.name}: network.{key} is {there} there; {here} was asked for: leave it out"
                )
        if not old.window:
            raise UsageError(
                f"--from {self.name}: it sees all of a call (network.window is 0), as the preset paper learns it; "
                "begin from an agent with a window, or learn from nothing"
            )
        return old.model_copy(update={key: getattr(asked, key) for key in _FREE})

    def environment(self, environment: Environment[Any]) -> Environment[Any]:
        """The environment, in which frozen programs may call what they could; a UsageError where something is gone."""
        kind, card = type(environment), self.weights.card
        for name in card.fields:
            if name not in environment.fields:
                raise UsageError(f"--from {self.name}: its field {name!r} is not in {kind.__name__}")
        if not self.frozen:
            return environment
        if kind.legal is not Environment.legal:
            raise UsageError(
                f"--freeze: {kind.__name__} has a `legal` of its own, so nothing keeps old programs as they are"
            )
        library = environment.library
        for record in self.frozen:
            learned = {entry.name for entry in library.learned}
            for name in record.library:
                if name not in library.names or (name in self._learned) != (name in learned):
                    what = "program" if name in self._learned else "action"
                    raise UsageError(
                        f"--freeze: {name}, which {self.name} has learned with, is no {what} of {kind.__name__}"
                    )
        narrower = narrowed(environment, frozen_calls(self.frozen))
        for name in sorted(self.frozen_programs & card.calls.keys()):
            now = {entry.name for entry in narrower.library.callable_by(name)}
            if changed := sorted(now.symmetric_difference(card.calls[name])):
                more = "more" if changed[0] in now else "less"
                raise UsageError(
                    f"--freeze: {name} may call {more} than when it was learned: {changed[0]}; its level has changed"
                )
        if self.frozen_programs >= {entry.name for entry in library.learned}:
            raise UsageError(f"--freeze: every program of {kind.__name__} is frozen, so there is nothing to learn")
        return narrower

    def network(self, environment: Environment[Any], seed: int, config: NetworkConfig) -> NPINetwork:
        """A network that begins with the old weights, and the frozen ones beside it."""
        card, tensors = self.weights.card, self.weights.tensors
        learned, where = self._learned, self.name
        own, *before = separated(tensors, len(card.frozen))
        network_of_shape((len(card.fields), len(learned), len(card.library)), config, own, where)
        network = create_network(environment, seed, config)
        network.load_state_dict(_carried(own, network.state_dict(), card, learned, environment))
        parts = zip(self.frozen, [*before, own], strict=False)
        return with_frozen(
            network, [frozen_network(environment, record, config, weights, where) for record, weights in parts]
        )


def beginning_of(subject: Subject, freeze: bool) -> Beginning:
    """What a training is to begin from: an agent, or what `load` takes; its own environment need not be there."""
    if isinstance(subject, (str, Path)):
        return Beginning(str(subject), read_intact(weights_path(subject)), freeze)
    agent = as_agent(subject)
    tensors = {name: tensor.detach().cpu().clone() for name, tensor in agent.network.state_dict().items()}
    return Beginning(agent.name, SavedWeights(agent.card, tensors, agent.weights_hash), freeze)


def read_beginning(file: Path, record: BeginningRecord | None) -> Beginning | None:
    """What a run began from, by the copy in its directory."""
    if record is None:
        return None
    content = read_bytes(file, most=_MOST_BYTES)
    if hashlib.sha256(content).hexdigest() != record.file:
        raise UsageError(f"{file}: damaged: not the weights this run began from; put them back, or start a new run")
    return Beginning(record.name, parsed_weights(content, str(file)), record.freeze)


def _carried(
    old: Tensors, fresh: Tensors, card: ModelCard, learned: Sequence[str], environment: Environment[Any]
) -> Tensors:
    """The old weights in the shapes of today; what has no name among the old ones is fresh."""
    library, no_action = environment.library, ""
    today = tuple(entry.name for entry in library.learned)
    named = {  # by tensor: the dimension in which each place has a name, the names there were and those there are
        "encoder.0.weight": _Named(1, card.fields, environment.fields),
        "embedding.weight": _Named(0, learned, today),
        "previous.weight": _Named(0, (no_action, *card.library), (no_action, *library.names)),
        "actor.2.weight": _Named(0, card.library, library.names),
        "actor.2.bias": _Named(0, card.library, library.names),
    }
    result = dict(fresh)
    for name, tensor in old.items():
        if name not in named:
            result[name] = tensor
            continue
        dimension, before, now = named[name]
        kept = [one for one in now if one in before]
        source = torch.tensor([before.index(one) for one in kept])
        target = torch.tensor([now.index(one) for one in kept])
        result[name] = fresh[name].index_copy(dimension, target, tensor.index_select(dimension, source))
    return result


class _Named(NamedTuple):
    dimension: int
    before: Sequence[str]
    now: Sequence[str]
