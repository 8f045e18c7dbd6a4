"""States in which calls begin: those that nobody enumerates are looked at like starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import pytest

from alphanpi.environment.cutoff import Cutoff
from alphanpi.environment.specification import STOP, Environment, action, program
from alphanpi.errors import SpecificationError
from alphanpi.verification.verifier import Verifier
from tests.helpers.solutions import ScriptedEvaluator
from tests.helpers.verdicts import explore_evaluator


class Cells(NamedTuple):
    values: tuple[Any, ...]
    at: int  # the problem is what begins here


def passed(values):
    """The values after one bubble pass."""
    carried, after = values[0], []
    for value in values[1:]:
        after.append(value if carried > value else carried)
        carried = carried if carried > value else value
    return (*after, carried)


def without_first(state):
    return Cells(state.values, state.at + 1) if state.at + 1 < len(state.values) else None


class Sink(Environment[Cells]):
    """One bubble pass, recursive; values are compared and no more. An inner frame can be told from an outer one."""

    fields: tuple[str, ...] = ("greater", "last", "inner")

    @action(pre=lambda state: state.at + 1 < len(state.values))
    def SWAP(self, state):
        left, right, here = state.values[: state.at], state.values[state.at + 2 :], state.at
        return Cells((*left, state.values[here + 1], state.values[here], *right), here)

    @program(
        level=1,
        depth=4,
        recursive=True,
        shrink=without_first,
        restore=lambda caller, callee: Cells(callee.values, caller.at),
    )
    def PASS(self, before, after):
        return after == self.swept(before)

    def swept(self, state):
        return Cells(state.values[: state.at] + passed(state.values[state.at :]), state.at)

    def initial(self, program, size, rng):
        return Cells(tuple(int(value) for value in rng.integers(10, size=size)), 0)

    def templates(self, program, size, values):
        yield Cells(tuple(values), 0)

    def outcomes(self, program, before):
        yield self.swept(before)

    def observe(self, state):
        last = state.at + 1 == len(state.values)
        greater = not last and state.values[state.at] > state.values[state.at + 1]
        return (greater, last, state.at > 0)

    def size(self, state):
        return len(state.values) - state.at

    def cutoff(self):
        return Cutoff("By nature.", dict.fromkeys(self.names, 5), (), lambda environment, rng: None)

    @property
    def names(self):
        return [entry.name for entry in self.library.learned]


class Listed(Sink):
    """The same with all lists written out."""

    def templates(self, program, size, values):
        raise NotImplementedError

    def enumerate(self, program, size):
        yield from (Cells(values, 0) for values in product(range(3), repeat=size))

    def initial(self, program, size, rng):
        return Cells(tuple(int(value) for value in rng.integers(3, size=size)), 0)


def right(see, size):
    if see.greater:
        yield "SWAP"
    if not see.last:
        yield "PASS"
    yield STOP


def outer_only(see, size):
    if see.inner:
        yield STOP
    yield from right(see, size)


def verified(environment, **bodies):
    return explore_evaluator(environment, ScriptedEvaluator(environment, bodies))


@pytest.mark.parametrize("kind", [Sink, Listed])
def test_a_program_that_is_wrong_in_inner_calls_alone_is_refuted(kind):
    assert verified(kind(), PASS=right).proved
    certificate = verified(kind(), PASS=outer_only)
    assert certificate.verdict == "REFUTED"
    assert certificate.programs[0].counter_example is not None
    assert "at=1" in certificate.programs[0].counter_example.start


def test_every_inner_frame_is_run_once():
    environment = Sink()
    verifier = Verifier(environment, ScriptedEvaluator(environment, {"PASS": right}), tried=False)
    sizes = {explored.size: explored for explored in verifier.verify().programs[0].sizes}
    # At size 1: the list itself, and the last cell of lists of 2 to 5, whatever order the cells before it are in.
    assert (sizes[1].starts, sizes[1].runs) == (1, 5)
    assert sizes[5].starts == 1


@dataclass(frozen=True)
class Hiding:
    """Two states that differ in `mark` alone are equal."""

    left: int
    mark: int = field(default=0, compare=False)


class Marks(Environment[Hiding]):
    """DOWN leaves a mark that its contract cannot see, and that UP looks at."""

    fields = ("zero", "mark")

    @action(pre=lambda state: state.left > 0)
    def LESS(self, state):
        return Hiding(state.left - 1, 1)

    @program(level=1, depth=3, pre=lambda state: state.left > 0)
    def DOWN(self, before, after):
        return after == Hiding(before.left - 1)

    @program(level=2, depth=3, pre=lambda state: state.left > 0)
    def TWICE(self, before, after):
        return after.left == max(before.left - 2, 0)

    def initial(self, program, size, rng):
        return Hiding(size)

    def enumerate(self, program, size):
        yield Hiding(size)

    def outcomes(self, program, before):
        yield Hiding(max(before.left - (1 if program == "DOWN" else 2), 0))

    def observe(self, state):
        return (state.left == 0, state.mark)

    def size(self, state):
        return state.left

    def cutoff(self):
        return Cutoff("By nature.", {"DOWN": 4, "TWICE": 4}, (), lambda environment, rng: None)


def test_what_equality_does_not_see_shows_in_real_runs():
    def down(see, size):
        yield "LESS"
        yield STOP

    def twice(see, size):
        see = yield "DOWN"
        if not see.zero and not see.mark:
            yield "DOWN"
        yield STOP

    with pytest.raises(SpecificationError, match="the starts of TWICE at size 1 lack"):
        verified(Marks(), DOWN=down, TWICE=twice)


class Loose(Sink):
    """The pass may leave a flag up or down; a program above it is helpless where the flag is up."""

    fields = ("greater", "last", "inner", "flag")

    @action()
    def FLAG(self, state):
        return Cells((*state.values[:-1], 1 - state.values[-1]), state.at)

    @program(
        level=1,
        depth=5,
        recursive=True,
        shrink=without_first,
        restore=lambda caller, callee: Cells(callee.values, caller.at),
    )
    def PASS(self, before, after):
        return after.at == before.at and after.values[:-1] == before.values[:-1]

    @program(level=2, depth=3, pre=lambda state: state.at == 0)
    def TOP(self, before, after):
        return after.values[-1] == 0

    @action(pre=lambda state: state.at == 0 and len(state.values) > 1)
    def IN(self, state):
        return Cells(state.values, 1)

    def initial(self, program, size, rng):
        return Cells((0,) * size, 0)

    def enumerate(self, program, size):
        yield Cells((0,) * size, 0)

    def templates(self, program, size, values):
        raise NotImplementedError

    def outcomes(self, program, before):
        for flag, at in product((0, 1), range(len(before.values))):
            if program == "TOP" or at == before.at:
                after = Cells((*before.values[:-1], flag), at)
                if self.post(program, before, after):
                    yield after

    def relative(self, program, after):
        return ("down", "up")[after.values[-1]] if program == "PASS" else None

    def observe(self, state):
        return (0, state.at + 1 == len(state.values), state.at > 0, state.values[-1])


def test_views_of_calls_that_begin_elsewhere_reach_those_who_made_them():
    """PASS leaves the flag down from all its starts, and up from inside, where only TOP calls it."""

    def flags(see, size):
        if see.inner:
            yield "FLAG"
        yield STOP

    def top(see, size):
        if not see.last:
            yield "IN"
            yield "PASS"
        yield STOP

    certificate = verified(Loose(), PASS=flags, TOP=top)
    assert certificate.programs[0].invariant == ["down", "up"]
    assert certificate.programs[1].verdict == "REFUTED"


class Asks(Sink):
    """A call is legal for its caller and not as a start."""

    def pre(self, program, state, caller=None):
        if program == "PASS" and caller == "PASS":
            return state.at + 1 < len(state.values)
        return program != "PASS" or state.at == 0


def test_a_call_where_no_run_may_start_is_not_covered():
    certificate = verified(Asks(), PASS=right)
    assert certificate.verdict == "BOUNDED"
    assert "in a state in which no run of PASS may start" in certificate.programs[0].reasons[0]
