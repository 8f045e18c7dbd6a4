"""What the benchmarks measure."""

from __future__ import annotations

import alphanpi
from alphanpi.bench import search as bench
from alphanpi.bench.exports import ExportCase, bench_export


def test_bench_search_covers_hanoi_and_every_sorting_program():
    cases = [case.case for case in bench.search_cases()]
    assert "hanoi/HANOI" in cases
    for name in ("sorting", "recursive-sorting", "flat-sorting"):
        programs = alphanpi.make(name).library.learned
        assert {f"{name}/{program.name}" for program in programs} <= set(cases)


def test_the_benchmark_times_all_three():
    (timing,) = bench_export([ExportCase("pretrained:hanoi", "HANOI", (3,))])
    assert timing._fields == ("case", "size", "exported_seconds", "greedy_seconds", "planning_seconds")
    assert 0 < timing.exported_seconds < timing.greedy_seconds
    assert timing.planning_seconds is not None
