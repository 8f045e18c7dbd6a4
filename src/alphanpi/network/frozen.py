"""Networks that go on deciding for the programs they have learned, in a library that has grown since.

A frozen network is kept in its own shape and is asked exactly what it was asked before: its own fields in their order,
its own numbers of programs and actions. What it says of its entries is put where they are now. So nothing that is
computed for its programs can differ from what was computed when they were learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from alphanpi.environment.library import Library, learned_names
from alphanpi.network.config import MOST_WINDOW
from alphanpi.network.evaluator import noted
from alphanpi.support.record import Record, Text

NEVER = -1e9
"""The logit of what a frozen program may not call: finite, and the same in single and in double precision."""

Names = Annotated[tuple[Text, ...], Field(min_length=1)]


class FrozenRecord(Record):
    """What a frozen network was made for, as a model card has it."""

    library: Names
    fields: Names
    programs: Names  # for which it decides
    window: Annotated[int, Field(ge=0, le=MOST_WINDOW)]


class NetworkOutput(NamedTuple):
    """One step of the network for a batch of R rows."""

    logits: Tensor  # [R, A], unmasked
    value: Tensor  # [R], in [-1, 1]
    hidden: Tensor  # [R, H]
    cell: Tensor  # [R, H]


class Placement(NamedTuple):
    """Where a frozen network's numbers are in the library and the fields of today."""

    programs: list[int]  # [P] of today: its own number of each, or 0
    decides: list[bool]  # [P] of today: whether it decides for it
    fields: list[int]  # [own fields] their places among those of today
    entries: list[int]  # [own entries] their indices today
    previous: list[int]  # [A + 1] of today: the action before as it notes it, or 0


def placed(record: FrozenRecord, learned: int, library: Library, fields: Sequence[str]) -> Placement:
    """The placement of a network that has learned `learned` programs of its library."""
    own = {name: number for number, name in enumerate(learned_names(record.library, learned))}
    entries = {name: number for number, name in enumerate(record.library)}
    return Placement(
        programs=[own[entry.name] if entry.name in record.programs else 0 for entry in library.learned],
        decides=[entry.name in record.programs for entry in library.learned],
        fields=[list(fields).index(name) for name in record.fields],
        entries=[library.index_of(name) for name in record.library],
        previous=[0, *(noted(entries[name]) if name in entries else 0 for name in library.names)],
    )


class FrozenNetwork(nn.Module):
    """A network whose weights are no parameters any more, in a larger library."""

    decides: Tensor
    _programs: Tensor
    _fields: Tensor
    _entries: Tensor
    _previous: Tensor

    def __init__(self, network: nn.Module, record: FrozenRecord, placement: Placement) -> None:
        super().__init__()
        self.network = _without_parameters(network)
        self.record = record
        self.placement = placement
        self._width = len(placement.previous) - 1
        for name, numbers in (
            ("_programs", placement.programs),
            ("decides", placement.decides),
            ("_fields", placement.fields),
            ("_entries", placement.entries),
            ("_previous", placement.previous),
        ):
            self.register_buffer(name, torch.tensor(numbers), persistent=False)

    def forward(
        self, programs: Tensor, observations: Tensor, hidden: Tensor, cell: Tensor, previous: Tensor | None
    ) -> NetworkOutput:
        """As the network itself, in numbers of today; what it says for programs of others has no meaning."""
        return self.ask(self.network, programs, observations, hidden, cell, previous)

    def ask(
        self,
        step: Callable[..., NetworkOutput],
        programs: Tensor,
        observations: Tensor,
        hidden: Tensor,
        cell: Tensor,
        previous: Tensor | None,
    ) -> NetworkOutput:
        """The same, where a step of the network is computed by a function."""
        output = step(
            self._programs[programs],
            observations[:, self._fields],
            hidden,
            cell,
            None if previous is None else self._previous[previous],
        )
        logits = output.logits.new_full((len(programs), self._width), NEVER)
        logits[:, self._entries] = output.logits
        return output._replace(logits=logits)


def routed(
    own: Callable[..., NetworkOutput], frozen: Sequence[Any], programs: Tensor, *inputs: Tensor | None
) -> NetworkOutput:
    """Each row from the network that decides for its program."""
    output = own(programs, *inputs)
    for part in frozen:
        of_part = part(programs, *inputs)
        chosen = part.decides[programs]
        output = NetworkOutput(
            *(
                torch.where(chosen if tensor.dim() == 1 else chosen[:, None], tensor, before)
                for tensor, before in zip(of_part, output, strict=True)
            )
        )
    return output


def _without_parameters(network: nn.Module) -> nn.Module:
    """The network, its parameters made buffers: no optimiser and no renewal ever sees them."""
    for module in network.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            delattr(module, name)
            module.register_buffer(name, parameter.detach())
    return network
