"""Conditions keep their meaning and are short enough to be read."""

from __future__ import annotations

import itertools
import re

from hypothesis import given, settings
from hypothesis import strategies as st

import alphanpi
from alphanpi import STOP, Environment, action, program
from alphanpi.exporting.automaton import as_dot
from alphanpi.exporting.expressions import Atom, flat, joined, lines, negated
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.exports import ORIGIN, scripted


def atom(name: str) -> Atom:
    return Atom(name, f"not {name}", negative=False)


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_conditions_keep_their_meaning_negated_and_wrapped(data):
    names = "abcd"

    def tree(depth: int):
        if depth == 0 or data.draw(st.booleans()):
            one = atom(data.draw(st.sampled_from(names)))
            return negated(one) if data.draw(st.booleans()) else one
        return joined(data.draw(st.sampled_from(("and", "or"))), [tree(depth - 1) for _ in range(2)])

    expression = tree(3)
    width = data.draw(st.integers(8, 60))
    for values in itertools.product((False, True), repeat=len(names)):
        scope = dict(zip(names, values, strict=True))
        held = eval(flat(expression), {}, scope)
        assert eval("(\n" + "\n".join(lines(expression, width)) + "\n)", {}, scope) == held
        assert eval(flat(negated(expression)), {}, scope) != held
    assert not re.search(r"not \(?not \w\b(?! and| or)", flat(negated(expression)))


class Parity(Environment[tuple[int, ...]]):
    """Says whether three bits have an odd sum."""

    fields = ("the_first_of_all_bits", "the_second_of_all_bits", "the_third_of_all_bits")

    @action()
    def YES(self, state):
        return (*state[:3], 1)

    @action()
    def NO(self, state):
        return (*state[:3], 0)

    @program(level=1, depth=2)
    def ODD(self, before, after):
        return after[3] == sum(before[:3]) % 2

    def initial(self, program, size, rng):
        return (*(int(bit) for bit in rng.integers(2, size=3)), -size)

    def observe(self, state):
        return state[:3]

    def size(self, state):
        return 1


def odd(see, size):
    yield "YES" if sum(vars(see).values()) % 2 else "NO"
    yield STOP


def test_long_conditions_are_wrapped_and_graphs_have_no_double_negation():
    environment = Parity()
    exported = scripted(environment, {"ODD": odd}, samples=60)
    assert max(map(len, exported.text.splitlines())) <= 100
    graph = as_dot(exported.programs, environment.library)
    assert "not (not" not in graph
    assert "not not" not in graph
    for label in graph.split("\n"):
        assert max(map(len, re.split(r"\\[nl]", label))) < 100


def test_graphs_of_loops_have_no_double_negation():
    exported = alphanpi.export_evaluator(Chain(), ChainNetwork(), ORIGIN, samples=10)
    graph = as_dot(exported.programs, Chain.library)
    assert "not (not" not in graph
    assert "done\\nSTOP" in graph
