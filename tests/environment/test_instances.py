"""What a program is run on, as a Python user gives it."""

from __future__ import annotations

import numpy as np
import pytest

import alphanpi
from alphanpi import Environment, UsageError, action, make, program
from alphanpi.environment.guard import Guard
from alphanpi.environment.instances import state_of
from alphanpi.errors import SpecificationError
from tests.helpers.paths import LIGHTS

SORTING = Guard(make("recursive-sorting"))
HANOI = Guard(make("hanoi"))


class Pair(Environment[tuple[int, int]]):
    """States are plain tuples, and nothing reads a text."""

    fields = ("zero",)

    @action()
    def DOWN(self, state):
        return state[0] - 1, state[1]

    @program(level=1, depth=4)
    def EMPTY(self, before, after):
        return after[0] == 0

    def initial(self, program, size, rng):
        return size, 0

    def observe(self, state):
        return (state[0] == 0,)

    def size(self, state):
        return state[0]


class ReadPair(Pair):
    def parse(self, program, text):
        return int(text), 7


@pytest.mark.parametrize("given", [[5, 3, 9, 1], (5, 3, 9, 1), np.array([5, 3, 9, 1]), "5 3 9 1", ["5", "3", "9", "1"]])
def test_a_list_is_read_as_if_it_were_typed(given):
    assert state_of(SORTING, "BUBBLESORT", given).values == (5, 3, 9, 1)


def test_a_range_is_a_sequence_and_a_number_is_a_word():
    assert state_of(SORTING, "BUBBLESORT", range(4, 1, -1)).values == (4, 3, 2)
    for three in (3, np.int64(3), "3", [3]):
        assert state_of(HANOI, "HANOI", three) == make("hanoi").parse("HANOI", "3")


def test_a_state_is_taken_as_it_is():
    state = make("recursive-sorting").parse("BUBBLESORT", "2 1")
    assert state_of(SORTING, "BUBBLESORT", state) is state


def test_digits_are_joined_only_where_the_problem_is_as_long():
    lights = Guard(make(str(LIGHTS)))
    assert state_of(lights, "ALL_ON", [0, 1, 1]).lights == (0, 1, 1)
    assert state_of(lights, "ALL_ON", [False, True]).lights == (0, 1)
    with pytest.raises(UsageError, match="'3 1' is not a number of disks"):
        state_of(HANOI, "HANOI", [3, 1])  # not 31 disks


def test_plain_tuples_are_states_where_states_are_plain_tuples():
    assert state_of(Guard(Pair()), "EMPTY", (2, 5)) == (2, 5)
    assert state_of(Guard(ReadPair()), "EMPTY", (2, 5)) == (2, 5)
    assert state_of(Guard(ReadPair()), "EMPTY", 2) == (2, 7)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([[1, 2], [3]], UsageError, "a sequence of numbers or words"),
        ("five", UsageError, "five"),
        ({"values": 3}, SpecificationError, "unhashable state: a dict"),
        (None, SpecificationError, "None instead of a state"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_line(given, error, message):
    with pytest.raises(error, match=message):
        state_of(SORTING, "BUBBLESORT", given)


def test_an_environment_that_reads_nothing_says_so():
    with pytest.raises(UsageError, match=r"Pair cannot read instances: .*give it a method parse"):
        state_of(Guard(Pair()), "EMPTY", 3)


def test_agents_run_and_trace_what_is_given():
    agent = alphanpi.load("pretrained:recursive-sorting-compare")
    state = agent.parse("BUBBLESORT", "5 3 1")
    for given in ([5, 3, 1], state, "5 3 1"):
        assert agent.run("BUBBLESORT", given) == "1 3 5"
        assert alphanpi.run(agent, "BUBBLESORT", given).result == "1 3 5"
    assert alphanpi.trace(agent, "BUBBLESORT", [2, 1]).steps == agent.trace("BUBBLESORT", "2 1").steps
    hanoi = alphanpi.load("pretrained:hanoi")
    assert hanoi.run("HANOI", 3) == hanoi.run("HANOI", "3")
    assert hanoi.run("hanoi", np.int64(2), "planning")
    assert hanoi.run().count("move") == hanoi.run("HANOI", 4).count("move")  # the environment's example
    with pytest.raises(alphanpi.RunFailed, match=r"HANOI '3' was not solved: actions"):
        hanoi.run("HANOI", 3, max_actions=4)
    assert alphanpi.search("hanoi", "HANOI", 2).success
