"""Decimal addition: what may be done, what counts as done, and the way it is taught at school."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environment import scene
from alphanpi.environment.specification import STOP
from alphanpi.environments.addition import Addition, Sheet, from_text
from alphanpi.errors import UsageError
from tests.helpers.instances import some
from tests.helpers.solutions import ScriptedEvaluator, Steps, View, execute

ENVIRONMENT = Addition()
LEARNED = ["WRITE", "ADD_COLUMN", "ADD"]


def write(see: View, size: int) -> Steps:
    yield "PUT"
    yield STOP


def add_column(see: View, size: int) -> Steps:
    total = see.carry_in + sum(
        digit * getattr(see, f"{number}_{digit}") for number in ("first", "second") for digit in range(10)
    )
    yield f"WRITE({total % 10})"
    if total >= 10:
        yield "CARRY"
    yield STOP


def add(see: View, size: int) -> Steps:
    if not see.no_column_left:
        yield "ADD_COLUMN"
        yield "ADD on rest"
    elif see.carry_in:
        yield "WRITE(1)"
    yield STOP


SOLUTIONS = {"WRITE": write, "ADD_COLUMN": add_column, "ADD": add}


def summed(text: str) -> str:
    ended = execute(ENVIRONMENT, "ADD", ENVIRONMENT.parse("ADD", text), SOLUTIONS)
    return ENVIRONMENT.result("ADD", ended, ())


@given(first=st.integers(0, 10**30), second=st.integers(0, 10**30))
@some
def test_the_school_method_gives_the_sum(first, second):
    assert summed(f"{first}+{second}") == str(first + second)


def test_long_sums():
    assert summed("9" * 500 + "+1") == "1" + "0" * 500
    (after,) = ENVIRONMENT.outcomes("ADD", ENVIRONMENT.parse("ADD", "9" * 5000 + "+1"))  # beyond what int() reads
    assert after.result == (0,) * 5000 + (1,)
    assert ENVIRONMENT.post("ADD", ENVIRONMENT.parse("ADD", "9" * 5000 + "+1"), after)


def test_a_carry_that_is_forgotten_is_noticed():
    def careless(see, size):
        yield "WRITE(0)"
        yield STOP

    with pytest.raises(AssertionError, match="ADD_COLUMN: from"):
        execute(ENVIRONMENT, "ADD", ENVIRONMENT.parse("ADD", "5+5"), {**SOLUTIONS, "ADD_COLUMN": careless})


def test_engine_follows_the_solution():
    search = Search(ENVIRONMENT, ScriptedEvaluator(ENVIRONMENT, SOLUTIONS), SearchConfig(c_level=0.0))
    (trace,) = search.run([Request("ADD", ENVIRONMENT.parse("ADD", "958+67"))])
    assert trace.success
    assert trace.final.result == (5, 2, 0, 1)


MIDDLE = Sheet(from_text("275"), from_text("948"), column=1, carry_in=1, result=(3,))  # 7 + 4 + 1: write 2, carry 1


def test_post_conditions_accept_the_right_result_only():
    column = MIDDLE._replace(result=(3, 2), carry_out=1)
    rights = {
        "WRITE": MIDDLE._replace(digit=7, result=(3, 7)),
        "ADD_COLUMN": column,
        "ADD": column._replace(result=(3, 2, 2, 1)),
    }
    for name, right in rights.items():
        before = MIDDLE._replace(digit=right.digit)
        assert ENVIRONMENT.post(name, before, right)
        wrong = [
            before,
            right._replace(result=(4, *right.result[1:])),  # a digit written before
            right._replace(result=(*right.result[:-1], right.result[-1] + 1)),
            right._replace(result=(*right.result[:-1], right.result[-1] - 1)),
            right._replace(result=right.result[:-1]),
            right._replace(result=(*right.result, 0)),
            right._replace(carry_out=1 - right.carry_out),
            right._replace(column=2),
            right._replace(first=from_text("175")),
        ]
        for after in wrong:
            assert not ENVIRONMENT.post(name, before, after), (name, after)


@given(first=st.integers(0, 10**8), second=st.integers(0, 10**8), off=st.integers(-(10**9), 10**9))
@some
def test_only_the_sum_is_the_sum(first, second, off):
    """Digits that are none, and shorter or longer results, are none either, whatever they come to."""
    before = ENVIRONMENT.parse("ADD", f"{first}+{second}")
    (right,) = ENVIRONMENT.outcomes("ADD", before)
    total, columns = first + second, before.columns
    assert ENVIRONMENT.result("ADD", right, ()) == str(total)
    assert ENVIRONMENT.post("ADD", before, right)
    other = from_text(str(abs(total + off)).zfill(columns))
    assert ENVIRONMENT.post("ADD", before, right._replace(result=other)) == (other == right.result)
    carried = (right.result[0] + 10, *right.result[1:])
    borrowed = (*carried[:1], carried[1] - 1, *carried[2:]) if len(carried) > 1 else carried
    assert not ENVIRONMENT.post("ADD", before, right._replace(result=borrowed))


def may(program: str, sheet: Sheet) -> set[str]:
    legal = ENVIRONMENT.legal(program, sheet)
    return {name for name, allowed in zip(ENVIRONMENT.library.names, legal, strict=True) if allowed} - {STOP}


def test_what_is_legal():
    writing = {f"WRITE({digit})" for digit in range(10)}
    assert may("ADD", MIDDLE) == {"ADD_COLUMN", *writing}
    assert may("ADD", MIDDLE._replace(result=(3, 2))) == {"CARRY", "ADD on rest"}
    assert may("ADD", MIDDLE._replace(result=(3, 2), carry_out=1)) == {"ADD on rest"}
    assert may("ADD", MIDDLE._replace(column=3, result=(3, 2, 2))) == writing
    assert may("WRITE", MIDDLE._replace(digit=0)) == {"PUT"}


def test_the_rest_begins_with_what_was_carried_on():
    caller = MIDDLE._replace(result=(3, 2), carry_out=1)
    inner = ENVIRONMENT.enter(caller, "ADD on rest", "ADD")
    assert inner == caller._replace(column=2, carry_in=1, carry_out=0)
    ended = inner._replace(result=(3, 2, 2, 1), carry_out=1)
    assert ENVIRONMENT.leave(caller, ended, "ADD on rest", "ADD") == caller._replace(result=(3, 2, 2, 1))


@pytest.mark.parametrize(("size", "count"), [(0, 2), (1, 200), (2, 400), (9, 400)])
def test_starts_have_every_first_column(size, count):
    sheets = list(ENVIRONMENT.enumerate("ADD", size))
    assert len(set(sheets)) == len(sheets) == count
    assert len({tuple(ENVIRONMENT.observe(sheet)) for sheet in sheets}) == min(count, 200)
    assert {ENVIRONMENT.size(sheet) for sheet in sheets} == {size}


@pytest.mark.parametrize("program", LEARNED)
def test_outcomes_are_what_solutions_lead_to(program):
    for seed in range(20):
        drawn = ENVIRONMENT.initial(program, 4, np.random.default_rng(seed))
        for before in ENVIRONMENT.library.begun(program, drawn):
            assert list(ENVIRONMENT.outcomes(program, before)) == [execute(ENVIRONMENT, program, before, SOLUTIONS)]


def test_conditions_that_are_derived():
    assert ENVIRONMENT.derive(ENVIRONMENT.observe(MIDDLE)) == (2, 1)
    assert ENVIRONMENT.derive(ENVIRONMENT.observe(MIDDLE._replace(column=2, carry_in=0))) == (1, 1)  # 2 + 9
    assert ENVIRONMENT.derive(ENVIRONMENT.observe(Sheet((4,), (5,)))) == (9, 0)
    assert ENVIRONMENT.derive(ENVIRONMENT.observe(Sheet((), (), carry_in=1))) == (1, 0)


def test_text():
    sheet = ENVIRONMENT.parse("ADD", " 275 + 48 ")
    assert sheet == Sheet((5, 7, 2), (8, 4, 0))
    assert ENVIRONMENT.format(sheet) == "275+048"
    assert ENVIRONMENT.format(sheet._replace(result=(3, 2))) == "275+048 = …23"
    assert ENVIRONMENT.parse("ADD", ENVIRONMENT.format(sheet)) == sheet
    assert ENVIRONMENT.result("ADD", Sheet((0, 0), (0, 0), result=(0, 0)), ()) == "0"


@pytest.mark.parametrize("text", ["", "12", "1+", "1+2+3", "-1+2", "1.5+2", "a+b", "\u0661+\u0662"])
def test_text_that_cannot_be_read(text):
    with pytest.raises(UsageError, match="sum of two decimal numbers"):
        ENVIRONMENT.parse("ADD", text)


@pytest.mark.parametrize("sheet", [MIDDLE, Sheet((), ()), Sheet((9,) * 100, (1,) * 100), MIDDLE._replace(column=3)])
def test_picture(sheet):
    assert scene.problems(ENVIRONMENT.render(sheet)) == []
