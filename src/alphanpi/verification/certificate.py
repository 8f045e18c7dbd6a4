"""The certificate: what was shown, under which assumptions, in a form that can be computed again and compared."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from alphanpi.agent.weights import ModelCard, frozen_hashes, hash_of
from alphanpi.environment.cutoff import Cutoff
from alphanpi.environment.guard import Guard, shown
from alphanpi.environment.provenance import source_sha256
from alphanpi.environment.specification import Environment
from alphanpi.network.decisions import Decisions, Mask
from alphanpi.network.history_table import NONE
from alphanpi.network.model import NPINetwork
from alphanpi.support.versions import versions
from alphanpi.verification.exploration import CounterExample, Explored, SequenceShown
from alphanpi.verification.lemma import SAMPLES
from alphanpi.verification.loops import LoopShown
from alphanpi.verification.machine_verifier import MachineVerifier
from alphanpi.verification.records import (
    FORMAT,
    AuditRecord,
    Certificate,
    ConditionRecord,
    CounterExampleRecord,
    CounterExampleStep,
    LemmaRecord,
    LoopRecord,
    NumericsRecord,
    ProgramRecord,
    ProofRecord,
    SizeRecord,
)
from alphanpi.verification.verdicts import overall
from alphanpi.verification.verifier import ProgramShown, Verification, Verifier

if TYPE_CHECKING:
    from alphanpi.proof.bodies import BodyShown

_PACKAGES = ("alphanpi", "torch", "numpy", "numba", "z3-solver")

EVERYWHERE = (
    "The claim is about the greedy interpreter: each call starts from a zero memory, the action is the legal one with "
    "the largest logit, the first of equals. Search is not covered.",
    "Limits of the machine are left out: depth of calls, total number of actions, memory, time.",
    "Post-conditions say what the user means.",
    "Logits at run time differ from those of this verification by less than half the smallest margin.",
    "The verifier, the interpreter, Python and the libraries work as documented.",
)
EXPLORED = (
    "The environment is deterministic and pure; inside a recursive call, observation, legal actions, actions, "
    "contracts and size depend on the reduced problem alone, and leaving a call changes nothing else.",
    "`enumerate`, or `templates`, gives every state in which a program may be started at a size, up to a symmetry that "
    "no observation, legal action or contract can tell. What calls were seen to begin in is looked at as well, and "
    "starts that `initial` draws, so a start that is missing may be found, but need not be.",
    "Values that `templates` leaves open are only compared with each other: anything else that can be noticed is "
    "refused, and runs are repeated on integers: the first of each size and a part of the others.",
)
BY_MACHINE = (
    "The environment is deterministic and pure.",
    "Programs are started in states that `valid` allows and that are cases of `symbolic`, with arguments that are "
    "declared: starts that `initial` draws are seen to be. That calls begin and end in such states is proved.",
    "All values are integers, tuples of them, texts, or truth values.",
    "The environment's code does with unknown values what it does with known ones: whatever else can be noticed is "
    "refused, and states of real runs are compared. What cannot be noticed is `type`, `is`, and C code that raises.",
    "z3's answers that something is impossible are right; where it does not know, it is taken for possible.",
    "What is used of folds, sweeps, order and counts without a proof by z3 is proved by hand, in the source: "
    "symbolic/folding.py and symbolic/counting.py.",
)
LEMMA_ASSUMPTION = (
    "The cut-off lemma is proved by hand. It is tried on random larger instances, and the agent is run on larger "
    "problems; both can refute it, not prove it."
)


class Verified(NamedTuple):
    """What is verified."""

    environment: str
    options: dict[str, Any]
    weights_sha256: str | None
    frozen: Mapping[str, str] = MappingProxyType({})  # by frozen program, hash of the network that decides for it


def subject_of(card: ModelCard, network: NPINetwork) -> Verified:
    """An agent, as certificates name it."""
    return Verified(card.environment, card.options, hash_of(network), frozen_hashes(network))


def certify(subject: Verified, verifier: Verifier | MachineVerifier) -> Certificate:
    """Run a verifier and write down what it shows."""
    began = time.monotonic()
    return written(subject, verifier, verifier.verify(), began)


def written(subject: Verified, verifier: Verifier | MachineVerifier, result: Verification, began: float) -> Certificate:
    """What a verifier has shown since a moment."""
    environment: Environment[Any] = verifier.environment
    total = overall(item.verdict for item in result.programs)
    lemma = None if verifier.cutoff is None else _lemma(verifier.cutoff, result)
    return Certificate(
        format=FORMAT,
        environment=subject.environment,
        options=subject.options,
        environment_class=f"{type(environment).__module__}.{type(environment).__qualname__}",
        environment_version=environment.version,
        environment_sha256=source_sha256(type(environment)),
        weights_sha256=subject.weights_sha256,
        method="machine" if isinstance(verifier, MachineVerifier) else "exploration",
        verdict=total.kind.name,
        from_size=total.from_size,
        to_size=total.to_size,
        programs=[
            _program(item, verifier.guard, verifier.decisions, subject.frozen.get(item.program.name))
            for item in result.programs
        ],
        lemma=lemma,
        tried=result.trial is not None,
        assumptions=_assumptions(isinstance(verifier, MachineVerifier), lemma is not None),
        software=_software(),
        seconds=round(time.monotonic() - began, 3),
        digest="",
    ).sealed()


def _assumptions(machine: bool, lemma: bool) -> list[str]:
    return [*EVERYWHERE, *(BY_MACHINE if machine else EXPLORED), *([LEMMA_ASSUMPTION] if lemma else [])]


def _lemma(cutoff: Cutoff, result: Verification) -> LemmaRecord:
    sizes = {item.program.name: item.sizes for item in result.programs}
    conditions = []
    for number, condition in enumerate(cutoff.conditions):
        tried = [explored for explored in sizes[condition.program] if explored.size >= condition.from_size]
        conditions.append(
            ConditionRecord(
                program=condition.program,
                text=condition.text,
                from_size=condition.from_size,
                runs=sum(explored.runs for explored in tried),
                holds=bool(tried) and all(number not in explored.broken_conditions for explored in tried),
            )
        )
    trial = result.trial
    return LemmaRecord(
        text=cutoff.text,
        sizes=dict(cutoff.sizes),
        conditions=conditions,
        samples=0 if trial is None else SAMPLES,
        fault=None if trial is None else trial.lemma_fault,
    )


def _software() -> dict[str, str]:
    return {"python": platform.python_version(), **versions(_PACKAGES)}


def _program(item: ProgramShown, guard: Guard, decisions: Decisions, frozen: str | None) -> ProgramRecord:
    audited, found = item.audited, item.counter_example
    return ProgramRecord(
        name=item.program.name,
        level=item.program.level,
        verdict=item.verdict.kind.name,
        from_size=item.verdict.from_size,
        to_size=item.verdict.to_size,
        attempted=item.attempted,
        sizes=[_size(explored, decisions) for explored in item.sizes],
        sequences=len({sequence for explored in item.sizes for sequence in explored.sequences})
        if item.proof is None
        else len(item.proof.sequences),
        numerics=NumericsRecord(**item.numerics._asdict()),
        audit=None
        if audited is None
        else AuditRecord(sizes=list(audited.sizes), runs=audited.runs, calls=audited.calls, cut=audited.cut),
        invariant=list(item.invariant),
        loop=None if item.loop is None or item.loop.fault else _loop(item.loop, decisions),
        proof=None if item.proof is None else _proof(item.proof, decisions),
        counter_example=None if found is None else _counter_example(found, guard),
        reasons=list(item.reasons),
        frozen=frozen,
    )


def _proof(body: BodyShown, decisions: Decisions) -> ProofRecord:
    lines = sorted(_written(sequence, decisions) for sequence in body.sequences)
    record = ProofRecord(paths=body.paths, sequences_sha256=_sha256(lines))
    if body.sequences:
        return record
    points = sorted(_point_written(*point, decisions) for point in body.points)
    return record.model_copy(
        update={"points": len(points), "points_sha256": _sha256(points), "statements": list(body.loops)}
    )


def _sha256(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _point_written(history: int, mask: Mask, decisions: Decisions) -> str:
    """What the agent carries, observation and legal actions of a step, and the action taken."""
    before, observation = decisions.table.histories[history]
    seen = " ".join(str(int(entry)) for entry in observation)
    legal = "".join(str(int(allowed)) for allowed in mask)
    return f"{_carried(before, decisions)}|{seen}|{legal}|{decisions.decide(history, mask).action}"


def _size(explored: Explored, decisions: Decisions) -> SizeRecord:
    lines = sorted(_written(sequence, decisions) for sequence in explored.sequences)
    return SizeRecord(size=explored.size, runs=explored.runs, sequences=len(lines), sequences_sha256=_sha256(lines))


def _written(sequence: SequenceShown, decisions: Decisions) -> str:
    """Observation and legal actions of every step, and the action taken."""
    steps = []
    for history, mask in sequence:
        observation = " ".join(str(int(entry)) for entry in decisions.table.histories[history].observation)
        legal = "".join(str(int(allowed)) for allowed in mask)
        steps.append(f"{observation}|{legal}|{decisions.decided[history, mask].action}")
    assert decisions.table.contexts[decisions.table.histories[sequence[0][0]].before].history == NONE
    return ";".join(steps)


def _loop(loop: LoopShown, decisions: Decisions) -> LoopRecord:
    lines = sorted(f"{_carried(point.context, decisions)}: {point.view!r}" for point in loop.points)
    return LoopRecord(
        situations=loop.situations,
        points=len(loop.points),
        points_sha256=_sha256(lines),
        views=len({point.view for point in loop.points}),
        spare=loop.spare,
    )


def _carried(number: int, decisions: Decisions) -> str:
    """A context: the observations kept, with the action before each, and the last action."""
    context = decisions.table.contexts[number]
    if context.history == NONE:
        return str(context.action)
    before, observation = decisions.table.histories[context.history]
    return f"{_carried(before, decisions)}|{' '.join(str(int(entry)) for entry in observation)}|{context.action}"


def _counter_example(found: CounterExample, guard: Guard) -> CounterExampleRecord:
    return CounterExampleRecord(
        start=shown(found.start),
        start_text=guard.format(found.start),
        rule=found.violation.rule,
        text=found.violation.text,
        steps=[CounterExampleStep(state=shown(state), action=action) for state, action in found.steps],
        final=shown(found.final),
    )
