"""A fence to be painted in stripes: one file with everything a call can say."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple, Optional

import numpy as np

from alphanpi import Environment, UsageError, action, program, subproblem


class Fence(NamedTuple):
    """The current problem is the boards from `first` on; a brush stands at one of them."""

    boards: tuple[int, ...]  # 1: dark, 0: light
    first: int
    brush: int
    colour: str | None = None  # the argument of PAINT
    begun: Optional["Fence"] = None  # where the call under way began


def at_first(fence: Fence) -> bool:
    """The brush is at the first board."""
    return fence.brush == fence.first


def all_but_first(fence: Fence) -> Fence | None:
    """The boards that remain, if there are any."""
    if fence.first + 1 >= len(fence.boards):
        return None
    return fence._replace(first=fence.first + 1, brush=fence.first + 1)


def whole(caller: Fence, callee: Fence) -> Fence:
    """The caller's boards and brush again, in the colours they have now."""
    return callee._replace(first=caller.first, brush=caller.brush)


def painted(fence: Fence) -> tuple[int, ...]:
    """The boards, the first one in the colour that was asked for."""
    return (*fence.boards[: fence.first], int(fence.colour == "dark"), *fence.boards[fence.first + 1 :])


def striped(fence: Fence, colour: int) -> tuple[int, ...]:
    """The boards in turns, beginning with a colour."""
    turns = ((colour + place) % 2 for place in range(len(fence.boards) - fence.first))
    return (*fence.boards[: fence.first], *turns)


class Stripes(Environment[Fence]):
    """A fence to be painted in stripes."""

    fields = ("dark_here", "only_one", "to_dark", "to_light", "moved")
    train_sizes = (1, 2, 3)
    validation_size = 5
    call_start = "begun"

    further = subproblem(enter=all_but_first, leave=whole)

    @action(pre=lambda fence: fence.colour is not None)
    def DIP(self, fence: Fence) -> Fence:
        """Change the colour of the board at the brush."""
        here = fence.brush
        return fence._replace(boards=(*fence.boards[:here], 1 - fence.boards[here], *fence.boards[here + 1 :]))

    @action(pre=lambda fence: fence.begun is not None and fence.brush == fence.begun.brush < len(fence.boards) - 1)
    def STEP(self, fence: Fence) -> Fence:
        """Go one board on, once in every call."""
        return fence._replace(brush=fence.brush + 1)

    @program(
        level=1,
        depth=2,
        pre=at_first,
        arguments={"colour": ("dark", "light")},
        train_sizes=(1, 2),
        validation_size=2,
    )
    def PAINT(self, before: Fence, after: Fence) -> bool:
        """Give the first board the colour that was asked for."""
        return after == before._replace(boards=painted(before))

    @program(
        level=2,
        depth=4,
        pre=at_first,
        recursive=further,
        group="turns",
        on={"PAINT": further},
    )
    def LIGHT_FIRST(self, before: Fence, after: Fence) -> bool:
        """Stripes that begin light."""
        return after == before._replace(boards=striped(before, 0))

    @program(level=2, depth=4, pre=at_first, recursive=further, group="turns")
    def DARK_FIRST(self, before: Fence, after: Fence) -> bool:
        """Stripes that begin dark."""
        return after == before._replace(boards=striped(before, 1))

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Fence:
        return Fence(tuple(rng.integers(2, size=size).tolist()), first=0, brush=0)

    def enumerate(self, program: str, size: int) -> Iterator[Fence]:
        return (Fence(boards, first=0, brush=0) for boards in itertools.product((0, 1), repeat=size))

    def outcomes(self, program: str, before: Fence) -> Iterator[Fence]:
        boards = painted(before) if program == "PAINT" else striped(before, int(program == "DARK_FIRST"))
        yield before._replace(boards=boards)

    def observe(self, fence: Fence) -> tuple[int, ...]:
        return (
            fence.boards[fence.brush],
            fence.first == len(fence.boards) - 1,
            fence.colour == "dark",
            fence.colour == "light",
            fence.begun is not None and fence.brush != fence.begun.brush,
        )

    def size(self, fence: Fence) -> int:
        return len(fence.boards) - fence.first

    def parse(self, program: str, text: str) -> Fence:
        if not text or set(text) - set("01"):
            raise UsageError(f"{text!r} is no fence; write for example 0110")
        return Fence(tuple(map(int, text)), first=0, brush=0)

    def format(self, fence: Fence) -> str:
        return "".join(map(str, fence.boards))
