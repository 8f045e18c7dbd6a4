"""A walk along the arrows of a treasure map: a program with an argument in the loop of another."""

from typing import NamedTuple

import numpy as np

from alphanpi import Environment, action, program

DIRECTIONS = ("north", "east", "south", "west")


class Walk(NamedTuple):
    """The arrows of a map, the steps that were made, and where the walker looks; directions by place."""

    arrows: tuple[int, ...]
    steps: tuple[int, ...]
    heading: int
    direction: str | None = None  # the argument of FACE


class TreasureMap(Environment[Walk]):
    """Makes a step for each arrow of a map. The size is the number of arrows."""

    fields = (*(f"arrow_{direction}" for direction in DIRECTIONS), "arrow_ahead", "facing")
    train_sizes = (1, 2, 3)
    validation_size = 6
    test_sizes = (10, 30, 100)

    @action()
    def TURN(self, walk: Walk) -> Walk:
        """Turn to the right by a quarter."""
        return walk._replace(heading=(walk.heading + 1) % 4)

    @action(pre=lambda walk: len(walk.steps) < len(walk.arrows))
    def STEP(self, walk: Walk) -> Walk:
        """Make a step ahead and look at the next arrow."""
        return walk._replace(steps=(*walk.steps, walk.heading))

    @program(level=1, depth=4, arguments={"direction": DIRECTIONS})
    def FACE(self, before: Walk, after: Walk) -> bool:
        """Look in a direction."""
        return before.direction is not None and after == before._replace(heading=DIRECTIONS.index(before.direction))

    @program(level=2, depth=lambda walk: 2 * len(walk.arrows) + 1, pre=lambda walk: not walk.steps)
    def FOLLOW(self, before: Walk, after: Walk) -> bool:
        """Make the steps the arrows show; look anywhere at the end."""
        return after == before._replace(steps=before.arrows, heading=after.heading)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Walk:
        arrows = tuple(rng.integers(4, size=size).tolist())
        made = int(rng.integers(size + 1)) if program == "FACE" else 0
        return Walk(arrows, arrows[:made], heading=int(rng.integers(4)))

    def observe(self, walk: Walk) -> tuple[bool, ...]:
        made = len(walk.steps)
        arrow = walk.arrows[made] if made < len(walk.arrows) else None
        facing = walk.direction is not None and DIRECTIONS.index(walk.direction) == walk.heading
        return (*(arrow == direction for direction in range(4)), arrow == walk.heading, facing)

    def size(self, walk: Walk) -> int:
        return len(walk.arrows)
