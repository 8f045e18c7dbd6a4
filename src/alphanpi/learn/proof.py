"""Training until verified: what a verification of the acting weights found, and where to practise next."""

from __future__ import annotations

from typing import Any, NamedTuple

from alphanpi.engine.histories import Evaluator
from alphanpi.errors import UsageError
from alphanpi.guard import Guard
from alphanpi.model import NPINetwork
from alphanpi.spec import Environment
from alphanpi.verification.exploration import Origin
from alphanpi.verification.verdicts import Kind, overall
from alphanpi.verification.verifier import Verifier

QUICK_SIZE = 4
"""Size up to which a verification during training looks first: most faults show there."""


class Failing(NamedTuple):
    """Starts from which a program violates its contract."""

    program: str
    size: int
    origins: tuple[Origin, ...]


class Proof(NamedTuple):
    """What was found; no clock takes part, so that it is a function of the weights."""

    proved: bool
    verdict: str
    failing: tuple[Failing, ...]


def prove(environment: Environment[Any], evaluator: Evaluator, network: NPINetwork) -> Proof:
    """Verify, small sizes first."""
    result = Verifier(environment, evaluator, network=network, max_size=QUICK_SIZE).verify()
    if all(shown.counter_example is None for shown in result.programs):
        result = Verifier(environment, evaluator, network=network).verify()
    total = overall(shown.verdict for shown in result.programs)
    weak = [shown for shown in result.programs if shown.verdict.kind != Kind.PROVED]
    return Proof(
        proved=total.kind == Kind.PROVED,
        verdict=", ".join(f"{shown.program.name} {shown.verdict}" for shown in weak) or str(total),
        failing=tuple(
            Failing(
                program=shown.program.name,
                size=Guard(environment).size(shown.counter_example.start),
                origins=tuple(dict.fromkeys(shown.counter_example.failing)),
            )
            for shown in result.programs
            if shown.counter_example is not None
        ),
    )


def require_lemma(environment: Environment[Any]) -> None:
    """Refuse to train until verified where nothing can be proved."""
    if Guard(environment).cutoff() is None:
        raise UsageError(
            f"--until verified: {type(environment).__name__} has no cut-off lemma here, so nothing can be proved; "
            "leave it out, or choose --observation compare for recursive-sorting"
        )
