"""Ideal programs: every program as a solution within its depth does it, found by breadth-first search over states."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from alphanpi.environment.checking.probe import Probe
from alphanpi.environment.specification import STOP

_EXPANSIONS = 4000
_DEEPEST_CALLS = 40


class OutOfBudgetError(Exception):
    """The search was given up; nothing is known."""


class IdealStep(NamedTuple):
    """An action or a call, with the callee solved in the shortest way."""

    action: str
    after: Any
    entered: Any = None  # of a call: the state it begins in


class IdealCall(NamedTuple):
    """A call that a program may make."""

    caller: str
    state: Any
    callee: str  # the program that runs
    entered: Any  # the state the callee begins in


class Solutions(NamedTuple):
    """What the solutions of one call within its depth have in common."""

    ends: tuple[Any, ...]  # every state in which one may end
    shortest: tuple[IdealCall, ...]  # made on some shortest solution
    calls: tuple[IdealCall, ...]  # made on some solution


class _Explored(NamedTuple):
    """All that can be reached from a start within the depth."""

    limit: int  # actions without STOP
    distance: dict[Any, int]  # from the start
    edges: list[tuple[Any, IdealStep]]
    ends: tuple[Any, ...]  # where the post-condition holds


class IdealPrograms:
    """Every program as its shortest solution does it; a budget limits each search."""

    def __init__(self, probe: Probe) -> None:
        self._budget = 0
        self._probe = probe
        self._ends: dict[tuple[str, Any], Any | None] = {}
        self._steps: dict[tuple[str, int, Any], tuple[IdealStep, ...]] = {}
        self._open: set[tuple[str, Any]] = set()

    def renew(self) -> None:
        """Allow as many expansions as at the beginning."""
        self._budget = _EXPANSIONS

    def end(self, program: str, state: Any) -> Any | None:
        """Where the shortest solution of a call ends; None where there is none within the depth."""
        key = program, state
        if key not in self._ends:
            if len(self._open) >= _DEEPEST_CALLS:
                raise OutOfBudgetError
            self._open.add(key)
            try:
                self._ends[key] = self._search(program, state)
            finally:
                self._open.discard(key)
        return self._ends[key]

    def solutions(self, program: str, start: Any) -> Solutions:
        """All solutions of a call within its depth."""
        limit, distance, edges, ends = self._explored(program, start)
        remaining, called = _distances_back(ends, edges), self._probe.library.called
        lengths = [
            (
                distance[state] + 1 + remaining[step.after],
                IdealCall(program, state, called(step.action).name, step.entered),
            )
            for state, step in edges
            if step.entered is not None and step.after in remaining
        ]
        return Solutions(
            ends,
            shortest=tuple(call for length, call in lengths if length == remaining[start]),
            calls=tuple(call for length, call in lengths if length <= limit),
        )

    def first_actions(self, program: str, start: Any) -> frozenset[str]:
        """The actions and calls, STOP too, with which a solution within the depth can begin."""
        limit, _, edges, ends = self._explored(program, start)
        remaining = _distances_back(ends, edges)
        first = {
            step.action for state, step in edges if state == start and remaining.get(step.after, limit) + 1 <= limit
        }
        return frozenset(first | ({STOP} if start in ends else set()))

    def _explored(self, program: str, start: Any) -> _Explored:
        limit = self._probe.depth(program, start) - 1  # STOP is the last action
        measure = self._probe.measure(program, start)
        distance, frontier = {start: 0}, [start]
        edges: list[tuple[Any, IdealStep]] = []
        for length in range(1, limit + 1):
            following = []
            for state in frontier:
                for step in self._after(program, measure, state):
                    edges.append((state, step))
                    if step.after not in distance:
                        distance[step.after] = length
                        following.append(step.after)
            frontier = following
        ends = tuple(state for state in distance if self._probe.post(program, start, state))
        return _Explored(limit, distance, edges, ends)

    def _search(self, program: str, start: Any) -> Any | None:
        if self._probe.post(program, start, start):
            return start
        measure, frontier, reached = self._probe.measure(program, start), [start], {start}
        for _ in range(self._probe.depth(program, start) - 1):
            following = []
            for state in frontier:
                for _, after, _ in self._after(program, measure, state):
                    if after not in reached:
                        if self._probe.post(program, start, after):
                            return after
                        reached.add(after)
                        following.append(after)
            frontier = following
            if not frontier:
                break
        return None

    def _after(self, program: str, measure: int, state: Any) -> tuple[IdealStep, ...]:
        """All that is one action or one call away, in a call that began with this measure."""
        key = program, measure, state
        known = self._steps.get(key)
        if known is None:
            if self._budget <= 0:
                raise OutOfBudgetError
            self._budget -= 1
            actions = (
                IdealStep(name, self._probe.act(state, name)) for name in self._probe.legal_actions(program, state)
            )
            known = self._steps[key] = (*actions, *self._after_calls(program, measure, state))
        return known

    def _after_calls(self, program: str, measure: int, state: Any) -> list[IdealStep]:
        probe, steps = self._probe, []
        for call in probe.legal_calls(program, state):
            entered, callee = probe.enter(state, call, program), probe.library.called(call).name
            recursive = probe.recursive(program, call)
            if recursive and not probe.measure(callee, entered) < measure:
                continue
            if (callee, entered) in self._open:
                continue
            end = self.end(callee, entered)
            if end is not None:
                steps.append(IdealStep(call, probe.leave(state, end, call, program), entered))
        return steps


def _distances_back(ends: tuple[Any, ...], edges: list[tuple[Any, IdealStep]]) -> dict[Any, int]:
    """How many steps each state is away from the nearest end."""
    before = defaultdict(list)
    for state, step in edges:
        before[step.after].append(state)
    distance, frontier = dict.fromkeys(ends, 0), list(ends)
    while frontier:
        following = []
        for state in frontier:
            for earlier in before[state]:
                if earlier not in distance:
                    distance[earlier] = distance[state] + 1
                    following.append(earlier)
        frontier = following
    return distance
