"""A row of lights, all to be switched on by someone who walks along it."""

from typing import NamedTuple

import numpy as np

from alphanpi import Environment, UsageError, action, program
from alphanpi.symbolic import Unknowns, every, length, replaced


class Row(NamedTuple):
    """The current problem is `lights[start:]`; the lights to its left are out of sight."""

    lights: tuple[int, ...]
    position: int
    start: int


class Lights(Environment[Row]):
    """A row of lights to be switched on."""

    fields = ("lit", "at_end")
    train_sizes = (1, 2, 3)  # on 1 and 2 alone, nobody has seen a second light that is not the last
    validation_size = 5

    @action(pre=lambda row: row.position + 1 < length(row.lights))
    def RIGHT(self, row: Row) -> Row:
        """Walk on."""
        return row._replace(position=row.position + 1)

    @action()
    def TOGGLE(self, row: Row) -> Row:
        """Press the switch."""
        return row._replace(lights=replaced(row.lights, row.position, 1 - row.lights[row.position]))

    @program(
        level=1,
        depth=4,
        pre=lambda row: row.position == row.start,
        recursive=True,
        shrink=lambda row: row._replace(start=row.position) if row.position == row.start + 1 else None,
        restore=lambda caller, callee: callee._replace(start=caller.start),
    )
    def ALL_ON(self, before: Row, after: Row) -> bool:
        """Switch all lights on and end at the last one."""
        lights = before.lights[: before.start] + (1,) * self.size(before)
        return after == Row(lights, position=length(lights) - 1, start=before.start)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Row:
        return Row(tuple(rng.integers(2, size=size).tolist()), position=0, start=0)

    def observe(self, row: Row) -> tuple[bool, ...]:
        return row.lights[row.position] == 1, row.position == length(row.lights) - 1

    def size(self, row: Row) -> int:
        return length(row.lights) - row.start

    def symbolic(self, unknown: Unknowns) -> Row:
        return Row(unknown.numbers(), position=unknown.number(), start=unknown.number())

    def valid(self, row: Row) -> bool:
        return 0 <= row.start <= row.position < length(row.lights) and every(
            0, length(row.lights), lambda place: row.lights[place] in (0, 1)
        )

    def parse(self, program: str, text: str) -> Row:
        if not text or set(text) - set("01"):
            raise UsageError(f"{text!r} is no row of lights; write for example 0110")
        return Row(tuple(int(light) for light in text), position=0, start=0)

    def format(self, row: Row) -> str:
        return "".join(f"[{light}]" if here == row.position else str(light) for here, light in enumerate(row.lights))
