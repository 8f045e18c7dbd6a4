"""Bubble sort, iterative: the passes of BUBBLE and RESET grow with the list."""

from __future__ import annotations

from typing import ClassVar

from alphanpi.environment.cutoff import Cutoff
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
from alphanpi.environments.sorting_lemma import CUTOFF


def twice_length_plus_three(state: PointedList) -> int:
    """Depth of the iterative programs: 2n + 3."""
    return 2 * len(state.values) + 3


def pass_possible(state: PointedList) -> bool:
    """Ready for a pass over two elements or more."""
    return state.start < state.end and pointers_ready_to_bubble(state)


def sortable(state: PointedList) -> bool:
    """Two elements or more, both pointers at the start."""
    return state.start < state.end and both_pointers_at_start(state)


class Sorting(ListPrograms):
    """Bubble sort with an iterative hierarchy."""

    train_sizes: ClassVar = (2, 3, 4, 5, 6, 7)

    def cutoff(self) -> Cutoff | None:
        """For the observation `paper`, and for this class alone: a subclass may change what the proof rests on."""
        return CUTOFF if type(self) is Sorting and self.observation == "paper" else None

    @program(level=2, depth=twice_length_plus_three, minimum_size=2, pre=some_pointer_after_start)
    def RESET(self, before: PointedList, after: PointedList) -> bool:
        """Move both pointers to the start."""
        return reset_done(before, after)

    @program(level=2, depth=twice_length_plus_three, minimum_size=2, pre=pass_possible)
    def BUBBLE(self, before: PointedList, after: PointedList) -> bool:
        """Make one bubble pass; both pointers end at the end."""
        return bubble_done(before, after)

    @program(level=3, depth=twice_length_plus_three, minimum_size=2, pre=sortable)
    def BUBBLESORT(self, before: PointedList, after: PointedList) -> bool:
        """Sort the list."""
        return bubblesort_done(before, after)
