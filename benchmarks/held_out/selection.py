"""Selection sort: a hand looks through the rest of a list for its least number, which a marker remembers."""

from typing import NamedTuple

import numpy as np

from alphanpi import Environment, action, program, subproblem


class Row(NamedTuple):
    """Numbers, of which those before `start` are done with."""

    values: tuple[int, ...]
    start: int
    hand: int
    marker: int


def rest(row: Row) -> Row | None:
    """All but the first of the numbers that are left."""
    if row.start + 1 >= len(row.values):
        return None
    return Row(row.values, start=row.start + 1, hand=row.start + 1, marker=row.start + 1)


class Selection(Environment[Row]):
    """Sorts a list. The size is how many numbers are left."""

    fields = ("hand_at_end", "hand_at_start", "smaller_than_marked", "marked_first", "last")
    train_sizes = (1, 2, 3, 4)
    validation_size = 7
    test_sizes = (10, 40, 100)

    remaining = subproblem(enter=rest, leave=lambda caller, callee: caller._replace(values=callee.values))

    @action(pre=lambda row: row.hand + 1 < len(row.values))
    def NEXT(self, row: Row) -> Row:
        """Move the hand to the right."""
        return row._replace(hand=row.hand + 1)

    @action()
    def MARK(self, row: Row) -> Row:
        """Put the marker where the hand is."""
        return row._replace(marker=row.hand)

    @action(pre=lambda row: row.marker > row.start)
    def BRING(self, row: Row) -> Row:
        """Exchange the marked number and the first one; the marker goes with it."""
        values = list(row.values)
        values[row.start], values[row.marker] = values[row.marker], values[row.start]
        return row._replace(values=tuple(values), marker=row.start)

    @program(
        level=1,
        depth=lambda row: 2 * (len(row.values) - row.start) + 1,
        pre=lambda row: row.hand == row.start == row.marker,
    )
    def FIND_LEAST(self, before: Row, after: Row) -> bool:
        """Mark the least number that is left."""
        least = min(before.values[before.start :])
        return after.values == before.values and before.start == after.start and after.values[after.marker] == least

    @program(level=2, depth=5, pre=lambda row: row.hand == row.start == row.marker, recursive=remaining)
    def SORT(self, before: Row, after: Row) -> bool:
        """Sort what is left."""
        ordered = (*before.values[: before.start], *sorted(before.values[before.start :]))
        return after.values == ordered and after.start == before.start

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Row:
        return Row(tuple(int(value) for value in rng.integers(-20, 20, size)), start=0, hand=0, marker=0)

    def observe(self, row: Row) -> tuple[bool, ...]:
        return (
            row.hand + 1 == len(row.values),
            row.hand == row.start,
            row.values[row.hand] < row.values[row.marker],
            row.marker == row.start,
            row.start + 1 == len(row.values),
        )

    def size(self, row: Row) -> int:
        return len(row.values) - row.start
