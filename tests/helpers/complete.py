"""Small environments with every optional member, all in order."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from alphanpi.environment.checking.enumeration import order_patterns
from alphanpi.environment.cutoff import Condition, Cutoff
from alphanpi.environment.scene import Scene, circle
from alphanpi.environment.specification import Environment, action, program
from alphanpi.environment.standalone import Standalone
from alphanpi.errors import UsageError
from tests.helpers.broken_environments import Count, Counter

SOURCE = """
class Tally:
    def __init__(self, cell, goal):
        self.cell = cell
        self.goal = goal

    def nearer(self):
        return Tally(self.cell, self.goal - 1)

    def up(self):
        self.cell[0] += 1

    def down(self):
        self.cell[0] -= 1

    @property
    def at_goal(self):
        return self.cell[0] == self.goal

    @property
    def at_start(self):
        return self.cell[0] == 0

    @property
    def at_either(self):
        return self.at_goal or self.at_start
"""


def runtime(**changes) -> Standalone:
    offered = {
        "parameter": "tally",
        "class_name": "Tally",
        "source": SOURCE,
        "arguments": lambda state: ([state.value], state.goal),
        "agrees": lambda state, tally: (state.value, state.goal) == (tally.cell[0], tally.goal),
        "inner": {"REACH": "nearer"},
        "fields": {"goal_is_one": "tally.goal == 1"},
    }
    return Standalone(**{**offered, **changes})


def examined(environment, rng):
    size = int(rng.integers(5, 9))
    state = environment.initial("REACH", size, rng)
    return None if environment.size(state) == size else "the size is wrong"


def lemma(**changes) -> Cutoff:
    offered = {
        "text": "What is seen at 4 is all there is.",
        "sizes": {"STEP": 3, "REACH": 4},
        "conditions": (Condition("REACH", "the value is not negative", 2, "steps", lambda state: state.value >= 0),),
        "examine": examined,
    }
    return Cutoff(**{**offered, **changes})


def returns_none(state):
    pass


class Complete(Counter):
    """Has every optional member, but templates, in order."""

    derived = ("at_either",)

    def enumerate(self, program, size):
        return (Count(value, size) for value in range(size + (program == "REACH")))

    def outcomes(self, program, before):
        yield before._replace(value=before.value + 1 if program == "STEP" else before.goal)

    def cutoff(self):
        return lemma()

    def derive(self, observation):
        return (observation[0] or observation[1],)

    def standalone(self):
        return runtime()

    def parse(self, program, text):
        try:
            value, goal = map(int, text.split("/"))
        except ValueError:
            raise UsageError(f"{text!r}: write for example 1/3") from None
        return Count(value, goal)

    def format(self, state):
        return f"{state.value}/{state.goal}"

    def result(self, program, final, actions):
        return f"{len(actions)} {[step.action for step in actions]} {self.format(final)}"

    def render(self, state):
        return Scene(10, 10, (circle("value", state.value, 5, 1),))


class Cells(NamedTuple):
    """Values in a row; only the first two matter."""

    values: tuple[int, ...]


class Ordering(Environment[Cells]):
    """Put the first two values in order; values are only compared."""

    fields = ("greater",)
    train_sizes: ClassVar[tuple[int, ...]] = (2, 3)
    validation_size = 3

    @action()
    def SWAP(self, state):
        first, second, *others = state.values
        return Cells((second, first, *others))

    @program(level=1, depth=2, minimum_size=2)
    def ORDER(self, before, after):
        first, second, *others = before.values
        return after.values == ((second, first, *others) if first > second else before.values)

    def initial(self, program, size, rng):
        return Cells(tuple(rng.integers(10, size=size).tolist()))

    def observe(self, state):
        return (state.values[0] > state.values[1],)

    def size(self, state):
        return len(state.values)

    def enumerate(self, program, size):
        return map(Cells, order_patterns(size))

    def templates(self, program, size, values):
        yield Cells(tuple(values))
