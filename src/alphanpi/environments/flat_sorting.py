"""Sorting without a hierarchy: the ablation. BUBBLESORT has nothing but atomic actions to work with."""

from __future__ import annotations

from typing import ClassVar

from alphanpi.environment.specification import program
from alphanpi.environments.lists import (
    ListActions,
    PointedList,
    both_pointers_at_start,
    bubblesort_done,
)


def six_times_length_squared(state: PointedList) -> int:
    """Depth without hierarchy: 6 n²."""
    return 6 * len(state.values) ** 2


class FlatSorting(ListActions):
    """Sorting by atomic actions alone."""

    train_sizes: ClassVar = (2, 3, 4)
    validation_size: ClassVar = 4
    test_sizes: ClassVar = (3, 4, 5, 6)

    @program(level=1, depth=six_times_length_squared, minimum_size=2, pre=both_pointers_at_start)
    def BUBBLESORT(self, before: PointedList, after: PointedList) -> bool:
        """Sort the list."""
        return bubblesort_done(before, after)
