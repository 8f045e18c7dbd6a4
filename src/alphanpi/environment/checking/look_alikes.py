"""Starts that look alike and have no action in common that solves both: no agent can learn such a program."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any

from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.checking.ideal import OutOfBudgetError
from alphanpi.environment.guard import shown

_SIZES = 4
_STARTS_PER_SIZE = 12


def check_look_alikes(exam: Examination) -> None:
    """At the start of a call nothing can be remembered yet: what is seen and allowed there is all an agent has."""
    alike: defaultdict[Any, list[tuple[Any, frozenset[str]]]] = defaultdict(list)
    exam.ideal.renew()
    for start in exam.smallest(_SIZES, _STARTS_PER_SIZE):
        try:
            first = exam.ideal.first_actions(exam.name, start.state)
        except OutOfBudgetError:
            break
        if first:
            alike[exam.probe.observe(start.state), exam.probe.legal(exam.name, start.state)].append(
                (start.state, first)
            )
    for states in alike.values():
        for (one, solving), (other, solving_other) in combinations(states, 2):
            if not solving & solving_other:
                exam.collector.note(
                    f"{exam.name}: these two starts look alike, and no first action solves both: from {shown(one)} "
                    f"{' or '.join(sorted(solving))}, from {shown(other)} {' or '.join(sorted(solving_other))}; no "
                    "agent can tell them apart: add a field to the observation"
                )
                return
