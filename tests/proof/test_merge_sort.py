"""Merge sort, proved: its merge loops, and puts back what it took between numbers that it must not touch."""

from __future__ import annotations

import pytest

import alphanpi
from alphanpi import action
from alphanpi.environment.specification import STOP
from alphanpi.environments.merge_sort import MergeSort, begun, everything_taken
from alphanpi.symbolic import length, replaced
from tests.helpers.windowed import WindowedEvaluator


class Spoiling(MergeSort):
    """Wrong only where a part of a list is merged, and something lies behind it: MERGE alone never begins there."""

    @action(pre=everything_taken)
    def PUT_BACK(self, state):
        """Write what was taken where the halves were, and one number too many."""
        left, right = state.outside()
        right = replaced(right, 0, right[0] + 1) if length(right) > 0 else right
        return begun(left + state.taken + right, state.start, state.end)


class Forgetful(MergeSort):
    """What lies behind is moved to the front, where only the length stays as it was."""

    @action(pre=everything_taken)
    def PUT_BACK(self, state):
        """Write what was taken where the halves were not."""
        left, right = state.outside()
        return begun(right + state.taken + left, state.start, state.end)


def merge(see, before):
    if before == "PUT_BACK":
        return STOP
    if see.left_remains and not (see.right_remains and see.right_is_smaller):
        return "TAKE_LEFT"
    return "TAKE_RIGHT" if see.right_remains else "PUT_BACK"


def takes_left_again(see, before):
    """Right wherever the second number of the left half is not larger than the first of the right one."""
    return "TAKE_LEFT" if before == "TAKE_LEFT" and see.left_remains else merge(see, before)


def merge_sort(see, before):
    turns = {"": "MERGE_SORT on left", "MERGE_SORT on left": "MERGE_SORT on right", "MERGE_SORT on right": "MERGE"}
    return turns.get(before, STOP) if see.several else STOP


def certificate(environment, rule=merge):
    rules = {"MERGE": rule, "MERGE_SORT": merge_sort}
    return alphanpi.verify_evaluator(environment, WindowedEvaluator(environment, rules), by="machine")


def test_merge_sort_is_proved():
    assert certificate(MergeSort()).proved


def test_a_merge_in_another_order_is_not():
    assert not certificate(MergeSort(), takes_left_again).proved


@pytest.mark.parametrize("environment", [Spoiling, Forgetful])
def test_a_merge_that_touches_what_is_outside_is_not(environment):
    found = certificate(environment())
    assert not found.proved
    assert all("PUT_BACK, STOP" in reason for shown in found.programs[:1] for reason in shown.reasons)
