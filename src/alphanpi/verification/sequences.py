"""What a proved program is shown: every sequence of observations that can occur, from a certificate computed again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.network.decisions import Decisions, Mask
from alphanpi.verification.certificate import subject_of
from alphanpi.verification.exploration import SequenceShown
from alphanpi.verification.machine_verifier import MachineVerifier
from alphanpi.verification.recheck import Makers, read_about, recheck
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
    explorers: list[Verifier] = []
    machines: list[MachineVerifier] = []

    def explorer(**limits: Any) -> Verifier:
        explorers.append(Verifier(agent.environment, agent.evaluator, network=agent.network, **limits))
        return explorers[-1]

    def machine(**limits: Any) -> MachineVerifier:
        machines.append(MachineVerifier(agent.environment, agent.evaluator, network=agent.network, **limits))
        return machines[-1]

    again = recheck(certificate, subject, agent.environment, Makers(explorer, machine), time_limit)
    proved = [record.name for record in again.programs if record.claim.kind == Kind.PROVED]
    for by_machine in machines:
        found = by_machine.proofs
        return {name: _sequences(by_machine.decisions, found[name].body.sequences) for name in proved}
    (verifier,) = explorers
    return {
        name: _sequences(
            verifier.explorer.decisions,
            frozenset().union(*(explored.sequences for explored in verifier.progress[name].sizes.values())),
        )
        for name in proved
        if name not in verifier.loops
    }


def _sequences(decisions: Decisions, sequences: frozenset[SequenceShown]) -> list[ShownSequence]:
    names, histories = decisions.table.library.names, decisions.table.histories

    def step(history: int, mask: Mask) -> ShownStep:
        observation = tuple(int(value) for value in histories[history].observation)
        return ShownStep(observation, mask, names[decisions.decide(history, mask).action])

    return sorted({tuple(step(history, mask) for history, mask in sequence) for sequence in sequences})
