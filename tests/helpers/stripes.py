"""An environment that says everything a call can: an argument, a named part, a group, and the start of the call."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from alphanpi import Environment, action, program, subproblem
from alphanpi.network.evaluator import Evaluation


class Fence(NamedTuple):
    """Boards from `first` on are the current problem; a brush stands at one of them."""

    boards: tuple[int, ...]  # 0 or 1: its colour
    first: int
    brush: int
    colour: str | None = None  # the argument of PAINT
    begun: Fence | None = None  # where the call began


def rest(fence: Fence) -> Fence | None:
    """All boards but the first."""
    if fence.first + 1 >= len(fence.boards):
        return None
    return fence._replace(first=fence.first + 1, brush=fence.first + 1)


def whole(caller: Fence, callee: Fence) -> Fence:
    """The caller's boards and brush again."""
    return callee._replace(first=caller.first, brush=caller.brush)


def striped(fence: Fence, colour: int) -> tuple[int, ...]:
    """The boards, from the first of the problem on in turns, beginning with a colour."""
    return tuple(
        board if place < fence.first else (colour + place - fence.first) % 2 for place, board in enumerate(fence.boards)
    )


class Stripes(Environment[Fence]):
    """Paint a fence in two colours that take turns."""

    fields = ("dark_here", "only_one", "to_dark", "to_light", "moved")
    train_sizes = (1, 2, 3)
    validation_size = 5
    call_start = "begun"

    further = subproblem(enter=rest, leave=whole)

    @action(pre=lambda fence: fence.colour is not None)
    def DIP(self, fence: Fence) -> Fence:
        """Change the colour of the board at the brush."""
        here = fence.brush
        return fence._replace(boards=(*fence.boards[:here], 1 - fence.boards[here], *fence.boards[here + 1 :]))

    @action(pre=lambda fence: fence.begun is not None and fence.brush == fence.begun.brush < len(fence.boards) - 1)
    def STEP(self, fence: Fence) -> Fence:
        """Go one board on, once in every call."""
        return fence._replace(brush=fence.brush + 1)

    @program(level=1, depth=2, arguments={"colour": ("dark", "light")}, train_sizes=(1, 2), validation_size=2)
    def PAINT(self, before: Fence, after: Fence) -> bool:
        """Give the first board the colour that was asked for."""
        wanted = 1 if before.colour == "dark" else 0
        boards = (*before.boards[: before.first], wanted, *before.boards[before.first + 1 :])
        return after == before._replace(boards=boards)

    @program(
        level=2,
        depth=4,
        recursive=further,
        group="turns",
        on={"PAINT": further},
        pre=lambda fence: fence.brush == fence.first,
    )
    def LIGHT_FIRST(self, before: Fence, after: Fence) -> bool:
        """Stripes that begin light."""
        return after == before._replace(boards=striped(before, 0))

    @program(level=2, depth=4, recursive=[further], group="turns", pre=lambda fence: fence.brush == fence.first)
    def DARK_FIRST(self, before: Fence, after: Fence) -> bool:
        """Stripes that begin dark."""
        return after == before._replace(boards=striped(before, 1))

    def enumerate(self, program: str, size: int) -> Iterator[Fence]:
        for boards in itertools.product((0, 1), repeat=size):
            yield Fence(boards, 0, 0)

    def outcomes(self, program: str, before: Fence) -> Iterator[Fence]:
        if program == "PAINT":
            wanted = 1 if before.colour == "dark" else 0
            yield before._replace(boards=(*before.boards[: before.first], wanted, *before.boards[before.first + 1 :]))
        else:
            yield before._replace(boards=striped(before, int(program == "DARK_FIRST")))

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Fence:
        return Fence(tuple(rng.integers(0, 2, size).tolist()), 0, 0)

    def observe(self, state: Fence) -> tuple[int, ...]:
        return (
            state.boards[state.brush],
            state.first == len(state.boards) - 1,
            state.colour == "dark",
            state.colour == "light",
            state.begun is not None and state.brush != state.begun.brush,
        )

    def size(self, state: Fence) -> int:
        return len(state.boards) - state.first

    def parse(self, program: str, text: str) -> Fence:
        return Fence(tuple(map(int, text)), 0, 0)

    def format(self, state: Fence) -> str:
        return "".join(map(str, state.boards))


INTENDED = {  # by program and number of the step: what to do
    "PAINT": lambda step, seen: "DIP" if step == 0 and seen[0] != seen[2] else "STOP",
    "LIGHT_FIRST": lambda step, seen: ["PAINT(light)", "DARK_FIRST on further"][step] if step + seen[1] < 2 else "STOP",
    "DARK_FIRST": lambda step, seen: ["PAINT(dark)", "LIGHT_FIRST on further"][step] if step + seen[1] < 2 else "STOP",
}


class Intended:
    """A network that does what was meant; its memory counts the steps."""

    memory_width = 1

    def __init__(self, environment, **otherwise: str) -> None:
        """`otherwise`: by program, the call it makes in place of the one on the further boards."""
        self.library = environment.library
        self.otherwise = otherwise

    def evaluate(self, programs, observations, memory) -> Evaluation:
        logits = np.zeros((len(programs), len(self.library)), np.float32)
        for row, (number, seen, step) in enumerate(zip(programs, observations, memory[:, 0], strict=True)):
            name = self.library.learned[number].name
            chosen = INTENDED[name](int(step), seen)
            chosen = self.otherwise.get(name, chosen) if chosen.endswith("further") else chosen
            logits[row, self.library.index_of(chosen)] = 50
        return Evaluation(logits, np.zeros(len(programs), np.float32), memory + 1)
