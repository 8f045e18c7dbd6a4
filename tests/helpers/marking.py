"""A recursive program below another one, and solutions of both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from alphanpi import STOP, Environment, action, program


class Board(NamedTuple):
    """Cells to be marked from `start` on; the last mark is made by the caller."""

    cells: tuple[int, ...]
    start: int
    done: int = 0


class Marking(Environment[Board]):
    """A recursive program below another one."""

    fields: tuple[str, ...] = ("last", "done")

    @action()
    def MARK(self, board: Board) -> Board:
        cells = (*board.cells[: board.start], board.cells[board.start] + 1, *board.cells[board.start + 1 :])
        return board._replace(cells=cells)

    @action()
    def FINISH(self, board: Board) -> Board:
        return board._replace(done=1)

    @program(
        level=1,
        depth=4,
        recursive=True,
        shrink=lambda board: board._replace(start=board.start + 1) if board.start + 1 < len(board.cells) else None,
        restore=lambda caller, callee: callee._replace(start=caller.start),
    )
    def FILL(self, before: Board, after: Board) -> bool:
        cells = tuple(cell + (place >= before.start) for place, cell in enumerate(before.cells))
        return after == before._replace(cells=cells)

    @program(level=2, depth=4)
    def TOP(self, before: Board, after: Board) -> bool:
        return after.done == 1

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Board:
        return Board(tuple(int(cell) for cell in rng.integers(3, size=size)), 0)

    def enumerate(self, program: str, size: int):
        yield Board((0,) * size, 0)

    def observe(self, board: Board) -> tuple[Any, ...]:
        return np.int64(board.start == len(board.cells) - 1), np.bool_(board.done)

    def size(self, board: Board) -> int:
        return len(board.cells) - board.start


def fill(see, size):
    yield "MARK"
    if not see.last:
        yield "FILL"
    yield STOP


def top(see, size):
    yield "FILL"
    yield "FINISH"
    yield "FILL"
    yield STOP
