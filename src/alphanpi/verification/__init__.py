"""Verification: a certificate that learned programs work, for every size where a lemma allows it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, get_args

from alphanpi.agent.agent import Agent
from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.cluster.agents import spread_agent
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.evaluator import Evaluator
from alphanpi.verification.certificate import Verified, certify, subject_of
from alphanpi.verification.keeping import write_best
from alphanpi.verification.machine import NO_SOLVER, By, can_be_explored, has_solver, offers_proof
from alphanpi.verification.machine_verifier import MachineVerifier
from alphanpi.verification.recheck import Makers, NotRecheckedError, OtherSubjectError, read_about, recheck
from alphanpi.verification.records import LARGEST_SIZE, Certificate
from alphanpi.verification.verdicts import Kind, Verdict
from alphanpi.verification.verifier import Advance, OnSize, Verifier

__all__ = [
    "Advance",
    "By",
    "Certificate",
    "Kind",
    "NotRecheckedError",
    "OnSize",
    "OtherSubjectError",
    "Verdict",
    "read_certificate",
    "verify",
    "verify_evaluator",
]

TIME_LIMIT = 120.0
MACHINE = 0.5
"""Share of the time for a proof by machine, where sizes can be looked at one by one instead."""


def verify(
    run: Subject,
    *,
    max_size: int | None = None,
    time_limit: float | None = TIME_LIMIT,
    certificate: str | Path | None = None,
    environment: NamedEnvironment = None,
    keep: bool = True,
    on_size: OnSize | None = None,
    by: By = "any",
    workers: int | None = None,
    ray: str | None = None,
) -> Certificate:
    """Verify the greedy interpreter of an agent.

    Args:
        run: An agent, or what `load` takes.
        max_size: Look at every start up to this size; by default as far as the environment's lemma needs.
        time_limit: Seconds after which only the sizes completed so far count.
        certificate: A certificate to compute again instead, as far as it went; a UsageError says where it does not
            hold. It is given ten times the time it took, at least two minutes, unless another time limit is set.
        environment: The agent's environment, if `run` names one that is not trusted; see `load`.
        keep: Write the certificate into the run's directory, if the agent is the newest of a run and no better one is
            there; reports show it.
        on_size: Called whenever a size of a program is complete.
        by: "machine": prove every size at once, with z3; "lemma": look at sizes one by one, and prove the others by the
            environment's lemma; "any": the first where the environment offers it, z3 is there and no size is asked for,
            and the second where that does not decide.
        workers: Processes of Ray that make the real runs with which what was explored is compared; the exploration
            itself is not spread, and the certificate does not depend on them.
        ray: Address of the cluster they are in; this machine if not given.
    """
    _positive(max_size, time_limit)
    if certificate is not None and max_size is not None:
        raise UsageError("a certificate is computed again as far as it went; leave max_size out")
    with spread_agent(as_agent(run, environment=environment), workers, ray) as agent:
        subject = subject_of(agent.card, agent.network)
        settings: dict[str, Any] = {
            "network": agent.network,
            "on_size": on_size,
            "interpreter": None if workers is None else agent.interpreter,
        }
        if certificate is not None:
            seconds = None if time_limit == TIME_LIMIT else time_limit
            makers = Makers(
                partial(Verifier, agent.environment, agent.evaluator, **settings),
                partial(MachineVerifier, agent.environment, agent.evaluator, **settings),
            )
            return recheck(Path(certificate), subject, agent.environment, makers, seconds)
        shown = _shown(subject, agent.environment, agent.evaluator, by, max_size, time_limit, settings)
    if keep:
        agent.keep(partial(write_best, shown))
    return shown


def read_certificate(agent: Agent, path: str | Path) -> Certificate:
    """A certificate as it was written, not computed again; a UsageError if it is damaged or about another agent."""
    return read_about(Path(path), subject_of(agent.card, agent.network), agent.environment)


def verify_evaluator(
    environment: Environment[Any],
    evaluator: Evaluator,
    *,
    max_size: int | None = None,
    time_limit: float | None = TIME_LIMIT,
    on_size: OnSize | None = None,
    by: By = "any",
) -> Certificate:
    """Verify anything that answers like a network; arithmetic in double precision is not compared."""
    _positive(max_size, time_limit)
    subject = Verified(type(environment).__name__, {}, None)
    return _shown(subject, environment, evaluator, by, max_size, time_limit, {"on_size": on_size})


def _shown(
    subject: Verified,
    environment: Environment[Any],
    evaluator: Evaluator,
    by: By,
    max_size: int | None,
    time_limit: float | None,
    settings: dict[str, Any],
) -> Certificate:
    """By machine, size by size, or the second where the first does not decide."""
    if by not in get_args(By):
        raise UsageError(f"--by {by}: choose {', '.join(get_args(By))}")
    if by == "machine" and max_size is not None:
        raise UsageError("a proof by machine is about all sizes; leave max_size out")
    explored = can_be_explored(environment)
    offered = max_size is None and offers_proof(environment)
    if offered and not has_solver():
        if not explored:
            raise UsageError(f"{type(environment).__name__} cannot be verified: {NO_SOLVER}")
        offered = False
    if by == "machine" or (by == "any" and offered):
        seconds = time_limit if time_limit is None or by == "machine" or not explored else MACHINE * time_limit
        proved = certify(subject, MachineVerifier(environment, evaluator, time_limit=seconds, **settings))
        if by == "machine" or not explored or proved.verdict in ("PROVED", "REFUTED"):
            return proved
        time_limit = None if time_limit is None else (1 - MACHINE) * time_limit
    return certify(subject, Verifier(environment, evaluator, max_size=max_size, time_limit=time_limit, **settings))


def _positive(max_size: int | None, time_limit: float | None) -> None:
    if max_size is not None and not 0 <= max_size <= LARGEST_SIZE:
        raise UsageError(f"--max-size {max_size}: give 0 to {LARGEST_SIZE:,}")
    if time_limit is not None and not time_limit > 0:  # nor NaN
        raise UsageError(f"--time-limit {time_limit} leaves no time; give a positive number of seconds")
