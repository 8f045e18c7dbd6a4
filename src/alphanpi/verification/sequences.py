"""What a proved program is shown: every sequence of observations that can occur, from a certificate computed again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.verification.certificate import subject_of
from alphanpi.verification.decisions import Mask
from alphanpi.verification.recheck import read_about, recheck
from alphanpi.verification.verdicts import Kind
from alphanpi.verification.verifier import Verifier


class ShownStep(NamedTuple):
    """What a call was shown before an action, what was legal, and the action."""

    observation: tuple[int, ...]
    mask: Mask
    action: str


ShownSequence = tuple[ShownStep, ...]


def proved_sequences(agent: Agent, certificate: Path, time_limit: float | None) -> Mapping[str, list[ShownSequence]]:
    """By program, all sequences that calls of any size show an agent.

    The certificate must be about these weights and this environment, and give the same when it is computed again; a
    UsageError says where it does not. Programs that are not PROVED, and those proved by an invariant of their body,
    whose sequences have no end, are left out.
    """
    subject = subject_of(agent.card, agent.network)
    if read_about(certificate, subject, agent.environment).claim.kind != Kind.PROVED:
        return {}
    made: list[Verifier] = []

    def make(**limits: Any) -> Verifier:
        made.append(Verifier(agent.environment, agent.evaluator, network=agent.network, **limits))
        return made[-1]

    again = recheck(certificate, subject, agent.environment, make, time_limit)
    (verifier,) = made
    proved = [record.name for record in again.programs if record.claim.kind == Kind.PROVED]
    return {name: _sequences(verifier, name) for name in proved if name not in verifier.loops}


def _sequences(verifier: Verifier, name: str) -> list[ShownSequence]:
    decisions, names = verifier.explorer.decisions, verifier.library.names
    histories = decisions.table.histories

    def step(history: int, mask: Mask) -> ShownStep:
        observation = tuple(int(value) for value in histories[history].observation)
        return ShownStep(observation, mask, names[decisions.decide(history, mask).action])

    found = {
        tuple(step(history, mask) for history, mask in sequence)
        for explored in verifier.progress[name].sizes.values()
        for sequence in explored.sequences
    }
    return sorted(found)
