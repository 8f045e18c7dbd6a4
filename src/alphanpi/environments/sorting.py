"""Bubble sort, iterative: the passes of BUBBLE and RESET grow with the list."""

from __future__ import annotations

from typing import ClassVar

from alphanpi.environment.specification import program
from alphanpi.environments.lists import (
    ListPrograms,
    PointedList,
    both_pointers_at_start,
    bubble_done,
    bubblesort_done,
    pointers_ready_to_bubble,
    reset_done,
    some_pointer_after_start,
)


def twice_length_plus_three(state: PointedList) -> int:
    """Depth of the iterative programs: 2n + 3."""
    return 2 * len(state.values) + 3


class Sorting(ListPrograms):
    """Bubble sort with an iterative hierarchy."""

    train_sizes: ClassVar = (2, 3, 4, 5, 6, 7)

    @program(level=2, depth=twice_length_plus_three, minimum_size=2, pre=some_pointer_after_start)
    def RESET(self, before: PointedList, after: PointedList) -> bool:
        """Move both pointers to the start."""
        return reset_done(before, after)

    @program(level=2, depth=twice_length_plus_three, minimum_size=2, pre=pointers_ready_to_bubble)
    def BUBBLE(self, before: PointedList, after: PointedList) -> bool:
        """Make one bubble pass; both pointers end at the end."""
        return bubble_done(before, after)

    @program(level=3, depth=twice_length_plus_three, minimum_size=2, pre=both_pointers_at_start)
    def BUBBLESORT(self, before: PointedList, after: PointedList) -> bool:
        """Sort the list."""
        return bubblesort_done(before, after)
