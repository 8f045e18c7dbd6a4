"""Insertion sort, recursive: sort all but the last number, then insert the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environments.list_picture import picture
from alphanpi.environments.lists import drawn_integers, exchanged, is_sorted, order_patterns, read_integers


class Row(NamedTuple):
    """The current problem is `values[:end]`; the numbers behind it are out of sight."""

    values: tuple[int, ...]
    end: int

    def sorted_up_to(self, end: int) -> Row:
        """The same row, its first numbers in order."""
        return self._replace(values=(*sorted(self.values[:end]), *self.values[end:]))


def several(row: Row) -> bool:
    """Whether there is more than one number."""
    return row.end > 1


def last_is_smaller(row: Row) -> bool:
    """Whether the last number is smaller than the one before it."""
    return row.end > 1 and row.values[row.end - 1] < row.values[row.end - 2]


def all_but_last_sorted(row: Row) -> bool:
    """Whether the numbers before the last are in order."""
    return is_sorted(row.values[: row.end - 1])


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

    @program(level=1, depth=3, pre=all_but_last_sorted, recursive=front)
    def INSERT(self, before: Row, after: Row) -> bool:
        """Put the last number where it belongs among the others, which are in order."""
        return after == before.sorted_up_to(before.end)

    @program(level=2, depth=3, recursive=front)
    def INSERTION_SORT(self, before: Row, after: Row) -> bool:
        """Sort the numbers."""
        return after == before.sorted_up_to(before.end)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Row:
        """Small integers; all but the last in order for INSERT."""
        return self._start(program, drawn_integers(size, rng))

    def observe(self, row: Row) -> tuple[bool, ...]:
        """Whether there is more than one number, and whether the last is smaller than the one before it."""
        return several(row), last_is_smaller(row)

    def size(self, row: Row) -> int:
        """How many numbers there are."""
        return row.end

    def base_case(self, program: str, state: Row) -> bool:
        """A number that is in its place need not be inserted any further."""
        return super().base_case(program, state) or (program == "INSERT" and not last_is_smaller(state))

    def enumerate(self, program: str, size: int) -> Iterator[Row]:
        """One row for each order of the numbers."""
        rows = (Row(values, size) for values in order_patterns(size))
        return (row for row in rows if program != "INSERT" or all_but_last_sorted(row))

    def templates(self, program: str, size: int, values: Sequence[Any]) -> Iterator[Row]:
        """The values given; all but the last in order for INSERT."""
        yield self._start(program, tuple(values))

    def outcomes(self, program: str, before: Row) -> Iterator[Row]:
        """One: the numbers in order."""
        yield before.sorted_up_to(before.end)

    def parse(self, program: str, text: str) -> Row:
        """Read integers separated by blanks or commas; INSERT finds all but the last in order."""
        return self._start(program, read_integers(text))

    def format(self, row: Row) -> str:
        """The numbers, separated by blanks."""
        return " ".join(map(str, row.values))

    def render(self, row: Row) -> Scene:
        """A bar for every number, the current problem underlaid."""
        return picture(row.values, (), (0, row.end - 1))

    def _start(self, program: str, values: tuple[int, ...]) -> Row:
        row = Row(values, len(values))
        return row.sorted_up_to(row.end - 1) if program == "INSERT" else row
