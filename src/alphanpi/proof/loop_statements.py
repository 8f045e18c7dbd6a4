"""What may be true each time a body that loops comes back to the same place: statements that real calls bear out.

They compare the numbers of a state, of the start of the call and the actions taken, and say of the values between two
places how they compare with another value. Nothing here is believed: `loops.py` proves of some that they stay true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice, pairwise, product
from operator import eq, ge, le
from typing import Any, NamedTuple

from alphanpi.environment.specification import Environment
from alphanpi.proof.kernels import integer_kernel
from alphanpi.proof.place_statements import PlaceStatements
from alphanpi.proof.readings import (
    MOST_MOMENTS,
    Moment,
    Number,
    Reading,
    Readings,
    Seen,
    kept,
    part_of,
    properties_of,
    property_of,
    same_length,
)
from alphanpi.proof.statement import Statement

FACTORS = (1, 2, 3, 4, 5, 6)
"""Actions a step may take for each unit by which a difference falls."""
MOST_BUDGETS = 8
"""Statements about the actions that are left, those that leave fewest unused."""
LARGEST_FACTOR = 6
"""In sums of numbers."""
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "<=": le, ">=": ge}
_FARTHEST = 2  # differences that are told apart


def statements_about(
    environment: Environment[Any], program: str, general: Any, seen: Sequence[Seen]
) -> list[Statement]:
    """All that fit what was seen at one place in a body, in an order in which each may rest on those before."""
    readings = Readings(general, seen)
    if not readings.moments:
        return []
    given = _given(environment, program, readings.moments)
    numbers, places = _NumberStatements(readings), PlaceStatements(readings)
    found = [
        *(Statement(f"{leaf.text} is as at the start", kept(leaf.path), leaf.path) for leaf in readings.leaves),
        *(Statement(f"length of {one.text} is as at the start", same_length(one)) for one in readings.tuples),
        *numbers.truths(),
        *numbers.comparisons(),
        *numbers.equations(),
        *numbers.budgets(),
        Statement("it is valid", lambda moment: environment.valid(moment.state)),
        *given,
        *places.frames(),
        # Who says something of values says what matters; all else that may be true of them takes long to follow.
        *(() if given else (*places.sections(), *places.shifted())),
    ]
    fitting: dict[str, Statement] = {}
    for statement in found:
        if statement.text not in fitting and readings.always(statement.holds):
            fitting[statement.text] = statement
    return list(fitting.values())


class _NumberStatements:
    """Statements about numbers."""

    def __init__(self, readings: Readings) -> None:
        self.readings = readings
        self.moments = readings.moments

    def truths(self) -> Iterator[Statement]:
        kind = type(self.moments[0].state)
        readings = [
            (leaf.text, part_of(leaf.path)) for leaf in self.readings.leaves if leaf.path not in self.readings.kept
        ]
        readings += [(name, property_of(name)) for name in properties_of(kind)]
        for text, of in readings:
            if self.readings.always(lambda moment, of=of: type(of(moment)) is bool):  # type: ignore[misc]
                yield Statement(text, lambda moment, of=of: of(moment) == True)  # type: ignore[misc]  # noqa: E712
                yield Statement(f"not {text}", lambda moment, of=of: of(moment) == False)  # type: ignore[misc]  # noqa: E712

    def comparisons(self) -> Iterator[Statement]:
        for one, other in combinations(self.readings.numbers, 2):
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

    def equations(self) -> Iterator[Statement]:
        """Sums of numbers that are always the same: a basis of all there are."""
        numbers = [*self.readings.numbers, Number("actions taken", lambda moment: moment.taken, changes=True)]
        numbers.sort(key=lambda number: not number.changes)  # so that equations speak of those that change
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

    def budgets(self) -> Iterator[Statement]:
        """That enough actions are left: as many as some difference asks for, which falls with those taken."""
        changing = [number for number in self.readings.numbers if number.changes]
        steady = [number for number in self.readings.numbers if not number.changes]
        differences = [
            _less(one, other)
            for one, other in product(self.readings.numbers, repeat=2)
            if one.changes != other.changes or (one.changes and one is not other)
        ]
        for (one, other), (first, second) in product(combinations(changing, 2), product(steady, repeat=2)):
            differences.append(_both(_less(first, one), _less(second, other)))
            differences.append(_both(_less(one, first), _less(other, second)))
        visits = [
            (one.moment, other.moment)
            for one, other in pairwise(self.readings.seen)
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
                    for moment in (one.moment for one in self.readings.seen)
                ]
                if left and tuple(left) not in known:
                    known.add(tuple(left))
                    unused = sum(left) - len(left) * min(left)
                    budgets.append(_Budget(unused, _budget(difference, factor, min(left))))
                break  # larger factors ask for more at the start
        budgets.sort(key=lambda budget: budget.unused)
        yield from (budget.statement for budget in budgets[:MOST_BUDGETS])


class _Budget(NamedTuple):
    """A statement about actions left, and how many more there were in all."""

    unused: int
    statement: Statement


def _given(environment: Environment[Any], program: str, moments: Sequence[Moment]) -> list[Statement]:
    """Statements that the environment suggests."""
    try:
        count = len(list(environment.invariants(program, moments[0].start, moments[0].state)))
    except (Exception, SystemExit):
        return []

    def holds(number: int) -> Reading:
        return lambda moment: next(islice(environment.invariants(program, moment.start, moment.state), number, None))

    return [Statement(f"statement {number + 1} of `invariants`", holds(number)) for number in range(count)]


def _less(one: Number, other: Number) -> Number:
    return Number(f"({one.text} - {other.text})", lambda moment: one.of(moment) - other.of(moment), changes=True)


def _both(one: Number, other: Number) -> Number:
    return Number(f"({one.text} + {other.text})", lambda moment: one.of(moment) + other.of(moment), changes=True)


def _sums_to(terms: Sequence[tuple[int, Number]], more: int) -> Reading:
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
