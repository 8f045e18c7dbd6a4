"""Proofs by machine, as certificates need them: with examples that really fail, and tried by real runs."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from alphanpi.agent.interpreter import Call, Interpreter, Recording
from alphanpi.engine.tables import Failure
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import STOP, Environment, Program
from alphanpi.environment.step import Step as Taken
from alphanpi.errors import AlphaNPIError
from alphanpi.network.decisions import Decisions
from alphanpi.symbolic.base import offers_proof
from alphanpi.verification.audit import AuditFinding, Auditor, Claim, _OpenCall, failing_run
from alphanpi.verification.contracts import Contracts
from alphanpi.verification.exploration import MOST_FAILING, CounterExample, StartOrigin

if TYPE_CHECKING:
    from alphanpi.environment.checking.twin import Twin
    from alphanpi.proof.prover import ProgramProof

__all__ = [
    "NO_SOLVER",
    "By",
    "ProofAuditor",
    "can_be_explored",
    "claims_of",
    "has_solver",
    "offers_proof",
    "real_calls",
    "real_failures",
]

By = Literal["any", "machine", "lemma"]
"""How programs may be proved."""

SIZES = 4
"""Sizes, from the smallest on, at which what is proved is tried by real runs; larger ones follow."""
SEARCHED = 60
"""Real runs, of small problems, in which a failure is looked for where a proof does not go through."""
COMPARED = 40
"""States of real runs that are also looked at as unknown values."""
_CONFIRMING_ACTIONS = 2_000
_MOST_UNDECIDED = 3  # runs that are cut off, after which no more are made
_SEED = 2_000
NO_SOLVER = "it could be proved by machine, but z3 is not installed: pip install 'alphanpi[proof]'"


def has_solver() -> bool:
    """Whether z3 is there."""
    return importlib.util.find_spec("z3") is not None


def can_be_explored(environment: Environment[Any]) -> bool:
    """Whether starts and ends of calls can be listed size by size."""
    kind = type(environment)
    starts = kind.enumerate is not Environment.enumerate or kind.templates is not Environment.templates
    return starts and kind.outcomes is not Environment.outcomes


def real_failures(
    interpreter: Interpreter, proofs: Mapping[str, ProgramProof], deadline: float = float("inf")
) -> dict[str, CounterExample]:
    """Of the programs that are not proved, the smallest start found from which each really fails."""
    guard, failing = interpreter.guard, dict[str, list[Call]]()
    for name, proof in proofs.items():
        if proof.proved:
            continue
        starts = [start for shortfall in proof.body.shortfalls for start in shortfall.starts]
        undecided = 0
        for start in (*starts, *islice(_drawn(guard, proof.program), SEARCHED)):
            culprit, cut_off = _failing(interpreter, name, start)
            undecided += cut_off
            if culprit is not None:
                failing.setdefault(culprit.program, []).append(culprit)
            if undecided > _MOST_UNDECIDED or time.monotonic() > deadline:
                break
    return {name: _smallest(interpreter, calls) for name, calls in failing.items()}


def _smallest(interpreter: Interpreter, failing: list[Call]) -> CounterExample:
    """The run of the smallest call that fails; with others of its size, for practice."""
    guard = interpreter.guard
    smallest = min(failing, key=lambda call: guard.size(call.state))
    alike = [call.state for call in failing if guard.size(call.state) == guard.size(smallest.state)]
    return failing_run(interpreter, smallest)._replace(failing=origins_of(guard.environment, alike))


def origins_of(environment: Environment[Any], starts: Sequence[Any]) -> tuple[StartOrigin, ...]:
    """Where to find these starts again; some of them, and none that `symbolic` cannot make."""
    origins = (StartOrigin.of_general(environment, start) for start in starts)
    return tuple(islice(dict.fromkeys(filter(None, origins)), MOST_FAILING))


def real_calls(interpreter: Interpreter, program: str) -> Iterator[list[Taken]]:
    """The steps of calls of a program in small real runs, its own and those of programs that may call it."""
    library = interpreter.guard.library
    level = library.named(program).level
    for entry in library.learned:
        if entry.name != program and entry.level < level:
            continue
        for start in _drawn(interpreter.guard, entry):
            try:
                (execution,) = interpreter.run(
                    [Call(entry.name, start)],
                    record=Recording(steps=_CONFIRMING_ACTIONS),
                    max_actions=_CONFIRMING_ACTIONS,
                )
            except AlphaNPIError:
                continue
            frames: list[list[Taken]] = []
            for step in execution.steps:
                if step.depth == len(frames):
                    frames.append([])
                frames[-1].append(step)
                if step.action == STOP:
                    call = frames.pop()
                    if step.program == program:
                        yield call


def _drawn(guard: Guard, program: Program) -> Iterator[Any]:
    rng = np.random.default_rng((_SEED, guard.library.index_of(program.name)))
    try:
        for number in range(SEARCHED):
            yield guard.initial(program.name, program.minimum_size + number // (SEARCHED // 6), rng)
    except AlphaNPIError:
        return


def _failing(interpreter: Interpreter, name: str, start: Any) -> tuple[Call | None, bool]:
    """The call that fails in a real run, if any does; whether the run was cut off, and decides nothing."""
    guard = interpreter.guard
    try:
        # The solver's examples need not be valid: it does not follow everything that `valid` says of all places.
        if not guard.valid(start) or not guard.pre(name, start, None):
            return None, False
        (execution,) = interpreter.run([Call(name, start)], max_actions=_CONFIRMING_ACTIONS)
    except AlphaNPIError:  # the environment itself does not get along with it
        return None, False
    if execution.failure in (Failure.ACTIONS, Failure.CALL_DEPTH):
        return None, True
    return (None if execution.success else execution.culprit), False


def claims_of(proofs: Mapping[str, ProgramProof]) -> list[Claim]:
    """What real runs are to bear out of the programs that are proved."""
    return [
        Claim(
            program=proof.program,
            sizes=tuple(range(proof.program.minimum_size, proof.program.minimum_size + SIZES)),
            sequences=proof.body.sequences,
            points=proof.body.points,
            beyond=True,
        )
        for proof in proofs.values()
        if proof.proved
    ]


class ProofAuditor(Auditor):
    """Runs the agent and compares with what was proved: every call begins and ends where the proof says it may."""

    def __init__(
        self,
        environment: Environment[Any],
        decisions: Decisions,
        interpreter: Interpreter,
        proofs: Mapping[str, ProgramProof],
        twin: Twin,
        deadline: float,
    ) -> None:
        super().__init__(Contracts(environment), decisions, interpreter, claims_of(proofs), deadline)
        self.invariants: Mapping[str, frozenset[Hashable]] = {name: proof.invariant for name, proof in proofs.items()}
        self.twin = twin
        self._compared = dict.fromkeys(self.claims, 0)

    def _given(self, name: str, size: int) -> list[Any]:
        return []

    def _begin(self, frames: list[_OpenCall], step: Taken) -> None:
        super()._begin(frames, step)
        frame = frames[-1]
        if frame.followed:
            unfit = self.twin.unfit(step.state)
            if unfit is not None:
                self._found(frame, f"a real call begins in a state that the proof is not about: {unfit}")

    def _as_explored(self, frame: _OpenCall, step: Taken) -> bool:
        if self._compared[step.program] < COMPARED and step.program not in self._findings:
            self._compared[step.program] += 1
            difference = self.twin.difference(step.program, frame.entry, step.state)
            if difference is not None:
                self._found(frame, f"unknown values do not behave like known ones: {difference}")
        return super()._as_explored(frame, step)

    def _end(self, frame: _OpenCall, final: Any) -> None:
        name = frame.program
        if not frame.followed or self._listed[name] >= SEARCHED:
            return
        self._listed[name] += 1
        view = self.contracts.view(name, final)
        if self.twin.unfit(final) is not None:
            self._found(frame, "a real run ends in a state that is not valid")
        if view is not None and view not in self.invariants.get(name, ()):
            self._found(frame, f"a real run ends with {view}, and no run that was proved does")

    def _found(self, frame: _OpenCall, text: str, counter_example: CounterExample | None = None) -> None:
        name, size = frame.program, self.guard.size(frame.entry)
        if name not in self._findings or (counter_example and self._findings[name].counter_example is None):
            self._findings[name] = AuditFinding(f"at size {size}: {text}", counter_example)
