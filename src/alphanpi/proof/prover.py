"""The prover: all programs, level by level; those of one level by induction over the measure, together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any, NamedTuple

from alphanpi.environment.library import Program
from alphanpi.environment.specification import Environment
from alphanpi.network.decisions import Decisions
from alphanpi.proof.bodies import BodyShown, show_body
from alphanpi.proof.loops import RealCall
from alphanpi.proof.unnoticed import unnoticed

MOST_ROUNDS = 20
"""How often views may be added to what is known of the ends of calls."""


class ProgramProof(NamedTuple):
    """What was shown of one program."""

    program: Program
    body: BodyShown
    invariant: frozenset[Hashable]  # the views in which its calls end, where it has any
    proved: bool
    reasons: tuple[str, ...]  # why it is not


OnProgram = Callable[[str], None]
"""Called when a program is about to be looked at."""


def prove_programs(
    environment: Environment[Any],
    decisions: Decisions,
    deadline: float = float("inf"),
    on_program: OnProgram | None = None,
    real_calls: Callable[[str], Iterable[RealCall]] = lambda program: (),
) -> dict[str, ProgramProof]:
    """Show all programs of an environment to keep their contracts, or say why not."""
    library = environment.library
    proofs: dict[str, ProgramProof] = {}
    invariants: dict[str, frozenset[Hashable]] = {}
    refused = [str(one) for one in unnoticed(type(environment))]
    for level in range(1, library.levels + 1):
        group = [program for program in library.learned if program.level == level]
        bodies: dict[str, BodyShown] = {}
        pending = list(group)
        for _ in range(MOST_ROUNDS):
            for program in pending:
                if on_program is not None:
                    on_program(program.name)
                bodies[program.name] = show_body(
                    environment, decisions, program.name, invariants, deadline, partial(real_calls, program.name)
                )
            grown = {
                program.name
                for program in group
                if not bodies[program.name].views <= invariants.get(program.name, frozenset())
            }
            if not grown:
                break
            for name in grown:
                invariants[name] = invariants.get(name, frozenset()) | bodies[name].views
            # What was shown with fewer views of the ends of calls is shown again with all of them.
            pending = [program for program in group if bodies[program.name].called & grown]
            if not pending:
                break
        else:
            pending = group
        unsettled = {program.name for program in pending} if grown else set()
        for program in group:
            proof = _weighed(program, bodies[program.name], invariants, program.name in unsettled)
            proofs[program.name] = proof._replace(
                proved=proof.proved and not refused, reasons=(*proof.reasons, *refused)
            )
        _drop_what_rests_on_nothing(group, proofs)
    return proofs


def _weighed(
    program: Program, body: BodyShown, invariants: dict[str, frozenset[Hashable]], unsettled: bool
) -> ProgramProof:
    reasons = [
        shortfall.text + (f" after {', '.join(shortfall.path)}" if shortfall.path else "")
        for shortfall in body.shortfalls
    ]
    if unsettled:
        reasons.append(f"no end was found to the views in which calls end, in {MOST_ROUNDS} rounds")
    invariant = invariants.get(program.name, frozenset())
    return ProgramProof(program, body, invariant, not reasons, tuple(dict.fromkeys(reasons)))


def _drop_what_rests_on_nothing(group: list[Program], proofs: dict[str, ProgramProof]) -> None:
    """A program that calls one which is not proved is not proved."""
    found = True
    while found:
        found = False
        for program in group:
            proof = proofs[program.name]
            missing = sorted(name for name in proof.body.called if not proofs[name].proved)
            if proof.proved and missing:
                reason = f"it calls {missing[0]}, which is not proved"
                proofs[program.name] = proof._replace(proved=False, reasons=(*proof.reasons, reason))
                found = True
