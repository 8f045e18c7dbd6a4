"""Digits that are seen one by one: right agents are proved whichever they are, wrong ones are not for a single pair."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.environment.specification import STOP
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.network.decisions import Decisions
from alphanpi.proof.bodies import MOST_APART, show_body
from alphanpi.symbolic import one_hot
from alphanpi.symbolic.faults import RaisesError
from alphanpi.symbolic.formulas import all_equal, any_of
from alphanpi.symbolic.reasoning import Reasoning
from tests.helpers.reflexes import ReflexEvaluator
from tests.helpers.solutions import greater


class Pairs(RecursiveSorting):
    """Two values alone, so that what is seen of the pointers is little."""

    def valid(self, state):
        return super().valid(state) and state.p1 == state.start and state.end == state.start + 1


PAPER = Pairs("paper")


def compswap(see, before, forgotten=()):
    if before == "SWAP":
        return STOP
    if see.same_position:
        return "PTR_2_R"
    seen = [next(digit for digit in range(10) if getattr(see, f"p{pointer}_value_{digit}")) for pointer in (1, 2)]
    return "SWAP" if greater(see) and tuple(seen) not in forgotten else STOP


def shown(reflex):
    reflexes = {entry.name: reflex for entry in PAPER.library.learned}
    evaluator = ReflexEvaluator(PAPER, reflexes)
    return evaluator, show_body(PAPER, Decisions(PAPER.library, evaluator), "COMPSWAP", {})


def test_an_agent_that_sees_digits_is_proved():
    _, body = shown(compswap)
    assert body.shortfalls == ()
    assert len(body.points) > 100 > MOST_APART
    assert body.sequences == frozenset()  # many were gone on with as one
    assert body.queries < 3 * len(body.points)


def test_an_agent_that_errs_on_one_pair_of_digits_is_not():
    evaluator, body = shown(lambda see, before: compswap(see, before, forgotten={(7, 3)}))
    starts = [start for shortfall in body.shortfalls for start in shortfall.starts]
    assert starts
    calls = [Call("COMPSWAP", start) for start in starts]
    failing = [run for run in Interpreter(PAPER, evaluator).run(calls) if not run.success]
    assert failing


def test_one_hot():
    assert one_hot(2, 4) == (False, False, True, False)
    for value in (-1, 4):
        with pytest.raises(IndexError, match=f"{value} is not from 0 to 3"):
            one_hot(value, 4)
    reasoning = Reasoning()
    x: Any = reasoning.number()

    def seen():
        return tuple(bool(one) for one in one_hot(x, 3)) if 0 <= x <= 2 else None

    assert {found for found in reasoning.paths.ways(seen) if found} == {one_hot(value, 3) for value in range(3)}
    with pytest.raises(RaisesError, match="not from 0 to 2"):
        list(reasoning.paths.ways(lambda: one_hot(x, 3)))


def test_all_values_that_terms_may_have_together():
    paths, x, y = Reasoning().paths, z3.Int("x"), z3.Int("y")
    with paths.supposing(x >= 0, x <= 2, y == 2 * x):
        found = paths.values_of([x, y > 2], 10)
        assert found is not None
        assert sorted((one.as_long(), z3.is_true(other)) for one, other in found) == [(0, False), (1, False), (2, True)]
        assert len(paths.values_of([x], 1) or ()) == 2  # more than wanted
    with paths.supposing(x > 0, x < 0):
        assert paths.values_of([x], 10) == []


def test_short_formulas_say_the_same():
    x, y = z3.Int("x"), z3.Int("y")
    terms = [x == 0, x == 1, x == 2, y > x]
    cases = [
        all_equal(terms, [*(z3.BoolVal(place == value) for place in range(3)), z3.BoolVal(above)])
        for value in range(3)
        for above in (True, False)
    ]
    inside = [x >= 0, x <= 2]
    for number, case in enumerate(cases):
        value, above = divmod(number, 2)
        assert _same(inside, case, z3.And(x == value, (y > x) == (not above)))
    for some in (cases[:1], cases[:3], cases[1:], cases):
        assert _same(inside, any_of(some, cases), z3.Or(*some))


def _same(facts, one, other):
    solver = z3.Solver()
    solver.add(*facts, one != other)
    return solver.check() == z3.unsat
