"""Bubble sort, recursive: RESET, BUBBLE and BUBBLESORT call themselves on a shorter sub-list."""

from __future__ import annotations

from typing import ClassVar

from alphanpi.environment.cutoff import Cutoff
from alphanpi.environment.specification import program
from alphanpi.environments.lists import (
    DIGITS,
    ListPrograms,
    PointedList,
    both_pointers_at_start,
    bubble_done,
    bubblesort_done,
    pointers_ready_to_bubble,
    reset_done,
    some_pointer_after_start,
)
from alphanpi.environments.recursive_sorting_lemma import CUTOFF
from alphanpi.symbolic import Unknowns, every, length


def without_last(state: PointedList) -> PointedList | None:
    """The sub-list without its last element, if both pointers stay inside."""
    if state.p1 < state.end and state.p2 < state.end:
        return PointedList(state.values, state.p1, state.p2, state.start, state.end - 1)
    return None


def without_first(state: PointedList) -> PointedList | None:
    """The sub-list without its first element, if both pointers are just behind it."""
    if state.p1 == state.p2 == state.start + 1 <= state.end:
        return PointedList(state.values, state.p1, state.p2, state.start + 1, state.end)
    return None


def with_callers_bounds(caller: PointedList, callee: PointedList) -> PointedList:
    """The caller's sub-list again, with values and pointers as the callee left them."""
    return PointedList(callee.values, callee.p1, callee.p2, caller.start, caller.end)


class RecursiveSorting(ListPrograms):
    """Bubble sort with recursive programs of constant length."""

    train_sizes: ClassVar = (2, 3, 4)

    def relative(self, program: str, after: PointedList) -> str | None:
        """Where BUBBLESORT leaves the pointers: the one thing its contract does not say."""
        if program != "BUBBLESORT":
            return None
        if after.start == after.end:
            return "both pointers on the only element"
        if after.p1 != after.p2:
            return "the pointers apart"
        if after.p1 == after.start:
            return "both pointers at the start"
        return "both pointers at the end" if after.p1 == after.end else "both pointers on one cell inside"

    def symbolic(self, unknown: Unknowns) -> PointedList:
        """Any list, the current problem and the pointers anywhere."""
        number = unknown.number
        return PointedList(unknown.numbers(), number(), number(), number(), number())

    def valid(self, state: PointedList) -> bool:
        """The current problem is a part of the list, the pointers are in it, and with `paper` values are digits."""
        values = state.values
        return (
            0 <= state.start <= state.end < length(values)
            and state.start <= state.p1 <= state.end
            and state.start <= state.p2 <= state.end
            and (self.observation != "paper" or every(0, length(values), lambda place: 0 <= values[place] < DIGITS))
        )

    def cutoff(self) -> Cutoff | None:
        """For the observation `compare`, and for this class alone: a subclass may change what the proof rests on."""
        return CUTOFF if type(self) is RecursiveSorting and self.observation == "compare" else None

    @program(
        level=2,
        depth=5,
        minimum_size=2,
        pre=some_pointer_after_start,
        recursive=True,
        shrink=without_last,
        restore=with_callers_bounds,
    )
    def RESET(self, before: PointedList, after: PointedList) -> bool:
        """Move both pointers to the start."""
        return reset_done(before, after)

    @program(
        level=2,
        depth=5,
        pre=pointers_ready_to_bubble,
        recursive=True,
        shrink=without_first,
        restore=with_callers_bounds,
    )
    def BUBBLE(self, before: PointedList, after: PointedList) -> bool:
        """Make one bubble pass; both pointers end at the end."""
        return bubble_done(before, after)

    @program(
        level=3,
        depth=5,
        pre=both_pointers_at_start,
        recursive=True,
        shrink=without_last,
        restore=with_callers_bounds,
    )
    def BUBBLESORT(self, before: PointedList, after: PointedList) -> bool:
        """Sort the list."""
        return bubblesort_done(before, after)
