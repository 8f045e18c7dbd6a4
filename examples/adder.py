"""Adding binary numbers column by column, from the right, seeing one column at a time."""

import re
from typing import NamedTuple

import numpy as np

from alphanpi import Environment, UsageError, action, program
from alphanpi.symbolic import Unknowns, every, fold, length, replaced


class Sum(NamedTuple):
    """Two numbers and what is known of their sum. The current problem is the columns from `start` on."""

    first: tuple[int, ...]  # bits, the rightmost column first
    second: tuple[int, ...]
    result: tuple[int, ...]
    carry: int
    column: int  # where the adder is; column 0 is the rightmost
    start: int


def number(bits: tuple[int, ...], start: int, carry: int = 0) -> int:
    """The number that the bits from `start` on stand for, with a carry to their left."""
    return fold(lambda total, column: 2 * total + bits[column], carry, start, length(bits), backwards=True)


def column_left(state: Sum) -> bool:
    """There is a column to look at."""
    return state.column < length(state.first)


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
        return state._replace(result=replaced(state.result, state.column, 1 - state.result[state.column]))

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
        here = before.column
        carry, bit = divmod(before.first[here] + before.second[here] + before.carry, 2)
        return after == before._replace(result=replaced(before.result, here, bit), carry=carry, column=here + 1)

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
        total = number(before.first, before.start) + number(before.second, before.start) + before.carry
        frame = before._replace(result=after.result, carry=after.carry, column=length(before.first))
        kept = after == frame and after.result[: before.start] == before.result[: before.start]
        return kept and number(after.result, before.start, after.carry) == total

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Sum:
        first, second = (tuple(rng.integers(2, size=size).tolist()) for _ in range(2))
        return Sum(first, second, (0,) * size, carry=int(rng.integers(2)), column=0, start=0)

    def observe(self, state: Sum) -> tuple[int, ...]:
        if not column_left(state):
            return 0, 0, 0, state.carry, 1
        return (*(bits[state.column] for bits in (state.first, state.second, state.result)), state.carry, 0)

    def size(self, state: Sum) -> int:
        return length(state.first) - state.start

    def symbolic(self, unknown: Unknowns) -> Sum:
        bits, number = unknown.numbers, unknown.number
        return Sum(bits(), bits(), bits(), carry=number(), column=number(), start=number())

    def valid(self, state: Sum) -> bool:
        first, second, result, carry, column, start = state
        end, bit = length(first), (0, 1)
        sound = end == length(second) == length(result) and 0 <= start <= column <= end > start and carry in bit
        return sound and every(
            0, end, lambda k: first[k] in bit and second[k] in bit and result[k] in (bit if k < column else (0,))
        )

    def parse(self, program: str, text: str) -> Sum:
        numbers = re.fullmatch(r"\s*([01]+)\s*\+\s*([01]+)\s*", text)
        if numbers is None:
            raise UsageError(f"{text!r} is not a sum of two binary numbers; write for example 101+11")
        size = max(map(len, numbers.groups()))
        first, second = (tuple(int(bit) for bit in reversed(bits.zfill(size))) for bits in numbers.groups())
        return Sum(first, second, (0,) * size, carry=0, column=0, start=0)

    def format(self, state: Sum) -> str:
        return "".join(map(str, (state.carry, *reversed(state.result))))
