"""Random statements about unknown tuples: whatever is true of known ones is among what is found possible."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest

from alphanpi.symbolic import every, exchanged, first, fold, is_sorted, last, length, replaced, same_values, swept
from alphanpi.symbolic.reasoning import Reasoning
from alphanpi.symbolic.universals import Universals

TUPLES = [values for size in range(4) for values in product(range(3), repeat=size)]
MOST_WAYS = 60
EFFORT = 100_000  # for one question, so that hard ones stay open and take little time


class Given(NamedTuple):
    """What statements speak of."""

    v: tuple[int, ...]
    w: tuple[int, ...]
    x: int
    y: int


Numbers = Callable[[Given], tuple[int, ...]]
Number = Callable[[Given], int]
Claim = Callable[[Given], bool]


def within(number, values):
    return min(max(number, 0), length(values))


def in_order(one, other):
    return (other, one) if one > other else (one, other)


def turned(one, other):
    return other, one


def raised(one, other):
    return one, max(one, other)


PREDICATES = [
    lambda given, values, place: values[place] < given.x,
    lambda given, values, place: values[place] >= given.x,
    lambda given, values, place: values[place] == given.y,
    lambda given, values, place: place == 0 or values[place] >= values[place - 1],
    lambda given, values, place: values[place] == place,
]
STEPS = [
    lambda values: lambda total, place: total + values[place],
    lambda values: lambda total, place: max(total, values[place]),
    lambda values: lambda total, place: 2 * total + values[place],
]


class Drawing:
    """Draws tuples, numbers and claims."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def numbers(self, depth: int) -> Numbers:
        rng = self.rng
        kind = rng.choice(["slice", "slice", "joined", "replaced", "exchanged", "swept"]) if depth else "plain"
        if kind == "plain":
            return rng.choice([lambda given: given.v, lambda given: given.w])
        inner, one, other = self.numbers(depth - 1), self.number(depth - 1), self.number(depth - 1)
        second, pair = self.numbers(0), rng.choice([in_order, turned, raised])

        def made(given: Given) -> tuple[int, ...]:
            values, left, right = inner(given), one(given), other(given)
            if kind == "slice":
                return values[within(left, values) : within(right, values)]
            if kind == "joined":
                return values + second(given)
            if kind == "swept":
                return swept(values, within(left, values), within(right, values), pair)
            if not 0 <= left < length(values):
                return values
            if kind == "replaced":
                return replaced(values, left, right)
            return exchanged(values, left, right) if 0 <= right < length(values) else values

        return made

    def number(self, depth: int) -> Number:
        rng = self.rng
        kind = rng.choice(["length", "at", "first", "last", "fold", "next"]) if depth else "plain"
        known = rng.randint(-1, 2)
        if kind == "plain":
            return rng.choice([lambda given: given.x, lambda given: given.y, lambda given: known])
        inner, other, backwards = self.numbers(depth - 1), self.number(depth - 1), rng.random() < 0.5
        holds, step = rng.choice(PREDICATES), rng.choice(STEPS)

        def found(given: Given) -> int:
            values, number = inner(given), other(given)
            if kind == "length":
                return length(values)
            if kind == "next":
                return number + 1
            if kind == "at":
                return values[number] if 0 <= number < length(values) else 0
            if kind == "fold":
                return fold(step(values), 0, within(number, values), length(values), backwards=backwards)
            outermost = first if kind == "first" else last
            return outermost(0, length(values), lambda place: holds(given, values, place))

        return found

    def claim(self) -> Claim:
        rng = self.rng
        kind = rng.choice(["every", "sorted", "sorted", "same", "same values", "same values", "smaller", "equal"])
        inner, second = self.numbers(rng.choice([0, 1, 1])), self.numbers(rng.choice([0, 1]))
        one, other, holds = self.number(rng.choice([0, 1])), self.number(rng.choice([0, 1])), rng.choice(PREDICATES)

        def claimed(given: Given) -> bool:
            if kind == "smaller":
                return one(given) <= other(given)
            if kind == "equal":
                return one(given) == other(given)
            values = inner(given)
            if kind == "every":
                return every(within(one(given), values), length(values), lambda place: holds(given, values, place))
            if kind == "sorted":
                return is_sorted(values)
            return values == second(given) if kind == "same" else same_values(values, second(given))

        return claimed

    def given(self) -> Given:
        rng = self.rng
        v = rng.choice(TUPLES)
        w = tuple(rng.sample(v, len(v))) if rng.random() < 0.5 else rng.choice(TUPLES)
        return Given(v, w, rng.randint(-1, 3), rng.randint(-1, 3))


def answered(claims: list[Claim], given: Given) -> tuple[bool, ...]:
    """The answers up to the first claim that does not hold."""
    answers: list[bool] = []
    for claim in claims:
        answers.append(bool(claim(given)))
        if not answers[-1]:
            break
    return tuple(answers)


def possible(claims: list[Claim]) -> set[tuple[bool, ...]]:
    """What is possible of unknown values: the first claims on all ways, the others where what was seen is supposed."""
    reasoning = Reasoning()
    paths = reasoning.paths
    paths.solver.set("rlimit", EFFORT)
    found: set[tuple[bool, ...]] = set()

    def begun() -> Given:
        return Given(reasoning.numbers(), reasoning.numbers(), reasoning.number(), reasoning.number())

    def following(seen: tuple[bool, ...], given: Given) -> Iterator[tuple[bool, ...]]:
        if not seen[-1]:
            yield seen
        else:
            yield from (seen + more for more in paths.ways(lambda: answered(claims[1:], given)))

    for given in paths.ways(begun):
        supposed: list[Any] = []
        for seen in paths.ways(lambda given=given: answered(claims[:1], given)):
            condition = paths.answers()
            if condition is None:
                found.update(following(seen, given))
            else:
                supposed.append((seen, condition))
        for seen, condition in supposed:
            with paths.supposing(condition) as still_possible:
                if still_possible:
                    found.update(following(seen, given))
    return found


def counter_example(seed: int, tried: int = 300) -> str | None:
    """Known values of which something is true that was excluded."""
    drawing = Drawing(seed)
    claims = [drawing.claim() for _ in range(3)]
    found = possible(claims)
    if len(found) == len(claims) + 1:
        return None
    for _ in range(tried):
        given = drawing.given()
        if answered(claims, given) not in found:
            return f"seed {seed}: {given} answers {answered(claims, given)}, found: {sorted(found)}"
    return None


@pytest.mark.parametrize("seeds", [range(0, 25), range(25, 50)])
def test_what_is_true_of_known_values_is_never_excluded(seeds):
    assert not [found for found in map(counter_example, seeds) if found is not None]


def test_a_wrong_lemma_would_be_noticed(monkeypatch):
    right = Universals.assume

    def beyond(self, low, high, body, sought=False):
        right(self, low, high + 1, body, sought)

    monkeypatch.setattr(Universals, "assume", beyond)
    assert any(counter_example(seed) for seed in range(50))
