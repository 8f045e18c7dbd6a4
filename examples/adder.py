"""Adding binary numbers column by column, from the right, seeing one column at a time."""

import re
from typing import NamedTuple

import numpy as np

from alphanpi import Environment, UsageError, action, program


class Sum(NamedTuple):
    """Two numbers and what is known of their sum. The current problem is the columns from `start` on."""

    first: int
    second: int
    columns: int  # length of both numbers
    result: int
    carry: int
    column: int  # where the adder is; column 0 is the rightmost
    start: int


def column_left(state: Sum) -> bool:
    """There is a column to look at."""
    return state.column < state.columns


def without_first_column(state: Sum) -> Sum | None:
    """The columns that remain after the first, if the adder has just left that one."""
    return state._replace(start=state.column) if state.column == state.start + 1 and column_left(state) else None


class Adder(Environment[Sum]):
    """Adds binary numbers."""

    fields = ("first", "second", "result", "carry", "at_end")
    train_sizes = (1, 2, 3)
    validation_size = 6
    test_sizes = (10, 100)

    @action(pre=column_left)
    def FLIP(self, state: Sum) -> Sum:
        """Flip the bit of the result in this column."""
        return state._replace(result=state.result ^ 1 << state.column)

    @action()
    def FLIP_CARRY(self, state: Sum) -> Sum:
        """Flip the carry."""
        return state._replace(carry=1 - state.carry)

    @action(pre=column_left)
    def LEFT(self, state: Sum) -> Sum:
        """Go to the next column."""
        return state._replace(column=state.column + 1)

    @program(level=1, depth=4, pre=column_left)
    def ADD_COLUMN(self, before: Sum, after: Sum) -> bool:
        """Write the bit of this column, set the carry, and go to the next column."""
        first, second, written, carry, _ = self.observe(before)
        carry, bit = divmod(first + second + carry, 2)
        result = before.result ^ (written ^ bit) << before.column
        return after == before._replace(result=result, carry=carry, column=before.column + 1)

    @program(
        level=2,
        depth=3,
        pre=lambda state: state.column == state.start,
        recursive=True,
        shrink=without_first_column,
        restore=lambda caller, callee: callee._replace(start=caller.start),
    )
    def ADD(self, before: Sum, after: Sum) -> bool:
        """Add all columns; what is carried out of the last one stays in the carry."""
        total = (before.first >> before.start) + (before.second >> before.start) + before.carry
        carry, total = divmod(total, 2 ** self.size(before))
        result = before.result % 2**before.start + (total << before.start)
        return after == before._replace(result=result, carry=carry, column=before.columns)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Sum:
        first, second = (int("".join(map(str, rng.integers(2, size=size))), 2) for _ in range(2))
        return Sum(first, second, size, result=0, carry=int(rng.integers(2)), column=0, start=0)

    def observe(self, state: Sum) -> tuple[int, ...]:
        bits = [number >> state.column & 1 for number in (state.first, state.second, state.result)]
        return (*bits, state.carry, int(not column_left(state)))

    def size(self, state: Sum) -> int:
        return state.columns - state.start

    def parse(self, program: str, text: str) -> Sum:
        numbers = re.fullmatch(r"\s*([01]+)\s*\+\s*([01]+)\s*", text)
        if numbers is None:
            raise UsageError(f"{text!r} is not a sum of two binary numbers; write for example 101+11")
        first, second = numbers.groups()
        return Sum(int(first, 2), int(second, 2), max(len(first), len(second)), 0, carry=0, column=0, start=0)

    def format(self, state: Sum) -> str:
        return f"{state.carry}{state.result:0{state.columns}b}"
