"""Insertion sort, recursive: sort all but the last number, then insert the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environments.list_picture import picture
from alphanpi.environments.lists import drawn_integers, order_patterns, read_integers
from alphanpi.symbolic import Unknowns, exchanged, is_sorted, last, length, same_values


class Row(NamedTuple):
    """The current problem is `values[:end]`; the numbers behind it are out of sight."""

    values: tuple[int, ...]
    end: int


def several(row: Row) -> bool:
    """Whether there is more than one number."""
    return row.end > 1


def last_is_smaller(row: Row) -> bool:
    """Whether the last number is smaller than the one before it."""
    return row.end > 1 and row.values[row.end - 1] < row.values[row.end - 2]


def inserted(row: Row) -> Row:
    """The last number moved to the left, past all numbers that are larger, up to the first that is not."""
    values, end = row
    moved = values[end - 1]
    place = last(0, end - 1, lambda place: values[place] <= moved) + 1
    others = values[place : end - 1] + values[end:]
    return row._replace(values=values[:place] + (moved,) + others)  # unpacking is for known tuples


def in_order(row: Row) -> Row:
    """The numbers sorted."""
    return row._replace(values=(*sorted(row.values[: row.end]), *row.values[row.end :]))


def all_but_last(row: Row) -> Row | None:
    """The problem without its last number."""
    return row._replace(end=row.end - 1) if several(row) else None


def with_last(caller: Row, callee: Row) -> Row:
    """The caller's problem again."""
    return callee._replace(end=caller.end)


class InsertionSort(Environment[Row]):
    """Insertion sort: all but the last number, then the last one."""

    fields = ("several", "last_is_smaller")
    size_unit = ("number", "numbers")
    train_sizes: ClassVar = (1, 2, 3, 4)
    validation_size: ClassVar = 6
    test_sizes: ClassVar = (10, 40, 100)

    front = subproblem(enter=all_but_last, leave=with_last)

    @action(pre=several)
    def SWAP(self, row: Row) -> Row:
        """Exchange the last two numbers."""
        return row._replace(values=exchanged(row.values, row.end - 2, row.end - 1))

    @program(level=1, depth=3, recursive=front)
    def INSERT(self, before: Row, after: Row) -> bool:
        """Move the last number to the left, past all that are larger; if the others are in order, all are then."""
        return after == inserted(before)

    @program(level=2, depth=3, recursive=front)
    def INSERTION_SORT(self, before: Row, after: Row) -> bool:
        """Sort the numbers."""
        return (
            after.end == before.end
            and after.values[after.end :] == before.values[before.end :]
            and is_sorted(after.values[: after.end])
            and same_values(after.values[: after.end], before.values[: before.end])
        )

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Row:
        """Small integers."""
        return Row(drawn_integers(size, rng), size)

    def observe(self, row: Row) -> tuple[bool, ...]:
        """Whether there is more than one number, and whether the last is smaller than the one before it."""
        return several(row), last_is_smaller(row)

    def size(self, row: Row) -> int:
        """How many numbers there are."""
        return row.end

    def base_case(self, program: str, state: Row) -> bool:
        """A number that is not smaller than the one before it stays where it is."""
        return super().base_case(program, state) or (program == "INSERT" and not last_is_smaller(state))

    def enumerate(self, program: str, size: int) -> Iterator[Row]:
        """One row for each order of the numbers."""
        return (Row(values, size) for values in order_patterns(size))

    def templates(self, program: str, size: int, values: Sequence[Any]) -> Iterator[Row]:
        """The values given."""
        yield Row(tuple(values), size)

    def outcomes(self, program: str, before: Row) -> Iterator[Row]:
        """A single one."""
        yield inserted(before) if program == "INSERT" else in_order(before)

    def symbolic(self, unknown: Unknowns) -> Row:
        """Any numbers, as many of them as one likes in the current problem."""
        return Row(unknown.numbers(), unknown.number())

    def valid(self, row: Row) -> bool:
        """There is a number."""
        return 0 < row.end <= length(row.values)

    def parse(self, program: str, text: str) -> Row:
        """Read integers separated by blanks or commas."""
        values = read_integers(text)
        return Row(values, len(values))

    def format(self, row: Row) -> str:
        """The numbers, separated by blanks."""
        return " ".join(map(str, row.values))

    def render(self, row: Row) -> Scene:
        """A bar for every number, the current problem underlaid."""
        return picture(row.values, (), (0, row.end - 1))
