"""Statements about all places inside functions of one place: what Python says of all tuples."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, NamedTuple

import pytest

from alphanpi.symbolic import every, first, fold, is_sorted, last, length
from alphanpi.symbolic.faults import NotExpressibleError, RaisesError
from alphanpi.symbolic.reasoning import Reasoning
from tests.symbolic.test_unknown_values import described

SMALL = [tuple(values) for size in range(3) for values in product((0, 1), repeat=size)]


class Place(NamedTuple):
    """A place in one of the two tuples."""

    number: Any
    tuple_index: int


class Statement(NamedTuple):
    """What a function of one place, or of none, says of two tuples."""

    kind: str
    numbers: tuple[int, ...]  # choices among what there is to speak of
    parts: tuple[Statement, ...] = ()


def drawn(generator: Random, depth: int, *kinds: str) -> Statement:
    """A statement at random; of all places, if no kinds are given."""
    kind = generator.choice(kinds or ("every", "first", "last"))
    numbers = tuple(generator.randrange(12) for _ in range(4))
    arity = {"every": 1, "first": 1, "last": 1, "not": 1, "and": 2, "or": 2, "if": 2}.get(kind, 0)
    simple = ("values", "values", "value", "order", "sizes", "slices")
    inner = ("every", "first", "last", "not", "and", "or", "if", *simple) if depth else simple
    return Statement(kind, numbers, tuple(drawn(generator, depth - 1, *inner) for _ in range(arity)))


def few(generator: Random) -> tuple[int, ...]:
    """A tuple at random."""
    return tuple(generator.randrange(3) for _ in range(generator.randrange(4)))


def said(statement: Statement, tuples: tuple[Any, ...], around: tuple[Place, ...] = ()) -> Any:
    """What the statement says of two tuples, in the words that environments use."""
    one, two, three, four = statement.numbers

    def inner(*more: Place) -> Any:
        return [said(part, tuples, (*around, *more)) for part in statement.parts]

    match statement.kind:
        case "values" if around:
            left, right = around[one % len(around)], around[two % len(around)]
            values = tuples[left.tuple_index][left.number], tuples[right.tuple_index][right.number]
            return (values[0] == values[1], values[0] < values[1], values[0] != values[1] + 1)[three % 3]
        case "value" if around:
            place = around[one % len(around)]
            return tuples[place.tuple_index][place.number] == two % 2
        case "order" if around:
            left, right = around[one % len(around)], around[two % len(around)]
            return left.number <= right.number if three % 2 else left.number != right.number + 1
        case "slices" if around:
            place = around[one % len(around)]
            values = tuples[place.tuple_index]
            return values[place.number :] == tuples[two % 2] if three % 2 else values[: place.number] == tuples[two % 2]
        case "not":
            return not inner()[0]
        case "and":
            return said(statement.parts[0], tuples, around) and said(statement.parts[1], tuples, around)
        case "or":
            return said(statement.parts[0], tuples, around) or said(statement.parts[1], tuples, around)
        case "if":
            return said(statement.parts[0 if length(tuples[0]) > one % 3 else 1], tuples, around)
        case "every" | "first" | "last":
            index = two % 2
            low, high = 0, length(tuples[index])
            if around and one % 4:
                place = around[three % len(around)]
                index, end = place.tuple_index, length(tuples[place.tuple_index])
                low, high = ((0, place.number), (place.number, end), (place.number + 1, end))[one % 3]

            def holds(number: Any) -> Any:
                return inner(Place(number, index))[0]

            if statement.kind == "every":
                return every(low, high, holds)
            found = (first if statement.kind == "first" else last)(low, high, holds)
            return (found == low, found < high, found == four % 3, found != high)[four % 4]
        case _:
            return length(tuples[0]) <= length(tuples[1]) + one % 2


@pytest.mark.parametrize("seed", range(40))
def test_what_really_happens_is_among_what_is_possible(seed):
    generator = Random(seed)
    statement, one, other = drawn(generator, 2), few(generator), few(generator)
    really = bool(said(statement, (one, other)))
    reasoning = Reasoning()
    pinned = reasoning.paths.ways(
        lambda: bool(said(statement, (described(reasoning, one), described(reasoning, other))))
    )
    assert really in set(pinned)
    constants = reasoning.paths.ways(
        lambda: bool(said(statement, (reasoning.constant(one), reasoning.constant(other))))
    )
    assert set(constants) == {really}


@pytest.mark.parametrize("seed", range(40))
def test_what_is_false_of_some_small_tuples_is_never_shown(seed):
    """Of two statements, the first is taken for known: what small tuples make of both must be possible."""
    generator = Random(seed)
    known, asked = drawn(generator, 2), drawn(generator, 2)
    real = {(bool(said(known, tuples)), bool(said(asked, tuples))) for tuples in product(SMALL, repeat=2)}
    reasoning = Reasoning()

    def both():
        tuples = reasoning.numbers(), reasoning.numbers()
        return bool(said(known, tuples)), bool(said(asked, tuples))

    assert set(reasoning.paths.ways(both)) >= real


# ---------------------------------------------------------------------------- what is shown


def shown(claim, premise=lambda x, v, w: True):
    """The answers to a claim about an unknown number and two unknown tuples that a premise leaves."""
    reasoning = Reasoning()

    def asked():
        values = reasoning.number(), reasoning.numbers(), reasoning.numbers()
        return bool(claim(*values)) if premise(*values) else None

    return {answer for answer in reasoning.paths.ways(asked) if answer is not None}


def fits(v, w, place):
    return every(0, length(w), lambda k: v[place + k] == w[k])


def first_fit(v, w, low):
    return first(low, length(v) - length(w) + 1, lambda place: fits(v, w, place))


def inside(x, v, w):
    return 0 <= x <= length(v) - length(w)


def ordered(v):
    return every(0, length(v), lambda i: every(i, length(v), lambda j: v[i] <= v[j]))


def no_sums(v):
    return every(
        0, length(v), lambda i: every(i, length(v), lambda j: every(j, length(v), lambda k: v[i] + v[j] != v[k]))
    )


def no_sums_from_behind(v):
    return every(0, length(v), lambda k: every(0, k + 1, lambda j: every(0, j + 1, lambda i: v[i] + v[j] != v[k])))


SHOWN = {
    "it fits where it fits first": (
        lambda x, v, w: fits(v, w, first_fit(v, w, x)),
        lambda x, v, w: inside(x, v, w) and first_fit(v, w, x) <= length(v) - length(w),
    ),
    "it fits nowhere before": (
        lambda x, v, w: not fits(v, w, x),
        lambda x, v, w: inside(x, v, w) and x < first_fit(v, w, 0),
    ),
    "here or behind": (
        lambda x, v, w: first_fit(v, w, x) == (x if fits(v, w, x) else first_fit(v, w, x + 1)),
        inside,
    ),
    "parts instead of places": (
        lambda x, v, w: (
            first_fit(v, w, x) == first(x, length(v) - length(w) + 1, lambda place: v[place : place + length(w)] == w)
        ),
        inside,
    ),
    "any two places, from sorted": (lambda x, v, w: ordered(v), lambda x, v, w: is_sorted(v)),
    "sorted, from any two places": (lambda x, v, w: is_sorted(v), lambda x, v, w: ordered(v)),
    "three deep": (lambda x, v, w: bool(no_sums(v)) == bool(no_sums_from_behind(v)), lambda x, v, w: True),
    "first of a first": (
        lambda x, v, w: every(0, length(v), lambda i: first(0, length(v), lambda j: v[j] == v[i]) <= i),
        lambda x, v, w: True,
    ),
    "last of a last": (
        lambda x, v, w: every(0, length(v), lambda i: last(0, length(v), lambda j: v[j] == v[i]) >= i),
        lambda x, v, w: True,
    ),
    "counted twice": (
        lambda x, v, w: (
            fold(lambda n, i: n + 1 if fits(v, w, i) else n, 0, 0, x)
            == fold(lambda n, i: n if not fits(v, w, i) else n + 1, 0, 0, x)
        ),
        inside,
    ),
}
NOT_SHOWN = {
    "the last place": (lambda x, v, w: first_fit(v, w, 0) == x, lambda x, v, w: inside(x, v, w) and fits(v, w, x)),
    "one place too far": (
        lambda x, v, w: every(0, length(v), lambda i: first(0, length(v), lambda j: v[j] == v[i]) < i),
        lambda x, v, w: True,
    ),
    "the first is the last": (
        lambda x, v, w: every(
            0,
            length(v),
            lambda i: (
                first(0, length(v), lambda j: v[j] == v[i]) == last(0, length(v), lambda j: v[j] == v[i])
                or not every(0, length(v), lambda j: v[j] == v[i])
            ),
        ),
        lambda x, v, w: True,
    ),
    "distinct": (
        lambda x, v, w: every(0, length(v), lambda i: every(i + 1, length(v), lambda j: v[i] != v[j])),
        lambda x, v, w: is_sorted(v),
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_true_of_all_tuples_is_shown(name):
    assert shown(*SHOWN[name]) == {True}


@pytest.mark.parametrize("name", NOT_SHOWN)
def test_what_is_true_of_some_tuples_alone_is_not_shown(name):
    assert shown(*NOT_SHOWN[name]) == {True, False}


@pytest.mark.parametrize(
    "claim",
    [
        lambda x, v, w: every(0, length(v), lambda i: every(0, length(w), lambda k: v[i + k] == w[k])),
        lambda x, v, w: every(0, length(v), lambda i: i == 0 or every(0, i, lambda k: v[k + 1] == v[k - 1])),
        lambda x, v, w: every(0, length(v), lambda i: first(0, i + 2, lambda k: v[k] == v[i]) >= 0),
        lambda x, v, w: every(0, length(v), lambda i: v[: i + 2] == w),
    ],
)
def test_places_outside_of_a_tuple_are_errors_at_any_depth(claim):
    with pytest.raises(RaisesError):
        shown(claim)


@pytest.mark.parametrize(
    "claim",
    [
        lambda x, v, w: every(0, length(v), lambda i: is_sorted(v[i:])),
        lambda x, v, w: every(0, length(v), lambda i: fold(lambda n, k: n + v[k], 0, 0, i) == 0),
    ],
)
def test_what_has_no_meaning_in_a_function_of_one_place_is_refused(claim):
    with pytest.raises(NotExpressibleError):
        shown(claim)


def test_what_was_said_on_one_way_is_forgotten_and_said_again_on_the_next():
    claim, premise = SHOWN["here or behind"]
    reasoning = Reasoning()

    def asked():
        x: Any = reasoning.number()
        v, w = reasoning.numbers(), reasoning.numbers()
        return (bool(x > 5), bool(claim(x, v, w))) if premise(x, v, w) else None

    assert set(reasoning.paths.ways(asked)) == {(True, True), (False, True), None}
