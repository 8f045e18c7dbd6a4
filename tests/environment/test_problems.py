"""What a program is run on: typed, taken from the examples, or drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from alphanpi import Environment, action, program
from alphanpi.environment.guard import Guard
from alphanpi.environment.problems import choose
from alphanpi.environment.registry import create, load, make
from alphanpi.errors import SpecificationError, UsageError
from tests.environment.test_declared_calls import Repeated
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.paths import LIGHTS


@pytest.fixture
def lights():
    return Guard(make(str(LIGHTS)))


def test_what_is_typed_is_read(lights):
    problem = choose(lights, "ALL_ON", "0110", example="1")
    assert (problem.program, problem.text, problem.state.lights) == ("ALL_ON", "0110", (0, 1, 1, 0))
    assert (problem.size, problem.seed, problem.origin) == (None, None, "")


def test_an_example_is_of_the_topmost_program_and_taken_only_where_nothing_is_said():
    guard = Guard(make("sorting"))
    assert choose(guard, example="3 1 2").text == "3 1 2"
    assert choose(guard, "bubblesort", example="3 1 2").text == "3 1 2"
    for drawn in (choose(guard, "RSHIFT", example="3 1 2"), choose(guard, size=4, example="3 1 2")):
        assert drawn.origin
    assert choose(guard, seed=0, example="3 1 2").size == guard.environment.validation_size


def test_what_is_drawn_is_what_eval_measures_first(lights):
    problem = choose(lights)
    assert (problem.program, problem.size, problem.seed) == ("ALL_ON", 5, 0)
    assert problem.origin == "drawn: size 5, seed 0"
    assert problem.text == str(problem) == lights.format(problem.state)
    assert problem.state == lights.initial("ALL_ON", 5, np.random.default_rng((0, 5, 0)))
    assert choose(lights, size=40, seed=7) == choose(lights, "all_on", size=40, seed=7)
    assert choose(lights, size=40, seed=7) != choose(lights, size=40, seed=8)
    assert lights.size(choose(lights, size=40).state) == 40


def test_a_problem_is_named_in_one_line(lights):
    assert choose(lights, "ALL_ON", "01").line == "ALL_ON on 01"
    line = choose(lights, size=1000).line
    assert len(line) < 200
    assert line.endswith("… (drawn: size 1000, seed 0)")
    assert choose(lights, "ALL_ON", "01")._replace(text="a\n  b").line == "ALL_ON on a b"


def test_a_program_begins_at_its_smallest_size_at_least(written):
    text = COUNTDOWN.replace("depth=8)", "depth=8, minimum_size=3)").replace(
        'fields = ("zero",)', 'fields = ("zero",)\n    train_sizes = (3,)'
    )
    guard = Guard(create(load(str(written(text)))))
    assert choose(guard).size == 3
    with pytest.raises(UsageError, match="EMPTY cannot start at size 2; its smallest is 3"):
        choose(guard, size=2)


def test_wrong_wishes_are_refused(lights):
    with pytest.raises(UsageError, match="give an input, or a size and a seed to have one drawn; not both"):
        choose(lights, "ALL_ON", "01", size=2)
    with pytest.raises(UsageError, match="TOGGLE is an atomic action; give a program"):
        choose(lights, "toggle")
    with pytest.raises(SpecificationError, match="no program 'ALL_OFF'"):
        choose(lights, "ALL_OFF")
    for wrong in ({"size": -1}, {"size": 10**9}, {"seed": -1}, {"size": True}):
        with pytest.raises(UsageError, match="give a whole number"):
            choose(lights, **wrong)


def test_names_that_differ_in_their_case_alone_are_told_apart(written):
    member = "\n    @program(level=1, depth=8)\n    def empty(self, before, after):\n        return after == 0\n"
    library = load(str(written(COUNTDOWN + member))).library
    assert library.spelt("empty") == "empty"
    assert library.spelt("EMPTY") == "EMPTY"
    with pytest.raises(SpecificationError, match="no program 'Empty'"):
        library.spelt("Empty")
    assert library.spelt("down") == "DOWN"


class Digit(NamedTuple):
    value: int
    wanted: int | None = None


class Digits(Environment[Digit]):
    """Only the digit that is there can be asked for."""

    fields = ("value",)

    @action()
    def UP(self, digit):
        return digit._replace(value=digit.value + 1)

    @program(level=1, depth=3, arguments={"wanted": range(20)}, pre=lambda digit: digit.value == digit.wanted)
    def GROW(self, before, after):
        return after.value == before.value + 1

    def initial(self, program, size, rng):
        return Digit(int(rng.integers(10)))

    def observe(self, digit):
        return (digit.value,)

    def size(self, digit):
        return 1

    def format(self, digit):
        return str(digit.value)


def test_a_problem_is_drawn_on_which_the_call_can_begin():
    guard = Guard(Digits())
    for wanted in range(10):
        problem = choose(guard, f"GROW({wanted})", size=1)
        assert (problem.program, problem.state) == ("GROW", Digit(wanted, wanted))
    with pytest.raises(
        UsageError, match=r"GROW\(11\) cannot begin on any of 500 problems drawn with size 1 .*; give an input"
    ):
        choose(guard, "GROW(11)", size=1)


def test_further_sizes_of_a_problem_that_is_drawn():
    guard = Guard(Repeated())
    problem = choose(guard, size=2, further={"times": 9})
    assert (problem.state.left, problem.origin) == (18, "drawn: size 2, times 9, seed 0")
    assert choose(guard, further={"times": 9}, example="1").state.left == 9 * guard.environment.validation_size
    with pytest.raises(UsageError, match="has no further size 'often'; it has times"):
        choose(guard, size=2, further={"often": 9})
    with pytest.raises(UsageError, match="not both"):
        choose(guard, "EMPTY", "3", further={"times": 9})


def test_the_command_draws_with_further_sizes(run):
    code, _, err = run(
        "search",
        f"{__file__.replace('test_problems', 'test_declared_calls')}:Repeated",
        "--size",
        "1",
        "--further",
        "times=2",
    )
    assert "drawn: size 1, times 2, seed 0" in err
    assert code == 0
    code, out, err = run("run", "pretrained:hanoi", "--further", "times=2")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "has no further size 'times'; it has none" in err
