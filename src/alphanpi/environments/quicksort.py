"""Quicksort in place: partition around the last number, then sort what lies left and right of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environments.list_picture import picture
from alphanpi.environments.lists import drawn_integers, order_patterns, read_integers
from alphanpi.symbolic import Unknowns, every, exchanged, is_sorted, length, same_values


class Span(NamedTuple):
    """The current problem is `values[start:end]`; nothing else is seen."""

    values: tuple[int, ...]
    start: int
    end: int
    scan: int  # the number that is looked at
    border: int  # where the next number goes that is smaller than the pivot

    def with_numbers(self, numbers: Sequence[int]) -> Span:
        """The same span with other numbers in it."""
        return self._replace(values=(*self.values[: self.start], *numbers, *self.values[self.end :]))

    def current(self) -> tuple[int, ...]:
        """The numbers of the current problem."""
        return self.values[self.start : self.end]

    def outside(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers on both sides of the current problem, which no program may touch."""
        return self.values[: self.start], self.values[self.end :]


def begun(values: tuple[int, ...], start: int, end: int) -> Span:
    """A span with both pointers at its start."""
    return Span(values, start, end, scan=start, border=start)


def several(span: Span) -> bool:
    """Whether there is more than one number."""
    return span.end - span.start > 1


def at_pivot(span: Span) -> bool:
    """Whether the last number, which is the pivot, is looked at; so also where there is none."""
    return span.scan >= span.end - 1


def smaller(span: Span) -> bool:
    """Whether the number that is looked at is smaller than the pivot."""
    return not at_pivot(span) and span.values[span.scan] < span.values[span.end - 1]


def pointers_at_start(span: Span) -> bool:
    """Whether both pointers are at the start."""
    return span.scan == span.border == span.start


def rearranged(before: Span, after: Span) -> bool:
    """Whether the same numbers are there in whatever order, and nothing else has changed but the pointers."""
    return (
        after == before._replace(values=after.values, scan=after.scan, border=after.border)
        and after.outside() == before.outside()
        and same_values(after.current(), before.current())
    )


def left_of_border(span: Span) -> Span | None:
    """The numbers left of the border."""
    return begun(span.values, span.start, span.border) if several(span) else None


def right_of_border(span: Span) -> Span | None:
    """The numbers right of the border."""
    return begun(span.values, span.border + 1, span.end) if several(span) else None


def whole(caller: Span, callee: Span) -> Span:
    """The caller's span and pointers again, with the numbers as the callee left them."""
    return caller._replace(values=callee.values)


class Quicksort(Environment[Span]):
    """Quicksort: a partition, then both of its sides."""

    fields = ("several", "at_pivot", "smaller")
    size_unit = ("number", "numbers")
    train_sizes: ClassVar = (1, 2, 3, 4, 5, 6)  # among four numbers, both sides hardly ever need to be sorted
    validation_size: ClassVar = 8
    test_sizes: ClassVar = (10, 60, 100, 1000)

    left = subproblem(enter=left_of_border, leave=whole)
    right = subproblem(enter=right_of_border, leave=whole)

    @action(pre=lambda span: not at_pivot(span))
    def NEXT(self, span: Span) -> Span:
        """Look at the next number."""
        return span._replace(scan=span.scan + 1)

    @action(pre=lambda span: span.border < span.end - 1)
    def ADVANCE(self, span: Span) -> Span:
        """Move the border on."""
        return span._replace(border=span.border + 1)

    @action(pre=several)
    def SWAP(self, span: Span) -> Span:
        """Exchange the number that is looked at with the one at the border."""
        return span._replace(values=exchanged(span.values, span.scan, span.border))

    @program(
        level=1,
        depth=lambda span: 3 * (span.end - span.start),
        pre=lambda span: several(span) and pointers_at_start(span),
        minimum_size=2,
    )
    def PARTITION(self, before: Span, after: Span) -> bool:
        """Bring the last number to the border, smaller ones left of it, all others right of it."""
        values, start, end, scan, border = after
        pivot = before.values[before.end - 1]
        return (
            rearranged(before, after)
            and scan == end - 1
            and start <= border < end
            and values[border] == pivot
            and every(start, border, lambda place: values[place] < pivot)
            and every(border + 1, end, lambda place: values[place] >= pivot)
        )

    @program(level=2, depth=4, pre=pointers_at_start, minimum_size=0, recursive=(left, right))
    def QUICKSORT(self, before: Span, after: Span) -> bool:
        """Sort the numbers; the pointers may stand anywhere."""
        return rearranged(before, after) and is_sorted(after.current())

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Span:
        """Small integers."""
        return begun(drawn_integers(size, rng), 0, size)

    def observe(self, span: Span) -> tuple[bool, ...]:
        """Whether there is something to be done, and how the number that is looked at compares with the pivot."""
        return several(span), at_pivot(span), smaller(span)

    def size(self, span: Span) -> int:
        """How many numbers there are."""
        return span.end - span.start

    def base_case(self, program: str, state: Span) -> bool:
        """One number is sorted, as none is."""
        return not several(state) or super().base_case(program, state)

    def enumerate(self, program: str, size: int) -> Iterator[Span]:
        """One list for each order of the numbers."""
        return (begun(values, 0, size) for values in order_patterns(size))

    def templates(self, program: str, size: int, values: Sequence[Any]) -> Iterator[Span]:
        """The values given."""
        yield begun(tuple(values), 0, size)

    def outcomes(self, program: str, before: Span) -> Iterator[Span]:
        """Every order of the numbers on both sides of the pivot; or sorted, with the pointers anywhere."""
        if program == "PARTITION":
            *others, pivot = before.current()
            small = [value for value in others if value < pivot]
            large = [value for value in others if not value < pivot]
            for left, right in product(permutations(small), permutations(large)):
                partitioned = before.with_numbers((*left, pivot, *right))
                yield partitioned._replace(scan=before.end - 1, border=before.start + len(small))
        else:
            done = before.with_numbers(sorted(before.current()))
            places = range(before.start, max(before.start + 1, before.end))
            for scan, border in product(places, repeat=2):
                yield done._replace(scan=scan, border=border)

    def symbolic(self, unknown: Unknowns) -> Span:
        """Any numbers, the current problem and the pointers anywhere."""
        number = unknown.number
        return Span(unknown.numbers(), number(), number(), number(), number())

    def valid(self, span: Span) -> bool:
        """The current problem is a part of the list."""
        return 0 <= span.start <= span.end <= length(span.values)

    def parse(self, program: str, text: str) -> Span:
        """Read integers separated by blanks or commas."""
        values = read_integers(text)
        return begun(values, 0, len(values))

    def format(self, span: Span) -> str:
        """The numbers, separated by blanks."""
        return " ".join(map(str, span.values))

    def render(self, span: Span) -> Scene:
        """A bar for every number, the current problem underlaid; pointer 1 scans, pointer 2 is the border."""
        pointers = (span.scan, span.border) if span.start < span.end else (None, None)
        return picture(span.values, pointers, (span.start, span.end - 1))
