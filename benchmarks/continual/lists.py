"""Four list environments, each with more to learn than the one before; agents see how two values compare.

Shifts    RSHIFT, LSHIFT, COMPSWAP      level 1
Passes    and RESET, BUBBLE             level 2, recursive
Sorting   and BUBBLESORT                level 3, recursive
Smallest  and SMALLEST                  level 4; also an action and a field that the others do not have
"""

from alphanpi import action, program
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
from alphanpi.environments.recursive_sorting import with_callers_bounds, without_first, without_last


class Shifts(ListPrograms):
    """Move both pointers, and put two neighbours in order."""

    train_sizes = (2, 3, 4)

    def __init__(self) -> None:
        super().__init__("compare")


class Passes(Shifts):
    """Go through the list, there and back."""

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


class Sorting(Passes):
    """Sort the list."""

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


class Smallest(Sorting):
    """Sort the list, and show its smallest value; pointer 2 can jump, and it is seen whether it is to the right."""

    def __init__(self) -> None:
        super().__init__()
        self.fields = ("p2_right_of_p1", *self.fields)

    @action(pre=lambda state: state.p1 != state.p2)
    def MEET(self, state: PointedList) -> PointedList:
        """Pointer 2 to where pointer 1 is."""
        return state._replace(p2=state.p1)

    @program(level=4, depth=5, pre=both_pointers_at_start)
    def SMALLEST(self, before: PointedList, after: PointedList) -> bool:
        """Sort the list, and end with both pointers at its start."""
        return bubblesort_done(before, after) and both_pointers_at_start(after)

    def observe(self, state: PointedList) -> tuple[bool, ...]:
        return (state.p2 > state.p1, *super().observe(state))


STAGES = (Shifts, Passes, Sorting, Smallest)
