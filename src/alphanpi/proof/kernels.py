"""Which sums of numbers are always zero: the kernel of a matrix of integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm


def integer_kernel(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """A basis of all weights w with row . w = 0 for every row, in smallest whole numbers.

    By Gauss's elimination; each vector of the basis has a column of its own, as far to the right as may be.
    """
    width = len(rows[0]) if rows else 0
    reduced: list[list[Fraction]] = []
    pivots: list[int] = []
    for row in dict.fromkeys(tuple(row) for row in rows):
        rest = [Fraction(value) for value in row]
        for pivot, known in zip(pivots, reduced, strict=True):
            factor = rest[pivot]
            rest = [value - factor * other for value, other in zip(rest, known, strict=True)]
        found = next((column for column, value in enumerate(rest) if value), None)
        if found is None:
            continue
        rest = [value / rest[found] for value in rest]
        reduced = [
            [value - known[found] * other for value, other in zip(known, rest, strict=True)] for known in reduced
        ]
        reduced.append(rest)
        pivots.append(found)
    kernel = []
    for free in (column for column in range(width) if column not in pivots):
        weights = [Fraction(0)] * width
        weights[free] = Fraction(1)
        for pivot, known in zip(pivots, reduced, strict=True):
            weights[pivot] = -known[free]
        scale = lcm(*(weight.denominator for weight in weights))
        whole = [int(weight * scale) for weight in weights]
        divisor = gcd(*whole)
        kernel.append([weight // divisor for weight in whole])
    return kernel
