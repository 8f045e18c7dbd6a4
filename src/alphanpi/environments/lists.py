"""What all list environments share: a list, two pointers, the atomic actions, and both observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program
from alphanpi.environment.standalone import Standalone, runtime_source
from alphanpi.environments.list_picture import picture
from alphanpi.errors import UsageError
from alphanpi.symbolic import exchanged, is_sorted, one_hot, same_values, swept

Observation = Literal["paper", "compare"]
DIGITS = 10


class PointedList(NamedTuple):
    """A list with two pointers. The current problem is `values[start : end + 1]`; nothing else is seen."""

    values: tuple[int, ...]
    p1: int
    p2: int
    start: int
    end: int

    def current(self) -> tuple[int, ...]:
        """The values of the current problem."""
        return self.values[self.start : self.end + 1]

    def outside(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The values on both sides of the current problem: the frame no program may touch."""
        return self.values[: self.start], self.values[self.end + 1 :]

    def bounds(self) -> tuple[int, int]:
        """Where the current problem begins and ends."""
        return self.start, self.end


def in_order(one: int, other: int) -> tuple[int, int]:
    """Two values, the larger one last."""
    return (other, one) if one > other else (one, other)


def order_patterns(size: int) -> Iterator[tuple[int, ...]]:
    """Every way in which that many values can compare: lists that use exactly the values 0 to their maximum."""
    for values in product(range(size), repeat=size):
        if not values or max(values) + 1 == len(set(values)):
            yield values


def drawn_integers(size: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Integers, some of them negative, of which now and then two are equal."""
    return tuple(rng.integers(-size, size + 1, size).tolist())


def read_integers(text: str) -> tuple[int, ...]:
    """Integers separated by blanks or commas, at least one."""
    try:
        values = tuple(int(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise UsageError(f"{text!r} is not a list of integers; write for example '5 3 9 1'") from None
    if not values:
        raise UsageError("the list is empty; write for example '5 3 9 1'")
    return values


def some_pointer_after_start(state: PointedList) -> bool:
    """At least one pointer can go left."""
    return state.p1 > state.start or state.p2 > state.start


def some_pointer_before_end(state: PointedList) -> bool:
    """At least one pointer can go right."""
    return state.p1 < state.end or state.p2 < state.end


def pointers_adjacent(state: PointedList) -> bool:
    """Pointer 1 has a right neighbour, and pointer 2 is at it or at pointer 1."""
    return state.p1 < state.end and state.p2 in (state.p1, state.p1 + 1)


def pointers_ready_to_bubble(state: PointedList) -> bool:
    """Pointer 1 at the start, pointer 2 there or one to the right."""
    return state.p1 == state.start and state.p2 in (state.start, state.start + 1)


def both_pointers_at_start(state: PointedList) -> bool:
    """Both pointers at the start."""
    return state.p1 == state.p2 == state.start


def right_shifted(state: PointedList) -> PointedList:
    """Both pointers one to the right, as far as they can go."""
    values, p1, p2, start, end = state
    return PointedList(values, min(p1 + 1, end), min(p2 + 1, end), start, end)


def left_shifted(state: PointedList) -> PointedList:
    """Both pointers one to the left, as far as they can go."""
    values, p1, p2, start, end = state
    return PointedList(values, max(p1 - 1, start), max(p2 - 1, start), start, end)


def compared_and_swapped(state: PointedList) -> PointedList:
    """The values at pointer 1 and to its right in order, pointer 2 on the right one."""
    values, left, _, start, end = state
    right = left + 1
    if values[left] > values[right]:
        values = exchanged(values, left, right)
    return PointedList(values, left, right, start, end)


def reset(state: PointedList) -> PointedList:
    """Both pointers at the start."""
    return PointedList(state.values, state.start, state.start, state.start, state.end)


def bubbled(state: PointedList) -> PointedList:
    """One bubble pass over the current problem, both pointers at its end."""
    return state._replace(values=swept(state.values, state.start, state.end + 1, in_order), p1=state.end, p2=state.end)


def every_sorted(state: PointedList) -> Iterator[PointedList]:
    """The current problem sorted, the pointers anywhere in it."""
    left, right = state.outside()
    values = (*left, *sorted(state.current()), *right)
    places = range(state.start, state.end + 1)
    for p1, p2 in product(places, places):
        yield state._replace(values=values, p1=p1, p2=p2)


# What a call leads to, where that is a single state.
RESULTS: Mapping[str, Callable[[PointedList], PointedList]] = {
    "RSHIFT": right_shifted,
    "LSHIFT": left_shifted,
    "COMPSWAP": compared_and_swapped,
    "RESET": reset,
    "BUBBLE": bubbled,
}


class PointerPairs(NamedTuple):
    """The pairs of pointers a program may start with, numbered, so that long lists need no enumeration."""

    number_of_pairs: int
    pair: Callable[[int], tuple[int, int]]

    def __call__(self, number: int) -> tuple[int, int]:
        """The pair of that number, from 0."""
        return self.pair(number)


def starting_pointers(program: str, size: int) -> PointerPairs:
    """All pairs that satisfy the program's pre-condition on a list of that size."""
    if program == "RSHIFT":  # all but both at the end, the last pair
        pairs = PointerPairs(size * size - 1, lambda number: divmod(number, size))
    elif program in ("LSHIFT", "RESET"):  # all but both at the start, the first pair
        pairs = PointerPairs(size * size - 1, lambda number: divmod(number + 1, size))
    elif program == "COMPSWAP":
        pairs = PointerPairs(2 * (size - 1), lambda number: (number // 2, number // 2 + number % 2))
    elif program == "BUBBLE":
        pairs = PointerPairs(min(size, 2), lambda number: (0, number))
    else:
        pairs = PointerPairs(1, lambda number: (0, 0))
    if size < 1 or pairs.number_of_pairs < 1:
        raise UsageError(f"{program} cannot start on a list of {size}")
    return pairs


class ListActions(Environment[PointedList]):
    """The atomic actions of all list environments, and what an agent sees of them."""

    size_unit = ("number", "numbers")

    def __init__(self, observation: Observation = "paper") -> None:
        if observation not in get_args(Observation):
            raise UsageError(f"observation {observation!r} is unknown; choose paper or compare")
        self.observation = observation
        flags = ("p1_at_start", "p1_at_end", "p2_at_start", "p2_at_end", "same_position")
        if observation == "paper":
            digits = [f"p{pointer}_value_{digit}" for pointer in (1, 2) for digit in range(DIGITS)]
            self.fields = (*digits, *flags, "sorted")
            self.derived = ("p1_value", "p2_value", "p1_value_greater", "values_equal")
        else:
            self.fields = ("p1_value_greater", *flags)

    @action(pre=lambda state: state.p1 > state.start)
    def PTR_1_L(self, state: PointedList) -> PointedList:
        """Pointer 1 to the left."""
        return PointedList(state.values, state.p1 - 1, state.p2, state.start, state.end)

    @action(pre=lambda state: state.p2 > state.start)
    def PTR_2_L(self, state: PointedList) -> PointedList:
        """Pointer 2 to the left."""
        return PointedList(state.values, state.p1, state.p2 - 1, state.start, state.end)

    @action(pre=lambda state: state.p1 < state.end)
    def PTR_1_R(self, state: PointedList) -> PointedList:
        """Pointer 1 to the right."""
        return PointedList(state.values, state.p1 + 1, state.p2, state.start, state.end)

    @action(pre=lambda state: state.p2 < state.end)
    def PTR_2_R(self, state: PointedList) -> PointedList:
        """Pointer 2 to the right."""
        return PointedList(state.values, state.p1, state.p2 + 1, state.start, state.end)

    @action(pre=lambda state: state.p1 != state.p2)
    def SWAP(self, state: PointedList) -> PointedList:
        """Exchange the two values pointed at."""
        values, p1, p2, start, end = state
        return PointedList(exchanged(values, p1, p2), p1, p2, start, end)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> PointedList:
        """Uniform digits; pointers uniform over those that satisfy the pre-condition."""
        values = tuple(int(digit) for digit in rng.integers(DIGITS, size=size))
        pairs = starting_pointers(program, size)
        return PointedList(values, *pairs(int(rng.integers(pairs.number_of_pairs))), 0, size - 1)

    def enumerate(self, program: str, size: int) -> Iterator[PointedList]:
        """Every list with every pair of pointers; one list for each order of the values where only that is seen."""
        pairs = starting_pointers(program, size)
        lists = product(range(DIGITS), repeat=size) if self.observation == "paper" else order_patterns(size)
        for values in lists:
            for number in range(pairs.number_of_pairs):
                yield PointedList(values, *pairs(number), 0, size - 1)

    def templates(self, program: str, size: int, values: Sequence[Any]) -> Iterator[PointedList]:
        """Every pair of pointers on the values given, which the observation must do no more than compare."""
        if self.observation == "paper":
            raise NotImplementedError
        pairs = starting_pointers(program, size)
        for number in range(pairs.number_of_pairs):
            yield PointedList(tuple(values), *pairs(number), 0, size - 1)

    def outcomes(self, program: str, before: PointedList) -> Iterator[PointedList]:
        """One state, except for BUBBLESORT, which may leave the pointers anywhere in the list."""
        if program in RESULTS:
            return iter((RESULTS[program](before),))
        return every_sorted(before)

    def observe(self, state: PointedList) -> tuple[bool, ...]:
        """Flags of the two pointers, and their values (`paper`) or how these compare (`compare`)."""
        values, p1, p2, start, end = state
        flags = (p1 == start, p1 == end, p2 == start, p2 == end, p1 == p2)
        if self.observation == "compare":
            return (values[p1] > values[p2], *flags)
        return (*one_hot(values[p1], DIGITS), *one_hot(values[p2], DIGITS), *flags, is_sorted(values[start : end + 1]))

    def derive(self, observation: Sequence[int]) -> tuple[int, ...]:
        """Both values as numbers, and how they compare."""
        v1, v2 = observation[:DIGITS].index(1), observation[DIGITS : 2 * DIGITS].index(1)
        return v1, v2, int(v1 > v2), int(v1 == v2)

    def size(self, state: PointedList) -> int:
        """Length of the current problem."""
        return state.end - state.start + 1

    def standalone(self) -> Standalone[PointedList]:
        """Plain Python for exported modules."""
        return Standalone(
            parameter="items",
            class_name="Items",
            source=runtime_source("alphanpi.environments.standalone.lists"),
            arguments=lambda state: (list(state.values), [state.p1, state.p2], state.start, state.end),
            agrees=lambda state, items: (tuple(items.values), tuple(items.pointers)) == (state.values, state[1:3]),
            inner={"RESET": "without_last", "BUBBLE": "without_first", "BUBBLESORT": "without_last"},
            fields={
                f"p{pointer}_value_{digit}": f"items.p{pointer}_value == {digit}"
                for pointer in (1, 2)
                for digit in range(DIGITS)
            },
        )

    def parse(self, program: str, text: str) -> PointedList:
        """Read integers separated by blanks or commas.

        The pointers start at the end for LSHIFT and RESET, which go left, and at the start for all others.
        """
        values = read_integers(text)
        if self.observation == "paper" and any(not 0 <= value < DIGITS for value in values):
            raise UsageError(f"{text!r}: with the paper's observation values are digits 0-9; use compare")
        pairs = starting_pointers(program, len(values))
        leftmost = program not in ("LSHIFT", "RESET")
        return PointedList(values, *pairs(0 if leftmost else pairs.number_of_pairs - 1), 0, len(values) - 1)

    def format(self, state: PointedList) -> str:
        """The values, separated by blanks."""
        return " ".join(str(value) for value in state.values)

    def render(self, state: PointedList) -> Scene:
        """A bar for every value, both pointers below, the current sub-list underlaid."""
        return picture(state.values, (state.p1, state.p2), state.bounds())


class ListPrograms(ListActions):
    """The level-1 programs that the iterative and the recursive environment share."""

    test_sizes: ClassVar = (10, 20, 60, 100, 1000)
    validation_size: ClassVar = 7

    @program(level=1, depth=5, minimum_size=2, pre=some_pointer_before_end)
    def RSHIFT(self, before: PointedList, after: PointedList) -> bool:
        """Move both pointers one to the right, as far as they can go."""
        return after == right_shifted(before)

    @program(level=1, depth=5, minimum_size=2, pre=some_pointer_after_start)
    def LSHIFT(self, before: PointedList, after: PointedList) -> bool:
        """Move both pointers one to the left, as far as they can go."""
        return after == left_shifted(before)

    @program(level=1, depth=5, minimum_size=2, pre=pointers_adjacent)
    def COMPSWAP(self, before: PointedList, after: PointedList) -> bool:
        """Put the values at pointer 1 and to its right in order; pointer 2 ends on the right one."""
        return after == compared_and_swapped(before)


def reset_done(before: PointedList, after: PointedList) -> bool:
    """Both pointers at the start, nothing else changed."""
    return after == reset(before)


def bubble_done(before: PointedList, after: PointedList) -> bool:
    """One bubble pass over the current problem, both pointers at its end, nothing else changed."""
    return after == bubbled(before)


def bubblesort_done(before: PointedList, after: PointedList) -> bool:
    """The current problem sorted, nothing outside it changed; the pointers are free."""
    return (
        after.bounds() == before.bounds()
        and after.outside() == before.outside()
        and is_sorted(after.current())
        and same_values(after.current(), before.current())
    )
