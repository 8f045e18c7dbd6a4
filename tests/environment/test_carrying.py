"""Runtimes made of an environment's own source: complete where they are made, and a reason where they are not."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

import alphanpi
from alphanpi.environment.carrying import CarriedStandalone, runtime_of
from alphanpi.environment.guard import Guard
from alphanpi.environment.registry import make
from alphanpi.environment.standalone import plain, rebuilt_arguments
from tests.helpers.paths import ROOT

HEAD = """
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alphanpi import Environment, action, program


class Count(NamedTuple):
    value: int
    goal: int

"""

BODY = """
class Counting(Environment[Count]):
    '''Counts up to a goal.'''

    fields = ("at_goal", "odd")
    train_sizes = (1, 2)
    validation_size = 3

    @action(pre=lambda state: state.value < state.goal)
    def UP(self, state: Count) -> Count:
        '''One more.'''
        return state._replace(value=state.value + 1)

    @program(level=1, depth=lambda state: state.goal + 2)
    def REACH(self, before: Count, after: Count) -> bool:
        '''Reach the goal.'''
        return after == before._replace(value=before.goal)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Count:
        return Count(0, size)

    def size(self, state: Count) -> int:
        return state.goal

    def observe(self, state: Count) -> tuple[int, ...]:
        return state.value == state.goal, state.value % 2
"""


def environment(folder, body=BODY, above="", name="counting"):
    file = folder / f"{name}.py"
    file.write_text(HEAD + textwrap.dedent(above) + body)
    return make(f"{file}:Counting")


def carried(subject) -> CarriedStandalone:
    runtime = runtime_of(Guard(subject))
    assert runtime.reason == ""
    assert isinstance(runtime.standalone, CarriedStandalone)
    return runtime.standalone


def objects(subject, state):
    """A runtime's object for a state, from nothing but the source."""
    standalone = carried(subject)
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(compile("from __future__ import annotations\n" + standalone.source, "<runtime>", "exec"), namespace)
    assert not any(getattr(value, "__module__", "").startswith("alphanpi") for value in namespace.values())
    return namespace[standalone.class_name](*rebuilt_arguments(standalone, namespace, state))


@pytest.mark.parametrize("name", ["lights", "adder"])
def test_the_examples_are_carried_whole_and_checked(name):
    subject = make(str(ROOT / "examples" / f"{name}.py"))
    standalone = carried(subject)
    assert "import numpy" not in standalone.source
    assert "import alphanpi" not in standalone.source
    assert standalone.main
    assert alphanpi.check(subject, samples=3).ok


def test_a_runtime_that_differs_is_a_finding(tmp_path):
    above = """
        def odd(value):
            return int(__name__ == "exported") ^ value % 2
        """
    subject = environment(tmp_path, BODY.replace("state.value % 2", "odd(state.value)"), above)
    assert any(finding.rule == "standalone" for finding in alphanpi.check(subject, samples=3).findings)


def test_actions_and_fields_are_those_of_the_environment():
    subject = make(str(ROOT / "examples" / "adder.py"))
    start = subject.parse("ADD", "1011+1110")
    current, state = objects(subject, start), start
    assert (current.first, current.second, current.at_end) == (1, 0, 0)
    for action in ("FLIP", "FLIP_CARRY", "LEFT", "FLIP", "LEFT"):
        getattr(current, action.lower())()
        state = subject.act(state, action)
        seen = [getattr(current, name) for name in subject.fields]
        assert seen == list(subject.observe(state))
        assert plain(current.state) == plain(state)
    assert str(current) == subject.format(state)


def test_what_is_done_inside_is_seen_outside_once_it_is_left():
    subject = make(str(ROOT / "examples" / "lights.py"))
    row = objects(subject, subject.parse("ALL_ON", "0000"))
    row.right()
    inner = row.rest()
    inner.toggle()
    inner.right()
    inmost = inner.rest()
    inmost.toggle()
    assert inmost.state.start == 2
    assert (row.state.lights, row.state.position, row.state.start) == ((0, 1, 1, 0), 2, 0)
    row.toggle()
    assert row.state.lights == (0, 1, 0, 0)


def test_many_problems_inside_one_another_need_no_stack():
    subject = make(str(ROOT / "examples" / "lights.py"))
    row = outer = objects(subject, subject.parse("ALL_ON", "0" * 30_000))
    for _ in range(20_000):
        row.right()
        row = row.rest()
    row.toggle()
    assert (outer.state.position, outer.state.start, sum(outer.state.lights)) == (20_000, 0, 1)


def test_all_that_functions_use_comes_along(tmp_path):
    (tmp_path / "beside.py").write_text(
        "import math as m\nBASE = 2\nTABLE = {n: n % BASE for n in range(4)}\n\n\n"
        "def odd(value):\n    return TABLE[m.floor(value) % 4]\n"
    )
    above = """
        from enum import Enum

        from beside import odd as is_odd


        class Mark(Enum):
            NONE = 0
            DONE = 1


        def mark(value, goal):
            return Mark.DONE if value == goal else Mark.NONE
        """
    body = BODY.replace(
        "return state.value == state.goal, state.value % 2",
        "return self.reached(state), is_odd(state.value) * self.factor\n\n"
        "    factor = 1\n\n"
        "    @staticmethod\n"
        "    def reached(state: Count) -> bool:\n"
        "        return mark(*state) is Mark.DONE",
    )
    subject = environment(tmp_path, body, above)
    current = objects(subject, subject.initial("REACH", 3, np.random.default_rng(0)))
    seen = []
    for _ in range(4):
        seen.append((current.at_goal, current.odd))
        current.up()
    assert seen == [(False, 0), (False, 1), (False, 0), (True, 1)]


def test_functions_of_the_package_are_carried_by_their_source(tmp_path):
    above = "from alphanpi.environments.lists import is_sorted, exchanged\n"
    body = BODY.replace("state.value % 2", "int(is_sorted(exchanged((state.value, 1), 0, 1)))")
    subject = environment(tmp_path, body, above)
    current = objects(subject, subject.initial("REACH", 3, np.random.default_rng(0)))
    seen = []
    for _ in range(3):
        seen.append(current.odd)
        current.up()
    assert seen == [0, 1, 1]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("state.value % 2", "int(np.sign(state.value))", "it uses numpy, which is not part of Python's standard"),
        ("state.value % 2", "len(self.library)", "its member library, a Library, cannot be written as source"),
        ("state.value % 2", "self.depth('REACH', state)", "it uses the member depth of Environment"),
        ("state.value % 2", "helper(self, state)", "observe changes self, or hands it on"),
        ("state.value % 2", "super().size(state)", "observe uses super()"),
        ("state.value % 2", "len(THINGS)", "THINGS has another value than where it is defined"),
        ("state.value % 2", "int(OPEN.closed)", "its source does not run by itself: FileNotFoundError"),
        ("state.value % 2", "self.made()", "its member made, a partial, cannot be written as source"),
        ("pre=lambda state", "pre=0 or (lambda state", None),
        (
            "def size(",
            "def enter(self, state, program, caller=None):\n        return state\n\n    def size(",
            "a member enter",
        ),
    ],
)
def test_what_cannot_be_carried_is_one_reason(tmp_path, old, new, reason):
    (tmp_path / "gone").write_text("")
    above = f"""
from functools import partial


def helper(environment, state):
    return state.value % 2


THINGS = []
THINGS.append(1)
OPEN = open({str(tmp_path / "gone")!r})
OPEN.close()
"""
    body = BODY.replace(old, new).replace("fields =", "made = partial(int, 0)\n    fields =")
    body = body.replace("state.goal)\n    def UP", "state.goal))\n    def UP") if reason is None else body
    subject = environment(tmp_path, body, above)
    (tmp_path / "gone").unlink()
    runtime = runtime_of(Guard(subject))
    if reason is None:
        assert runtime.reason == ""
    else:
        assert runtime.standalone is None
        assert reason in runtime.reason
        assert "\n" not in runtime.reason


def test_states_without_a_class_are_refused(tmp_path):
    body = BODY.replace("return Count(0, size)", "return 0")
    runtime = runtime_of(Guard(environment(tmp_path, body)))
    assert runtime.reason == "its states are of type int; make them a NamedTuple"


def test_two_lambdas_on_a_line_are_told_apart(tmp_path):
    body = BODY.replace(
        "@program(level=1, depth=lambda state: state.goal + 2)",
        "@program(level=1, depth=lambda state: state.goal + 2, recursive=True, "
        "shrink=lambda state: state._replace(goal=state.goal - 1) if state.goal else None, "
        "restore=lambda caller, callee: callee._replace(goal=caller.goal))",
    )
    subject = environment(tmp_path, body)
    current = objects(subject, subject.initial("REACH", 3, np.random.default_rng(0)))
    inner = current.rest()
    assert inner.state.goal == 2
    inner.up()
    assert plain(current.state) == ("Count", 1, 3)


def test_a_field_with_the_name_of_an_action_or_no_name_at_all_has_another(tmp_path):
    body = BODY.replace('fields = ("at_goal", "odd")', 'fields = ("up", "not a name")')
    subject = environment(tmp_path, body)
    standalone = carried(subject)
    assert standalone.fields == {"up": "count.up_", "not a name": "count.not_a_name"}
    assert alphanpi.check(subject, samples=3).ok
