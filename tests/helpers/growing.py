"""An environment that grows: a lamp; a lamp and a door, with fields and actions in another order; a third level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alphanpi import Environment, action, program


class Room(NamedTuple):
    """A lamp, a door, and how often the lamp still has to be pressed."""

    lit: bool
    open: bool
    presses: int


class RoomEnvironment(Environment[Room]):
    """What all of them share."""

    train_sizes = (1, 2)
    validation_size = 3
    test_sizes = (4,)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Room:
        return Room(False, bool(rng.integers(2)), size)

    def size(self, state: Room) -> int:
        return max(state.presses, 1)

    def enumerate(self, program: str, size: int):
        return [Room(False, opened, size) for opened in (False, True)]


def pressed(room: Room) -> Room:
    left = max(0, room.presses - 1)
    return Room(left == 0, room.open, left)


class Lamp(RoomEnvironment):
    """A lamp that lights after some presses."""

    fields = ("lit",)

    @action()
    def PRESS(self, state: Room) -> Room:
        return pressed(state)

    @action()
    def WAIT(self, state: Room) -> Room:
        return state

    @program(level=1, depth=lambda room: room.presses + 2)
    def LIGHT(self, before: Room, after: Room) -> bool:
        """Light the lamp, and leave the door alone."""
        return after == Room(True, before.open, 0)

    def observe(self, state: Room) -> tuple[int, ...]:
        return (state.lit,)


class LampAndDoor(RoomEnvironment):
    """New actions come first, and a new field."""

    fields = ("open", "lit")

    @action()
    def PUSH(self, state: Room) -> Room:
        return state._replace(open=not state.open)

    @action()
    def WAIT(self, state: Room) -> Room:
        return state

    @action()
    def PRESS(self, state: Room) -> Room:
        return pressed(state)

    @program(level=1, depth=3)
    def OPEN(self, before: Room, after: Room) -> bool:
        """Open the door, and leave the lamp alone."""
        return after == before._replace(open=True)

    @program(level=1, depth=lambda room: room.presses + 2)
    def LIGHT(self, before: Room, after: Room) -> bool:
        """Light the lamp, and leave the door alone."""
        return after == Room(True, before.open, 0)

    def observe(self, state: Room) -> tuple[int, ...]:
        return (state.open, state.lit)


class Welcome(LampAndDoor):
    """A level more."""

    @program(level=2, depth=4)
    def WELCOME(self, before: Room, after: Room) -> bool:
        """Light the lamp, and open the door."""
        return after == Room(True, True, 0)


SMALL = {
    **{"network.memory": 8, "network.observation_encoding": 4, "network.encoder_hidden": 8},
    **{"network.program_embedding": 6, "network.head_hidden": 8, "search.simulations": 20},
    **{"episodes.per_iteration": 16, "learning.gradient_steps": 20, "learning.learning_rate": 0.02},
    **{"network.action_embedding": 4, "max_iterations": 60},
    **{"validation.exam_episodes": 50},
}
