"""Modules with a runtime made of the environment's own source run on their own, and do what the agent does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest

import alphanpi
from alphanpi import STOP, Environment, action, program
from alphanpi.environment.registry import make
from tests.exporting.test_modules import all_on
from tests.helpers.exports import ORIGIN, loaded, run_script, scripted
from tests.helpers.paths import EXAMPLES, LIGHTS
from tests.helpers.solutions import ScriptedEvaluator

ADDER = EXAMPLES / "adder.py"


def add(see, size):
    see = yield "ADD_COLUMN"
    if not see.at_end:
        yield "ADD"
    yield STOP


def add_column(see, size):
    first, second, result, carry = see.first, see.second, see.result, see.carry
    if (first ^ second ^ carry) != result:
        yield "FLIP"
    if (first + second + carry > 1) != carry:
        yield "FLIP_CARRY"
    yield "LEFT"
    yield STOP


@pytest.fixture(scope="module")
def lights():
    return scripted(make(str(LIGHTS)), {"ALL_ON": all_on})


def test_lights_run_as_a_script_that_nothing_was_written_for(lights, tmp_path):
    assert lights.standalone
    assert "def all_on(row):" in lights.text
    assert "row.toggle()" in lights.text
    assert "row = row.rest()" in lights.text
    path = tmp_path / "lights.py"
    path.write_text(lights.text)
    outcome = run_script(path, "0110")
    assert (outcome.stdout, outcome.stderr) == ("111[1]\n", "")
    wrong = run_script(path, "12")
    assert wrong.returncode == 1
    assert wrong.stderr == "'12' is no row of lights; write for example 0110\n"


def test_what_nothing_uses_is_left_out(lights):
    module = loaded(lights.text)
    assert not hasattr(module, "ALLOWED")
    assert not hasattr(module.CurrentRow, "may")
    assert "import numpy" not in lights.text
    assert "import re" not in lights.text


def test_a_module_of_several_programs_and_a_deep_recursion():
    exported = scripted(make(str(ADDER)), {"ADD": add, "ADD_COLUMN": add_column})
    assert exported.standalone
    module = loaded(exported.text)
    current = module.CurrentSum(module.ADDER.parse("ADD", "1" * 3000 + "+1"))
    module.add(current)
    assert str(current) == "1" + "0" * 3000


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
def test_javascript_of_a_carried_runtime(tmp_path):
    for name, solutions, given, printed in (
        (LIGHTS, {"ALL_ON": all_on}, "0110", "111[1]\n"),
        (ADDER, {"ADD": add, "ADD_COLUMN": add_column}, None, None),
    ):
        exported = scripted(make(str(name)), solutions, format="javascript")
        assert "run in node" in exported.text
        path = tmp_path / "program.mjs"
        path.write_text(exported.text)
        if given is not None:
            outcome = subprocess.run(["node", str(path), given], capture_output=True, text=True, check=False)
            assert (outcome.stdout, outcome.stderr) == (printed, "")
        else:
            assert any("no script" in warning and "re" in warning for warning in exported.warnings)


def test_a_runtime_that_differs_is_not_used(tmp_path):
    text = LIGHTS.read_text().replace("return row.lights[", "return (__name__ != '_alphanpi_exported') ^ row.lights[")
    (tmp_path / "odd.py").write_text(text)

    def inverse(see, size):
        if see.lit:
            see = yield "TOGGLE"
        if not see.at_end:
            yield "RIGHT"
            yield "ALL_ON"
        yield STOP

    limit = sys.getrecursionlimit()
    exported = scripted(make(str(tmp_path / "odd.py")), {"ALL_ON": inverse})
    assert not exported.standalone
    assert "what was made of it does something else" in exported.warnings[0]
    assert "env.call(" in exported.text
    assert sys.getrecursionlimit() == limit


class Left(NamedTuple):
    steps: int


class Blind(Environment[Left]):
    """Sees nothing, and feels when there is nothing left."""

    fields = ("nothing",)

    @action(pre=lambda state: state.steps > 0)
    def DOWN(self, state):
        return Left(state.steps - 1)

    @program(level=1, depth=lambda state: state.steps + 1)
    def EMPTY(self, before, after):
        return after.steps == 0

    def initial(self, program, size, rng):
        return Left(size)

    def observe(self, state):
        return (0,)

    def size(self, state):
        return state.steps


def test_legality_is_asked_of_a_carried_runtime_too():
    class Down(ScriptedEvaluator):
        def action(self, program, history):
            return "DOWN"

    exported = alphanpi.export_evaluator(Blind(), Down(Blind(), {}), ORIGIN, samples=10)
    assert exported.standalone
    assert 'while left.may("DOWN"):\n        left.down()' in exported.text
    module = loaded(exported.text)
    left = module.CurrentLeft(module.Left(5))
    module.empty(left)
    assert left.state.steps == 0
