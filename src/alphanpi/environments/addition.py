"""Decimal addition, column by column from the right: write a digit, carry, go on with the columns that are left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environment.step import Step
from alphanpi.environments.addition_picture import picture
from alphanpi.errors import UsageError
from alphanpi.symbolic import Unknowns, every, fold, length

Digits = tuple[int, ...]
"""Decimal digits, the rightmost first."""


class Sheet(NamedTuple):
    """Two numbers, one above the other, and what has been written of their sum.

    The current problem is the column at which the pen is, and all columns to the left of it.
    """

    first: Digits  # both numbers have the same length
    second: Digits
    column: int = 0  # where the pen is; column 0 is the rightmost
    carry_in: int = 0  # what was carried to this column
    carry_out: int = 0  # what has been carried on to the next one
    result: Digits = ()  # what has been written so far
    digit: int | None = None  # the argument of WRITE

    @property
    def columns(self) -> int:
        """Columns of the whole sum."""
        return length(self.first)

    @property
    def written(self) -> bool:
        """Whether the digit of this column has been written."""
        return length(self.result) > self.column

    def digits(self) -> tuple[int, int]:
        """The two digits of this column."""
        return self.first[self.column], self.second[self.column]

    def with_digit(self, digit: Any) -> Sheet:
        """A digit written to the left of all others."""
        return self._replace(result=self.result + (digit,))  # unpacking is for known tuples


def from_text(digits: str) -> Digits:
    """Digits that were written from the left."""
    return tuple(map(int, reversed(digits)))


def as_text(digits: Digits) -> str:
    """The digits as one reads them, from the left."""
    return "".join(map(str, reversed(digits)))


def column_left(sheet: Sheet) -> bool:
    """The pen is at a column, not left of all."""
    return sheet.column < sheet.columns


def untouched(sheet: Sheet) -> bool:
    """Nothing has been written or carried in the current problem, and all digits behind it are there."""
    return length(sheet.result) == sheet.column and not sheet.carry_out


def columns_to_the_left(sheet: Sheet) -> Sheet | None:
    """All columns but this one; what was carried on belongs to the first of them."""
    if not column_left(sheet):
        return None
    return sheet._replace(column=sheet.column + 1, carry_in=sheet.carry_out, carry_out=0)


def with_callers_column(caller: Sheet, callee: Sheet) -> Sheet:
    """The caller's column again, with all that the callee wrote."""
    return caller._replace(result=callee.result)


def column_added(sheet: Sheet) -> Sheet:
    """The digit of this column written, and the ten carried on."""
    carry_out, digit = divmod(sum(sheet.digits()) + sheet.carry_in, 10)
    return sheet.with_digit(digit)._replace(carry_out=carry_out)


def all_added(sheet: Sheet) -> Sheet:
    """All columns of the current problem added; a digit more where something is carried out of the last one."""
    digits, carry = [], sheet.carry_in
    for column in range(sheet.column, sheet.columns):
        carry, digit = divmod(sheet.first[column] + sheet.second[column] + carry, 10)
        digits.append(digit)
    added = column_added(sheet) if column_left(sheet) else sheet
    return added._replace(result=(*sheet.result, *digits, *(1,) * carry))


def missing(sheet: Sheet, result: Digits) -> int:
    """What the numbers come to from this column to the left, less what is written there.

    It is made from the left, where of a right sum never more than a carry is missing: so numbers stay small.
    """
    first, second, columns = sheet.first, sheet.second, sheet.columns
    more = result[columns] if length(result) > columns else 0
    return fold(
        lambda rest, k: 10 * rest + first[k] + second[k] - result[k], -more, sheet.column, columns, backwards=True
    )


def is_sum(sheet: Sheet, result: Digits) -> bool:
    """Whether these digits go on with the sum of all columns of the current problem, with a 1 more or none."""
    columns, written = sheet.columns, length(result)
    return (
        written in (columns, columns + 1)
        and (written == columns or result[columns] == 1)
        and result[: sheet.column] == sheet.result
        and every(sheet.column, columns, lambda k: 0 <= result[k] <= 9)
        and missing(sheet, result) + sheet.carry_in == 0
    )


class Addition(Environment[Sheet]):
    """Decimal addition, column by column."""

    fields = (
        *(f"{number}_{digit}" for number in ("first", "second") for digit in range(10)),
        "carry_in",
        "carry_out",
        "written",
        "no_column_left",
    )
    derived = ("units", "ten_or_more")
    size_unit = ("digit", "digits")
    train_sizes: ClassVar = (1, 2, 3)
    validation_size: ClassVar = 5
    test_sizes: ClassVar = (10, 50, 1000, 5000)

    rest = subproblem(enter=columns_to_the_left, leave=with_callers_column)

    @action(pre=lambda sheet: sheet.digit is not None and not sheet.written)
    def PUT(self, sheet: Sheet) -> Sheet:
        """Put the digit that was asked for below this column."""
        return sheet.with_digit(sheet.digit)

    @action(pre=lambda sheet: column_left(sheet) and sheet.written and not sheet.carry_out)
    def CARRY(self, sheet: Sheet) -> Sheet:
        """Carry one on to the next column, once the digit of this one is written."""
        return sheet._replace(carry_out=1)

    @program(level=1, depth=2, minimum_size=0, pre=untouched, arguments={"digit": range(10)})
    def WRITE(self, before: Sheet, after: Sheet) -> bool:
        """Write that digit below this column."""
        return after == before.with_digit(before.digit)

    @program(
        level=2,
        depth=3,
        pre=lambda sheet: column_left(sheet) and untouched(sheet),
        train_sizes=(1,),  # it sees one column, and what is behind it would only make equal starts look different
        validation_size=1,
    )
    def ADD_COLUMN(self, before: Sheet, after: Sheet) -> bool:
        """Write the digit of this column, and carry where there is something to be carried."""
        return after == column_added(before)

    @program(level=3, depth=3, minimum_size=0, pre=untouched, recursive=rest)
    def ADD(self, before: Sheet, after: Sheet) -> bool:
        """Write the sum of all columns from here to the left."""
        added = column_added(before) if column_left(before) else before
        return after == added._replace(result=after.result) and is_sum(before, after.result)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Sheet:
        """Random digits, and as often as not something carried to the first column."""
        first, second = (tuple(rng.integers(10, size=size).tolist()) for _ in range(2))
        return Sheet(first, second, carry_in=int(rng.integers(2)))

    def enumerate(self, program: str, size: int) -> Iterator[Sheet]:
        """Every first column; of those behind it, which are not seen, some that carry on and some that do not."""
        behind = size - 1
        columns = product(range(10), range(10)) if size > 0 else [None]
        for column, carries, carry_in in product(columns, (False, True) if behind > 0 else (False,), (0, 1)):
            if column is None:
                yield Sheet((), (), carry_in=carry_in)
            else:
                first, second = column
                yield Sheet((first,) + (9 * carries,) * behind, (second,) + (0,) * behind, carry_in=carry_in)

    def outcomes(self, program: str, before: Sheet) -> Iterator[Sheet]:
        """One state."""
        if program == "WRITE":
            yield before.with_digit(before.digit)
        else:
            yield column_added(before) if program == "ADD_COLUMN" else all_added(before)

    def observe(self, state: Sheet) -> tuple[bool, ...]:
        """The column at the pen: its digits, one-hot, what was carried to it and from it, whether it is written."""
        digits = state.digits() if column_left(state) else (None, None)
        return (
            *(number == digit for number in digits for digit in range(10)),
            state.carry_in == 1,
            state.carry_out == 1,
            state.written,
            not column_left(state),
        )

    def derive(self, observation: Sequence[int]) -> tuple[int, ...]:
        """The last digit of what is to be added in this column, and whether there is another."""
        carry_in = int(observation[20])
        total = carry_in + sum(digit * int(observation[digit] + observation[10 + digit]) for digit in range(10))
        return total % 10, int(total >= 10)

    def size(self, state: Sheet) -> int:
        """Columns of the current problem."""
        return state.columns - state.column

    def symbolic(self, unknown: Unknowns) -> Sheet:
        """Any digits, any column, and whatever was carried and written."""
        numbers, number = unknown.numbers, unknown.number
        return Sheet(numbers(), numbers(), number(), carry_in=number(), carry_out=number(), result=numbers())

    def valid(self, state: Sheet) -> bool:
        """Two numbers of as many digits, the pen at a column of them or left of all, and no carry but 1."""
        first, second, columns = state.first, state.second, state.columns
        return (
            columns == length(second)
            and 0 <= state.column <= columns
            and state.carry_in in (0, 1)
            and state.carry_out in (0, 1)
            and every(0, columns, lambda k: 0 <= first[k] <= 9 and 0 <= second[k] <= 9)
        )

    def parse(self, program: str, text: str) -> Sheet:
        """Read two decimal numbers with a plus between them."""
        numbers = re.fullmatch(r"\s*([0-9]+)\s*\+\s*([0-9]+)\s*", text)
        if numbers is None:
            raise UsageError(f"{text!r} is not a sum of two decimal numbers; write for example 275+48")
        first, second = numbers.groups()
        columns = max(len(first), len(second))
        return Sheet(from_text(first.zfill(columns)), from_text(second.zfill(columns)))

    def format(self, state: Sheet) -> str:
        """The two numbers, and the digits of their sum as far as they are written."""
        first, second, result = map(as_text, (state.first, state.second, state.result))
        return f"{first}+{second}" + (f" = …{result}" if result else "")

    def result(self, program: str, final: Sheet, actions: Sequence[Step]) -> str:
        """The sum."""
        return as_text(final.result).lstrip("0") or "0"

    def render(self, state: Sheet) -> Scene:
        """The sheet: the numbers, what is carried above them, the sum below a line."""
        return picture(state.first, state.second, state.column, (state.carry_in, state.carry_out), state.result)
