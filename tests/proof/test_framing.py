"""Proofs of programs that are told something: arguments, and the state in which a call began."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import alphanpi
from alphanpi import Environment, action, program
from alphanpi.environment.specification import STOP
from alphanpi.symbolic import length, replaced
from tests.helpers.solutions import ScriptedEvaluator


class Shelf(NamedTuple):
    books: tuple[int, ...]
    place: int
    more: int | None = None  # the argument of ADD
    side: str | None = None  # the argument of MOVED
    begun: Any = None


class Shelves(Environment[Shelf]):
    """Books are put on a shelf, one at a time, up to three more than there were."""

    fields = ("one", "two", "three", "at_first", "left")
    call_start = "begun"
    train_sizes = (3,)
    validation_size = 4

    @action(pre=lambda state: 0 <= state.place < length(state.books))
    def PUT(self, state):
        """Put one more there."""
        return state._replace(books=replaced(state.books, state.place, state.books[state.place] + 1))

    @action(pre=lambda state: state.place > 0)
    def LEFT(self, state):
        """Go left."""
        return state._replace(place=state.place - 1)

    @action(pre=lambda state: state.place < length(state.books) - 1)
    def RIGHT(self, state):
        """Go right."""
        return state._replace(place=state.place + 1)

    @program(level=1, depth=4, minimum_size=3, arguments={"more": range(1, 4)})
    def ADD(self, before, after):
        """So many more are there."""
        here = before.place
        return after == before._replace(books=replaced(before.books, here, before.books[here] + before.more))

    @program(
        level=1,
        depth=2,
        minimum_size=3,
        pre=lambda state: 0 < state.place < length(state.books) - 1,
        arguments={"side": ("left", "right")},
    )
    def MOVED(self, before, after):
        """One place to that side."""
        return after == before._replace(place=before.place + (-1 if before.side == "left" else 1))

    @program(level=2, depth=4, minimum_size=3, pre=lambda state: 0 < state.place < length(state.books) - 1)
    def FILL(self, before, after):
        """Five more here, and one place to the right."""
        here = before.place
        books = replaced(before.books, here, before.books[here] + 5)
        return after == before._replace(books=books, place=here + 1)

    def initial(self, program, size, rng):
        return Shelf(tuple(rng.integers(9, size=size).tolist()), int(rng.integers(1, size - 1)))

    def observe(self, state):
        put = state.books[state.place] - state.begun.books[state.place]
        missing = 0 if state.more is None else state.more - put
        return (missing == 1, missing == 2, missing == 3, put == 0, state.side == "left")

    def size(self, state):
        return length(state.books)

    def symbolic(self, unknown):
        return Shelf(unknown.numbers(), unknown.number())

    def valid(self, state):
        return 0 <= state.place < length(state.books)


def add(see, size):
    for _ in range(3 if see.three else 2 if see.two else 1):
        yield "PUT"
    yield STOP


def moved(see, size):
    yield "LEFT" if see.left else "RIGHT"
    yield STOP


def fill(see, size):
    yield "ADD(2)"
    yield "ADD(3)"
    yield "MOVED(right)"
    yield STOP


SOLUTIONS = {"ADD": add, "MOVED": moved, "FILL": fill}


def shown(environment, **changed):
    evaluator = ScriptedEvaluator(environment, {**SOLUTIONS, **changed})
    records = alphanpi.verify_evaluator(environment, evaluator, by="machine").programs
    return {record.name: (record.verdict, " ".join(record.reasons)) for record in records}


def test_programs_are_proved_for_all_of_their_arguments():
    assert {verdict for verdict, _ in shown(Shelves()).values()} == {"PROVED"}


def wrong_for_three(see, size):
    yield "PUT"
    if not see.one:
        yield "PUT"
    yield STOP


def always_right(see, size):
    yield "RIGHT"
    yield STOP


def test_a_program_that_is_wrong_for_one_of_its_arguments_is_not_proved():
    found = shown(Shelves(), ADD=wrong_for_three, MOVED=always_right)
    assert found["ADD"][0] == found["MOVED"][0] == "REFUTED"
    assert found["FILL"][0] != "PROVED"


def fill_wrongly(see, size):
    yield "ADD(2)"
    yield "ADD(2)"
    yield "MOVED(right)"
    yield STOP


def test_a_caller_is_proved_by_what_the_calls_with_its_arguments_do():
    assert shown(Shelves(), FILL=fill_wrongly)["FILL"][0] == "REFUTED"


class Forgetful(Shelves):
    """The argument is another one afterwards, which its post-condition does not mind."""

    @action(pre=lambda state: 0 <= state.place < length(state.books))
    def PUT(self, state):
        """Put one more there, of one less to do."""
        books = replaced(state.books, state.place, state.books[state.place] + 1)
        return state._replace(books=books, more=None if state.more is None else state.more + 1)

    @program(level=1, depth=4, minimum_size=3, arguments={"more": range(1, 4)})
    def ADD(self, before, after):
        """Some more are there."""
        return length(after.books) == length(before.books)

    def observe(self, state):
        return (False, False, False, False, state.side == "left")


class Strange(Shelves):
    """Arguments that no call has."""

    def initial(self, program, size, rng):
        return super().initial(program, size, rng)._replace(more=-1 if program == "ADD" else None)

    def observe(self, state):
        return (True, False, False, state.place == state.begun.place, state.side == "left")

    @program(level=1, depth=4, minimum_size=3, arguments={"more": range(1, 4)})
    def ADD(self, before, after):
        """One more is there."""
        here = before.place
        books = replaced(before.books, here, before.books[here] + 1)
        return after == before._replace(books=books)


class Typed(Shelves):
    """An argument that is looked at in a way that cannot be noticed."""

    def observe(self, state):
        seen = super().observe(state)
        return seen if type(state.more) in (int, type(None)) else (*seen[:3], seen[3] and seen[3], state.more == 2)


@pytest.mark.parametrize(
    ("environment", "solution", "why"),
    [
        (Forgetful(), wrong_for_three, "another argument"),
        (Strange(), add, "no call of ADD gives it such an argument"),
        (Typed(), add, "do not behave"),
    ],
)
def test_what_a_proof_is_not_about_is_not_proved(environment, solution, why):
    verdict, reasons = shown(environment, ADD=solution)["ADD"]
    assert verdict != "PROVED"
    assert why in reasons
