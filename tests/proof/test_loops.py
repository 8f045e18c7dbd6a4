"""Proofs of bodies that loop: right ones go through, and nothing is believed that does not stay true."""

from __future__ import annotations

from typing import NamedTuple

import alphanpi
from alphanpi import Environment, action, program
from alphanpi.environment.specification import STOP
from alphanpi.symbolic import every, length, replaced
from tests.helpers.windowed import WindowedEvaluator


def certificate(environment, rules):
    return alphanpi.verify_evaluator(environment, WindowedEvaluator(environment, rules), by="machine")


class Tape(NamedTuple):
    cells: tuple[int, ...]
    place: int
    low: int
    high: int
    early: bool
    begun: bool


class Tapes(Environment[Tape]):
    """A walk over cells; before, one of them is written in."""

    fields = ("begun", "end")
    train_sizes = (3,)
    validation_size = 4

    @action(pre=lambda state: not state.begun)
    def BEGIN(self, state):
        """Write before one of two places; in all that is drawn that is the first one, and the second lies behind it."""
        place = state.low if state.early else state.high
        cells = replaced(state.cells, place - 1, 1) if place > 0 else state.cells
        return state._replace(cells=cells, begun=True)

    @action(pre=lambda state: state.place < length(state.cells))
    def ON(self, state):
        return state._replace(place=state.place + 1)

    @program(
        level=1,
        minimum_size=3,
        depth=lambda state: length(state.cells) + 3,
        pre=lambda state: state.place == 0 and not state.begun,
    )
    def WALK(self, before, after):
        """Cells from `high` on are left alone."""
        return every(before.high, length(before.cells), lambda place: after.cells[place] == before.cells[place])

    def initial(self, program, size, rng):
        low = int(rng.integers(0, size - 1))
        high = int(rng.integers(low + 1, size))
        return Tape(tuple(rng.integers(9, size=size).tolist()), 0, low, high, True, False)

    def observe(self, state):
        return state.begun, state.place == length(state.cells)

    def size(self, state):
        return length(state.cells)

    def symbolic(self, unknown):
        number, truth = unknown.number, unknown.truth
        return Tape(unknown.numbers(), number(), number(), number(), truth(), truth())

    def valid(self, state):
        size = length(state.cells)
        return 0 <= state.low < size and 0 <= state.high < size and 0 <= state.place <= size


def walk(see, before):
    if not see.begun:
        return "BEGIN"
    return STOP if see.end else "ON"


def test_a_statement_that_another_one_stood_for_is_shown_wherever_the_loop_is_entered():
    """In all that is drawn, cells from `high` on are among those from `low` on."""
    environment, start = Tapes(), Tape((0, 0, 0), 0, 2, 0, True, False)
    assert environment.valid(start)
    assert environment.pre("WALK", start)
    assert not environment.post("WALK", start, environment.act(start, "BEGIN"))
    assert not certificate(environment, {"WALK": walk}).proved


class Owed(NamedTuple):
    left: int
    more: int | None = None


class Debts(Environment[Owed]):
    """Far from the end, an action changes the argument of the call."""

    fields = ("done",)

    @action(pre=lambda state: state.left > 0)
    def PAY(self, state):
        """Pay one."""
        return Owed(state.left - 1, state.more + 1 if state.left == 100 else state.more)

    @program(level=1, depth=lambda state: state.left + 1, arguments={"more": range(1, 4)})
    def SETTLE(self, before, after):
        """All is paid."""
        return after == Owed(0, before.more)

    def initial(self, program, size, rng):
        return Owed(size)

    def observe(self, state):
        return (state.left == 0,)

    def size(self, state):
        return state.left

    def symbolic(self, unknown):
        return Owed(unknown.number())

    def valid(self, state):
        return state.left >= 0


class HonestDebts(Debts):
    @action(pre=lambda state: state.left > 0)
    def PAY(self, state):
        """Pay one."""
        return state._replace(left=state.left - 1)


def settle(see, before):
    return STOP if see.done else "PAY"


def test_a_loop_that_changes_the_argument_of_its_call_is_not_proved():
    assert certificate(HonestDebts(), {"SETTLE": settle}).proved
    assert not certificate(Debts(), {"SETTLE": settle}).proved
