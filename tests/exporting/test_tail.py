"""Calls of itself at the end of a program, written as loops."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi import STOP, Environment, Standalone, action, program
from alphanpi.exporting.blocks import Do, Entrance, If, Return, While
from alphanpi.exporting.conditions import BranchCondition, Comparison, Feature
from alphanpi.exporting.equality import executed
from alphanpi.exporting.minimise import Learned
from alphanpi.exporting.render import Renderer, module
from alphanpi.exporting.tail import folded, loops, nests
from tests.helpers.exports import run_script, scripted


class Lamps(NamedTuple):
    """Lamps from left to right, the first that is seen, and where the hand is."""

    lit: tuple[int, ...]
    first: int
    hand: int


class Lighting(Environment[Lamps]):
    """Light every lamp from the hand on, with a program that ends by calling itself for the others."""

    fields = ("lit", "last")

    @action(pre=lambda lamps: not lamps.lit[lamps.hand])
    def LIGHT(self, lamps: Lamps) -> Lamps:
        """Light the lamp at the hand."""
        lit = list(lamps.lit)
        lit[lamps.hand] = 1
        return lamps._replace(lit=tuple(lit))

    @action(pre=lambda lamps: lamps.hand < len(lamps.lit) - 1)
    def RIGHT(self, lamps: Lamps) -> Lamps:
        """Move the hand."""
        return lamps._replace(hand=lamps.hand + 1)

    @program(
        level=1,
        depth=5,
        recursive=True,
        shrink=lambda lamps: lamps._replace(first=lamps.first + 1) if lamps.hand > lamps.first else None,
        restore=lambda caller, callee: callee._replace(first=caller.first),
    )
    def GLOW(self, before: Lamps, after: Lamps) -> bool:
        """Light all."""
        return all(after.lit[after.first :]) and after.hand == len(after.lit) - 1

    def initial(self, program: str, size: int, rng: Any) -> Lamps:
        return Lamps(tuple(int(value) for value in rng.integers(0, 2, size)), 0, 0)

    def observe(self, lamps: Lamps) -> tuple[int, ...]:
        return lamps.lit[lamps.hand], int(lamps.hand == len(lamps.lit) - 1)

    def size(self, lamps: Lamps) -> int:
        return len(lamps.lit) - lamps.first

    def standalone(self) -> Standalone | None:
        return Standalone(
            parameter="row",
            class_name="Row",
            source=inspect.getsource(Row),
            arguments=lambda lamps: ([list(lamps.lit), lamps.hand], lamps.first),
            agrees=lambda lamps, row: row.shared == [list(lamps.lit), lamps.hand],
            inner={"GLOW": "others"},
        )


class Row:
    def __init__(self, shared, first=0):
        self.shared, self.first = shared, first

    def others(self):
        return Row(self.shared, self.first + 1)

    def light(self):
        self.shared[0][self.shared[1]] = 1

    def right(self):
        self.shared[1] += 1

    @property
    def lit(self):
        return self.shared[0][self.shared[1]]

    @property
    def last(self):
        return self.shared[1] == len(self.shared[0]) - 1


def one_after_the_other(see, size):
    if not see.lit:
        see = yield "LIGHT"
    if not see.last:
        yield "RIGHT"
        yield "GLOW"
    yield STOP


def export_lighting(environment):
    return scripted(environment, {"GLOW": one_after_the_other}, max_size=5)


def test_a_last_call_of_itself_is_a_loop_that_goes_deeper_than_any_stack(tmp_path):
    text = export_lighting(Lighting()).text
    assert "row = row.others()" in text
    path = tmp_path / "lighting.py"
    path.write_text(f"{text}\nrow = Row([[0, 1] * 50_000, 0])\nglow(row)\nprint(all(row.shared[0]))\n")
    outcome = run_script(path)
    assert (outcome.stdout, outcome.stderr) == ("True\n", "")


def test_what_leave_does_comes_after_a_last_call_so_generic_code_keeps_it():
    class Generic(Lighting):
        def standalone(self) -> None:
            return None

    text = export_lighting(Generic()).text
    assert 'env.call("GLOW", ' in text
    assert "while" not in text


# ---------------------------------------------------------------------------- any program


class Told:
    """Its fields are bits of how much was done; objects inside one another share the record."""

    def __init__(self, record, bits, depth=0):
        self.record, self.bits, self.depth = record, bits, depth

    def inner(self):
        return Told(self.record, self.bits, self.depth + 1)

    def act(self, number):
        if len(self.record) >= 60:
            raise TimeoutError
        self.record.append((number, self.depth))

    def first(self):
        self.act(1)

    def second(self):
        self.act(2)

    @property
    def odd(self):
        return self.bits[len(self.record) % len(self.bits)]

    @property
    def high(self):
        return self.bits[(len(self.record) + self.depth) % len(self.bits)]


class Telling(Lighting):
    """Only its library and its runtime's names are used."""

    fields = ("odd", "high")

    @action()
    def FIRST(self, lamps: Lamps) -> Lamps:
        return lamps

    @action()
    def SECOND(self, lamps: Lamps) -> Lamps:
        return lamps

    def standalone(self) -> Standalone | None:
        return Standalone("told", "Told", inspect.getsource(Told), lambda state: (), lambda *_: True, {"GLOW": "inner"})


def condition(feature: int, value: int) -> BranchCondition:
    return BranchCondition(((Comparison(feature, "==", value),),), 1.0)


CONDITIONS = st.builds(condition, st.integers(0, 1), st.integers(0, 1))
ANY = Entrance()
STATEMENTS: st.SearchStrategy = st.sampled_from([Do("FIRST"), Do("SECOND"), Do("GLOW"), Return()])


def blocks(depth: int) -> st.SearchStrategy:
    statement: st.SearchStrategy = STATEMENTS
    if depth:
        inner = blocks(depth - 1)
        statement |= st.builds(lambda c, then, other: If(ANY, then or (Return(),), other, c), CONDITIONS, inner, inner)
        statement |= st.builds(lambda c, body: While(ANY, (Do("FIRST"), *body), c), CONDITIONS, inner)
    return st.lists(statement, max_size=3).map(tuple)


def record(renderer: Renderer, learned: Learned, bits: list[int]) -> list[object]:
    limit = sys.getrecursionlimit()
    namespace = executed(module(renderer, [learned], "x", prune=False))
    sys.setrecursionlimit(limit)
    done: list[object] = []
    try:
        namespace[renderer.names["GLOW"]](namespace["Told"](done, bits))
    except (TimeoutError, RecursionError) as error:
        done = [*done[:60], type(error)]
    return done


class Recursive(Renderer):
    """Writes every call of itself as a call."""

    def _body(self, learned):
        return self._block(learned, learned.block, 1)


@given(blocks(3), st.lists(st.integers(0, 1), min_size=1, max_size=7))
@settings(max_examples=150, deadline=None)
def test_loops_do_what_the_calls_do(block, bits):
    environment = Telling()
    features = (Feature("odd", "field"), Feature("high", "field"))
    # An action first: without any, a program would begin again for ever.
    learned = Learned("GLOW", (Do("SECOND"), *block), features, (True, True), 1.0, 1)
    renderers = [kind(environment.library, environment.standalone()) for kind in (Renderer, Recursive)]
    looped, recursive = (record(renderer, learned, bits) for renderer in renderers)
    assert looped == recursive


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ((Do("FIRST"), Do("GLOW")), (True, False)),
        ((Do("GLOW"), Do("FIRST")), (False, True)),
        ((Do("GLOW"), Do("GLOW")), (True, True)),
        ((If(ANY, (Do("GLOW"), Return()), ()), Do("FIRST")), (True, False)),
        ((If(ANY, (Do("GLOW"),), ()), Do("FIRST")), (False, True)),
        ((While(ANY, (Do("GLOW"), Return())),), (False, True)),
        ((If(ANY, (Return(),), (Do("FIRST"),)), Do("GLOW"), Return()), (True, False)),
        ((), (False, False)),
    ],
)
def test_which_calls_are_a_programs_last(block, expected):
    assert (loops("GLOW", folded(block)), nests("GLOW", folded(block))) == expected


def test_only_what_nests_asks_for_a_deeper_stack():
    environment = Telling()
    renderer = Renderer(environment.library, environment.standalone())
    for block, asks in [((Do("FIRST"), Do("GLOW")), False), ((Do("GLOW"), Do("FIRST")), True)]:
        text = module(renderer, [Learned("GLOW", block, (), (), 1.0, 1)], "x")
        assert ("setrecursionlimit" in ast.unparse(ast.parse(text))) == asks
