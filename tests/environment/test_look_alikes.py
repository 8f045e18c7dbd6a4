"""Starts that look alike and need different first actions are named."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alphanpi.environment.checking import check
from alphanpi.environment.specification import Environment, action, program


class Door(NamedTuple):
    """A door that opens to one side, and what was done to it."""

    size: int
    opens_inwards: bool
    done: str


class Doors(Environment[Door]):
    """Which way a door opens cannot be seen."""

    fields: tuple[str, ...] = ("closed",)
    train_sizes = (1, 2)
    validation_size = 3

    @action(pre=lambda state: not state.done)
    def PUSH(self, state: Door) -> Door:
        """Push."""
        return state._replace(done="pushed")

    @action(pre=lambda state: not state.done)
    def PULL(self, state: Door) -> Door:
        """Pull."""
        return state._replace(done="pulled")

    @program(level=1, depth=3)
    def OPEN(self, before: Door, after: Door) -> bool:
        """The door is open."""
        return after.done == ("pulled" if before.opens_inwards else "pushed")

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Door:
        """Either kind."""
        return Door(size, bool(rng.integers(2)), "")

    def observe(self, state: Door) -> tuple[bool, ...]:
        """Whether it is closed."""
        return (not state.done,)

    def size(self, state: Door) -> int:
        """Of the door."""
        return state.size


class LabelledDoors(Doors):
    """The same with a label."""

    fields = ("closed", "opens_inwards")

    def observe(self, state: Door) -> tuple[bool, ...]:
        """Whether it is closed, and what the label says."""
        return (not state.done, state.opens_inwards)


class TwoActions(Doors):
    """After a wrong attempt there is another: a common first action exists."""

    @action(pre=lambda state: state.done in ("", "pushed"))
    def PULL(self, state: Door) -> Door:
        """Pull, also after pushing in vain."""
        return state._replace(done="pulled" if state.opens_inwards else "pushed")


def test_two_starts_without_a_common_action_are_named():
    (note,) = [note for note in check(Doors()).notes if "look alike" in note]
    assert "OPEN: these two starts look alike, and no first action solves both" in note
    assert "opens_inwards=True" in note
    assert "opens_inwards=False" in note
    assert "PUSH" in note
    assert "PULL" in note


def test_nothing_is_said_where_a_field_tells_them_apart_or_an_action_solves_both():
    for environment in (LabelledDoors(), TwoActions()):
        assert not [note for note in check(environment).notes if "look alike" in note]
