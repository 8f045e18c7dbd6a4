"""States of unknown values: taken apart, compared with the most general one, and made known again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import z3

from alphanpi.symbolic.base import Unknowns
from alphanpi.symbolic.faults import NotExpressibleError
from alphanpi.symbolic.reasoning import Reasoning, is_unknown
from alphanpi.symbolic.texts import UnknownText, letters_of, written
from alphanpi.symbolic.values import Term, UnknownNumber, UnknownNumbers, UnknownTruth

MOST_SHOWN = 1_000
"""Values of an unknown tuple that are made known."""


def parts_of(state: Any) -> tuple[Any, ...] | None:
    """The members of a tuple or of a dataclass; None for anything else."""
    if is_unknown(state):
        return None
    if issubclass(type(state), tuple):
        return tuple(state)
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        return tuple(getattr(state, field.name) for field in dataclasses.fields(state))
    return None


def remade(state: Any, parts: tuple[Any, ...]) -> Any:
    """The same kind of tuple or dataclass around other members."""
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        names = [field.name for field in dataclasses.fields(state)]
        return dataclasses.replace(state, **dict(zip(names, parts, strict=True)))
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)


class _Made:
    """Hands out unknown values, and notes them."""

    def __init__(self, reasoning: Reasoning) -> None:
        self.reasoning = reasoning
        self.noted: list[Any] = []

    def number(self) -> Any:
        return self._note(self.reasoning.number())

    def truth(self) -> Any:
        return self._note(self.reasoning.truth())

    def numbers(self) -> Any:
        return self._note(self.reasoning.numbers())

    def text(self) -> Any:
        return self._note(self.reasoning.text())

    def _note(self, value: Any) -> Any:
        self.noted.append(value)
        return value


def general_state(symbolic: Callable[[Unknowns], Any], reasoning: Reasoning) -> Any:
    """The most general state; it says nothing of its unknown values, since nobody would look whether that is true."""
    made, asked = _Made(reasoning), reasoning.paths.position
    general = symbolic(made)
    noted = {id(value) for value in made.noted}
    if reasoning.paths.position != asked or not all(id(value) in noted for value in _unknowns(general)):
        reasoning.refuse("`symbolic` that asks about its values or computes with them; write it into `valid`")
    for name in _cached_properties(general):
        reasoning.refuse(f"{name}, a cached property of a state; write property")
    return general


def _unknowns(state: Any) -> Iterator[Any]:
    if is_unknown(state):
        yield state
    for member in parts_of(state) or ():
        yield from _unknowns(member)


def _cached_properties(state: Any) -> Iterator[str]:
    """The names of what parts of a state compute once and keep, though on another way it may be something else."""
    members = parts_of(state)
    if members is not None:
        for kind in type(state).__mro__:
            yield from (name for name, member in vars(kind).items() if isinstance(member, cached_property))
        for member in members:
            yield from _cached_properties(member)


class Unfit(NamedTuple):
    """What keeps a state from being one that `symbolic` stands for."""

    what: str


def differences(general: Any, state: Any, same: Callable[[Any, Any], bool]) -> Iterator[Unfit]:
    """Where a state, known or not, is no case of the most general one."""
    yield from _differences(general, state, same, {})


def _differences(general: Any, state: Any, same: Callable[[Any, Any], bool], taken: dict[int, Any]) -> Iterator[Unfit]:
    if is_unknown(general):
        if not _fits(general, state):
            yield Unfit(f"`symbolic` has an {_kind(general)} where a state has {_kind(state)}")
        elif id(general) in taken:
            if not same(taken[id(general)], state):
                yield Unfit("`symbolic` has one unknown value in two places, and a state has two different ones")
        else:
            taken[id(general)] = state
        return
    members, others = parts_of(general), parts_of(state)
    if members is None or others is None:
        if is_unknown(state) or type(general) is not type(state) or general != state:
            yield Unfit(f"`symbolic` has {general!r:.40} where a state has {_kind(state)}")
    elif type(general) is not type(state) or len(members) != len(others):
        yield Unfit(f"`symbolic` gives a {type(general).__name__}, and a state is a {type(state).__name__}")
    else:
        for member, other in zip(members, others, strict=True):
            yield from _differences(member, other, same, taken)


def _fits(general: Any, state: Any) -> bool:
    if type(general) is UnknownNumbers:
        if type(state) is UnknownNumbers:
            return True
        return type(state) is tuple and all(_is_number(value) for value in state)
    if type(general) is UnknownText:
        return type(state) in (str, UnknownText)
    if type(general) is UnknownTruth:
        return type(state) in (bool, UnknownTruth)
    return _is_number(state)


def _is_number(value: Any) -> bool:
    return type(value) in (UnknownNumber, int, bool, UnknownTruth)


def _kind(value: Any) -> str:
    names = {
        UnknownNumber: "unknown number",
        UnknownTruth: "unknown truth value",
        UnknownNumbers: "unknown tuple",
        UnknownText: "unknown text",
    }
    return names.get(type(value), f"a {type(value).__name__}")


def as_constants(reasoning: Reasoning, general: Any, state: Any) -> Any:
    """A known state as one of unknown values that happen to be known."""
    if is_unknown(general):
        if type(general) is UnknownNumbers:
            return reasoning.constant(state)
        if type(general) is UnknownText:
            return UnknownText(reasoning, letters_of(reasoning, state))
        if type(general) is UnknownTruth:
            return UnknownTruth(reasoning, z3.BoolVal(state))
        return UnknownNumber(reasoning, z3.IntVal(int(state)))
    members = parts_of(general)
    if members is None:
        return state
    parts = tuple(as_constants(reasoning, *both) for both in zip(members, parts_of(state) or (), strict=True))
    return remade(general, parts)


def pinned(reasoning: Reasoning, general: Any, state: Any) -> Iterator[Term]:
    """Formulas that say of a general state that it is a known one."""
    if is_unknown(general):
        if type(general) in (UnknownNumbers, UnknownText):
            is_text = type(general) is UnknownText
            one, other = (
                (general.letters, letters_of(reasoning, state)) if is_text else (general, reasoning.constant(state))
            )
            yield one.size == other.size
            for place in range(len(state)):
                yield one.at(z3.IntVal(place)) == other.at(z3.IntVal(place))
        else:
            yield general.term == (z3.BoolVal(state) if type(general) is UnknownTruth else int(state))
        return
    for both in zip(parts_of(general) or (), parts_of(state) or (), strict=True):
        yield from pinned(reasoning, *both)


def known(state: Any, model: Any) -> Any:
    """The state with the values that a model of the solver's gives."""
    if is_unknown(state):
        if type(state) is UnknownNumbers:
            return tuple(_numbers(model, state))
        if type(state) is UnknownText:
            return written(_numbers(model, state.letters))
        if type(state) is UnknownTruth:
            return z3.is_true(model.eval(state.term, model_completion=True))
        return _number(model, state.term)
    members = parts_of(state)
    return state if members is None else remade(state, tuple(known(member, model) for member in members))


def lengths(state: Any) -> list[Term]:
    """The lengths of all unknown tuples in a state."""
    if type(state) is UnknownNumbers:
        return [state.size]
    if type(state) is UnknownText:
        return [state.letters.size]
    return [size for member in parts_of(state) or () for size in lengths(member)]


def _numbers(model: Any, values: UnknownNumbers) -> list[int]:
    size = _number(model, values.size)
    if size > MOST_SHOWN:
        raise NotExpressibleError(f"an example with a tuple of {size:,} values")
    return [_number(model, values.at(z3.IntVal(place))) for place in range(size)]


def _number(model: Any, term: Term) -> int:
    value: int = model.eval(term, model_completion=True).as_long()
    return value
