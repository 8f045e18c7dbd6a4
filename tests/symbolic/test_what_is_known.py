"""Sizes that are known to be the same and answers that were given: used where they are known, and nowhere else."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any, NamedTuple

import pytest
import z3

from alphanpi.symbolic import every, is_sorted, length, same_values
from alphanpi.symbolic.paths import Paths
from alphanpi.symbolic.reasoning import Reasoning

TUPLES = [values for size in range(4) for values in product(range(2), repeat=size)]


class Cut(NamedTuple):
    """A tuple of which a part is left out, and another one that is put there."""

    values: Any
    start: Any
    end: Any
    put: Any

    @property
    def whole(self) -> Any:
        return self.values[: self.start] + self.put + self.values[self.end :]

    @property
    def is_inside(self) -> bool:
        return bool(0 <= self.start <= self.end <= length(self.values) and self.end <= length(self.whole))


def fits_in(cut):
    return bool(length(cut.put) == cut.end - cut.start)


def parts_that_are_sorted(cut):
    """The second is the first if it fits, the third always; the others are as long, or begin at the same place."""
    values, start, end = cut.values, cut.start, cut.end
    parts = (cut.put, cut.whole[start:end], cut.put, values[start:end], values[start:])
    return tuple(bool(is_sorted(part)) for part in parts)


ALWAYS_WHERE_IT_FITS = {
    "what is before": lambda cut: cut.whole[: cut.start] == cut.values[: cut.start],
    "what is put": lambda cut: cut.whole[cut.start : cut.end] == cut.put,
    "what is behind": lambda cut: cut.whole[cut.end :] == cut.values[cut.end :],
    "how many": lambda cut: length(cut.whole) == length(cut.values),
    "the same where it is put": lambda cut: same_values(cut.whole[cut.start : cut.end], cut.put),
    "each behind": lambda cut: every(
        cut.end, min(length(cut.values), length(cut.whole)), lambda place: cut.whole[place] == cut.values[place]
    ),
}
SOMETIMES = {
    "nothing changed": lambda cut: cut.whole == cut.values,
    "sorted": lambda cut: is_sorted(cut.whole),
    "the same values": lambda cut: same_values(cut.whole, cut.values),
    "one place behind": lambda cut: cut.end < length(cut.whole) and cut.whole[cut.end] == cut.whole[0],
}
CUTS = [
    cut
    for values, put in product(TUPLES, repeat=2)
    for end in range(len(values) + 1)
    for start in range(end + 1)
    if (cut := Cut(values, start, end, put)).is_inside
]


def possible(claim):
    """By whether it fits, which is supposed, what a claim may be; and the same once nothing is supposed any longer."""
    reasoning = Reasoning()
    paths, unknown = reasoning.paths, reasoning
    found: dict[bool, set[Any]] = {True: set(), False: set()}
    afterwards: set[Any] = set()

    def begun():
        made: Any = unknown
        cut = Cut(made.numbers(), made.number(), made.number(), made.numbers())
        return cut if cut.is_inside else None

    for cut in paths.ways(begun):
        if cut is not None:
            for fits, condition in [(fits, paths.answers()) for fits in paths.ways(partial(fits_in, cut))]:
                with paths.supposing(condition) as still_possible:
                    if still_possible:
                        found[fits].update(paths.ways(partial(claim, cut)))
            afterwards.update(paths.ways(partial(claim, cut)))
    return found, afterwards


def real(claim, fits):
    return {claim(cut) for cut in CUTS if fits_in(cut) == fits}


@pytest.mark.parametrize("name", ALWAYS_WHERE_IT_FITS | SOMETIMES)
def test_what_is_said_of_joined_tuples_is_true_of_known_ones(name):
    asked = (ALWAYS_WHERE_IT_FITS | SOMETIMES)[name]

    def claim(cut):
        return bool(asked(cut))

    found, afterwards = possible(claim)
    assert real(claim, True) <= found[True]
    assert real(claim, False) <= found[False]
    assert real(claim, True) | real(claim, False) <= afterwards
    if name in ALWAYS_WHERE_IT_FITS:
        assert found[True] == {True}


def test_an_answer_holds_wherever_the_same_is_asked_of_the_same_values_and_for_no_others():
    found, afterwards = possible(parts_that_are_sorted)
    for fits in (True, False):
        assert real(parts_that_are_sorted, fits) <= found[fits]
    assert all(one[0] == one[2] for one in afterwards)
    assert all(one[0] == one[1] for one in found[True])


def test_an_answer_that_was_given_takes_no_question():
    reasoning = Reasoning()

    def asked():
        values: Any = reasoning.numbers()
        return [bool(is_sorted(values)) for _ in range(20)]

    assert sorted(reasoning.paths.ways(asked)) == [[False] * 20, [True] * 20]
    assert reasoning.paths.queries < 5


def test_sizes_that_are_wrongly_taken_for_the_same_would_be_noticed(monkeypatch):
    right = Paths.resolved

    def too_much(self, term):
        found = right(self, term)
        return found + 1 if z3.is_add(found) else found

    monkeypatch.setattr(Paths, "resolved", too_much)
    claims = [lambda cut, asked=asked: bool(asked(cut)) for asked in SOMETIMES.values()]
    assert not all(real(claim, True) <= possible(claim)[0][True] for claim in claims)
