"""Sub-problems, groups, arguments and sizes of programs: what is declared, and what is refused."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

from alphanpi import Environment, action, program, subproblem
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import require_specified
from alphanpi.errors import SpecificationError
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.starts import Starts
from tests.helpers.stripes import Stripes


class Count(NamedTuple):
    left: int
    by: int | None = None


def one_less(count: Count) -> Count | None:
    return count._replace(left=count.left - 1) if count.left > 1 else None


def as_left(caller: Count, callee: Count) -> Count:
    return callee


class Counting(Environment[Count]):
    """What the refused ones below are variations of."""

    fields = ("zero",)
    rest = subproblem(enter=one_less, leave=as_left)

    @action(pre=lambda count: count.left > 0)
    def DOWN(self, count):
        return count._replace(left=count.left - 1)

    @program(level=1, depth=4, recursive=rest)
    def EMPTY(self, before, after):
        return after.left == 0

    def initial(self, program, size, rng):
        return Count(size)

    def observe(self, state):
        return (state.left == 0,)

    def size(self, state):
        return state.left


def without_a_name():
    class Broken(Counting):
        @program(level=2, depth=4, recursive=subproblem(enter=one_less, leave=as_left))
        def AGAIN(self, before, after):
            return True


def no_subproblem():
    class Broken(Counting):
        @program(level=2, depth=4, recursive=("rest",))  # type: ignore[arg-type]
        def AGAIN(self, before, after):
            return True


def part_in_quotes():
    class Broken(Counting):
        @program(level=2, depth=4, recursive="rest")  # type: ignore[arg-type]
        def AGAIN(self, before, after):
            return True


def part_that_is_a_function():
    class Broken(Counting):
        @program(level=2, depth=4, on={"EMPTY": one_less})  # type: ignore[dict-item]
        def AGAIN(self, before, after):
            return True


def group_without_a_name():
    class Broken(Counting):
        @program(level=2, depth=4, recursive=Counting.rest, group=2)  # type: ignore[arg-type]
        def AGAIN(self, before, after):
            return True


def no_function():
    class Broken(Counting):
        other = subproblem(enter=3, leave=as_left)  # type: ignore[arg-type]

        @program(level=2, depth=4, recursive=other)
        def AGAIN(self, before, after):
            return True


def on_a_program_of_the_same_level():
    class Broken(Counting):
        @program(level=1, depth=4, on={"EMPTY": Counting.rest})
        def AGAIN(self, before, after):
            return True


def group_without_subproblems():
    class Broken(Counting):
        @program(level=1, depth=4, group="both")
        def AGAIN(self, before, after):
            return True


def group_over_two_levels():
    class Broken(Counting):
        @program(level=1, depth=4, recursive=Counting.rest, group="both")
        def ONE(self, before, after):
            return True

        @program(level=2, depth=4, recursive=Counting.rest, group="both")
        def AGAIN(self, before, after):
            return True


def argument_without_values():
    class Broken(Counting):
        @program(level=2, depth=4, arguments={"by": ()})
        def AGAIN(self, before, after):
            return True


def argument_of_another_kind():
    class Broken(Counting):
        @program(level=2, depth=4, arguments={"by": (1.5,)})  # type: ignore[dict-item]
        def AGAIN(self, before, after):
            return True


def shrink_beside_a_subproblem():
    class Broken(Counting):
        @program(level=2, depth=4, recursive=Counting.rest, shrink=one_less)
        def AGAIN(self, before, after):
            return True


def no_sizes():
    class Broken(Counting):
        @program(level=2, depth=4, train_sizes=())
        def AGAIN(self, before, after):
            return True


@pytest.mark.parametrize(
    ("declare", "name", "rule"),
    [
        (without_a_name, "AGAIN", "make it a class attribute"),
        (no_subproblem, "AGAIN", "'rest' is no sub-problem"),
        (no_function, "other", "enter= must be a function"),
        (on_a_program_of_the_same_level, "AGAIN", "no program below level 1"),
        (group_without_subproblems, "AGAIN", "give recursive=PART"),
        (group_over_two_levels, "ONE", "AGAIN has level 2, not 1"),
        (argument_without_values, "AGAIN", "different values"),
        (argument_of_another_kind, "AGAIN", "numbers, truth values or texts"),
        (shrink_beside_a_subproblem, "AGAIN", "a part has its own enter= and leave="),
        (part_in_quotes, "AGAIN", "'rest' is no sub-problem"),
        (part_that_is_a_function, "AGAIN", "is no sub-problem"),
        (group_without_a_name, "AGAIN", "group= must be a name"),
        (no_sizes, "AGAIN", "one size or more"),
    ],
)
def test_wrong_calls_are_refused(declare, name, rule):
    with pytest.raises(SpecificationError) as refusal:
        declare()
    assert str(refusal.value).startswith(f"Broken: {name}: ")
    assert rule in str(refusal.value)


@pytest.mark.parametrize("what", ["on", "arguments"])
def test_what_is_no_dictionary_is_refused(what):
    with pytest.raises(SpecificationError, match=rf"{what}= must be a dictionary, such as .*; it is \('EMPTY',\)"):
        program(level=2, depth=4, **{what: ("EMPTY",)})  # type: ignore[arg-type]


def test_one_size_and_one_value_need_no_tuple():
    class One(Counting):
        @program(level=2, depth=4, train_sizes=3, validation_size=3, arguments={"by": "dark"})  # type: ignore[arg-type]
        def AGAIN(self, before, after):
            return True

    entry = One().library.named("AGAIN")
    assert (entry.train_sizes, entry.arguments) == ((3,), {"by": ("dark",)})


def test_a_part_is_named_by_its_attribute_and_inherited():
    class Further(Counting):
        @program(level=2, depth=4, on={"EMPTY": Counting.rest})
        def AGAIN(self, before, after):
            return True

    names = Further().library.names
    assert names == ("STOP", "DOWN", "EMPTY", "AGAIN", "EMPTY on rest")


def test_an_argument_needs_a_state_with_that_field():
    class Misspelt(Counting):
        @program(level=2, depth=4, arguments={"bye": (1, 2)})
        def AGAIN(self, before, after):
            return True

    with pytest.raises(SpecificationError, match="the class Count has no field bye"):
        Guard(Misspelt()).initial("AGAIN", 2, np.random.default_rng(0))


def test_arguments_in_a_dataclass_and_in_all_combinations():
    @dataclasses.dataclass(frozen=True)
    class Move:
        left: int
        by: int | None = None
        twice: bool | None = None

    class Moving(Counting):
        @program(level=2, depth=4, arguments={"by": (1, 2), "twice": (False, True)}, pre=lambda move: move.by < 2)
        def AGAIN(self, before, after):
            return True

        def initial(self, program, size, rng):
            return Move(size)

    guard = Guard(Moving())
    calls = ["AGAIN(1, False)", "AGAIN(1, True)", "AGAIN(2, False)", "AGAIN(2, True)"]
    assert [name for name in guard.library.names if name.startswith("AGAIN(")] == calls
    drawn = {guard.initial("AGAIN", 3, np.random.default_rng(seed)) for seed in range(20)}
    assert drawn == {Move(3, 1, False), Move(3, 1, True)}
    assert guard.initial("AGAIN(1, True)", 3, np.random.default_rng(0)) == Move(3, 1, True)
    assert guard.initial("EMPTY", 3, np.random.default_rng(0)) == Move(3)
    assert guard.library.spelt("again(1,true)") == "AGAIN(1, True)"
    with pytest.raises(SpecificationError, match=r"there are STOP, DOWN, EMPTY, AGAIN, AGAIN\(1, False\),.*True\)$"):
        guard.library.spelt("AGAIN(3, True)")


def test_sizes_of_a_program_take_the_place_of_those_of_its_environment():
    environment = Stripes()
    starts = Starts(environment, TrainConfig().episodes, 0)
    sizes = {entry.name: starts.sizes(entry) for entry in environment.library.learned}
    validated = {entry.name: starts.validation_size(entry) for entry in environment.library.learned}
    assert sizes == {"PAINT": [1, 2], "LIGHT_FIRST": [1, 2, 3], "DARK_FIRST": [1, 2, 3]}
    assert validated == {"PAINT": 2, "LIGHT_FIRST": 5, "DARK_FIRST": 5}


class Repeated(Counting):
    """Two sizes: how much, and how often."""

    further_sizes = {"times": (1, 3)}  # noqa: RUF012

    def initial(self, program, size, rng, times=1):
        return Count(size * times)

    def enumerate(self, program, size, times=1):
        yield Count(size * times)

    def size(self, state):
        return state.left


def test_further_sizes_are_drawn_enumerated_or_given():
    guard = Guard(Repeated())
    drawn = {guard.initial("EMPTY", 2, np.random.default_rng(seed)).left for seed in range(20)}
    assert drawn == {2, 6}
    assert [state.left for state in guard.enumerate("EMPTY", 2)] == [2, 6]
    assert guard.initial("EMPTY", 2, np.random.default_rng(0), {"times": 9}).left == 18


def test_further_sizes_need_no_enumeration():
    class Drawn(Counting):
        further_sizes = {"times": (1, 3)}  # noqa: RUF012

        def initial(self, program, size, rng, times=1):
            return Count(size * times)

    guard = Guard(Drawn())
    with pytest.raises(NotImplementedError):
        list(guard.enumerate("EMPTY", 2))
    with pytest.raises(NotImplementedError):
        list(guard.templates("EMPTY", 2, (1, 2)))


def test_further_sizes_must_be_sizes():
    class Broken(Repeated):
        further_sizes = {"times": ()}  # noqa: RUF012

    with pytest.raises(SpecificationError, match="`further_sizes` must give each name one size or more"):
        require_specified(Broken())
