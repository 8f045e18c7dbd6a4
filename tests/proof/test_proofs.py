"""Proofs by machine: right agents are proved, wrong ones never."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest

import alphanpi
from alphanpi import Environment, UsageError, action, program
from alphanpi.environment.registry import make
from alphanpi.environment.specification import STOP
from alphanpi.network.decisions import Decisions
from alphanpi.proof.prover import prove_programs
from alphanpi.symbolic import every, length, replaced
from alphanpi.verification import machine
from tests.exporting.test_modules import all_on
from tests.helpers.paths import EXAMPLES
from tests.helpers.solutions import ScriptedEvaluator

LIGHTS = make(f"{EXAMPLES / 'lights.py'}:Lights")
ADDER = make(f"{EXAMPLES / 'adder.py'}:Adder")


def forgets_the_third_light(see, size):
    """Right on one light and on two."""
    if not see.lit:
        see = yield "TOGGLE"
    if not see.at_end:
        see = yield "RIGHT"
        if see.at_end:
            yield "ALL_ON"
    yield STOP


def add_column(see, size):
    total = see.first + see.second + see.carry
    if total % 2 != see.result:
        yield "FLIP"
    if total // 2 != see.carry:
        yield "FLIP_CARRY"
    yield "LEFT"
    yield STOP


def add(see, size):
    see = yield "ADD_COLUMN"
    if not see.at_end:
        yield "ADD"
    yield STOP


def certificate(environment, solutions, **settings):
    return alphanpi.verify_evaluator(environment, ScriptedEvaluator(environment, solutions), by="machine", **settings)


def reasons(environment, solutions):
    shown = certificate(environment, solutions)
    assert shown.verdict != "PROVED"
    return " ".join(reason for record in shown.programs for reason in record.reasons)


def test_right_agents_are_proved_at_every_size():
    shown = certificate(LIGHTS, {"ALL_ON": all_on})
    assert str(shown.claim) == str(shown.programs[0].claim) == "PROVED (machine)"
    assert any("z3" in assumed for assumed in shown.assumptions)
    assert not any("enumerate" in assumed or "by hand. It is tried" in assumed for assumed in shown.assumptions)
    decisions = Decisions(ADDER.library, ScriptedEvaluator(ADDER, {"ADD_COLUMN": add_column, "ADD": add}))
    assert all(proof.proved for proof in prove_programs(ADDER, decisions).values())


def test_a_wrong_agent_gets_the_smallest_start_from_which_it_really_fails():
    shown = certificate(LIGHTS, {"ALL_ON": forgets_the_third_light})
    record = shown.programs[0]
    assert record.verdict == "REFUTED"
    assert record.to_size == 3
    assert record.counter_example is not None
    assert record.counter_example.rule == "post"


class Altered(ScriptedEvaluator):
    """A solution with one decision changed."""

    def __init__(self, environment, solutions, told, instead):
        super().__init__(environment, solutions)
        self.told, self.instead = told, instead

    def action(self, program, history):
        return self.instead if history == self.told else super().action(program, history)


def test_no_agent_with_a_wrong_decision_is_proved():
    right = {"ALL_ON": all_on}
    decisions = Decisions(LIGHTS.library, ScriptedEvaluator(LIGHTS, right))
    body = prove_programs(LIGHTS, decisions)["ALL_ON"].body
    places = {
        tuple(decisions.table.histories[history].observation for history, _ in sequence[: end + 1])
        for sequence in body.sequences
        for end in range(len(sequence))
    }
    tried = 0
    for told in sorted(places):
        for instead in LIGHTS.library.names:
            altered = Altered(LIGHTS, right, told, instead)
            if altered.action("ALL_ON", told) == ScriptedEvaluator(LIGHTS, right).action("ALL_ON", told):
                continue
            shown = prove_programs(LIGHTS, Decisions(LIGHTS.library, altered))["ALL_ON"]
            works = not machine.real_failures(_interpreter(LIGHTS, altered), {"ALL_ON": shown._replace(proved=False)})
            assert works or not shown.proved
            tried += not works
    assert tried > 10


def _interpreter(environment, evaluator):
    from alphanpi.agent.interpreter import Interpreter

    return Interpreter(environment, evaluator)


def test_a_certificate_is_computed_again_by_machine(tmp_path):
    run = tmp_path / "run"
    alphanpi.train(EXAMPLES / "lights.py", out=run, seed=0)
    path = tmp_path / "certificate.json"
    shown = alphanpi.verify(run, keep=False)
    assert str(shown.claim) == "PROVED (machine)"
    path.write_text(json.dumps(shown.record()))
    assert alphanpi.verify(run, certificate=path).programs == shown.programs
    record = shown.record()
    record["programs"][0]["proof"]["paths"] += 1
    from alphanpi.verification.records import digest

    path.write_text(json.dumps({**record, "digest": digest(record)}))
    with pytest.raises(UsageError, match=r"does not hold.*proof is"):
        alphanpi.verify(run, certificate=path)


def test_without_a_solver_it_is_said_what_is_missing(monkeypatch):
    monkeypatch.setattr("alphanpi.verification.machine_verifier.has_solver", lambda: False)
    with pytest.raises(UsageError, match=r"alphanpi\[proof\]"):
        certificate(LIGHTS, {"ALL_ON": all_on})


# ---------------------------------------------------------------------------- environments that must not be proved


class Strip(NamedTuple):
    cells: tuple[int, ...]
    place: int


class Strips(Environment[Strip]):
    """Fill the cell one stands on."""

    fields = ("filled",)

    @action()
    def FILL(self, state):
        """Fill it."""
        return state._replace(cells=replaced(state.cells, state.place, 1))

    @program(level=1, depth=2)
    def FILLED(self, before, after):
        """The cell is filled, and nothing else has changed."""
        return after == before._replace(cells=replaced(before.cells, before.place, 1))

    def initial(self, program, size, rng):
        return Strip(tuple(rng.integers(2, size=size).tolist()), int(rng.integers(size)))

    def observe(self, state):
        return (state.cells[state.place] == 1,)

    def size(self, state):
        return length(state.cells)

    def symbolic(self, unknown):
        return Strip(unknown.numbers(), unknown.number())

    def valid(self, state):
        return 0 <= state.place < length(state.cells)


def fill(see, size):
    if not see.filled:
        yield "FILL"
    yield STOP


FILL = {"FILLED": fill}


def test_the_environment_that_the_others_break_is_proved():
    assert certificate(Strips(), FILL).proved


class NothingIsValid(Strips):
    def valid(self, state):
        return False


class OnlyAFrame(Strips):
    """The proof would be about the first place alone."""

    def symbolic(self, unknown):
        return Strip(unknown.numbers(), 0)


class AnInvalidStart(Strips):
    """What is drawn is not what is proved."""

    def valid(self, state):
        return 0 <= state.place < length(state.cells) and length(state.cells) > 5


class Cached(Strips):
    @staticmethod
    @functools.cache
    def _bit(value):
        return value == 1

    def observe(self, state):
        return (self._bit(state.cells[state.place]),)


class Typed(Strips):
    """Wrong on integers."""

    def observe(self, state):
        return (state.cells[state.place] == 1 if type(state.place) is not int else state.place % 7 == 6,)


class Handled(Strips):
    def observe(self, state):
        try:
            return (hash(state.cells[state.place]) == 1,)
        except BaseException:
            return (state.cells[state.place] == 1,)


class Loops(Strips):
    def observe(self, state):
        return (sum(state.cells) > 0,)


class BeyondTheEnd(Strips):
    def observe(self, state):
        return (state.cells[state.place + 1] == 1,)


class Halves(Strips):
    def observe(self, state):
        return (0.5,)


class Huge(Strips):
    def observe(self, state):
        return (70_000 if state.place == 3 else 1,)


class Raises(Strips):
    def observe(self, state):
        if length(state.cells) == 9:
            raise ValueError("nine")
        return (state.cells[state.place] == 1,)


class Far(Strips):
    """Wrong in one place that nobody draws."""

    @action()
    def FILL(self, state):
        """Fill it."""
        value = 0 if state.place == 1000 else 1
        return state._replace(cells=replaced(state.cells, state.place, value))


class Frame(Strips):
    """Something else changes, far away."""

    @action()
    def FILL(self, state):
        """Fill it."""
        cells = replaced(state.cells, state.place, 1)
        return state._replace(cells=replaced(cells, 50, 1) if length(cells) > 50 else cells)


class NoRoom(Strips):
    """No action at all is allowed far away, not even to stop."""

    def depth(self, program, state):
        return 0 if state.place == 1000 else 2


class Derived(Strips):
    """The proof would be about the last place alone."""

    def symbolic(self, unknown):
        cells = unknown.numbers()
        return Strip(cells, length(cells) - 1)


class Natural(Strips):
    """The proof would be about no negative places."""

    def symbolic(self, unknown):
        return Strip(unknown.numbers(), length(unknown.numbers()))


class Asking(Strips):
    """The proof would be about cells with something behind them."""

    def symbolic(self, unknown):
        cells, place = unknown.numbers(), unknown.number()
        return Strip(cells, place) if place < length(cells) else Strip((), place)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Derived, "computes"),
        (Natural, "computes"),
        (Asking, "asks"),
        (NothingIsValid, "nothing was shown"),
        (OnlyAFrame, "`symbolic` has"),
        (AnInvalidStart, "not about"),
        (Cached, "not expressible"),
        (Typed, "do not behave"),
        (Handled, "not expressible"),
        (Loops, "not expressible"),
        (BeyondTheEnd, "outside"),
        (Raises, "nine"),
        (Halves, "float"),
        (Huge, "70000"),
        (Far, "post-condition is false"),
        (Frame, "post-condition is false"),
        (NoRoom, "no room"),
    ],
)
def test_what_could_be_wrong_is_not_proved(kind, why):
    assert why in reasons(kind(), FILL)


@dataclass(frozen=True)
class Lamp:
    height: int
    lit: int

    @functools.cached_property
    def low(self):
        return bool(self.height < 50)


class Lamps(Environment[Lamp]):
    """High lamps are to be lit, too."""

    fields = ("low",)

    @action()
    def LIGHT(self, state):
        """Light it."""
        return replace(state, lit=1)

    @program(level=1, depth=2)
    def ON(self, before, after):
        """It is lit, unless it is low."""
        return before.low or after == replace(before, lit=1)

    def initial(self, program, size, rng):
        return Lamp(size, 0)

    def observe(self, state):
        return (state.height < 50,)

    def size(self, state):
        return state.height

    def symbolic(self, unknown):
        return Lamp(unknown.number(), unknown.number())


def light_low_ones(see, size):
    if see.low:
        yield "LIGHT"
    yield STOP


def test_what_a_state_keeps_of_one_way_is_not_believed_on_another():
    environment, high = Lamps(), Lamp(60, 0)
    assert not environment.post("ON", high, high)
    assert "a cached property" in reasons(environment, {"ON": light_low_ones})


# ---------------------------------------------------------------------------- calls


class Hall(NamedTuple):
    place: int
    end: int


class Halls(Environment[Hall]):
    """Walk to the end, one step and then the rest."""

    fields = ("there",)

    @action(pre=lambda state: state.place < state.end)
    def STEP(self, state):
        """One step."""
        return state._replace(place=state.place + 1)

    @program(
        level=1,
        depth=3,
        recursive=True,
        shrink=lambda state: state,
        restore=lambda caller, callee: callee,
    )
    def WALK(self, before, after):
        """At the end."""
        return after == before._replace(place=before.end)

    def initial(self, program, size, rng):
        return Hall(0, size)

    def observe(self, state):
        return (state.place == state.end,)

    def size(self, state):
        return state.end - state.place

    def symbolic(self, unknown):
        return Hall(unknown.number(), unknown.number())

    def valid(self, state):
        return state.place <= state.end


def walk(see, size):
    if not see.there:
        yield "STEP"
        yield "WALK"
    yield STOP


def for_ever(see, size):
    if not see.there:
        yield "WALK"
    yield STOP


def too_long(see, size):
    if not see.there:
        yield "STEP"
        yield "WALK"
        yield "WALK"
    yield STOP


def test_calls_need_a_smaller_measure_and_bodies_their_depth():
    assert certificate(Halls(), {"WALK": walk}).proved
    assert "measure" in reasons(Halls(), {"WALK": for_ever})
    assert "depth" in reasons(Halls(), {"WALK": too_long}) or "measure" in reasons(Halls(), {"WALK": too_long})


class Bottomless(Halls):
    """Nothing says that one is not beyond the end already, and the measure falls for ever."""

    def valid(self, state):
        return True

    @action()
    def STEP(self, state):
        """One step."""
        return state._replace(place=state.place + 1)


def test_a_measure_that_may_be_negative_proves_nothing():
    assert "measure" in reasons(Bottomless(), {"WALK": walk})


class Everywhere(Strips):
    """A pre-condition about all cells, which the caller must know."""

    @program(level=1, depth=2, pre=lambda state: every(0, length(state.cells), lambda k: state.cells[k] == 0))
    def FILLED(self, before, after):
        """The cell is filled, and nothing else has changed."""
        return after == before._replace(cells=replaced(before.cells, before.place, 1))

    @program(level=2, depth=3)
    def TWICE(self, before, after):
        """The same."""
        return after == before._replace(cells=replaced(before.cells, before.place, 1))

    def initial(self, program, size, rng):
        return Strip((0,) * size, int(rng.integers(size)))


def test_a_caller_is_not_proved_without_its_callee():
    def wrong(see, size):
        yield STOP

    def calls(see, size):
        yield "FILLED" if not see.filled else STOP
        yield STOP

    shown = certificate(Everywhere(), {"FILLED": wrong, "TWICE": calls})
    assert {record.name: record.verdict for record in shown.programs}["TWICE"] != "PROVED"
