"""What can be read off a moment of a call, known or not: numbers, tuples and texts of its state and of its start."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from alphanpi.symbolic import length
from alphanpi.symbolic.states import parts_of

MOST_MOMENTS = 120
"""Moments of real calls that statements must fit."""
MOST_NUMBERS = 16
"""Numbers of a state that are compared with each other."""


class Moment(NamedTuple):
    """A moment in a call: known, or of unknown values."""

    start: Any
    state: Any
    taken: Any  # actions before it
    limit: Any  # the depth of the call


Reading = Callable[[Moment], Any]


class Seen(NamedTuple):
    """A moment of a real call, by which visit of its place in the call."""

    call: int
    visit: int
    moment: Moment


class Number(NamedTuple):
    """A number that can be read off a moment."""

    text: str
    of: Reading
    changes: bool  # within a call


class Values(NamedTuple):
    """A tuple of numbers, or a text, that can be read off a moment."""

    text: str
    path: tuple[int, ...]
    of: Reading
    of_start: Reading
    changes: bool
    ordered: bool  # numbers, and no letters


class Leaf(NamedTuple):
    """A part of a state that is no tuple of others."""

    text: str
    path: tuple[int, ...]


def part_at(state: Any, path: tuple[int, ...]) -> Any:
    """The part of a state to which a path leads."""
    for place in path:
        members = parts_of(state)
        assert members is not None
        state = members[place]
    return state


class Readings:
    """All that can be read off moments, and what of it stays the same in all that were seen."""

    def __init__(self, general: Any, seen: Sequence[Seen]) -> None:
        self.seen = seen
        self.moments = [one.moment for one in seen[:: max(1, len(seen) // MOST_MOMENTS)]]
        self.leaves = list(_leaves(general))
        self.kept = {leaf.path for leaf in self.leaves if self.always(kept(leaf.path))}
        self.tuples = list(self._find_tuples())
        self.numbers = list(islice(self._find_numbers(), MOST_NUMBERS))

    def always(self, holds: Callable[[Moment], Any]) -> bool:
        """Whether something was true of all moments, and could be asked."""
        try:
            return all(holds(moment) for moment in self.moments)
        except (Exception, SystemExit):  # it cannot be asked everywhere
            return False

    def _find_tuples(self) -> Iterator[Values]:
        first = self.moments[0] if self.moments else None
        for leaf in self.leaves:
            kind = None if first is None else type(part_at(first.state, leaf.path))
            if kind in (tuple, str):
                changes = leaf.path not in self.kept
                yield Values(
                    leaf.text, leaf.path, part_of(leaf.path), _start_part_of(leaf.path), changes, kind is tuple
                )

    def _find_numbers(self) -> Iterator[Number]:
        if not self.moments:
            return
        nothing = Number("0", lambda moment: 0, changes=False)
        first, numbers = self.moments[0], list[Number]()
        for leaf in self.leaves:
            if type(part_at(first.state, leaf.path)) is not int:
                continue
            changes = leaf.path not in self.kept
            numbers.append(Number(leaf.text, part_of(leaf.path), changes))
            if changes:
                numbers.append(Number(f"{leaf.text} at the start", _start_part_of(leaf.path), changes=False))
        for values in self.tuples:
            changes = not self.always(same_length(values))
            numbers.append(Number(f"length of {values.text}", length_of(values.of), changes))
        for name in properties_of(type(first.state)):
            if self.always(lambda moment, name=name: type(getattr(moment.state, name)) is int):  # type: ignore[misc]
                of = property_of(name)
                changes = not self.always(lambda moment, of=of: of(moment) == of(moment._replace(state=moment.start)))  # type: ignore[misc]
                numbers.append(Number(name, of, changes))
        known = set[tuple[int, ...]]()
        for number in (nothing, *numbers):
            column = tuple(number.of(moment) for moment in self.moments)
            if number.changes or column not in known:  # of two that stay the same, and are the same, one is enough
                known.add(column)
                yield number


def _leaves(general: Any, path: tuple[int, ...] = (), text: str = "") -> Iterator[Leaf]:
    members = parts_of(general)
    if members is None:
        yield Leaf(text or "state", path)
        return
    for place, (name, member) in enumerate(zip(_names_of(general, len(members)), members, strict=True)):
        yield from _leaves(member, (*path, place), f"{text}.{name}" if text else name)


def _names_of(general: Any, count: int) -> Sequence[str]:
    """What the members of a tuple or dataclass are called."""
    if dataclasses.is_dataclass(general):
        return [field.name for field in dataclasses.fields(general)]
    named: Sequence[str] = getattr(general, "_fields", ())
    return named or [str(place) for place in range(count)]


def properties_of(kind: type) -> list[str]:
    """The names of what a class computes from its members."""
    return sorted({name for one in kind.__mro__ for name, member in vars(one).items() if isinstance(member, property)})


def kept(path: tuple[int, ...]) -> Reading:
    """That a part of the state is that of the start."""
    return lambda moment: part_at(moment.state, path) == part_at(moment.start, path)


def part_of(path: tuple[int, ...]) -> Reading:
    """A part of the state."""
    return lambda moment: part_at(moment.state, path)


def _start_part_of(path: tuple[int, ...]) -> Reading:
    return lambda moment: part_at(moment.start, path)


def property_of(name: str) -> Reading:
    """Something that the state's class computes."""
    return lambda moment: getattr(moment.state, name)


def length_of(of: Reading) -> Reading:
    """How many values there are."""
    return lambda moment: length(of(moment))


def same_length(values: Values) -> Reading:
    """That there are as many values as at the start."""
    return lambda moment: length(values.of(moment)) == length(values.of_start(moment))
