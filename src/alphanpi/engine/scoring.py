"""The formulas of the search, one function each; equation names are the paper's."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine.compilation import compiled
from alphanpi.environment.specification import STOP, Library


def level_terms(library: Library, c_level: float) -> NDArray[np.float64]:
    """L(i, a) for every program to be learned i and library entry a: [programs, entries]."""
    terms = np.zeros((len(library.learned), len(library)))
    for row, program in enumerate(library.learned):
        for column, entry in enumerate(library):
            same_level = entry.name == STOP or entry.level == program.level
            gap = 1 if same_level else program.level - entry.level
            terms[row, column] = c_level * math.exp(-gap)
    return terms


@compiled
def soft_maximum(weight_sum: float, weighted_value_sum: float) -> float:
    """Q(e, a) from the running sums of e^(tau_1 v) and v e^(tau_1 v)."""
    return weighted_value_sum / weight_sum


@compiled
def upper_confidence(c_puct: float, prior: float, sqrt_total: float, visits: int) -> float:
    """U(e, a) = c_puct P(e, a) sqrt(sum_b N(e, b)) / (1 + N(e, a)), the root taken of at least 1."""
    return c_puct * prior * sqrt_total / (1.0 + visits)


@compiled
def success_value(
    discount: float,
    actions: int,
    recursion_penalty: float,
    recursions: int,
    could_recurse: bool,
) -> float:
    """Value of a success after that many actions, STOP included, and that many recursive calls."""
    value = discount ** np.float64(actions)  # an integer exponent would multiply, and round differently
    if could_recurse and recursions == 0:
        value -= recursion_penalty
    return value
