"""Checking an environment: whether its functions, states and programs keep the rules learning relies on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alphanpi import limits
from alphanpi.checking.embedding import check_embedding
from alphanpi.checking.probe import Probe, global_generators_kept
from alphanpi.checking.reachability import IdealPrograms, check_reachability
from alphanpi.checking.report import Collector, Finding, Report
from alphanpi.checking.rules import Examination, check_not_trivial, check_states, draw_starts
from alphanpi.spec import Environment

__all__ = ["Finding", "Report", "check"]


def check(
    environment: Environment[Any],
    samples: int = 20,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Look for broken rules in any environment; its errors become findings too.

    Args:
        environment: What to check.
        samples: Start states drawn for each program and size.
        seed: Of all random draws.
        progress: Told the name of each program before it is checked.
    """
    limits.whole("samples", samples, most=limits.MOST_EPISODES)
    limits.seed(seed)
    probe, collector = Probe(environment), Collector()
    ideal = IdealPrograms(probe)
    with global_generators_kept():
        for index, program in enumerate(probe.library.learned):
            if progress is not None:
                progress(program.name)
            exam = Examination(probe, collector, program, samples, (seed, index))
            starts = draw_starts(exam)
            check_states(exam, starts)
            check_not_trivial(exam, starts)
            if program.recursive:
                check_embedding(exam)
            check_reachability(exam, starts, ideal)
    return Report(probe.name, tuple(collector.findings), tuple(collector.notes), len(probe.seen))
