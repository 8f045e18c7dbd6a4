"""What follows from how fast training was with workers."""

from __future__ import annotations

import pytest

from alphanpi.bench.scaling import ScaleResult, most_that_pay, serial_share


def measured(workers: int, speed_up: float, gradients: float = 0.02) -> ScaleResult:
    share = serial_share(workers, speed_up) if workers > 1 else None
    return ScaleResult("case", workers, 3, 10 / speed_up, speed_up, share, gradients, same=True)


@pytest.mark.parametrize("serial", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("workers", [2, 8, 100])
def test_the_share_that_is_not_spread_is_found_again(workers, serial):
    speed_up = 1 / (serial + (1 - serial) / workers)  # Amdahl
    assert serial_share(workers, speed_up) == pytest.approx(serial)


def test_the_most_workers_that_pay_are_those_of_the_least_share_seen():
    # 4 workers, 2.5 times as fast: 0.4 of the time is left, and 0.4 = s + (1 - s) / 4 for s = 0.2.
    alone, two, four = measured(0, 1.0), measured(2, 1.5), measured(4, 2.5)
    assert two.serial_share == pytest.approx(1 / 3)
    assert four.serial_share == pytest.approx(0.2)
    assert most_that_pay([alone, two, four]) == pytest.approx(6)
    assert most_that_pay([alone, two]) == pytest.approx(4)
    assert most_that_pay([alone, measured(1, 1.01, 0.5)]) == pytest.approx(1 + 1 / 0.02)  # no more is known than that


def test_where_workers_are_slower_none_pay():
    assert most_that_pay([measured(0, 1.0), measured(1, 0.9), measured(2, 0.95)]) == 0
