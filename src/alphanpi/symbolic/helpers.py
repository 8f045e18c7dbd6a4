"""Operations on tuples and numbers that also have a meaning where these are unknown.

On known values each is the few lines of plain Python that stand here. On unknown ones it is what those lines do for all
values at once. Places run from `low` to below `high`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import le
from typing import TypeVar

from alphanpi.symbolic.base import reasons_of

Value = TypeVar("Value")


def length(values: tuple[int, ...] | str) -> int:
    """`len(values)`, which Python allows to be nothing but a known number."""
    reasons = reasons_of(values)
    return len(values) if reasons is None else reasons.length(values)


def replaced(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    """The values with another one at a place."""
    reasons = reasons_of(values, place, value)
    if reasons is not None:
        return reasons.replaced(values, place, value)  # type: ignore[no-any-return]
    if not 0 <= place < len(values):
        raise IndexError(f"there is no place {place} among {len(values)}")
    return (*values[:place], value, *values[place + 1 :])


def exchanged(values: tuple[int, ...], one: int, other: int) -> tuple[int, ...]:
    """The values with those at two places exchanged."""
    reasons = reasons_of(values, one, other)
    if reasons is not None:
        return replaced(replaced(values, one, values[other]), other, values[one])
    copy = list(values)
    copy[one], copy[other] = copy[other], copy[one]
    return tuple(copy)


class _OneHot(dict[int, tuple[bool, ...]]):
    """What `one_hot` is of known values."""

    def __missing__(self, value: int) -> tuple[bool, ...]:
        raise IndexError(f"{value} is not from 0 to {len(self) - 1}")


class _OneHotByCount(dict[int, _OneHot]):
    """The same by their number, made as they are asked for."""

    def __missing__(self, count: int) -> _OneHot:
        places = range(count)
        self[count] = known = _OneHot({value: tuple(place == value for place in places) for value in places})
        return known


_ONE_HOT = _OneHotByCount()


def one_hot(value: int, count: int) -> tuple[bool, ...]:
    """As many truth values, of which the one at the place `value` is true."""
    if type(value) is int:  # observations are made often
        return _ONE_HOT[count][value]
    reasons = reasons_of(value)
    return _ONE_HOT[count][value] if reasons is None else reasons.one_hot(value, count)


def every(low: int, high: int, holds: Callable[[int], bool]) -> bool:
    """Whether `holds(place)` for every place."""
    reasons = reasons_of(low, high)
    if reasons is not None:
        return reasons.every(low, high, holds)  # type: ignore[no-any-return]
    return all(holds(place) for place in range(low, high))


def first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first place of which `holds(place)`; `high` if there is none."""
    reasons = reasons_of(low, high)
    if reasons is not None:
        return reasons.first(low, high, holds)  # type: ignore[no-any-return]
    return next((place for place in range(low, high) if holds(place)), high)


def last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The last place of which `holds(place)`; `low - 1` if there is none."""
    reasons = reasons_of(low, high)
    if reasons is not None:
        return reasons.last(low, high, holds)  # type: ignore[no-any-return]
    return next((place for place in reversed(range(low, high)) if holds(place)), low - 1)


def fold(step: Callable[[int, int], int], initial: int, low: int, high: int, *, backwards: bool = False) -> int:
    """What `value = step(value, place)` at every place makes of the initial value; `backwards`: from the last place."""
    reasons = reasons_of(low, high, initial)
    if reasons is not None:
        return reasons.fold(step, initial, low, high, backwards)  # type: ignore[no-any-return]
    value = initial
    for place in reversed(range(low, high)) if backwards else range(low, high):
        value = step(value, place)
    return value


def swept(values: tuple[int, ...], low: int, high: int, pair: Callable[[int, int], tuple[int, int]]) -> tuple[int, ...]:
    """The values after `pair` has replaced each two neighbours between `low` and below `high`, from left to right."""
    reasons = reasons_of(values, low, high)
    if reasons is not None:
        return reasons.swept(values, low, high, pair)  # type: ignore[no-any-return]
    copy = list(values)
    for place in range(low, high - 1):
        copy[place], copy[place + 1] = pair(copy[place], copy[place + 1])
    return tuple(copy)


def is_sorted(values: tuple[int, ...]) -> bool:
    """Whether the values are in ascending order."""
    reasons = None if type(values) is tuple else reasons_of(values)
    if reasons is not None:
        return reasons.is_sorted(values)  # type: ignore[no-any-return]
    return all(map(le, values, values[1:]))


def same_values(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether both hold the same values, each as often, in whatever order."""
    reasons = reasons_of(one, other)
    if reasons is not None:
        return reasons.same_values(one, other)  # type: ignore[no-any-return]
    return sorted(one) == sorted(other)
