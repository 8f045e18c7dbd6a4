"""Binary search: a value is looked for in the left or the right half of a sorted list, which is halved again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environment.step import Step
from alphanpi.environments.binary_search_picture import picture
from alphanpi.errors import UsageError
from alphanpi.symbolic import Unknowns, every, is_sorted, length

NOWHERE, UNANSWERED = -1, -2


class Numbers(NamedTuple):
    """A sorted list and a value. The current problem is `values[low:high]`; of it, only the middle is seen."""

    values: tuple[int, ...]
    wanted: int
    low: int
    high: int
    answer: int = UNANSWERED  # where the value is, or NOWHERE

    @property
    def middle(self) -> int:
        """Place of the value that is looked at; of two in the middle, the right one."""
        return (self.low + self.high) // 2


def any_left(state: Numbers) -> bool:
    """The current problem has a value to look at."""
    return state.low < state.high


def unanswered(state: Numbers) -> bool:
    """Nobody has said yet where the value is."""
    return state.answer == UNANSWERED


def before_middle(state: Numbers) -> Numbers | None:
    """The values left of the middle."""
    return state._replace(high=state.middle) if any_left(state) else None


def behind_middle(state: Numbers) -> Numbers | None:
    """The values right of the middle."""
    return state._replace(low=state.middle + 1) if any_left(state) else None


def with_callers_bounds(caller: Numbers, callee: Numbers) -> Numbers:
    """The caller's problem again, with the callee's answer."""
    return callee._replace(low=caller.low, high=caller.high)


def places(state: Numbers) -> range:
    """All places of the current problem that hold the value."""
    bounds = (state.values, state.wanted, state.low, state.high)
    return range(bisect_left(*bounds), bisect_right(*bounds))


class BinarySearch(Environment[Numbers]):
    """Binary search in a sorted list of any integers."""

    fields = ("nothing_left", "wanted_smaller", "wanted_greater")
    size_unit = ("number", "numbers")
    train_sizes: ClassVar = (1, 2, 3, 4)
    validation_size: ClassVar = 7
    test_sizes: ClassVar = (10, 70, 1000)

    left = subproblem(enter=before_middle, leave=with_callers_bounds)
    right = subproblem(enter=behind_middle, leave=with_callers_bounds)

    @action(pre=lambda state: any_left(state) and unanswered(state))
    def FOUND(self, state: Numbers) -> Numbers:
        """Say that the value is in the middle."""
        return state._replace(answer=state.middle)

    @action(pre=unanswered)
    def NOT_FOUND(self, state: Numbers) -> Numbers:
        """Say that the value is nowhere."""
        return state._replace(answer=NOWHERE)

    @program(level=1, depth=2, minimum_size=0, pre=unanswered, recursive=(left, right))
    def SEARCH(self, before: Numbers, after: Numbers) -> bool:
        """Say where the value is: at any place that holds it, or nowhere."""
        values, wanted, low, high, _ = before
        found = low <= after.answer < high and values[after.answer] == wanted
        missing = after.answer == NOWHERE and every(low, high, lambda place: values[place] != wanted)
        return after == before._replace(answer=after.answer) and (found or missing)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Numbers:
        """Random numbers, some of them twice; the value is one of them, or any other, as often."""
        drawn = sorted(rng.integers(2 * size + 1, size=size + 1).tolist())
        wanted = int(rng.choice(drawn)) if rng.integers(2) else int(rng.integers(2 * size + 1))
        drawn.pop(int(rng.integers(size + 1)))
        return Numbers(tuple(drawn), wanted, 0, size)

    def enumerate(self, program: str, size: int) -> Iterator[Numbers]:
        """So many smaller values, so many equal ones, the others greater: nothing else is ever seen."""
        for smaller in range(size + 1):
            for equal in range(size - smaller + 1):
                values = (-1,) * smaller + (0,) * equal + (1,) * (size - smaller - equal)
                yield Numbers(values, 0, 0, size)

    def outcomes(self, program: str, before: Numbers) -> Iterator[Numbers]:
        """One state for each place of the value; one where there is none."""
        for answer in places(before) or (NOWHERE,):
            yield before._replace(answer=answer)

    def base_case(self, program: str, state: Numbers) -> bool:
        """Nothing is left, or the middle is the value."""
        return not any_left(state) or state.values[state.middle] == state.wanted

    def observe(self, state: Numbers) -> tuple[bool, ...]:
        """How the value compares with the one in the middle, if there is one."""
        if not any_left(state):
            return True, False, False
        middle = state.values[state.middle]
        return False, state.wanted < middle, middle < state.wanted

    def size(self, state: Numbers) -> int:
        """Length of the current problem."""
        return state.high - state.low

    def parse(self, program: str, text: str) -> Numbers:
        """Read the value, `in`, and the list: integers separated by blanks or commas."""
        example = "write for example '7 in 2 3 5 7 11'"
        before, word, after = text.partition("in")
        try:
            wanted, values = int(before), tuple(int(number) for number in after.replace(",", " ").split())
        except ValueError:
            word = ""
        if not word:
            raise UsageError(f"{text!r} is no integer to be found in a list of integers; {example}")
        if list(values) != sorted(values):
            raise UsageError(f"{text!r}: the list is not sorted; {example}")
        return Numbers(values, wanted, 0, len(values))

    def format(self, state: Numbers) -> str:
        """The value and the list, in brackets what is left of it; the place, once it is known."""
        if not unanswered(state):
            return "nowhere" if state.answer == NOWHERE else f"at {state.answer}"
        words = [str(value) for value in state.values]
        if (state.low, state.high) != (0, len(words)):
            words[state.low : state.high] = [f"[{' '.join(words[state.low : state.high])}]"]
        return " ".join([str(state.wanted), "in", *words])

    def result(self, program: str, final: Numbers, actions: Sequence[Step]) -> str:
        """Where the value is, counted from 0."""
        if final.answer in (NOWHERE, UNANSWERED):
            return f"{final.wanted} is not in the list"
        return f"{final.wanted} is at position {final.answer}"

    def render(self, state: Numbers) -> Scene:
        """The list with the current problem, the middle and the answer."""
        middle = state.middle if any_left(state) else None
        answer = None if unanswered(state) else state.answer
        return picture(state.values, state.wanted, (state.low, state.high), middle, answer)

    def symbolic(self, unknown: Unknowns) -> Numbers:
        """Any list, any part of it, and any value."""
        number = unknown.number
        return Numbers(unknown.numbers(), number(), number(), number(), number())

    def valid(self, state: Numbers) -> bool:
        """The list is sorted, and the current problem is a part of it."""
        return 0 <= state.low <= state.high <= length(state.values) and is_sorted(state.values)
