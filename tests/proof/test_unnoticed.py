"""What unknown values would not notice ends a proof; an agent that is wrong there is never proved."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import alphanpi
from alphanpi import Environment, action, program
from alphanpi.environment.specification import STOP
from alphanpi.proof.unnoticed import unnoticed
from alphanpi.symbolic import Unknowns
from tests.helpers.windowed import WindowedEvaluator

HEAD = """
from typing import NamedTuple
from alphanpi import Environment, action, program

class State(NamedTuple):
    number: int
    flag: bool
    steps: int = 1

def helper(state):
    {helper}

class Written(Environment[State]):
    fields = ("zero",)
    train_sizes = (1,)
    validation_size = 1

    @action()
    def WAIT(self, state):
        return state

    @program(level=1, depth=2)
    def DONE(self, before, after):
        return helper(before)

    def initial(self, program, size, rng):
        return State(0, False, size)

    def parse(self, program, text):
        try:
            return State(int(text), True)
        except Exception:
            raise ValueError(text) from None

    def observe(self, state):
        return (0,)

    def size(self, state):
        return state.steps

    def valid(self, state):
        return state.steps >= 1

    def symbolic(self, unknown):
        return State(unknown.number(), unknown.truth(), unknown.number())

if __name__ == "__main__":
    try:
        helper(None)
    except TypeError:
        pass
"""
WRONG = {
    "return state.flag is not True": "is, which takes no unknown value for a known one",
    "return (state.number == 0) is True": "is, which takes no unknown value for a known one",
    "match state.flag:\n        case True: return False\n        case _: return True": "case True",
    "try:\n        return ord(state.flag) > 0\n    except TypeError:\n        return True": "catching TypeError",
    "try:\n        return ord(state.flag)\n    except (OSError, Exception):\n        return True": "catching TypeError",
    "try:\n        return ord(state.flag) > 0\n    except:\n        return True": "catching TypeError",
}
RIGHT = [
    "return state is not None",
    "return state.flag == True or not state.flag",
    "try:\n        return state.number == state.number\n    except ValueError:\n        return False",
]


def stops(see: Any, before: str) -> str:
    return STOP


def written(tmp_path, helper):
    file = tmp_path / "written.py"
    file.write_text(HEAD.format(helper=helper))
    return alphanpi.make(f"{file}:Written")


@pytest.mark.parametrize("helper", WRONG)
def test_what_unknown_values_would_not_notice_is_refused(tmp_path, helper):
    environment = written(tmp_path, helper)
    found = alphanpi.verify_evaluator(environment, WindowedEvaluator(environment, {"DONE": stops}), by="machine")
    assert not found.proved
    assert any(
        f"not expressible: {WRONG[helper]}" in one and "(written.py:" in one for one in found.programs[0].reasons
    )


def test_functions_that_are_called_like_members_are_looked_at_all_the_same(tmp_path):
    file = tmp_path / "written.py"
    file.write_text(HEAD.format(helper="return state.flag is not True").replace("helper", "result"))
    assert [one.line for one in unnoticed(type(alphanpi.make(f"{file}:Written")))] == [11]


@pytest.mark.parametrize("helper", RIGHT)
def test_what_means_the_same_is_not(tmp_path, helper):
    environment = written(tmp_path, helper)
    assert not unnoticed(type(environment))
    assert alphanpi.verify_evaluator(environment, WindowedEvaluator(environment, {"DONE": stops}), by="machine").proved


class Pair(NamedTuple):
    number: int
    steps: int


class Strange(Environment[Pair]):
    """Something strange at 5, where nothing begins that is drawn."""

    fields = ("zero",)
    train_sizes = (1,)
    validation_size = 1
    limit: Any = 2
    answer: Any = True

    @action()
    def WAIT(self, state: Pair) -> Pair:
        """Do nothing."""
        return state

    @program(level=1, depth=lambda state: 2)
    def DONE(self, before: Pair, after: Pair) -> Any:
        """Nothing has to be done."""
        return self.answer if before.number == 5 else before == after

    def depth(self, program: str, state: Pair) -> Any:
        """Not always a number."""
        return self.limit if state.number == 5 else 2

    def initial(self, program: str, size: int, rng: Any) -> Pair:
        """One start."""
        return Pair(0, size)

    def observe(self, state: Pair) -> tuple[int, ...]:
        """Nothing."""
        return (0,)

    def size(self, state: Pair) -> int:
        """What is counted."""
        return state.steps

    def valid(self, state: Pair) -> bool:
        """At least one."""
        return state.steps >= 1

    def symbolic(self, unknown: Unknowns) -> Pair:
        """Any numbers."""
        return Pair(unknown.number(), unknown.number())


@pytest.mark.parametrize(
    ("member", "strange"), [("limit", 2.5), ("limit", 2**40), ("limit", None), ("answer", 1), ("answer", None)]
)
def test_members_have_to_answer_as_in_real_runs(member, strange):
    environment = type("Stranger", (Strange,), {member: strange})()
    found = alphanpi.verify_evaluator(environment, WindowedEvaluator(environment, {"DONE": stops}), by="machine")
    assert not found.proved
    usual = Strange()
    assert alphanpi.verify_evaluator(usual, WindowedEvaluator(usual, {"DONE": stops}), by="machine").proved
