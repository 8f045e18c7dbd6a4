"""Reachability: from every start some sequence of actions and calls must satisfy the post-condition."""

from __future__ import annotations

from typing import Any

from alphanpi.checking.probe import Probe
from alphanpi.checking.rules import Examination, Start

_SIZES = 3
_STARTS_PER_SIZE = 4
_EXPANSIONS = 4000
_DEEPEST_CALLS = 40


class OutOfBudgetError(Exception):
    """The search was given up; nothing is known."""


def check_reachability(exam: Examination, starts: list[Start], ideal: IdealPrograms) -> None:
    """Look for a solution from starts of the smallest sizes: rule `reachable`."""
    name = exam.program.name
    for size in exam.probe.sizes(exam.program)[:_SIZES]:
        ideal.budget = _EXPANSIONS
        for state in [start.state for start in starts if start.size == size][:_STARTS_PER_SIZE]:
            with exam.collector.catching(name, state):
                try:
                    solved = ideal.end(name, state) is not None
                except OutOfBudgetError:
                    exam.collector.note(f"{name}: size {size} has too many states to look for a solution")
                    break
                if not solved:
                    limit = exam.probe.depth(name, state)
                    message = (
                        f"its {limit} actions, STOP included, cannot reach the post-condition, "
                        "even if all programs it calls are solved in the shortest way"
                    )
                    exam.collector.add("reachable", name, message, state)


class IdealPrograms:
    """Every program as its shortest solution does it, found by breadth-first search over states."""

    def __init__(self, probe: Probe) -> None:
        self.budget = _EXPANSIONS
        self._probe = probe
        self._ends: dict[tuple[str, Any], Any | None] = {}
        self._successors: dict[tuple[str, Any], tuple[Any, ...]] = {}
        self._open: set[tuple[str, Any]] = set()

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

    def _search(self, program: str, start: Any) -> Any | None:
        if self._probe.post(program, start, start):
            return start
        frontier, reached = [start], {start}
        for _ in range(self._probe.depth(program, start) - 1):
            following = []
            for state in frontier:
                for after in self._after(program, state):
                    if after not in reached:
                        if self._probe.post(program, start, after):
                            return after
                        reached.add(after)
                        following.append(after)
            frontier = following
            if not frontier:
                break
        return None

    def _after(self, program: str, state: Any) -> tuple[Any, ...]:
        """The states one action or one call away."""
        key = program, state
        known = self._successors.get(key)
        if known is None:
            if self.budget <= 0:
                raise OutOfBudgetError
            self.budget -= 1
            actions = (self._probe.act(state, name) for name in self._probe.legal_actions(program, state))
            known = self._successors[key] = (*actions, *self._after_calls(program, state))
        return known

    def _after_calls(self, program: str, state: Any) -> list[Any]:
        probe, after = self._probe, []
        for entry in probe.library.callable_by(program)[probe.library.atomic_count :]:
            if not probe.pre(entry.name, state, program):
                continue
            entered = probe.enter(state, entry.name, program)
            if entry.name == program and not (probe.measure(program, entered) < probe.measure(program, state)):
                continue
            if (entry.name, entered) in self._open:
                continue
            end = self.end(entry.name, entered)
            if end is not None:
                after.append(probe.leave(state, end, entry.name, program))
        return after
