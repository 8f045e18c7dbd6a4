"""Checking an environment: whether its functions, states and programs keep the rules learning relies on."""

from __future__ import annotations

from collections.abc import Callable

from alphanpi.environment.checking.contracts import check_contract
from alphanpi.environment.checking.embedding import Embedding
from alphanpi.environment.checking.enumeration import check_enumeration
from alphanpi.environment.checking.examination import Calls, Examination
from alphanpi.environment.checking.ideal import IdealPrograms
from alphanpi.environment.checking.lemma import check_lemma
from alphanpi.environment.checking.look_alikes import check_look_alikes
from alphanpi.environment.checking.probe import Probe, global_generators_kept
from alphanpi.environment.checking.proofs import check_proof
from alphanpi.environment.checking.reachability import check_reachability
from alphanpi.environment.checking.report import CheckReport, Collector, Finding
from alphanpi.environment.checking.rules import check_not_trivial, check_states
from alphanpi.environment.checking.runtime import check_derived, check_standalone
from alphanpi.environment.checking.signatures import Signatures
from alphanpi.environment.checking.starts import check_minimum_size, draw_starts
from alphanpi.environment.checking.templates import check_templates
from alphanpi.environment.checking.texts import check_texts
from alphanpi.environment.given import GivenEnvironment, as_environment
from alphanpi.environment.specification import require_specified
from alphanpi.support import limits

__all__ = ["CheckReport", "Finding", "check"]


def check(
    environment: GivenEnvironment,
    samples: int = 20,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> CheckReport:
    """Look for broken rules in any environment; its errors become findings too.

    Args:
        environment: What to check: an id, path/to/file.py:ClassName, package.module:ClassName, a class or an instance.
        samples: Start states drawn for each program and size, at the least.
        seed: Of half of the random draws; the others are always the same.
        progress: Told what is about to be checked.
    """
    limits.whole("samples", samples, most=limits.MOST_EPISODES)
    limits.seed(seed)
    environment = as_environment(environment)
    collector = Collector()
    with collector.catching(None):
        require_specified(environment)
    if collector.findings:
        return CheckReport(type(environment).__name__, tuple(collector.findings), (), 0)
    probe = Probe(environment)
    ideal, needed, possible = IdealPrograms(probe), Calls(), Calls()
    exams = [
        Examination(probe, collector, program, samples, (seed, index), ideal, [], needed, possible)
        for index, program in enumerate(probe.library.learned)
    ]

    def tell(what: str) -> None:
        if progress is not None:
            progress(what)

    with global_generators_kept():
        for exam in exams:
            tell(exam.name)
            with collector.catching(exam.name):
                draw_starts(exam)
                check_states(exam)
                check_not_trivial(exam)
                check_reachability(exam)
                check_look_alikes(exam)
        for exam in exams:  # now the calls of all programs are known
            tell(f"{exam.name} as it is called")
            with collector.catching(exam.name):
                check_minimum_size(exam)
                signatures = Signatures(probe, exam.name)
                embedding = Embedding(exam, signatures)
                embedding.check()
                check_enumeration(exam, signatures, embedding)
                check_templates(exam, signatures)
                check_contract(exam)
                check_texts(exam)
                check_proof(exam)
        tell("the lemma, derived conditions and standalone()")
        with collector.catching(None):
            check_lemma(exams, seed)
            check_derived(exams)
            check_standalone(exams)
    return CheckReport(probe.name, tuple(collector.findings), tuple(collector.notes), len(probe.seen))
