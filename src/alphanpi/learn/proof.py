"""Training until verified: what a verification of the acting weights found, and where to practise next."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.evaluator import Evaluator
from alphanpi.network.model import NPINetwork
from alphanpi.verification.exploration import Origin
from alphanpi.verification.lemma import checked_cutoff
from alphanpi.verification.verdicts import Kind, overall
from alphanpi.verification.verifier import Result, Verifier

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


class OutOfTimeError(Exception):
    """The time of a run ended in the middle of a verification, which therefore found nothing."""


def prove(
    environment: Environment[Any], evaluator: Evaluator, network: NPINetwork, seconds: float | None = None
) -> Proof:
    """Verify, small sizes first; an OutOfTimeError where the seconds do not suffice."""
    deadline = float("inf") if seconds is None else time.monotonic() + seconds
    smallest = max(QUICK_SIZE, *(program.minimum_size for program in environment.library.learned))
    result = _verified(environment, evaluator, network, deadline, max_size=smallest, tried=False)
    if all(shown.counter_example is None for shown in result.programs):
        result = _verified(environment, evaluator, network, deadline)
    total = overall(shown.verdict for shown in result.programs)
    weak = [shown for shown in result.programs if shown.verdict.kind != Kind.PROVED]
    return Proof(
        proved=total.kind == Kind.PROVED,
        verdict=", ".join(f"{shown.program.name} {shown.verdict}" for shown in weak) or str(total),
        failing=tuple(
            Failing(
                program=shown.program.name,
                size=shown.verdict.to_size,
                origins=tuple(dict.fromkeys(shown.counter_example.failing)),
            )
            for shown in result.programs
            if shown.counter_example is not None
        ),
    )


def _verified(
    environment: Environment[Any],
    evaluator: Evaluator,
    network: NPINetwork,
    deadline: float,
    *,
    max_size: int | None = None,
    tried: bool = True,
) -> Result:
    seconds = None if deadline == float("inf") else max(deadline - time.monotonic(), 1e-3)
    verifier = Verifier(environment, evaluator, network=network, max_size=max_size, time_limit=seconds, tried=tried)
    result = verifier.verify()
    if not result.timely:
        raise OutOfTimeError
    return result


def require_lemma(environment: Environment[Any]) -> None:
    """Refuse to train until verified where nothing can be proved."""
    if checked_cutoff(Guard(environment)) is None:
        raise UsageError(
            f"--until verified: {type(environment).__name__} has no cut-off lemma here, so nothing can be proved; "
            "leave it out, or choose --observation compare for recursive-sorting"
        )
