"""Decimal addition, column by column from the right: write a digit, carry, go on with the columns that are left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import MAX_PREC, Context, Decimal
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environment.step import Step
from alphanpi.environments.addition_picture import picture
from alphanpi.errors import UsageError

DIGITS = "0123456789"
_EXACT = Context(prec=MAX_PREC)  # adds numbers of any length; integers of more than 4,300 digits cannot be read or written


class Sheet(NamedTuple):
    """Two numbers, one above the other, and what has been written of their sum.

    The current problem is the column at which the pen is, and all columns to the left of it.
    """

    first: str  # decimal digits; both numbers have the same length
    second: str
    column: int = 0  # where the pen is; column 0 is the rightmost
    carry: int = 0  # what was carried to this column
    carried: int = 0  # what has been carried to the next one
    total: str = ""  # digits of the sum, from here to the right
    digit: int | None = None  # the argument of WRITE

    @property
    def columns(self) -> int:
        """Columns of the whole sum."""
        return len(self.first)

    @property
    def written(self) -> bool:
        """Whether the digit of this column has been written."""
        return len(self.total) > self.column

    def digits(self) -> tuple[int, int]:
        """The two digits of this column."""
        place = -1 - self.column
        return int(self.first[place]), int(self.second[place])


def column_left(state: Sheet) -> bool:
    """The pen is at a column, not left of all."""
    return state.column < state.columns


def untouched(state: Sheet) -> bool:
    """Nothing has been written or carried in the current problem."""
    return not state.written and not state.carried


def columns_to_the_left(state: Sheet) -> Sheet | None:
    """All columns but this one, once its digit is written; what was carried belongs to the first of them."""
    if not column_left(state) or len(state.total) != state.column + 1:
        return None
    return state._replace(column=state.column + 1, carry=state.carried, carried=0)


def with_callers_column(caller: Sheet, callee: Sheet) -> Sheet:
    """The caller's column again, with all that the callee wrote."""
    return caller._replace(total=callee.total)


def sum_of(first: str, second: str, carry: int) -> str:
    """The digits of a sum: as many as the numbers have, or one more."""
    total = _EXACT.add(_EXACT.add(Decimal(first or "0"), Decimal(second or "0")), Decimal(carry))
    digits = f"{total:f}".zfill(len(first))
    return digits if first or carry else ""


def added(state: Sheet) -> Sheet:
    """The sum of all columns of the current problem."""
    left = state.columns - state.column
    ahead = sum_of(state.first[:left], state.second[:left], state.carry)
    return state._replace(total=ahead + state.total)


class Addition(Environment[Sheet]):
    """Decimal addition, column by column."""

    fields = (
        *(f"{number}_{digit}" for number in ("first", "second") for digit in range(10)),
        "carry",
        "carried",
        "written",
        "no_column_left",
    )
    size_unit = ("digit", "digits")
    train_sizes: ClassVar = (1, 2, 3)
    validation_size: ClassVar = 5
    test_sizes: ClassVar = (10, 50, 1000, 5000)

    rest = subproblem(enter=columns_to_the_left, leave=with_callers_column)

    @action(pre=lambda sheet: sheet.digit is not None and not sheet.written)
    def PUT(self, sheet: Sheet) -> Sheet:
        """Put the digit that was asked for below this column."""
        return sheet._replace(total=f"{sheet.digit}{sheet.total}")

    @action(pre=lambda sheet: column_left(sheet) and not sheet.carried)
    def CARRY(self, sheet: Sheet) -> Sheet:
        """Carry one to the next column."""
        return sheet._replace(carried=1)

    @program(level=1, depth=2, minimum_size=0, pre=lambda sheet: not sheet.written, arguments={"digit": range(10)})
    def WRITE(self, before: Sheet, after: Sheet) -> bool:
        """Write that digit below this column."""
        return after == before._replace(total=f"{before.digit}{before.total}")

    @program(
        level=2,
        depth=3,
        pre=lambda sheet: column_left(sheet) and untouched(sheet),
        train_sizes=(1,),
        validation_size=1,
    )
    def ADD_COLUMN(self, before: Sheet, after: Sheet) -> bool:
        """Write the digit of this column, and carry where there is something to be carried."""
        carried, digit = divmod(sum(before.digits()) + before.carry, 10)
        return after == before._replace(carried=carried, total=f"{digit}{before.total}")

    @program(level=3, depth=3, minimum_size=0, pre=untouched, recursive=rest)
    def ADD(self, before: Sheet, after: Sheet) -> bool:
        """Write all digits that are left; whether its own column was carried from is free."""
        return after == added(before)._replace(carried=after.carried)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Sheet:
        """Random digits, and as often as not something carried to the first column."""
        first, second = ("".join(DIGITS[digit] for digit in rng.integers(10, size=size)) for _ in range(2))
        carried = int(rng.integers(2)) if program == "WRITE" and size > 0 else 0
        return Sheet(first, second, carry=int(rng.integers(2)), carried=carried)

    def enumerate(self, program: str, size: int) -> Iterator[Sheet]:
        """Every first column; of those behind it, which are not seen, one that carries on and one that does not."""
        ahead = [""] if size == 0 else ["0" * (size - 1), "9" * (size - 1)][:size]
        columns = [("", "")] if size == 0 else product(DIGITS, DIGITS)
        carrieds = (0, 1) if program == "WRITE" and size > 0 else (0,)
        for (first, second), behind, carry, carried in product(columns, ahead, (0, 1), carrieds):
            yield Sheet(behind + first, "0" * len(behind) + second, carry=carry, carried=carried)

    def outcomes(self, program: str, before: Sheet) -> Iterator[Sheet]:
        """One state, but ADD may have carried or not."""
        if program == "WRITE":
            yield before._replace(total=f"{before.digit}{before.total}")
        elif program == "ADD_COLUMN":
            carried, digit = divmod(sum(before.digits()) + before.carry, 10)
            yield before._replace(carried=carried, total=f"{digit}{before.total}")
        else:
            yield added(before)
            if column_left(before):
                yield added(before)._replace(carried=1)

    def observe(self, state: Sheet) -> tuple[bool, ...]:
        """The column at the pen: its digits, one-hot, what was carried to it and from it, whether it is written."""
        digits = state.digits() if column_left(state) else (None, None)
        return (
            *(number == digit for number in digits for digit in range(10)),
            state.carry == 1,
            state.carried == 1,
            state.written,
            not column_left(state),
        )

    def size(self, state: Sheet) -> int:
        """Columns of the current problem."""
        return state.columns - state.column

    def parse(self, program: str, text: str) -> Sheet:
        """Read two decimal numbers with a plus between them."""
        numbers = re.fullmatch(r"\s*([0-9]+)\s*\+\s*([0-9]+)\s*", text)
        if numbers is None:
            raise UsageError(f"{text!r} is not a sum of two decimal numbers; write for example 275+48")
        first, second = numbers.groups()
        columns = max(len(first), len(second))
        return Sheet(first.zfill(columns), second.zfill(columns))

    def format(self, state: Sheet) -> str:
        """The sum as it is written so far, after the digits that are left to be added."""
        left = state.columns - len(state.total)
        return f"{state.first[: max(0, left)]}+{state.second[: max(0, left)]} {state.total}".strip("+ ")

    def result(self, program: str, final: Sheet, actions: Sequence[Step]) -> str:
        """The sum."""
        return final.total.lstrip("0") or "0"

    def render(self, state: Sheet) -> Scene:
        """The sheet: the numbers, the carry above them, the sum below a line."""
        return picture(state.first, state.second, state.column, state.carry, state.carried, state.total)
