"""Reachability: from every start some sequence of actions and calls must satisfy the post-condition."""

from __future__ import annotations

from typing import Any

from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.checking.ideal import OutOfBudgetError, Solutions

_SIZES = 3
_STARTS_PER_SIZE = 6
_SURVEYED = 12  # starts and inner problems of a size


def check_reachability(exam: Examination) -> None:
    """Look for solutions from starts of the smallest sizes: rules `reachable` and `base_case`."""
    for size in exam.probe.sizes(exam.program)[:_SIZES]:
        states = [start.state for start in exam.starts if start.size == size]
        exam.ideal.renew()
        for state in states[:_STARTS_PER_SIZE]:
            with exam.collector.catching(exam.name, state):
                try:
                    _reach(exam, state)
                except OutOfBudgetError:
                    exam.collector.note(f"{exam.name}: size {size} has too many states to look for a solution")
                    break
        _survey(exam, states[:_STARTS_PER_SIZE])


def _reach(exam: Examination, state: Any) -> None:
    if exam.ideal.end(exam.name, state) is None:
        limit = exam.probe.depth(exam.name, state)
        message = (
            f"its {limit} actions, STOP included, cannot reach the post-condition, "
            "even if all programs it calls are solved in the shortest way"
        )
        exam.collector.add("reachable", exam.name, message, state)


def _survey(exam: Examination, states: list[Any]) -> None:
    """Remember what the solutions call, from starts and from where the program then calls itself."""
    surveyed = dict.fromkeys(states)
    waiting = list(surveyed)
    while waiting:
        state = waiting.pop(0)
        with exam.collector.catching(exam.name, state):
            try:
                solutions = exam.ideal.solutions(exam.name, state)
            except OutOfBudgetError:
                return
            exam.needed.add(solutions.shortest)
            exam.possible.add(solutions.calls)
            if exam.program.recursive:
                _base_case(exam, state, solutions)
            inner = dict.fromkeys(call.entered for call in solutions.shortest if call.callee == exam.name)
            fresh = [entered for entered in inner if entered not in surveyed][: _SURVEYED - len(surveyed)]
            surveyed.update(dict.fromkeys(fresh))
            waiting += fresh


def _base_case(exam: Examination, state: Any, solutions: Solutions) -> None:
    """Where no solution calls the program itself, it must count as a base case: others are punished for that."""
    group = {exam.probe.library.called(call).name for call in exam.probe.recursive_calls(exam.name)}
    recursive = any(call.callee in group for call in solutions.calls)
    if not solutions.ends or recursive or exam.probe.base_case(exam.name, state):
        return
    message = (
        "base_case is False, but no solution from here calls the program itself, so each gets the recursion penalty"
    )
    if exam.probe.gives("base_case") or exam.probe.gives("measure"):
        exam.collector.add("base_case", exam.name, message, state)
    else:
        exam.collector.note(f"{exam.name}: {message}; say so in base_case(program, state)", state)
