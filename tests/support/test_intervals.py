"""Intervals of shares and medians hold what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from alphanpi.support.intervals import median_interval, wilson_interval


def test_wilson_interval_is_the_published_one():
    # Newcombe (1998), Table I, method 3
    for successes, trials, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)
    assert wilson_interval(29, 29)[1] == 1.0


def test_few_values_give_their_range_and_say_how_often_it_holds():
    assert median_interval([3.0]) == (3.0, 3.0, 3.0, 0.0)
    assert median_interval([4.0, 1.0]) == (2.5, 1.0, 4.0, 0.5)
    assert median_interval([5, 1, 3, 2, 4]) == (3, 1, 5, 1 - 2 / 32)
    assert median_interval([1, 2, 3, 4, 5, 6])[1:] == (1, 6, 1 - 2 / 64)


def test_many_values_give_the_narrowest_pair_that_covers_95_percent():
    # Binomial(10, 1/2): P(X < 2) = 11/1024, P(X < 3) = 56/1024
    assert median_interval(range(1, 11)) == (5.5, 2, 9, 1 - 2 * 11 / 1024)
    assert median_interval(range(1, 101))[1:3] == (40, 61)


@pytest.mark.parametrize("count", [6, 9, 25])
def test_the_interval_holds_the_median_as_often_as_it_says(count):
    samples = np.random.default_rng(0).exponential(size=(4000, count))
    found = [median_interval(list(sample)) for sample in samples]
    held = np.mean([one.low <= math.log(2) <= one.high for one in found])
    assert held == pytest.approx(found[0].coverage, abs=0.012)
    assert found[0].coverage >= 0.95


def test_what_was_never_reached_is_infinite():
    assert median_interval([1.0, 2.0, math.inf]) == (2.0, 1.0, math.inf, 0.75)
    assert median_interval([1.0, math.inf])[0] == math.inf
