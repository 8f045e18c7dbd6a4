"""Brackets: what counts as balanced, how it is read by hand, and how brackets are typed and shown."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.environment.checking import check
from alphanpi.environment.scene import problems
from alphanpi.environments.brackets import Brackets, Reading, read
from alphanpi.errors import UsageError
from tests.helpers.instances import seeds, some
from tests.helpers.solutions import Steps, View, execute

BRACKETS = Brackets()


def group(see: View, size: int) -> Steps:
    see = yield "OPEN"
    if see.deeper:
        see = yield "RECORD"
    while see.opens and not see.wrong:
        see = yield "GROUP on inside"
    if not see.wrong:
        yield "CLOSE" if see.closes else "REJECT"
    yield "STOP"


def whole(see: View, size: int) -> Steps:
    while see.opens and not see.wrong:
        see = yield "GROUP"
    if not see.wrong and not see.at_end:
        yield "REJECT"
    yield "STOP"


SOLUTIONS = {"GROUP": group, "CHECK": whole}


def solved(program: str, reading: Reading) -> Reading:
    (begun,) = BRACKETS.library.begun(program, reading)
    ended: Reading = execute(BRACKETS, program, begun, SOLUTIONS)
    return ended


def balanced(text: str) -> bool:
    """Whether nothing is left when pairs are taken away."""
    while text != (text := re.sub(r"\(\)|\[\]|\{\}", "", text)):
        pass
    return not text


def test_the_specification_has_no_mistakes():
    report = check(BRACKETS, samples=10)
    assert (report.findings, report.notes) == ((), ())


@given(seed=seeds, size=st.integers(1, 60))
@settings(max_examples=15, deadline=None)
def test_a_person_reads_brackets_of_any_length(seed, size):
    for program in SOLUTIONS:
        solved(program, BRACKETS.initial(program, size, np.random.default_rng(seed)))


@given(text=st.text("()[]{}", max_size=12))
@some
def test_what_is_balanced_is_a_matter_of_taking_pairs_away(text):
    ended = solved("CHECK", BRACKETS.parse("CHECK", text))
    assert ended.wrong is not balanced(text)
    assert ended.wrong or ended.position == len(text)


def test_deep_nesting_needs_no_python_recursion():
    assert solved("CHECK", BRACKETS.parse("CHECK", "(" * 1500 + ")" * 1500)).deepest == 1500


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", "balanced, nested 0 deep"),
        ("()[]", "balanced, nested 1 deep"),
        ("([]{()})", "balanced, nested 3 deep"),
        ("(()", "not balanced: 1 not closed at the end"),
        ("(]", "not balanced: ] at place 2 closes nothing"),
        ("())", "not balanced: ) at place 3 closes nothing"),
    ],
)
def test_results_by_hand(text, result):
    assert BRACKETS.result("CHECK", solved("CHECK", BRACKETS.parse("CHECK", text)), ()) == result


def test_a_group_ends_at_its_bracket():
    before = BRACKETS.parse("GROUP", "([])(")
    after = read(before, one_group=True)
    assert after == before._replace(position=4, deepest=2)
    assert list(BRACKETS.outcomes("GROUP", before)) == [after]
    for wrong in (
        before,
        after._replace(deepest=1),
        after._replace(wrong=True),
        after._replace(position=5, nesting=1),
        after._replace(nesting=1),
        read(before, one_group=False),
    ):
        assert not BRACKETS.post("GROUP", before, wrong)
    assert read(before, one_group=False) == before._replace(position=5, nesting=1, deepest=2, wrong=True)


def test_there_is_nothing_inside_a_group_that_is_not_open():
    (begun,) = BRACKETS.library.begun("GROUP", BRACKETS.parse("GROUP", "(())"))
    assert not BRACKETS.pre("GROUP on inside", begun, "GROUP")
    opened = BRACKETS.act(begun, "OPEN")
    assert BRACKETS.pre("GROUP on inside", opened, "GROUP")
    assert BRACKETS.size(BRACKETS.enter(opened, "GROUP on inside", "GROUP")) == 3 < BRACKETS.size(opened)
    after = read(begun, one_group=True)
    assert not BRACKETS.pre("CLOSE", after, "GROUP")


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4])
def test_enumeration_stands_for_all_brackets(size):
    """By what happens up to the first that is wrong: all opened, closed, or not closed as they should be."""

    def happens(reading: Reading) -> tuple[int, ...]:
        end = read(reading, one_group=False).position
        return tuple(1 if one > 0 else -1 for one in reading.brackets[:end])

    readings = list(BRACKETS.enumerate("CHECK", size))
    found = {happens(reading) for reading in readings}
    rng = np.random.default_rng(0)
    assert len(found) == len(readings)
    assert {happens(BRACKETS.initial("CHECK", size, rng)) for _ in range(300)} <= found
    for reading in BRACKETS.enumerate("GROUP", size) if size else ():
        assert BRACKETS.pre("GROUP", reading)
        solved("GROUP", reading)


@pytest.mark.parametrize(("program", "text"), [("CHECK", "(a)"), ("GROUP", ""), ("GROUP", ")(")])
def test_brackets_that_cannot_be_read(program, text):
    with pytest.raises(UsageError, match="for example"):
        BRACKETS.parse(program, text)


def test_a_state_is_shown_with_its_place():
    reading = BRACKETS.parse("CHECK", "([] )")
    assert BRACKETS.format(reading._replace(position=2, deepest=1)) == "([·])  1"
    assert BRACKETS.format(reading._replace(position=3, wrong=True)) == "([]✗)  0"


@given(seed=seeds, size=st.integers(0, 40))
@some
def test_every_state_has_a_picture(seed, size):
    reading = BRACKETS.initial("CHECK", size, np.random.default_rng(seed))
    for state in (reading, read(reading, one_group=False)):
        scene = BRACKETS.render(state)
        assert problems(scene) == []
        assert sum(shape.id.startswith("bracket-") for shape in scene.shapes) == size
