"""Small environments, each with one rule broken, and the finding it must give."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.specification import Environment, action, program
from alphanpi.environments.hanoi import Hanoi
from alphanpi.environments.recursive_sorting import RecursiveSorting


class Count(NamedTuple):
    """A counter that has to reach its goal and cannot go past it; nobody sees the tag."""

    value: int
    goal: int
    tag: int = 0


def below_goal(state):
    return state.value < state.goal


def not_past_goal(state):
    return state.value <= state.goal


def nearer(state):
    return state._replace(goal=state.goal - 1) if state.goal > 1 else None


def goal_back(caller, callee):
    return callee._replace(goal=caller.goal)


class Counter(Environment[Count]):
    """Count up to the goal: the same for a goal that is one nearer, and one step."""

    fields = ("at_goal", "at_start", "goal_is_one")
    train_sizes: ClassVar[tuple[int, ...]] = (1, 2, 3)
    validation_size = 4

    @action(pre=below_goal)
    def UP(self, state):
        return state._replace(value=state.value + 1)

    @action(pre=lambda state: state.value > 0)
    def DOWN(self, state):
        return state._replace(value=state.value - 1)

    @program(level=1, depth=4, pre=below_goal)
    def STEP(self, before, after):
        return after == before._replace(value=before.value + 1)

    @program(level=2, depth=8, pre=not_past_goal, recursive=True, shrink=nearer, restore=goal_back)
    def REACH(self, before, after):
        return after == before._replace(value=before.goal)

    def initial(self, program, size, rng):
        return Count(int(rng.integers(size + (program == "REACH"))), size)

    def observe(self, state):
        return state.value == state.goal, state.value == 0, state.goal == 1

    def size(self, state):
        return state.goal


def unrestored(caller, callee):
    return callee


def not_nearer(state):
    return state if state.goal > 1 else None


def further(state):
    return state._replace(goal=state.goal - 1, value=99) if state.goal > 1 else None


class ObserveCountsItsCalls(Counter):
    calls = 0

    def observe(self, state):
        self.calls += 1
        return self.calls % 2, 0, 0


@dataclass
class Mutable:
    """Hashable and compared by value, and yet it can be changed in place."""

    value: int
    goal: int
    seen: list[int] = field(default_factory=list)

    def __hash__(self):
        return hash((self.value, self.goal, tuple(self.seen)))


class MutableCounter(Environment[Mutable]):
    """Base of environments whose functions change their argument."""

    fields = ("at_goal",)

    @action(pre=lambda state: state.value < state.goal)
    def UP(self, state):
        return Mutable(state.value + 1, state.goal)

    @program(level=1, depth=8)
    def REACH(self, before, after):
        return after.value == before.goal

    def initial(self, program, size, rng):
        return Mutable(0, size)

    def observe(self, state):
        return (state.value == state.goal,)

    def size(self, state):
        return state.goal


class ActChangesItsState(MutableCounter):
    def act(self, state, action):
        state.value += 1
        return state


class ObserveChangesItsState(MutableCounter):
    def observe(self, state):
        state.seen.append(1)
        return (state.value == state.goal,)


class PostChangesItsState(MutableCounter):
    @program(level=1, depth=8)
    def REACH(self, before, after):
        after.seen.append(1)
        return after.value == before.goal


class Identity:
    """A state without equality."""

    def __init__(self, value, goal):
        self.value, self.goal = value, goal


class StatesWithoutEquality(MutableCounter):
    def UP(self, state):  # not a declaration: `act` does the work
        return state

    @action()
    def MORE(self, state):
        return Identity(state.value + 1, state.goal)

    def initial(self, program, size, rng):
        return Identity(0, size)


class PreFlips(Counter):
    calls = 0

    def pre(self, program, state, caller=None):
        self.calls += 1
        return super().pre(program, state, caller) and (program != "STEP" or self.calls % 2 == 0)


class SizeFlips(Counter):
    calls = 0

    def size(self, state):
        self.calls += 1
        return state.goal + self.calls % 2


class LeaveFlips(Counter):
    calls = 0

    def leave(self, caller_state, callee_state, program, caller=None):
        self.calls += 1
        left = super().leave(caller_state, callee_state, program, caller)
        return left._replace(tag=self.calls)


class EnterFlips(Counter):
    calls = 0

    def enter(self, state, program, caller=None):
        self.calls += 1
        entered = super().enter(state, program, caller)
        return entered._replace(tag=self.calls)


class UnseededInitial(Counter):
    def initial(self, program, size, rng):
        fresh = np.random.default_rng()
        return Count(0, size, int(fresh.integers(1000)))


class GlobalRandom(Counter):
    def initial(self, program, size, rng):
        return Count(random.randrange(size), size)


class GlobalNumpyRandom(Counter):
    def initial(self, program, size, rng):
        np.random.random()
        return Count(int(rng.integers(size)), size)


class ObserveUsesGlobalRandom(Counter):
    def observe(self, state):
        random.random()
        return super().observe(state)


class LegalActionRaises(Counter):
    @action()
    def DOWN(self, state):
        if state.value == 0:
            raise ValueError("below zero")
        return state._replace(value=state.value - 1)


class InitialBreaksPre(Counter):
    def initial(self, program, size, rng):
        return Count(size, size)


class InitialOfWrongSize(Counter):
    def initial(self, program, size, rng):
        return Count(0, size + 1)


class FrameNotRestored(Counter):
    @program(level=2, depth=8, pre=not_past_goal, recursive=True, shrink=nearer, restore=unrestored)
    def REACH(self, before, after):
        return after.value == before.goal


def restored_at_once_only(caller, callee):
    return caller if callee == nearer(caller) else callee


class SizeLostByCallee(Counter):
    @program(level=2, depth=8, pre=not_past_goal, recursive=True, shrink=nearer, restore=restored_at_once_only)
    def REACH(self, before, after):
        return after.value == before.goal


class MeasureStays(Counter):
    @program(level=2, depth=8, pre=not_past_goal, recursive=True, shrink=not_nearer, restore=goal_back)
    def REACH(self, before, after):
        return after.value == before.goal


class CalleeStartsIllegally(Counter):
    @program(level=2, depth=8, pre=not_past_goal, recursive=True, shrink=further, restore=goal_back)
    def REACH(self, before, after):
        return after.value == before.goal

    def pre(self, program, state, caller=None):
        if caller == program:
            return state.goal > 1
        return super().pre(program, state, caller)


class SeesTheWholeList(RecursiveSorting):
    def observe(self, state):
        return super().observe(state._replace(start=0, end=len(state.values) - 1))


class MovesInTheWholeList(RecursiveSorting):
    def pre(self, program, state, caller=None):
        if program == "PTR_1_R":
            return state.p1 < len(state.values) - 1
        return super().pre(program, state, caller)


class SeesLargerDisks(Hanoi):
    def observe(self, state):
        return super().observe(state._replace(disks=len(state.position)))


class TooShallow(Counter):
    @program(level=2, depth=2, pre=not_past_goal, recursive=True, shrink=nearer, restore=goal_back)
    def REACH(self, before, after):
        return after == before._replace(value=before.goal)


class Impossible(Counter):
    @program(level=1, depth=4, pre=below_goal)
    def STEP(self, before, after):
        return after.value == before.value + 0.5


class NothingToLearn(Counter):
    @program(level=1, depth=4, pre=below_goal)
    def STEP(self, before, after):
        return after.value >= before.value


class InitialRaises(Counter):
    def initial(self, program, size, rng):
        raise KeyError("no such thing")


class PostRaises(Counter):
    @program(level=1, depth=4, pre=below_goal)
    def STEP(self, before, after):
        return 1 / (after.value - before.value) > 0


class PostReturnsNone(Counter):
    @program(level=1, depth=4, pre=below_goal)
    def STEP(self, before, after):
        pass


class ObservationTooShort(Counter):
    def observe(self, state):
        return (True,)


class UnhashableState(Counter):
    def initial(self, program, size, rng):
        return [0, size]


BROKEN = [
    (ObserveCountsItsCalls, "purity", "STEP", "observe gives two different results"),
    (ActChangesItsState, "purity", "REACH", "action UP changes the state"),
    (ObserveChangesItsState, "purity", "REACH", "observe changes the state"),
    (PostChangesItsState, "purity", "REACH", "post-condition changes the state"),
    (StatesWithoutEquality, "purity", "REACH", "compare and hash states by value"),
    (PreFlips, "purity", "REACH", "pre-condition of STEP gives two different results"),
    (SizeFlips, "purity", "STEP", "size gives two different results"),
    (LeaveFlips, "purity", "REACH", "leave gives two different results"),
    (EnterFlips, "purity", "REACH", "enter gives two different results"),
    (UnseededInitial, "determinism", "STEP", "two different states of size"),
    (GlobalRandom, "determinism", "STEP", "initial draws from a global"),
    (GlobalNumpyRandom, "determinism", "REACH", "initial draws from a global"),
    (ObserveUsesGlobalRandom, "determinism", "REACH", "observe, act, pre"),
    (LegalActionRaises, "mask", "REACH", "DOWN is legal but cannot be applied"),
    (InitialBreaksPre, "initial", "STEP", "the pre-condition does not hold"),
    (InitialOfWrongSize, "initial", "REACH", "asked for size 1 and got size 2"),
    (FrameNotRestored, "frame", "REACH", "does not give the caller's state"),
    (SizeLostByCallee, "frame", "REACH", "the size is"),
    (CalleeStartsIllegally, "frame", "REACH", "begins where the pre-condition is false"),
    (MeasureStays, "measure", "REACH", "takes the measure from"),
    (SeesTheWholeList, "embedding", "BUBBLE", "looks like none of that size"),
    (MovesInTheWholeList, "embedding", "RESET", "looks like none of that size"),
    (SeesLargerDisks, "embedding", "HANOI", "looks like none of that size"),
    (TooShallow, "reachable", "REACH", "2 actions, STOP included"),
    (Impossible, "reachable", "STEP", "4 actions, STOP included"),
    (NothingToLearn, "trivial", "STEP", "nothing to learn"),
    (InitialRaises, "raises", "STEP", "no such thing"),
    (PostRaises, "raises", "STEP", "ZeroDivisionError"),
    (PostReturnsNone, "specification", "STEP", "returned None"),
    (ObservationTooShort, "specification", "STEP", "1 entries for 3 fields"),
    (UnhashableState, "specification", "STEP", "unhashable state"),
]
