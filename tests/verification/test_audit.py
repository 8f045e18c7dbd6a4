"""Wrong agents, and environments that hide it: none is proved. The right one is."""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar, NamedTuple

import pytest

from alphanpi.environment.cutoff import Condition, Cutoff
from alphanpi.environment.specification import STOP, Environment, action, program
from alphanpi.errors import AlphaNPIError, EnvironmentFault, SpecificationError
from alphanpi.verification.verdicts import Kind, Verdict
from tests.helpers.solutions import ScriptedEvaluator
from tests.helpers.verdicts import explore_evaluator


class Lights(NamedTuple):
    lit: tuple[int, ...]
    at: int  # the problem is what begins here


def rest(state):
    return Lights(state.lit, state.at + 1) if state.at + 1 < len(state.lit) else None


def back(caller, callee):
    return Lights(callee.lit, caller.at)


class Row(Environment[Lights]):
    """Switches all lights on, from the present one on."""

    fields = ("lit", "last", "inner", "length")
    validation_size = 4
    sizes: ClassVar = {"ON": 4}
    conditions: tuple[Condition, ...] = ()

    @action(pre=lambda state: state.at < len(state.lit))
    def SWITCH(self, state):
        return Lights((*state.lit[: state.at], 1 - state.lit[state.at], *state.lit[state.at + 1 :]), state.at)

    @program(level=1, depth=4, recursive=True, shrink=rest, restore=back)
    def ON(self, before, after):
        return after == self.switched(before)

    def switched(self, state):
        return Lights(state.lit[: state.at] + (1,) * (len(state.lit) - state.at), state.at)

    def initial(self, program, size, rng):
        return Lights(tuple(int(light) for light in rng.integers(2, size=size)), 0)

    def enumerate(self, program, size):
        yield from (Lights(lit, 0) for lit in product((0, 1), repeat=size))

    def outcomes(self, program, before):
        yield self.switched(before)

    def observe(self, state):
        if not self.size(state):
            return (1, 1, 0, 0)
        return (state.lit[state.at], state.at + 1 == len(state.lit), state.at > 0, self.seen(len(state.lit)))

    def seen(self, length):
        """What is seen of the length of the whole row."""
        return 0

    def size(self, state):
        return len(state.lit) - state.at

    def cutoff(self):
        return Cutoff("By nature.", self.sizes, self.conditions, self.examine)

    def examine(self, environment, rng):
        return None


def right(see, size):
    if not see.lit:
        yield "SWITCH"
    if not see.last:
        yield "ON"
    yield STOP


def nothing(see, size):
    yield STOP


def outside(see, size):
    """Does nothing in inner calls."""
    if not see.inner:
        yield from right(see, size)
    yield STOP


def itself(see, size):
    """In inner calls, calls itself and no more."""
    if not see.inner:
        yield from right(see, size)
    elif not see.last:
        yield "ON"
    yield STOP


def not_alone(see, size):
    """Does nothing where there is one light alone."""
    if see.inner or not see.last:
        yield from right(see, size)
    yield STOP


def near(see, size):
    """Does nothing where something is seen of the length."""
    if not see.length:
        yield from right(see, size)
    yield STOP


def first_only(see, size):
    if not see.lit:
        yield "SWITCH"
    yield STOP


def seen(when: Any) -> dict[str, Any]:
    return {"seen": lambda self, length: int(when(length))}


def starts(states: Any) -> dict[str, Any]:
    return {"enumerate": lambda self, program, size: iter(states(size))}


class Hidden(Row):
    """A start below the smallest size is legal."""

    @program(level=1, depth=4, minimum_size=2, recursive=True, shrink=rest, restore=back)
    def ON(self, before, after):
        return after == self.switched(before)


class Endless(Row):
    """An inner call has the same problem; only its measure says otherwise."""

    @program(
        level=1,
        depth=4,
        recursive=True,
        shrink=lambda state: Lights((*state.lit, 0), state.at + 1) if len(state.lit) < 50 else None,
        restore=lambda caller, callee: Lights(callee.lit[:-1], caller.at),
    )
    def ON(self, before, after):
        return after == self.switched(before)

    def measure(self, program, state):
        return int(state.at == 0)


class Above(Row):
    """A program that calls another in states in which that one never starts."""

    sizes: ClassVar = {"ON": 4, "TWICE": 4}

    @action(pre=lambda state: state.at == 0 and len(state.lit) > 1)
    def STEP(self, state):
        return Lights(state.lit, 1)

    @program(level=2, depth=4, pre=lambda state: state.at == 0)
    def TWICE(self, before, after):
        return after.lit[1:] == (1,) * (len(after.lit) - 1)

    def outcomes(self, program, before):
        if program == "ON":
            yield self.switched(before)
        else:
            for first, at in product((0, 1), (0, 1)):
                yield Lights((first, *(1,) * (len(before.lit) - 1)), min(at, len(before.lit) - 1))


def beside(see, size):
    if not see.last:
        yield "STEP"
        yield "ON"
    yield STOP


def endless(see, size):
    yield "ON"
    yield STOP


# Each pair was PROVED, or nobody could tell: what is wrong, the environment's members, and the agent.
WRONG: dict[str, tuple[type[Row], dict[str, Any], Any, str]] = {
    "no starts": (Row, starts(lambda size: ()), nothing, "no start is given at size 1, 2, 3, 4"),
    "no start at one size": (
        Row,
        starts(lambda size: () if size == 3 else [Lights(lit, 0) for lit in product((0, 1), repeat=size)]),
        right,
        "no start is given at size 3",
    ),
    "starts of another size": (Row, starts(lambda size: [Lights((1,), 0)]), nothing, "which is of size 1"),
    "starts already done": (Row, starts(lambda size: [Lights((1,) * size, 0)]), nothing, "at size 1 lack Lights"),
    "starts with one light off": (
        Row,
        starts(lambda size: [Lights((light,) + (1,) * (size - 1), 0) for light in (0, 1)]),
        first_only,
        "at size 2 lack Lights",
    ),
    "inner calls do nothing": (Row, {}, outside, "REFUTED"),
    "inner calls do nothing but call": (Row, {}, itself, "REFUTED"),
    "inner calls of another program": (Above, {}, {"ON": outside, "TWICE": beside}, "REFUTED"),
    "never ends": (Endless, {}, endless, "REFUTED"),
    "a hidden start": (Hidden, {}, not_alone, "calls ON at size 1, below its minimum_size 2"),
    "a hidden start below": (Hidden, {}, first_only, "REFUTED"),
    "another length": (Row, seen(lambda length: length >= 9), near, "REFUTED"),
    "one length": (Row, seen(lambda length: length == 10), near, "REFUTED"),
    "a multiple": (Row, seen(lambda length: length % 6 == 0), near, "REFUTED"),
    "a lemma for the smallest": (Row, {"sizes": {"ON": 1}}, first_only, "its sequences still changed at size 1"),
    "no larger problems": (
        Row,
        {"initial": lambda self, program, size, rng: Row.initial(self, program, min(size, 4), rng)},
        near,
        "it cannot be run beyond the sizes looked at",
    ),
    "larger problems raise": (
        Row,
        {"initial": lambda self, program, size, rng: Row.initial(self, program, size if size < 5 else 1 // 0, rng)},
        near,
        "it cannot be run at size 5",
    ),
}


def verified(kind, body, **arguments):
    environment = kind()
    bodies = body if isinstance(body, dict) else {"ON": body}
    return explore_evaluator(environment, ScriptedEvaluator(environment, bodies), **arguments)


def test_the_right_agent_is_proved():
    certificate = verified(Row, right)
    assert certificate.proved, certificate.programs[0].reasons
    (record,) = certificate.programs
    assert record.audit is not None
    assert record.audit.sizes == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 20]
    assert record.audit.calls > record.audit.runs > 400
    assert verified(Row, right).programs == certificate.programs


@pytest.mark.parametrize("name", WRONG)
def test_nothing_wrong_is_proved(name):
    base, members, body, expected = WRONG[name]
    kind = type("Wrong", (base,), members)
    found = []
    try:
        certificate = verified(kind, body)
        assert not certificate.proved
        found = [certificate.verdict, *(reason for record in certificate.programs for reason in record.reasons)]
    except AlphaNPIError as error:
        found = [str(error)]
    assert any(expected in text for text in found), found


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"sizes": {"ONN": 4}}, "cutoff: sizes names 'ONN'; the programs to be learned are ON"),
        ({"sizes": {"ON": 0}}, "cutoff: sizes of ON is 0; give a whole number from 1"),
        ({"sizes": {"ON": 2.0}}, "cutoff: sizes of ON is 2.0"),
        ({"conditions": (Condition("OFF", "true", 1, "ends", bool),)}, "a condition is about 'OFF'; there are ON"),
        ({"conditions": (Condition("ON", "true", 1, "end", bool),)}, "where is 'end'; write 'steps' or 'ends'"),  # type: ignore[arg-type]
        ({"conditions": (Condition("ON", "odd", 1, "ends", lambda state: state.odd),)}, "condition 'odd' of the lemma"),
        ({"examine": lambda self, environment, rng: environment.odd}, "examine of the lemma with seed 0"),
        ({"cutoff": lambda self: "it is clear"}, "cutoff: it returned a str, not a Cutoff"),
    ],
)
def test_a_lemma_that_does_not_fit_is_one_message(members, message):
    with pytest.raises((SpecificationError, EnvironmentFault), match=message) as error:
        verified(type("Odd", (Row,), members), right)
    assert "\n" not in str(error.value)


class Empty(Row):
    """The smallest problem has no light."""

    @program(
        level=1,
        depth=4,
        minimum_size=0,
        recursive=True,
        shrink=lambda state: Lights(state.lit, state.at + 1) if state.at < len(state.lit) else None,
        restore=back,
    )
    def ON(self, before, after):
        return after == self.switched(before)


def down_to_none(see, size):
    if not see.last:
        if not see.lit:
            yield "SWITCH"
        yield "ON"
    yield STOP


class Shown(Empty):
    def observe(self, state):
        if not self.size(state):
            return (1, 1, 0, 0)
        return (state.lit[state.at], 0, 0, 0)


def test_sizes_begin_at_the_smallest_which_may_be_none():
    certificate = verified(Shown, down_to_none)
    assert certificate.proved, certificate.programs[0].reasons
    assert [size.size for size in certificate.programs[0].sizes] == [0, 1, 2, 3, 4]
    bounded = verified(Shown, down_to_none, max_size=0)
    assert bounded.claim == Verdict(Kind.BOUNDED, 0)
    assert verified(Shown, nothing, max_size=0).claim == Verdict(Kind.BOUNDED, 0)
    assert verified(Shown, first_only, max_size=2).claim == Verdict(Kind.REFUTED, 2)


class Periodic(Row):
    """No lemma, and something that comes and goes with the length."""

    period = 2

    def cutoff(self):
        return None

    def seen(self, length):
        return int(length % self.period == 0)


@pytest.mark.parametrize("period", [2, 3, 4])
def test_what_comes_and_goes_is_not_new(period):
    kind = type("Sometimes", (Periodic,), {"period": period})
    claims = [verified(kind, right, max_size=size).claim for size in range(2, 11)]
    kinds = [claim.kind for claim in claims]
    assert kinds == sorted(kinds)  # once it is saturated, it remains so
    assert claims[-1] == Verdict(Kind.SATURATED, 10, max(period, 3))
    assert claims[0].kind == Kind.BOUNDED
    assert any("--max-size" in reason for reason in verified(kind, right, max_size=3).programs[0].reasons)


def test_saturated_does_not_survive_what_real_runs_show():
    kind = type("Later", (Periodic,), {"seen": lambda self, length: int(length > 6)})
    certificate = verified(kind, right, max_size=4)
    assert certificate.claim == Verdict(Kind.BOUNDED, 4)
    assert "a real run is shown what no explored run of it is" in certificate.programs[0].reasons[0]


def test_reasons_say_what_to_do(monkeypatch):
    certificate = verified(Row, right, max_size=2)
    assert certificate.claim == Verdict(Kind.BOUNDED, 2)
    assert any(
        "the lemma needs every start up to size 4, 2 was reached" in one for one in certificate.programs[0].reasons
    )
    monkeypatch.setattr("alphanpi.verification.verifier.time.monotonic", iter_clock(300))
    certificate = verified(Row, right, time_limit=1000.0)
    assert not certificate.tried
    assert any("raise --time-limit" in one for one in certificate.programs[0].reasons)


def iter_clock(calls):
    """A clock that jumps after so many looks at it."""
    looks = iter(range(10**9))
    return lambda: 0.0 if next(looks) < calls else 1e6


def test_an_outcome_that_is_missing_is_found_where_calls_really_end():
    class Careless(Above):
        def outcomes(self, program, before):
            if program == "ON" or len(before.lit) < 9:
                yield from super().outcomes(program, before)
            else:
                yield Lights((1,) * len(before.lit), 0)

    with pytest.raises(SpecificationError, match=r"outcomes of TWICE begun in .* lacks"):
        verified(Careless, {"ON": right, "TWICE": beside})
