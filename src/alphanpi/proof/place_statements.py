"""Statements about the values between two places: as at the start, in order, or alike compared with another value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from operator import eq, ge, gt, le, lt
from typing import Any, NamedTuple

from alphanpi.proof.readings import Moment, Number, Reading, Readings, Values
from alphanpi.proof.statement import Statement
from alphanpi.symbolic import every, is_sorted, length, same_values

LEAST_TRIED = 12
"""Moments in which a statement about values must have had something to say."""
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "<": lt, "<=": le, ">": gt, ">=": ge}
_IMPLIED = {"==": ("<=", ">="), "<": ("<=",), ">": (">=",)}


class _Ends(NamedTuple):
    """Two numbers, and what they were in all moments."""

    text: str
    low: Reading
    high: Reading
    lows: list[int]
    highs: list[int]

    def holds(self, other: _Ends) -> bool:
        """Whether the other range always was inside this one, and not always the same."""
        same = (self.lows, self.highs) == (other.lows, other.highs)
        return not same and all(map(le, self.lows, other.lows)) and all(map(ge, self.highs, other.highs))


class _Range(NamedTuple):
    """Places from one number to below another."""

    low: Reading
    high: Reading
    text: str
    narrower: tuple[str, ...]  # texts of those within


class _Pointed(NamedTuple):
    """A value, and whether there is one."""

    text: str
    of: Callable[[Moment], tuple[Any, Any]]


class PlaceStatements:
    """Those that fit what was read."""

    def __init__(self, readings: Readings) -> None:
        self.readings = readings
        self.moments = readings.moments

    def frames(self) -> Iterator[Statement]:
        """That values are as at the start, or the same ones in another order."""
        for values in self.readings.tuples:
            if not values.changes:
                continue
            for low, high, text, narrower in self._ranges(values):
                yield Statement(
                    f"{values.text} is as at the start at {text}",
                    lambda moment, values=values, low=low, high=high: every(  # type: ignore[misc]
                        low(moment), high(moment), _same_at(values.of(moment), values.of_start(moment))
                    ),
                    implied=tuple(f"{values.text} is as at the start at {one}" for one in narrower),
                )
            steady = self._ranges(values, [number for number in self.readings.numbers if not number.changes])
            for low, high, text, _ in steady if values.ordered else ():
                yield Statement(
                    f"{values.text} holds the values of the start at {text}",
                    lambda moment, values=values, low=low, high=high: same_values(  # type: ignore[misc]
                        values.of(moment)[low(moment) : high(moment)],
                        values.of_start(moment)[low(moment) : high(moment)],
                    ),
                    implied=tuple(
                        f"{values.text} holds the values of the start at {wider.text}"
                        for wider in steady
                        if text in wider.narrower
                    ),
                )

    def sections(self) -> Iterator[Statement]:
        """That values between two places are in order, or compare in one way with another value."""
        pointed = list(self._pointed())
        for values in (one for one in self.readings.tuples if one.ordered):
            ranges = self._ranges(values)
            for low, high, text, narrower in ranges:
                if values.changes:
                    yield Statement(
                        f"{values.text} is in order at {text}",
                        lambda moment, values=values, low=low, high=high: is_sorted(  # type: ignore[misc]
                            values.of(moment)[low(moment) : high(moment)]
                        ),
                        implied=tuple(f"{values.text} is in order at {one}" for one in narrower),
                    )
                tried = [other for other in pointed if self._tried(low, high, other) >= LEAST_TRIED]
                for other, (comparison, compare) in product(tried, _COMPARISONS.items()):
                    said = f"{values.text} {comparison} {other.text} at"
                    weaker = [f"{values.text} {one} {other.text} at" for one in _IMPLIED.get(comparison, ())]
                    yield Statement(
                        f"{said} {text}",
                        _compared(values.of, low, high, other.of, compare),
                        implied=(
                            *(f"{said} {one}" for one in narrower),
                            *(f"{one} {where}" for one in weaker for where in (text, *narrower)),
                        ),
                    )

    def _pointed(self) -> Iterator[_Pointed]:
        """Values that others may be compared with: those that numbers point at, and numbers that are no places."""
        places: set[str] = set()
        for values in (one for one in self.readings.tuples if one.ordered):
            for number in self.readings.numbers:
                if self.readings.always(_is_place(number.of, values.of)):
                    places.add(number.text)
                    yield _Pointed(f"{values.text}[{number.text}]", _at(values.of, number.of))
                    yield _Pointed(f"{values.text}[{number.text} - 1]", _at(values.of, _before(number.of)))
        for number in self.readings.numbers:
            if number.text not in places:
                yield _Pointed(number.text, lambda moment, number=number: (True, number.of(moment)))  # type: ignore[misc]

    def shifted(self) -> Iterator[Statement]:
        """That two tuples are the same along a range of places."""
        for one, other in product(self.readings.tuples, repeat=2):
            if one.path == other.path:
                continue
            for low, high, text, narrower in self._ranges(other):
                for number in self.readings.numbers:
                    said = f"{one.text}[{number.text} + place] is {other.text}[place] at"
                    yield Statement(
                        f"{said} {text}",
                        lambda moment, one=one, other=other, low=low, high=high, number=number: every(  # type: ignore[misc]
                            low(moment), high(moment), _same_at(one.of(moment), other.of(moment), number.of(moment))
                        ),
                        implied=tuple(f"{said} {where}" for where in narrower),
                    )

    def _tried(self, low: Reading, high: Reading, other: _Pointed) -> int:
        """In how many moments there are values to be compared."""
        tried = 0
        for moment in self.moments:
            held, at = other.of(moment)
            tried += low(moment) < high(moment) and (held is True or 0 <= at < len(held))
        return tried

    def _ranges(self, values: Values, numbers: Sequence[Number] | None = None) -> list[_Range]:
        """Ranges of places, each with those that it always holds; the last place may be inside."""
        chosen = self.readings.numbers if numbers is None else numbers
        ends = [
            *((number.text, number.of) for number in chosen),
            *((f"{one.text} + 1", _next(one.of)) for one in chosen),
        ]
        columns = {text: [of(moment) for moment in self.moments] for text, of in ends}
        sizes = [len(values.of(moment)) for moment in self.moments]
        inside = [end for end in ends if all(map(le, columns[end[0]], sizes)) and min(columns[end[0]]) >= 0]
        found = [
            _Ends(f"{low} ... {high}", of_low, of_high, columns[low], columns[high])
            for (low, of_low), (high, of_high) in product(inside, repeat=2)
            if all(map(le, columns[low], columns[high]))
            and any(one + 1 < other for one, other in zip(columns[low], columns[high], strict=True))
        ]
        return [
            _Range(ends.low, ends.high, ends.text, tuple(other.text for other in found if ends.holds(other)))
            for ends in found
        ]


def _before(of: Reading) -> Reading:
    return lambda moment: of(moment) - 1


def _next(of: Reading) -> Reading:
    return lambda moment: of(moment) + 1


def _is_place(of: Reading, values: Reading) -> Callable[[Moment], bool]:
    return lambda moment: 0 <= of(moment) <= len(values(moment))


def _at(values: Reading, place: Reading) -> Callable[[Moment], tuple[Any, Any]]:
    def read(moment: Moment) -> tuple[Any, Any]:
        return values(moment), place(moment)

    return read


def _same_at(one: Any, other: Any, more: Any = 0) -> Callable[[Any], Any]:
    return lambda place: one[place + more] == other[place]


def _compared(
    values: Reading,
    low: Reading,
    high: Reading,
    pointed: Callable[[Moment], tuple[Any, Any]],
    compare: Callable[[Any, Any], Any],
) -> Reading:
    def holds(moment: Moment) -> Any:
        held, (others, at) = values(moment), pointed(moment)
        if others is True:
            return every(low(moment), high(moment), lambda place: compare(held[place], at))

        def at_place(place: Any) -> Any:
            return not 0 <= at < length(others) or compare(held[place], others[at])

        return every(low(moment), high(moment), at_place)

    return holds
