"""Agents with a finite memory, written by hand: what to do is a function of what is seen and of the action before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from alphanpi.environment.specification import STOP, Environment
from alphanpi.network.evaluator import Evaluation
from tests.helpers.solutions import View, greater, reset_needed, view

Rule = Callable[[View, str], str]
"""From an observation by field name and the action before, empty at the start of a call."""


class WindowedEvaluator:
    """Puts nearly all weight on what the rule of a program says."""

    memory_width = 1
    window = 1

    def __init__(self, environment: Environment[Any], rules: Mapping[str, Rule], weight: float = 20.0) -> None:
        self.environment = environment
        self.rules = rules
        self.weight = weight

    def evaluate(self, programs, observations, memory) -> Evaluation:
        library = self.environment.library
        logits = np.zeros((len(programs), len(library)), np.float32)
        for row, (program, observation, carried) in enumerate(zip(programs, observations, memory, strict=True)):
            before = "" if carried[-1] == 0 else library.names[int(carried[-1]) - 1]
            rule = self.rules[library.learned[int(program)].name]
            logits[row, library.index_of(rule(view(self.environment, observation), before))] = self.weight
        return Evaluation(logits, np.zeros(len(programs), np.float32), np.zeros((len(programs), 1), np.float32))


def rshift(see: View, before: str) -> str:
    if before == "" and not see.p1_at_end:
        return "PTR_1_R"
    return "PTR_2_R" if before in ("", "PTR_1_R") and not see.p2_at_end else STOP


def lshift(see: View, before: str) -> str:
    if before == "" and not see.p1_at_start:
        return "PTR_1_L"
    return "PTR_2_L" if before in ("", "PTR_1_L") and not see.p2_at_start else STOP


def compswap(see: View, before: str) -> str:
    if see.same_position:
        return "PTR_2_R"
    return "SWAP" if greater(see) else STOP


def reset(see: View, before: str) -> str:
    return "LSHIFT" if reset_needed(see) else STOP


def bubble(see: View, before: str) -> str:
    if before == "COMPSWAP":
        return "RSHIFT"
    return STOP if see.p1_at_end else "COMPSWAP"


def bubblesort(see: View, before: str) -> str:
    if see.sorted:
        return STOP
    return "RESET" if before == "BUBBLE" else "BUBBLE"


SORTING: Mapping[str, Rule] = {
    "RSHIFT": rshift,
    "LSHIFT": lshift,
    "COMPSWAP": compswap,
    "RESET": reset,
    "BUBBLE": bubble,
    "BUBBLESORT": bubblesort,
}


# -------------------------------------------------------------------- other ways that are right


def second_pointer_first(see: View, before: str) -> str:
    """Pointer 2 goes first."""
    if before == "" and not see.p2_at_end:
        return "PTR_2_R"
    return "PTR_1_R" if before in ("", "PTR_2_R") and not see.p1_at_end else STOP


def one_pointer_after_the_other(see: View, before: str) -> str:
    if not see.p1_at_start:
        return "PTR_1_L"
    return STOP if see.p2_at_start else "PTR_2_L"


def leaves_pairs_in_order_alone(see: View, before: str) -> str:
    if see.p1_at_end:
        return STOP
    if see.same_position or (before != "COMPSWAP" and greater(see)):
        return "COMPSWAP"
    return "RSHIFT"


def pointer_by_pointer(see: View, before: str) -> str:
    if see.p1_at_end:
        return STOP
    return "PTR_1_R" if before == "COMPSWAP" else "COMPSWAP"


def walks_where_nothing_is_to_do(see: View, before: str) -> str:
    if see.sorted and before != "BUBBLE" and not see.p1_at_end:
        return "RSHIFT"
    return bubblesort(see, before)


def resets_at_the_end(see: View, before: str) -> str:
    if before == "BUBBLE":
        return "RESET"
    return STOP if see.sorted and before else "BUBBLE"


OTHER_WAYS: tuple[tuple[str, Rule], ...] = (
    ("RSHIFT", second_pointer_first),
    ("RESET", one_pointer_after_the_other),
    ("BUBBLE", leaves_pairs_in_order_alone),
    ("BUBBLE", pointer_by_pointer),
    ("BUBBLESORT", walks_where_nothing_is_to_do),
    ("BUBBLESORT", resets_at_the_end),
)


# -------------------------------------------------------------------- ways that are wrong


def never_second(see: View, before: str) -> str:
    return STOP if before else ("PTR_2_R" if see.p1_at_end else "PTR_1_R")


def forgets_pointer_2(see: View, before: str) -> str:
    """Right on short lists, where an inner pointer 1 has pointer 2 beside it or at an end."""
    if before == "PTR_1_L" and not (see.p1_at_start or see.p2_at_end or see.p2_at_start or see.same_position):
        return STOP
    return lshift(see, before)


def swaps_nines(see: View, before: str) -> str:
    """Wrong for one pair of digits inside a list."""
    inside = not (see.p1_at_start or see.p2_at_end or see.same_position)
    return STOP if inside and see.p1_value_9 and see.p2_value_8 else compswap(see, before)


def never_stops(see: View, before: str) -> str:
    return "PTR_2_R" if see.same_position else "PTR_2_L"


def three_actions_a_cell(see: View, before: str) -> str:
    """Right up to five elements; 3 n - 2 actions are more than 2 n + 3 from six on."""
    if before == "COMPSWAP":
        return "PTR_1_R"
    if before == "PTR_1_R":
        return STOP if see.p1_at_end else "PTR_2_R"
    return "COMPSWAP"


def one_at_a_time_and_back(see: View, before: str) -> str:
    """Puts pointer 2 right before the first step of pointer 1, and never comes home."""
    if before == "PTR_1_L" and not see.p2_at_start:
        return "PTR_2_L"
    if before == "PTR_2_L" and not see.p1_at_start:
        return "PTR_1_L"
    return STOP if before else ("PTR_2_L" if see.p1_at_start else "PTR_1_L")


def forgets_the_last_pair(see: View, before: str) -> str:
    return "RSHIFT" if see.p2_at_end and not see.same_position else bubble(see, before)


def skips_a_digit(see: View, before: str) -> str:
    """Takes an inner pair that begins with a 7 for one in order."""
    if before == "RSHIFT" and see.p1_value_7 and not see.p2_at_end:
        return "RSHIFT"
    return bubble(see, before)


def walks_in_the_end(see: View, before: str) -> str:
    """After the last pass through the list once more, for which time is left in short lists alone."""
    if see.sorted and not see.p1_at_end:
        return "RSHIFT"
    return STOP if see.sorted and before == "RSHIFT" else ("RESET" if before == "BUBBLE" else "BUBBLE")


def stops_at_the_end(see: View, before: str) -> str:
    return STOP if before == "BUBBLE" and see.p1_value_9 else bubblesort(see, before)


def one_pass_too_few(see: View, before: str) -> str:
    return STOP if before == "RESET" else bubblesort(see, before)


WRONG_WAYS: tuple[tuple[str, Rule], ...] = (
    ("RSHIFT", never_second),
    ("LSHIFT", forgets_pointer_2),
    ("COMPSWAP", swaps_nines),
    ("COMPSWAP", never_stops),
    ("RESET", one_at_a_time_and_back),
    ("BUBBLE", three_actions_a_cell),
    ("BUBBLE", never_stops),
    ("BUBBLE", forgets_the_last_pair),
    ("BUBBLE", skips_a_digit),
    ("BUBBLESORT", walks_in_the_end),
    ("BUBBLESORT", stops_at_the_end),
    ("BUBBLESORT", one_pass_too_few),
)
