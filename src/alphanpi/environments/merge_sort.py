"""Merge sort: sort both halves, then merge them, always taking the smaller of the two heads."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environments.list_picture import picture
from alphanpi.environments.lists import drawn_integers, order_patterns, read_integers
from alphanpi.symbolic import Unknowns, every, is_sorted, length, same_values


class Halves(NamedTuple):
    """The current problem is `values[start:end]`, cut in the middle; what lies before the head of a half is taken."""

    values: tuple[int, ...]
    start: int
    end: int
    left_head: int
    right_head: int
    taken: tuple[int, ...] = ()  # in this order

    @property
    def middle(self) -> int:
        """Where the right half begins; the left one is not the longer one."""
        return (self.start + self.end) // 2

    def current(self) -> tuple[int, ...]:
        """The numbers of the current problem."""
        return self.values[self.start : self.end]

    def halves(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of the left half and of the right one."""
        return self.values[self.start : self.middle], self.values[self.middle : self.end]

    def outside(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers on both sides of the current problem, which no program may touch."""
        return self.values[: self.start], self.values[self.end :]

    def with_numbers(self, numbers: Iterable[int]) -> Halves:
        """The same problem with other numbers in it."""
        return self._replace(values=(*self.values[: self.start], *numbers, *self.values[self.end :]))


def begun(values: tuple[int, ...], start: int, end: int) -> Halves:
    """A problem of which nothing is taken yet."""
    return Halves(values, start, end, left_head=start, right_head=(start + end) // 2)


def several(state: Halves) -> bool:
    """Whether there is more than one number."""
    return state.end - state.start > 1


def left_remains(state: Halves) -> bool:
    """Whether something of the left half is not yet taken."""
    return state.left_head < state.middle


def right_remains(state: Halves) -> bool:
    """Whether something of the right half is not yet taken."""
    return state.right_head < state.end


def nothing_taken(state: Halves) -> bool:
    """Whether no number is taken."""
    return not state.taken


def everything_taken(state: Halves) -> bool:
    """Whether all numbers are taken."""
    return length(state.taken) == state.end - state.start


def halves_in_order(state: Halves) -> bool:
    """Whether each half is sorted."""
    left, right = state.halves()
    return is_sorted(left) and is_sorted(right)


def rearranged(before: Halves, after: Halves) -> bool:
    """Whether the same numbers are there in whatever order, and nothing else has changed."""
    return (
        after == before._replace(values=after.values)
        and after.outside() == before.outside()
        and same_values(after.current(), before.current())
    )


def with_sorted_halves(state: Halves) -> Halves:
    """Each half sorted."""
    left, right = state.halves()
    return state.with_numbers((*sorted(left), *sorted(right)))


def left_half(state: Halves) -> Halves | None:
    """The left half as a problem of its own."""
    return begun(state.values, state.start, state.middle) if several(state) else None


def right_half(state: Halves) -> Halves | None:
    """The right half as a problem of its own."""
    return begun(state.values, state.middle, state.end) if several(state) else None


def whole(caller: Halves, callee: Halves) -> Halves:
    """The caller's problem again, with the numbers as the callee left them."""
    return caller._replace(values=callee.values)


class MergeSort(Environment[Halves]):
    """Merge sort: both halves, then a merge."""

    fields = ("several", "left_remains", "right_remains", "right_is_smaller")
    size_unit = ("number", "numbers")
    train_sizes: ClassVar = (1, 2, 3, 4)
    validation_size: ClassVar = 6
    test_sizes: ClassVar = (10, 40, 100, 1000)

    left = subproblem(enter=left_half, leave=whole)
    right = subproblem(enter=right_half, leave=whole)

    @action(pre=left_remains)
    def TAKE_LEFT(self, state: Halves) -> Halves:
        """Take the head of the left half."""
        head = state.values[state.left_head]
        return state._replace(left_head=state.left_head + 1, taken=state.taken + (head,))

    @action(pre=right_remains)
    def TAKE_RIGHT(self, state: Halves) -> Halves:
        """Take the head of the right half."""
        head = state.values[state.right_head]
        return state._replace(right_head=state.right_head + 1, taken=state.taken + (head,))

    @action(pre=everything_taken)
    def PUT_BACK(self, state: Halves) -> Halves:
        """Write what was taken where the halves were."""
        left, right = state.outside()
        values = left + state.taken + right
        return begun(values, state.start, state.end)

    @program(
        level=1,
        depth=lambda state: state.end - state.start + 2,
        pre=lambda state: several(state) and nothing_taken(state),
        minimum_size=2,
        train_sizes=(2, 3, 4, 5),
    )
    def MERGE(self, before: Halves, after: Halves) -> bool:
        """Merge the halves: the same numbers, in order if each half was."""
        return rearranged(before, after) and (not halves_in_order(before) or is_sorted(after.current()))

    @program(level=2, depth=4, pre=nothing_taken, recursive=(left, right))
    def MERGE_SORT(self, before: Halves, after: Halves) -> bool:
        """Sort the numbers."""
        return rearranged(before, after) and is_sorted(after.current())

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Halves:
        """Small integers; for MERGE, every other time each half in order."""
        state = begun(drawn_integers(size, rng), 0, size)
        return with_sorted_halves(state) if program == "MERGE" and rng.integers(2) else state

    def observe(self, state: Halves) -> tuple[bool, ...]:
        """What remains of the halves, and whether the head of the right one is smaller where both have one."""
        left, right = left_remains(state), right_remains(state)
        smaller = left and right and state.values[state.right_head] < state.values[state.left_head]
        return several(state), left, right, smaller

    def size(self, state: Halves) -> int:
        """How many numbers there are."""
        return state.end - state.start

    def enumerate(self, program: str, size: int) -> Iterator[Halves]:
        """One list for each order of the numbers."""
        return (begun(values, 0, size) for values in order_patterns(size))

    def templates(self, program: str, size: int, values: Sequence[Any]) -> Iterator[Halves]:
        """The values given."""
        yield begun(tuple(values), 0, size)

    def outcomes(self, program: str, before: Halves) -> Iterator[Halves]:
        """The numbers sorted; in any order where halves were merged that are not."""
        if program == "MERGE" and not halves_in_order(before):
            yield before.with_numbers(heapq.merge(*before.halves()))  # which is the one that is looked for
            for numbers in permutations(before.current()):
                yield before.with_numbers(numbers)
        else:
            yield before.with_numbers(sorted(before.current()))

    def symbolic(self, unknown: Unknowns) -> Halves:
        """Any numbers, in the list and taken, with the current problem and the heads anywhere."""
        number = unknown.number
        return Halves(unknown.numbers(), number(), number(), number(), number(), unknown.numbers())

    def invariants(self, program: str, before: Halves, state: Halves) -> Iterator[bool]:
        """Nothing gets lost; what is taken of halves in order is in order, and not larger than what is left."""
        left, right = state.values[state.left_head : state.middle], state.values[state.right_head : state.end]
        ordered, taken = halves_in_order(before), state.taken
        yield same_values(taken + left + right, before.current())
        yield not ordered or is_sorted(taken)
        for low, high in ((state.left_head, state.middle), (state.right_head, state.end)):
            yield not (ordered and taken) or every(
                low, high, lambda place: taken[length(taken) - 1] <= state.values[place]
            )

    def valid(self, state: Halves) -> bool:
        """The current problem is a part of the list with a number in it, and nothing of it is taken."""
        return (
            0 <= state.start < state.end <= length(state.values)
            and state.left_head == state.start
            and state.right_head == state.middle
            and nothing_taken(state)
        )

    def parse(self, program: str, text: str) -> Halves:
        """Read integers separated by blanks or commas."""
        values = read_integers(text)
        return begun(values, 0, len(values))

    def format(self, state: Halves) -> str:
        """The numbers, separated by blanks."""
        return " ".join(map(str, state.values))

    def render(self, state: Halves) -> Scene:
        """A bar for every number, the current problem underlaid; what is taken stands in a row below."""
        empty = [*range(state.start, state.left_head), *range(state.middle, state.right_head)]
        places = []
        for value in state.taken:
            places.append(next(place for place in empty if state.values[place] == value))
            empty.remove(places[-1])
        return picture(state.values, (), (state.start, state.end - 1), places)
