"""The verifier that proves by machine: every size at once, where the environment offers it and z3 is there."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from alphanpi.agent.interpreter import Interpreter
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.decisions import Decisions
from alphanpi.network.evaluator import Evaluator
from alphanpi.network.model import NPINetwork
from alphanpi.verification.audit import Audit
from alphanpi.verification.exploration import TIME_MET, CounterExample, LimitError
from alphanpi.verification.machine import (
    NO_SOLVER,
    ProofAuditor,
    has_solver,
    offers_proof,
    origins_of,
    real_calls,
    real_failures,
)
from alphanpi.verification.numerics import Numerics, confirm
from alphanpi.verification.verdicts import NONE, Kind, Verdict
from alphanpi.verification.verifier import (
    EXPLORING,
    NOT_TRIED,
    Advance,
    OnSize,
    ProgramShown,
    Trial,
    Verification,
)

if TYPE_CHECKING:
    from alphanpi.proof.prover import ProgramProof


class MachineVerifier:
    """Proves the greedy interpreter of any evaluator right on an environment, or says why not."""

    def __init__(
        self,
        environment: Environment[Any],
        evaluator: Evaluator,
        *,
        network: NPINetwork | None = None,
        time_limit: float | None = None,
        on_size: OnSize | None = None,
        interpreter: Interpreter | None = None,
    ) -> None:
        name = type(environment).__name__
        if not offers_proof(environment):
            raise UsageError(
                f"{name} cannot be proved by machine: give it a method symbolic(unknown), the most general state; see "
                "docs/verification.md"
            )
        if not has_solver():
            raise UsageError(f"{name}: {NO_SOLVER}")
        self.environment = environment
        self.evaluator = evaluator
        self.network = network
        self.on_size = on_size
        self.interpreter = interpreter or Interpreter(environment, evaluator)
        self.guard = Guard(environment)
        self.decisions = Decisions(environment.library, evaluator)
        self.cutoff = None  # no lemma takes part
        self.proofs: dict[str, ProgramProof] = {}
        began = time.monotonic()
        self.deadline = float("inf") if time_limit is None else began + time_limit
        self.proving = float("inf") if time_limit is None else began + EXPLORING * time_limit

    def verify(self) -> Verification:
        """Prove all programs, run the agent, then weigh what was seen."""
        from alphanpi.proof.prover import prove_programs

        learned, asked = self.environment.library.learned, list[str]()

        def tell(name: str) -> None:
            if self.on_size is not None:
                asked.append(name)
                self.on_size(Advance(name, NONE, 0, len(set(asked)) - 1, len(learned)))

        proofs = self.proofs = prove_programs(
            self.environment, self.decisions, self.proving, tell, partial(real_calls, self.interpreter)
        )
        timely = not any(TIME_MET in reason for proof in proofs.values() for reason in proof.reasons)
        failing = real_failures(Interpreter(self.environment, self.evaluator), proofs, self.deadline)
        points = [set(proofs[program.name].body.points) for program in learned]
        numerics = confirm(self.decisions, self.evaluator, self.network, points)
        trial: Trial | None = None
        try:
            trial = Trial(None, {}, self._audit(proofs))
        except LimitError:
            timely = False
        weighed: dict[str, ProgramShown] = {}
        for program, own in zip(learned, numerics, strict=True):
            weighed[program.name] = self._shown(proofs[program.name], own, trial, failing)
        self._drop_what_rests_on_nothing(weighed)
        return Verification(tuple(weighed.values()), trial, timely)

    def _drop_what_rests_on_nothing(self, weighed: dict[str, ProgramShown]) -> None:
        """A program that calls one which is not proved is not proved; programs of a group call each other."""
        found = True
        while found:
            found = False
            for name, shown in weighed.items():
                called = sorted(self.proofs[name].body.called - {name})
                missing = [callee for callee in called if weighed[callee].verdict.kind != Kind.PROVED]
                if shown.verdict.kind == Kind.PROVED and missing:
                    reasons = tuple(f"it calls {callee}, which is not proved" for callee in missing)
                    weighed[name], found = shown._replace(verdict=Verdict(Kind.BOUNDED), reasons=reasons), True

    def _audit(self, proofs: dict[str, ProgramProof]) -> Audit:
        from alphanpi.environment.checking.twin import Twin

        if not any(proof.proved for proof in proofs.values()):
            return Audit({}, {})
        twin = Twin(self.environment)
        return ProofAuditor(self.environment, self.decisions, self.interpreter, proofs, twin, self.deadline).audit()

    def _shown(
        self,
        proof: ProgramProof,
        numerics: Numerics,
        trial: Trial | None,
        failing: dict[str, CounterExample],
    ) -> ProgramShown:
        name = proof.program.name
        finding = None if trial is None else trial.audit.findings.get(name)
        example = failing.get(name) or (None if finding is None else finding.counter_example)
        if example is not None and not example.failing:
            example = example._replace(failing=origins_of(self.environment, [example.start]))
        reasons = [*proof.reasons, *([] if finding is None else [finding.text])]
        if proof.proved:
            if example is not None and finding is None:
                reasons.append("a real run fails, though the proof went through: the proof is wrong")
            if not numerics.firm:
                reasons.append(f"margins of the decisions are not above {numerics.tolerance:g} in all arithmetics")
            if trial is None:
                reasons.append(NOT_TRIED)
        verdict = Verdict(Kind.BOUNDED) if reasons else Verdict(Kind.PROVED, machine=True)
        if example is not None:
            verdict = Verdict(Kind.REFUTED, self.guard.size(example.start))
        return ProgramShown(
            program=proof.program,
            verdict=verdict,
            attempted=NONE,
            sizes=(),
            invariant=tuple(sorted(str(view) for view in proof.invariant)),
            loop=None,
            numerics=numerics,
            audited=None if trial is None else trial.audit.audited.get(name),
            counter_example=example,
            reasons=tuple(reasons),
            proof=proof.body,
        )
