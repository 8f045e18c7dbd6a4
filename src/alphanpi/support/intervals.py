"""How sure a share or a median is: 95 % intervals that assume nothing about the shape of what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

CONFIDENCE = 0.95
_Z_95 = 1.959963984540054


class MedianInterval(NamedTuple):
    """The median of a sample, between two of its order statistics; infinite where it was never reached."""

    median: float
    low: float
    high: float
    coverage: float  # the chance that such an interval holds the median of all there could be; small samples fall short


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a proportion."""
    share, squared = successes / trials, _Z_95**2
    centre = (share + squared / (2 * trials)) / (1 + squared / trials)
    spread = _Z_95 / (1 + squared / trials) * math.sqrt(share * (1 - share) / trials + squared / (4 * trials**2))
    return max(0.0, centre - spread), min(1.0, centre + spread)


def median_interval(values: Sequence[float]) -> MedianInterval:
    """The median of at least one value, and the narrowest symmetric pair of order statistics that covers 95 %.

    A draw lies below the median with probability 1/2, so x(k) to x(n + 1 - k) covers it with probability
    1 - 2 P(Bin(n, 1/2) < k). With fewer than six values no pair reaches 95 %: then k = 1, the whole range.
    """
    ordered, count = sorted(values), len(values)
    outside, place = 0.5**count, 1  # P(Bin < place)
    while 2 * place < count:
        more = outside + math.comb(count, place) * 0.5**count
        if 1 - 2 * more < CONFIDENCE:
            break
        outside, place = more, place + 1
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return MedianInterval(middle, ordered[place - 1], ordered[count - place], max(0.0, 1 - 2 * outside))
