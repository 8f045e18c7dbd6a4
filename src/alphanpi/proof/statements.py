"""What may be true each time a body that loops comes back to the same place: statements that real calls bear out.

They compare the numbers of a state, of the start of the call and the actions taken, and say of the values between two
places how they compare with another value. Nothing here is believed: `loops.py` proves of some that they stay true.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice, pairwise, product
from operator import eq, ge, gt, le, lt
from typing import Any, NamedTuple

from alphanpi.environment.specification import Environment
from alphanpi.proof.kernels import integer_kernel
from alphanpi.symbolic import every, is_sorted, length, same_values
from alphanpi.symbolic.states import parts_of

MOST_MOMENTS = 120
"""Moments of real calls that statements about places must fit."""
LEAST_TRIED = 12
"""Moments in which a statement about values must have had something to say."""
MOST_NUMBERS = 16
"""Numbers of a state that are compared with each other."""
FACTORS = (1, 2, 3, 4, 5, 6)
"""Actions a step may take for each unit by which a difference falls."""
MOST_BUDGETS = 8
"""Statements about the actions that are left, those that leave fewest unused."""
LARGEST_FACTOR = 6
"""In sums of numbers."""
_FARTHEST = 2  # differences that are told apart
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "<": lt, "<=": le, ">": gt, ">=": ge}
_IMPLIED = {"==": ("<=", ">="), "<": ("<=",), ">": (">=",)}


class Moment(NamedTuple):
    """A moment in a call: known, or of unknown values."""

    start: Any
    state: Any
    taken: Any  # actions before it
    limit: Any  # the depth of the call


class Seen(NamedTuple):
    """A moment of a real call, by which visit of its place in the call."""

    call: int
    visit: int
    moment: Moment


class Statement(NamedTuple):
    """Something that may be true of a moment."""

    text: str
    holds: Callable[[Moment], Any]
    kept: tuple[int, ...] | None = None  # it says that this part of the state is that of the start
    implied: tuple[str, ...] = ()  # texts of statements that are not needed as long as this one is


class Number(NamedTuple):
    """A number that can be read off a moment."""

    text: str
    of: Callable[[Moment], Any]
    changes: bool  # within a call


class _Values(NamedTuple):
    """A tuple of numbers that can be read off a moment."""

    text: str
    path: tuple[int, ...]
    of: Callable[[Moment], Any]
    of_start: Callable[[Moment], Any]
    changes: bool
    ordered: bool  # numbers, and no letters


class _Leaf(NamedTuple):
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


class Statements:
    """Statements about one place in a body, in an order in which each may rest on those before."""

    def __init__(self, environment: Environment[Any], program: str, general: Any, seen: Sequence[Seen]) -> None:
        self.seen = seen
        self.moments = [one.moment for one in spread(seen)]
        self._leaves = list(_leaves(general))
        self._kept = {leaf.path for leaf in self._leaves if self._always(_kept(leaf.path))}
        self._tuples = list(self._find_tuples())
        self._numbers = list(islice(self._find_numbers(), MOST_NUMBERS))
        self.environment = environment
        self.program = program

    def all(self) -> list[Statement]:
        """All that fit what was seen."""
        if not self.moments:
            return []
        environment, program = self.environment, self.program
        given = _given(environment, program, self.moments)
        lengths = (Statement(f"length of {one.text} is as at the start", _same_length(one)) for one in self._tuples)
        found = [
            *(Statement(f"{leaf.text} is as at the start", _kept(leaf.path), leaf.path) for leaf in self._leaves),
            *lengths,
            *self._truths(),
            *self._comparisons(),
            *self._equations(),
            *self._budgets(),
            Statement("it is valid", lambda moment: environment.valid(moment.state)),
            *given,
            *self._frames(),
            # Who says something of values says what matters; all else that may be true of them takes long to follow.
            *(() if given else (*self._sections(), *self._shifted())),
        ]
        fitting: dict[str, Statement] = {}
        for statement in found:
            if statement.text not in fitting and self._always(statement.holds):
                fitting[statement.text] = statement
        return list(fitting.values())

    def _always(self, holds: Callable[[Moment], Any]) -> bool:
        try:
            return all(holds(moment) for moment in self.moments)
        except Exception:  # it cannot be asked everywhere
            return False

    # ---- what can be read off a moment

    def _find_tuples(self) -> Iterator[_Values]:
        first = self.moments[0] if self.moments else None
        for leaf in self._leaves:
            kind = None if first is None else type(part_at(first.state, leaf.path))
            if kind in (tuple, str):
                changes = leaf.path not in self._kept
                yield _Values(
                    leaf.text, leaf.path, _reading(leaf.path), _start_reading(leaf.path), changes, kind is tuple
                )

    def _find_numbers(self) -> Iterator[Number]:
        if not self.moments:
            return
        nothing = Number("0", lambda moment: 0, changes=False)
        first, numbers = self.moments[0], list[Number]()
        for leaf in self._leaves:
            if type(part_at(first.state, leaf.path)) is not int:
                continue
            changes = leaf.path not in self._kept
            numbers.append(Number(leaf.text, _reading(leaf.path), changes))
            if changes:
                numbers.append(Number(f"{leaf.text} at the start", _start_reading(leaf.path), changes=False))
        for values in self._tuples:
            changes = not self._always(_same_length(values))
            numbers.append(Number(f"length of {values.text}", _length(values.of), changes))
        for name in _properties(type(first.state)):
            if self._always(lambda moment, name=name: type(getattr(moment.state, name)) is int):  # type: ignore[misc]
                of = _property(name)
                changes = not self._always(lambda moment, of=of: of(moment) == of(moment._replace(state=moment.start)))  # type: ignore[misc]
                numbers.append(Number(name, of, changes))
        known = set[tuple[int, ...]]()
        for number in (nothing, *numbers):
            column = tuple(number.of(moment) for moment in self.moments)
            if number.changes or column not in known:  # of two that stay the same, and are the same, one is enough
                known.add(column)
                yield number

    # ---- statements about numbers

    def _truths(self) -> Iterator[Statement]:
        kind = type(self.moments[0].state)
        readings = [(leaf.text, _reading(leaf.path)) for leaf in self._leaves if leaf.path not in self._kept]
        readings += [(name, _property(name)) for name in _properties(kind)]
        for text, of in readings:
            if self._always(lambda moment, of=of: type(of(moment)) is bool):  # type: ignore[misc]
                yield Statement(text, lambda moment, of=of: of(moment) == True)  # type: ignore[misc]  # noqa: E712
                yield Statement(f"not {text}", lambda moment, of=of: of(moment) == False)  # type: ignore[misc]  # noqa: E712

    def _comparisons(self) -> Iterator[Statement]:
        for one, other in combinations(self._numbers, 2):
            if not (one.changes or other.changes):
                continue
            apart = [other.of(moment) - one.of(moment) for moment in self.moments]
            least, most = min(apart), max(apart)
            if least == most and abs(least) <= _FARTHEST:
                yield _apart(one, other, least, "==", (_text(one, other, least, "<="), _text(one, other, least, ">=")))
            for bound, comparison, step in ((least, "<=", -1), (most, ">=", 1)):
                if abs(bound) <= _FARTHEST:
                    weaker = _text(one, other, bound + step, comparison)
                    yield _apart(one, other, bound, comparison, (weaker,))
                    yield _apart(one, other, bound + step, comparison, ())

    def _equations(self) -> Iterator[Statement]:
        """Sums of numbers that are always the same: a basis of all there are."""
        numbers = [*self._numbers, Number("actions taken", lambda moment: moment.taken, changes=True)]
        numbers.sort(
            key=lambda number: not number.changes
        )  # each equation then speaks of one that changes, if any does
        rows = [[*(number.of(moment) for number in numbers), 1] for moment in self.moments]
        for weights in integer_kernel(rows):
            *factors, more = weights
            if max(map(abs, weights)) > LARGEST_FACTOR or not any(
                factor and number.changes for factor, number in zip(factors, numbers, strict=True)
            ):
                continue
            terms = [(factor, number) for factor, number in zip(factors, numbers, strict=True) if factor]
            text = " ".join(f"{factor:+} * {number.text}" for factor, number in terms)
            yield Statement(f"{text} {more:+} == 0", _sums_to(terms, more))

    def _budgets(self) -> Iterator[Statement]:
        """That enough actions are left: as many as some difference asks for, which falls with those taken."""
        changing = [number for number in self._numbers if number.changes]
        steady = [number for number in self._numbers if not number.changes]
        differences = [
            Number(f"({one.text} - {other.text})", _difference(one, other), changes=True)
            for one, other in product(self._numbers, repeat=2)
            if one.changes != other.changes or (one.changes and one is not other)
        ]
        for pair in combinations(changing, 2):
            for ends in ((steady, True), (steady, False)):
                for one, other in product(ends[0], repeat=2):
                    first = _difference(one, pair[0]) if ends[1] else _difference(pair[0], one)
                    second = _difference(other, pair[1]) if ends[1] else _difference(pair[1], other)
                    text = f"({one.text} + {other.text} and {pair[0].text} + {pair[1].text}, {ends[1]})"
                    differences.append(Number(text, _sum(first, second), changes=True))
        visits = [
            (one.moment, other.moment)
            for one, other in pairwise(self.seen)
            if one.call == other.call and one.visit + 1 == other.visit
        ][: 4 * MOST_MOMENTS]
        known: set[tuple[int, ...]] = set()
        budgets: list[_Budget] = []
        for difference in differences:
            falls = [difference.of(before) - difference.of(after) for before, after in visits]
            for factor in FACTORS:
                taken = [after.taken - before.taken for before, after in visits]
                if any(factor * fall < spent for fall, spent in zip(falls, taken, strict=True)):
                    continue
                left = [
                    moment.limit - moment.taken - factor * difference.of(moment)
                    for moment in (one.moment for one in self.seen)
                ]
                if left and tuple(left) not in known:
                    known.add(tuple(left))
                    unused = sum(left) - len(left) * min(left)
                    budgets.append(_Budget(unused, _budget(difference, factor, min(left))))
                break  # larger factors ask for more at the start
        budgets.sort(key=lambda budget: budget.unused)
        yield from (budget.statement for budget in budgets[:MOST_BUDGETS])

    # ---- statements about places

    def _frames(self) -> Iterator[Statement]:
        """That values are as at the start, or the same ones in another order."""
        for values in self._tuples:
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
            steady = self._ranges(values, [number for number in self._numbers if not number.changes])
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

    def _sections(self) -> Iterator[Statement]:
        """That values between two places are in order, or compare in one way with another value."""
        pointed = list(self._pointed())
        for values in (one for one in self._tuples if one.ordered):
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
        for values in (one for one in self._tuples if one.ordered):
            for number in self._numbers:
                if self._always(_is_place(number.of, values.of)):
                    places.add(number.text)
                    yield _Pointed(f"{values.text}[{number.text}]", _at(values.of, number.of))
                    yield _Pointed(f"{values.text}[{number.text} - 1]", _at(values.of, _before(number.of)))
        for number in self._numbers:
            if number.text not in places:
                yield _Pointed(number.text, lambda moment, number=number: (True, number.of(moment)))  # type: ignore[misc]

    def _shifted(self) -> Iterator[Statement]:
        """That two tuples are the same along a range of places."""
        for one, other in product(self._tuples, repeat=2):
            if one.path == other.path:
                continue
            for low, high, text, narrower in self._ranges(other):
                for number in self._numbers:
                    said = f"{one.text}[{number.text} + place] is {other.text}[place] at"
                    yield Statement(
                        f"{said} {text}",
                        lambda moment, one=one, other=other, low=low, high=high, number=number: every(  # type: ignore[misc]
                            low(moment), high(moment), _same_at(one.of(moment), other.of(moment), number.of(moment))
                        ),
                        implied=tuple(f"{said} {where}" for where in narrower),
                    )

    def _tried(self, low: Callable[[Moment], Any], high: Callable[[Moment], Any], other: _Pointed) -> int:
        """In how many moments there are values to be compared."""
        tried = 0
        for moment in self.moments:
            held, at = other.of(moment)
            tried += low(moment) < high(moment) and (held is True or 0 <= at < len(held))
        return tried

    def _ranges(self, values: _Values, numbers: Sequence[Number] | None = None) -> list[_Range]:
        """Ranges of places, each with those that it always holds; the last place may be inside."""
        chosen = self._numbers if numbers is None else numbers
        ends = [
            *((number.text, number.of) for number in chosen),
            *((f"{one.text} + 1", _next(one.of)) for one in chosen),
        ]
        columns = {text: [of(moment) for moment in self.moments] for text, of in ends}
        sizes = [len(values.of(moment)) for moment in self.moments]
        inside = {
            text
            for text, column in columns.items()
            if all(0 <= end <= size for end, size in zip(column, sizes, strict=True))
        }
        found: list[tuple[str, Callable[[Moment], Any], Callable[[Moment], Any], list[int], list[int]]] = []
        for (low_text, low), (high_text, high) in product(ends, repeat=2):
            if low_text not in inside or high_text not in inside:
                continue
            lows, highs = columns[low_text], columns[high_text]
            pairs = list(zip(lows, highs, strict=True))
            if all(one <= other for one, other in pairs) and any(one + 1 < other for one, other in pairs):
                found.append((f"{low_text} ... {high_text}", low, high, lows, highs))
        ranges = []
        for text, low, high, lows, highs in found:
            narrower = tuple(
                other
                for other, _, _, other_lows, other_highs in found
                if (other_lows, other_highs) != (lows, highs)
                and all(map(le, lows, other_lows))
                and all(map(ge, highs, other_highs))
            )
            ranges.append(_Range(low, high, text, narrower))
        return ranges


class _Budget(NamedTuple):
    """A statement about actions left, and how many more there were in all."""

    unused: int
    statement: Statement


class _Range(NamedTuple):
    """Places from one number to below another."""

    low: Callable[[Moment], Any]
    high: Callable[[Moment], Any]
    text: str
    narrower: tuple[str, ...]  # texts of those within


class _Pointed(NamedTuple):
    """A value, and whether there is one."""

    text: str
    of: Callable[[Moment], tuple[Any, Any]]


def spread(seen: Sequence[Seen]) -> list[Seen]:
    """Some of what was seen, from all of it."""
    step = max(1, len(seen) // MOST_MOMENTS)
    return list(seen[::step])


def _leaves(general: Any, path: tuple[int, ...] = (), text: str = "") -> Iterator[_Leaf]:
    members = parts_of(general)
    if members is None:
        yield _Leaf(text or "state", path)
        return
    for place, (name, member) in enumerate(zip(_names_of(general, len(members)), members, strict=True)):
        yield from _leaves(member, (*path, place), f"{text}.{name}" if text else name)


def _names_of(general: Any, count: int) -> Sequence[str]:
    """What the members of a tuple or dataclass are called."""
    if dataclasses.is_dataclass(general):
        return [field.name for field in dataclasses.fields(general)]
    named: Sequence[str] = getattr(general, "_fields", ())
    return named or [str(place) for place in range(count)]


def _properties(kind: type) -> list[str]:
    return sorted({name for one in kind.__mro__ for name, member in vars(one).items() if isinstance(member, property)})


def _given(environment: Environment[Any], program: str, moments: Sequence[Moment]) -> list[Statement]:
    """Statements that the environment suggests."""
    try:
        count = len(list(environment.invariants(program, moments[0].start, moments[0].state)))
    except Exception:
        return []

    def holds(number: int) -> Callable[[Moment], Any]:
        return lambda moment: next(islice(environment.invariants(program, moment.start, moment.state), number, None))

    return [Statement(f"statement {number + 1} of `invariants`", holds(number)) for number in range(count)]


def _kept(path: tuple[int, ...]) -> Callable[[Moment], Any]:
    return lambda moment: part_at(moment.state, path) == part_at(moment.start, path)


def _reading(path: tuple[int, ...]) -> Callable[[Moment], Any]:
    return lambda moment: part_at(moment.state, path)


def _start_reading(path: tuple[int, ...]) -> Callable[[Moment], Any]:
    return lambda moment: part_at(moment.start, path)


def _property(name: str) -> Callable[[Moment], Any]:
    return lambda moment: getattr(moment.state, name)


def _length(of: Callable[[Moment], Any]) -> Callable[[Moment], Any]:
    return lambda moment: length(of(moment))


def _same_length(values: _Values) -> Callable[[Moment], Any]:
    return lambda moment: length(values.of(moment)) == length(values.of_start(moment))


def _before(of: Callable[[Moment], Any]) -> Callable[[Moment], Any]:
    return lambda moment: of(moment) - 1


def _next(of: Callable[[Moment], Any]) -> Callable[[Moment], Any]:
    return lambda moment: of(moment) + 1


def _difference(one: Number, other: Number) -> Callable[[Moment], Any]:
    return lambda moment: one.of(moment) - other.of(moment)


def _sum(one: Callable[[Moment], Any], other: Callable[[Moment], Any]) -> Callable[[Moment], Any]:
    return lambda moment: one(moment) + other(moment)


def _sums_to(terms: Sequence[tuple[int, Number]], more: int) -> Callable[[Moment], Any]:
    def holds(moment: Moment) -> Any:
        total: Any = more
        for factor, number in terms:
            total = total + factor * number.of(moment)
        return total == 0

    return holds


def _text(one: Number, other: Number, apart: int, comparison: str) -> str:
    return f"{one.text} {apart:+} {comparison} {other.text}"


def _apart(one: Number, other: Number, apart: int, comparison: str, implied: tuple[str, ...]) -> Statement:
    compare = _COMPARISONS[comparison]
    return Statement(
        _text(one, other, apart, comparison),
        lambda moment: compare(one.of(moment) + apart, other.of(moment)),
        implied=implied,
    )


def _budget(difference: Number, factor: int, more: int) -> Statement:
    return Statement(
        f"at least {factor} * {difference.text} {more:+} actions are left",
        lambda moment: moment.limit - moment.taken >= factor * difference.of(moment) + more,
    )


def _is_place(of: Callable[[Moment], Any], values: Callable[[Moment], Any]) -> Callable[[Moment], bool]:
    return lambda moment: 0 <= of(moment) <= len(values(moment))


def _at(values: Callable[[Moment], Any], place: Callable[[Moment], Any]) -> Callable[[Moment], tuple[Any, Any]]:
    def read(moment: Moment) -> tuple[Any, Any]:
        return values(moment), place(moment)

    return read


def _same_at(one: Any, other: Any, more: Any = 0) -> Callable[[Any], Any]:
    return lambda place: one[place + more] == other[place]


def _compared(
    values: Callable[[Moment], Any],
    low: Callable[[Moment], Any],
    high: Callable[[Moment], Any],
    pointed: Callable[[Moment], tuple[Any, Any]],
    compare: Callable[[Any, Any], Any],
) -> Callable[[Moment], Any]:
    def holds(moment: Moment) -> Any:
        held, (others, at) = values(moment), pointed(moment)
        if others is True:
            return every(low(moment), high(moment), lambda place: compare(held[place], at))

        def at_place(place: Any) -> Any:
            return not 0 <= at < length(others) or compare(held[place], others[at])

        return every(low(moment), high(moment), at_place)

    return holds
