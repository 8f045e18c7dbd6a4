"""Hand-written solutions of the built-in programs, an interpreter for them, and a network that follows them.

A solution is a generator function: it is given the first observation by field name and the size of the
problem, yields an action, and is sent the next observation. Only BUBBLESORT without recursion looks at the
size: nothing in the `compare` observation says when the list is sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alphanpi.environment.specification import STOP, Environment
from alphanpi.network.evaluator import Evaluation

View = SimpleNamespace
Steps = Generator[str, View, None]
Solution = Callable[[View, int], Steps]
Solutions = Mapping[str, Solution]


def view(environment: Environment[Any], observation: Any) -> View:
    return View(**dict(zip(environment.fields, (int(entry) for entry in observation), strict=True)))


def greater(see: View) -> bool:
    """Whether the value at pointer 1 is greater than the one at pointer 2, in either observation."""
    if hasattr(see, "p1_value_greater"):
        return bool(see.p1_value_greater)
    v1, v2 = (next(digit for digit in range(10) if getattr(see, f"p{pointer}_value_{digit}")) for pointer in (1, 2))
    return v1 > v2


def one_element(see: View) -> bool:
    return bool(see.p1_at_start and see.p1_at_end)


def reset_needed(see: View) -> bool:
    return not (see.p1_at_start and see.p2_at_start)


# -------------------------------------------------------------------- level 1, all list environments


def rshift(see: View, size: int) -> Steps:
    second_moves = not see.p2_at_end
    if not see.p1_at_end:
        yield "PTR_1_R"
    if second_moves:
        yield "PTR_2_R"
    yield STOP


def lshift(see: View, size: int) -> Steps:
    second_moves = not see.p2_at_start
    if not see.p1_at_start:
        yield "PTR_1_L"
    if second_moves:
        yield "PTR_2_L"
    yield STOP


def compswap(see: View, size: int) -> Steps:
    if see.same_position:
        see = yield "PTR_2_R"
    if greater(see):
        yield "SWAP"
    yield STOP


# -------------------------------------------------------------------- iterative


def iterative_reset(see: View, size: int) -> Steps:
    while reset_needed(see):
        see = yield "LSHIFT"
    yield STOP


def iterative_bubble(see: View, size: int) -> Steps:
    while not see.p1_at_end:
        yield "COMPSWAP"  # pointer 2 ends on the right neighbour
        see = yield "PTR_1_R"
    yield STOP


def iterative_bubblesort(see: View, size: int) -> Steps:
    for _ in range(size - 1):
        yield "BUBBLE"
        yield "RESET"
    yield STOP


def flat_bubblesort(see: View, size: int) -> Steps:
    for _ in range(size - 1):
        while not see.p1_at_end:
            see = yield "PTR_2_R"
            if greater(see):
                yield "SWAP"
            see = yield "PTR_1_R"
        while not see.p1_at_start:
            yield "PTR_1_L"
            see = yield "PTR_2_L"
    yield STOP


# -------------------------------------------------------------------- recursive


def recursive_reset(see: View, size: int) -> Steps:
    see = yield "LSHIFT"
    if reset_needed(see):
        yield "RESET"
    yield STOP


def recursive_bubble(see: View, size: int) -> Steps:
    if not one_element(see):
        yield "COMPSWAP"
        yield "PTR_1_R"
        yield "BUBBLE"
    yield STOP


def recursive_bubblesort(see: View, size: int) -> Steps:
    if not one_element(see):
        yield "BUBBLE"
        yield "RESET"
        yield "BUBBLESORT"
    yield STOP


def hanoi(see: View, size: int) -> Steps:
    if see.one_disk:
        yield "MOVE_DISK"
    else:
        yield "SWAP_A_T"
        yield "HANOI"
        yield "SWAP_A_T"
        yield "MOVE_DISK"
        yield "SWAP_S_A"
        yield "HANOI"
        yield "SWAP_S_A"
    yield STOP


# -------------------------------------------------------------------- sorts on named parts


def insert(see: View, size: int) -> Steps:
    if see.last_is_smaller:
        yield "SWAP"
        yield "INSERT on front"
    yield STOP


def insertion_sort(see: View, size: int) -> Steps:
    if see.several:
        yield "INSERTION_SORT on front"
        yield "INSERT"
    yield STOP


def merge(see: View, size: int) -> Steps:
    while see.left_remains or see.right_remains:
        from_left = see.left_remains and not (see.right_remains and see.right_is_smaller)
        see = yield "TAKE_LEFT" if from_left else "TAKE_RIGHT"
    yield "PUT_BACK"
    yield STOP


def merge_sort(see: View, size: int) -> Steps:
    if see.several:
        yield "MERGE_SORT on left"
        yield "MERGE_SORT on right"
        yield "MERGE"
    yield STOP


def partition(see: View, size: int) -> Steps:
    while not see.at_pivot:
        if see.smaller:
            yield "SWAP"
            yield "ADVANCE"
        see = yield "NEXT"
    yield "SWAP"
    yield STOP


def quicksort(see: View, size: int) -> Steps:
    if see.several:
        yield "PARTITION"
        yield "QUICKSORT on left"
        yield "QUICKSORT on right"
    yield STOP


LEVEL_1: Solutions = {"RSHIFT": rshift, "LSHIFT": lshift, "COMPSWAP": compswap}
SOLUTIONS: Mapping[str, Solutions] = {
    "Hanoi": {"HANOI": hanoi},
    "Sorting": {
        **LEVEL_1,
        "RESET": iterative_reset,
        "BUBBLE": iterative_bubble,
        "BUBBLESORT": iterative_bubblesort,
    },
    "RecursiveSorting": {
        **LEVEL_1,
        "RESET": recursive_reset,
        "BUBBLE": recursive_bubble,
        "BUBBLESORT": recursive_bubblesort,
    },
    "FlatSorting": {"BUBBLESORT": flat_bubblesort},
    "InsertionSort": {"INSERT": insert, "INSERTION_SORT": insertion_sort},
    "MergeSort": {"MERGE": merge, "MERGE_SORT": merge_sort},
    "Quicksort": {"PARTITION": partition, "QUICKSORT": quicksort},
}


def solution_for(environment: Environment[Any]) -> Solutions:
    return SOLUTIONS[type(environment).__name__]


# -------------------------------------------------------------------- interpreter


class Frame:
    """A call under way."""

    def __init__(self, environment: Environment[Any], entry: str, state: Any, solutions: Solutions) -> None:
        self.entry = entry
        self.program = program = environment.library.called(entry).name
        self.before = self.state = state
        self.actions = 0
        self.limit = environment.depth(program, state)
        self._steps = solutions[program](view(environment, environment.observe(state)), environment.size(state))
        self._environment = environment

    def next_action(self) -> str:
        self.actions += 1
        assert self.actions <= self.limit, f"{self.program} takes more than {self.limit} actions from {self.before}"
        if self.actions == 1:
            return next(self._steps)
        return self._steps.send(view(self._environment, self._environment.observe(self.state)))


def execute(environment: Environment[Any], program: str, state: Any, solutions: Solutions) -> Any:
    """Run a program and check every call's pre-condition, depth and post-condition; no Python recursion."""
    assert environment.pre(program, state), f"{program} may not start in {state}"
    stack = [Frame(environment, program, state, solutions)]
    while True:
        frame = stack[-1]
        action = frame.next_action()
        if action == STOP:
            ended = frame.state
            assert environment.post(frame.program, frame.before, ended), (
                f"{frame.program}: from {frame.before} to {ended}"
            )
            stack.pop()
            if not stack:
                return ended
            caller = stack[-1]
            caller.state = environment.leave(caller.state, ended, frame.entry, caller.program)
            continue
        entry = environment.library.named(action)
        assert entry in environment.library.callable_by(frame.program), f"{frame.program} cannot call {action}"
        assert environment.pre(action, frame.state, frame.program), f"{action} is illegal in {frame.state}"
        if entry.atomic:
            frame.state = environment.act(frame.state, action)
        else:
            entered = environment.enter(frame.state, action, frame.program)
            stack.append(Frame(environment, action, entered, solutions))


# -------------------------------------------------------------------- a network that follows solutions


class ScriptedEvaluator:
    """Puts nearly all weight on the action the solution takes after the same observations.

    A memory row is the id of the observations so far, 0 where there are none. Where the solution has stopped
    by then (the search also tries what the solution would not do), all actions weigh the same.
    """

    memory_width = 1

    def __init__(
        self,
        environment: Environment[Any],
        solutions: Solutions | None = None,
        size: int = 0,
        weight: float = 20.0,
        value: float = 0.5,
    ) -> None:
        self.environment = environment
        self.solutions = solution_for(environment) if solutions is None else solutions
        self.size = size
        self.weight = weight
        self.value = value
        self._names = [program.name for program in environment.library.learned]
        self._histories: list[tuple[tuple[int, ...], ...]] = [()]
        self._identifiers: dict[tuple[tuple[int, ...], ...], int] = {(): 0}

    def evaluate(
        self,
        programs: NDArray[np.int64],
        observations: NDArray[np.int16],
        memory: NDArray[np.float32],
    ) -> Evaluation:
        logits = np.zeros((len(programs), len(self.environment.library)), np.float32)
        following = np.zeros((len(programs), 1), np.float32)
        for row, (program, observation) in enumerate(zip(programs, observations, strict=True)):
            history = (*self._histories[int(memory[row, 0])], tuple(observation.tolist()))
            identifier = self._identifiers.setdefault(history, len(self._identifiers))
            assert identifier < 2**24, "a float32 holds no more ids exactly"
            if identifier == len(self._histories):
                self._histories.append(history)
            following[row, 0] = identifier
            action = self.action(self._names[program], history)
            if action is not None:
                logits[row, self.environment.library.index_of(action)] = self.weight
        values = np.full(len(programs), self.value, np.float32)
        return Evaluation(logits, values, following)

    def action(self, program: str, history: tuple[tuple[int, ...], ...]) -> str | None:
        """What the solution does after these observations; None where it has stopped by then."""
        views = [view(self.environment, observation) for observation in history]
        steps = self.solutions[program](views[0], self.size)
        action = next(steps)
        for see in views[1:]:
            try:
                action = steps.send(see)
            except StopIteration:
                return None
        return action
