"""Contracts: the states in which a call may end are exactly those that the post-condition allows."""

from __future__ import annotations

from typing import Any

from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.checking.ideal import OutOfBudgetError
from alphanpi.environment.guard import shown

_SIZES = 3
_STARTS_PER_SIZE = 5
_CALLS = 10
_MOST = 2000


def check_contract(exam: Examination) -> None:
    """Rules `outcomes` and `relative`."""
    name = exam.name
    befores = [start.state for start in exam.smallest(_SIZES, _STARTS_PER_SIZE)]
    befores += [call.entered for call in exam.possible.of(name)[:_CALLS]]
    exam.ideal.renew()
    views, largest = 0, 0
    for before in dict.fromkeys(befores):
        with exam.collector.catching(name, before):
            outcomes = _outcomes(exam, before)
            if outcomes is None:
                break
            largest = max(largest, len(outcomes))
            views += sum(exam.probe.relative(name, after) is not None for after in outcomes)
    if views and largest == 1:
        exam.collector.note(
            f"{name}: relative gives a view, but outcomes always one state, so the view says nothing and keeps "
            f"programs that call {name} from being proved; return None"
        )
    if exam.probe.gives("relative") and not exam.probe.gives("outcomes"):
        exam.collector.note(f"{name}: relative is only asked of what outcomes gives, and there is no outcomes")


def _outcomes(exam: Examination, before: Any) -> list[Any] | None:
    """The outcomes of a call, looked at; None where the environment gives none, or more than can be looked at."""
    probe, name = exam.probe, exam.name
    first, second = (probe.listed(probe.outcomes(name, before), f"outcomes of {name}", _MOST + 1) for _ in range(2))
    if first is None:
        return None
    if len(first) > _MOST and len(set(first)) <= _MOST // 10:
        message = f"outcomes yields {len(set(first))} states again and again, {_MOST} times; it must end"
        exam.collector.add("outcomes", name, message, before)
        return None
    if len(first) > _MOST:
        exam.collector.note(f"{name}: outcomes was not checked: more than {_MOST} of one call")
        return None
    if first != second:
        exam.collector.add("outcomes", name, "outcomes gives different states the second time", before)
    for after in first:
        if not probe.post(name, before, after):
            message = f"outcomes yields {shown(after)}, where the post-condition is false"
            exam.collector.add("outcomes", name, message, before)
    try:
        ends = exam.ideal.solutions(name, before).ends
    except OutOfBudgetError:
        return first
    listed = set(first)
    for end in ends:
        if end not in listed:
            what = "lacks" if first else "is empty and lacks"
            message = f"outcomes {what} {shown(end)}, where a solution can end: the post-condition holds there"
            exam.collector.add("outcomes", name, message, before)
    if not first and not ends:
        exam.collector.add("outcomes", name, "outcomes is empty: nothing can be said about such a call", before)
    return first
