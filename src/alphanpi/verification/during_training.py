"""Training until verified: what a verification of the acting weights found, and where to practise next."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.evaluator import UNBOUNDED, Evaluator
from alphanpi.network.model import NPINetwork
from alphanpi.verification.certificate import Verified, written
from alphanpi.verification.exploration import StartOrigin
from alphanpi.verification.lemma import checked_cutoff
from alphanpi.verification.machine import NO_SOLVER, has_solver, offers_proof
from alphanpi.verification.machine_verifier import MachineVerifier
from alphanpi.verification.records import Certificate
from alphanpi.verification.verdicts import Kind, overall
from alphanpi.verification.verifier import Verification, Verifier

QUICK_SIZE = 4
"""Size up to which a verification during training looks first: most faults show there."""


class Failing(NamedTuple):
    """Starts from which a program violates its contract."""

    program: str
    size: int
    origins: tuple[StartOrigin, ...]


class Proof(NamedTuple):
    """What was found; no clock takes part, so that it is a function of the weights."""

    proved: bool
    verdict: str
    weak: tuple[str, ...]  # programs that are not proved
    failing: tuple[Failing, ...]
    certificate: Callable[[Verified], Certificate]  # of an agent that is named so


class OutOfTimeError(Exception):
    """The time of a run ended in the middle of a verification, which therefore found nothing."""


def prove(
    environment: Environment[Any], evaluator: Evaluator, network: NPINetwork, seconds: float | None = None
) -> Proof:
    """Verify, small sizes first; an OutOfTimeError where the seconds do not suffice."""
    began = time.monotonic()
    deadline = float("inf") if seconds is None else began + seconds
    verifier = partial(Verifier, environment, evaluator, network=network)
    verified: _Verified | None = None
    if _by_machine(environment):
        verified = _verified(partial(MachineVerifier, environment, evaluator, network=network), deadline)
    else:
        largest = verifier().limits
        smallest = {
            program.name: min(largest[program.name], max(QUICK_SIZE, program.minimum_size))
            for program in environment.library.learned
        }
        if smallest != largest:
            verified = _verified(verifier, deadline, limits=smallest, tried=False)
        if verified is None or all(shown.counter_example is None for shown in verified.result.programs):
            verified = _verified(verifier, deadline)
    result = verified.result
    total = overall(shown.verdict for shown in result.programs)
    weak = [shown for shown in result.programs if shown.verdict.kind != Kind.PROVED]
    return Proof(
        proved=total.kind == Kind.PROVED,
        verdict=", ".join(f"{shown.program.name} {shown.verdict}" for shown in weak) or str(total),
        weak=tuple(shown.program.name for shown in weak),
        failing=tuple(
            Failing(
                program=shown.program.name,
                size=shown.verdict.to_size,
                origins=tuple(dict.fromkeys(shown.counter_example.failing)),
            )
            for shown in result.programs
            if shown.counter_example is not None and shown.counter_example.failing
        ),
        certificate=partial(written, verifier=verified.verifier, result=result, began=began),
    )


def _by_machine(environment: Environment[Any]) -> bool:
    """A lemma is quicker; without one, programs are proved by machine."""
    return checked_cutoff(Guard(environment)) is None and offers_proof(environment) and has_solver()


class _Verified(NamedTuple):
    verifier: Verifier | MachineVerifier
    result: Verification


def _verified(make: Callable[..., Verifier | MachineVerifier], deadline: float, **settings: Any) -> _Verified:
    seconds = None if deadline == float("inf") else max(deadline - time.monotonic(), 1e-3)
    verifier = make(time_limit=seconds, **settings)
    result = verifier.verify()
    if not result.timely:
        raise OutOfTimeError
    return _Verified(verifier, result)


def require_lemma(environment: Environment[Any], window: int) -> None:
    """Refuse to train until verified where nothing can be proved."""
    cutoff = checked_cutoff(Guard(environment))
    if cutoff is not None and cutoff.loops and window == UNBOUNDED:
        raise UsageError(
            f"--until verified: the lemma of {type(environment).__name__} speaks of loops, and a network that "
            "remembers all of a call cannot be proved by it; set network.window, for example to 1"
        )
    if cutoff is None and not _by_machine(environment):
        name = type(environment).__name__
        if offers_proof(environment):
            raise UsageError(f"--until verified: {name}: {NO_SOLVER}")
        raise UsageError(
            f"--until verified: {name} has no cut-off lemma here and no symbolic(unknown), so nothing can be proved; "
            "leave it out, or choose a variant that has one"
        )
