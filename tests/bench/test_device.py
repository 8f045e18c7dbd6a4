"""What `bench device` measures and concludes, and who is told that a network is too small."""

from __future__ import annotations

import pytest

from alphanpi import NetworkConfig, create_network, make
from alphanpi.bench import device as bench
from alphanpi.network.paying import PAYING, PAYS_FROM, device_advice, parameters_of
from alphanpi.support.config import override
from alphanpi.training.presets import preset
from tests.helpers.tiny import SETTINGS

TINY = override(preset("default", "hanoi"), SETTINGS)


def result(units: int, ratio: float) -> bench.DeviceResult:
    speed = bench.Speed(1.0, 1.0, 1.0)
    return bench.DeviceResult(units, 10 * units, speed, speed, 1.0, 1.0, ratio)


def test_both_sides_are_measured_for_every_size(monkeypatch):
    monkeypatch.setattr(bench, "_EVALUATION_SECONDS", 0.01)
    told: list[bench.DeviceResult] = []
    report = bench.bench_device((3, 2), "cpu", 1, environment="hanoi", config=TINY, on_result=told.append)
    assert [one.units for one in report.results] == [2, 3]
    assert list(report.results) == told
    for one in report.results:
        assert min(*one.cpu, *one.device, one.evaluation_ratio, one.gradient_ratio, one.iteration_ratio) > 0
    assert report.results[0].parameters < report.results[1].parameters


@pytest.mark.parametrize(
    ("ratios", "faster", "pays"),
    [((0.5, 2, 6), 2, 3), ((6, 0.5, 2), 3, None), ((6, 4, 7), 1, 3), ((0.1, 0.2, 0.3), None, None), ((5, 5, 5), 1, 1)],
)
def test_a_size_counts_only_if_all_larger_ones_do(ratios, faster, pays):
    results = [result(units, ratio) for units, ratio in enumerate(ratios, 1)]
    assert bench._from(results, 1.0) == faster
    assert bench._from(results, PAYING) == pays


def test_a_network_too_small_for_its_device_is_named():
    environment = make("hanoi")
    small = create_network(environment)
    large = create_network(environment, config=NetworkConfig(memory=1024))
    assert parameters_of(small) < PAYS_FROM < parameters_of(large)
    assert f"{parameters_of(small):,} parameters" in device_advice(small, "cuda")
    assert device_advice(small, "cpu") == device_advice(large, "cuda:1") == ""
