"""The certificate: what was shown, under which assumptions, in a form that can be computed again and compared."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from typing import Any, NamedTuple

from alphanpi.cutoff import Cutoff
from alphanpi.guard import shown
from alphanpi.packages import versions
from alphanpi.spec import Environment
from alphanpi.verification.decisions import NO_PARENT, Decisions
from alphanpi.verification.exploration import CounterExample, Explored, Sequence
from alphanpi.verification.numerics import Numerics
from alphanpi.verification.verdicts import Kind, Verdict, overall
from alphanpi.verification.verifier import LEMMA_SAMPLES, Result, Shown, Verifier

FORMAT = 2
_PACKAGES = ("alphanpi", "torch", "numpy", "numba")

ASSUMPTIONS = (
    "The claim is about the greedy interpreter: each call starts from a zero memory, the action is the legal one with "
    "the largest logit, the first of equals. Search is not covered.",
    "Limits of the machine are left out: depth of calls, total number of actions, memory, time.",
    "Post-conditions say what the user means.",
    "The environment is deterministic and pure; inside a recursive call, observation, legal actions, actions, "
    "contracts and size depend on the reduced problem alone, and leaving a call changes nothing else.",
    "`enumerate`, or `templates`, gives every state in which a program may be called at a size, up to a symmetry that "
    "no observation, legal action or contract can tell; `measure` is a natural number.",
    "Values that `templates` leaves open are only compared with each other; the verifier's unknown values allow "
    "nothing else.",
    "Logits at run time differ from those of this verification by less than half the smallest margin.",
    "The verifier, the interpreter, Python and the libraries work as documented.",
)
LEMMA_ASSUMPTION = (
    "The cut-off lemma is proved by hand and tried on random larger instances; the trial can refute it, not prove it."
)


class SizeRecord(NamedTuple):
    """All runs of a program at one size."""

    size: int
    runs: int
    sequences: int
    sequences_sha256: str


class StepRecord(NamedTuple):
    """One step of a counter-example."""

    state: str
    action: str


class CounterExampleRecord(NamedTuple):
    """A start from which the program really fails, and the run by contracts that found it."""

    start: str
    start_text: str  # as the environment writes it for people
    rule: str
    text: str
    steps: list[StepRecord]
    final: str


class ProgramRecord(NamedTuple):
    """What was shown of one program."""

    name: str
    level: int
    verdict: str
    from_size: int
    to_size: int
    attempted: int  # the size up to which it was looked at, a fault included
    sizes: list[SizeRecord]
    sequences: int  # distinct ones, over all sizes
    numerics: Numerics
    invariant: list[str]
    counter_example: CounterExampleRecord | None
    reasons: list[str]


class ConditionRecord(NamedTuple):
    """A condition of the lemma, and on how many runs it was checked."""

    program: str
    text: str
    from_size: int
    runs: int
    holds: bool


class LemmaRecord(NamedTuple):
    """The cut-off lemma and how its conditions were checked."""

    text: str
    sizes: dict[str, int]
    conditions: list[ConditionRecord]
    samples: int
    fault: str | None


class Certificate(NamedTuple):
    """Everything a verification showed."""

    format: int
    environment: str
    options: dict[str, Any]
    environment_class: str
    environment_version: int
    weights_sha256: str | None
    verdict: str
    from_size: int
    to_size: int
    programs: list[ProgramRecord]
    lemma: LemmaRecord | None
    assumptions: list[str]
    software: dict[str, str]
    seconds: float
    digest: str  # of all the rest

    @property
    def claim(self) -> Verdict:
        """The overall verdict."""
        return Verdict(Kind[self.verdict], self.to_size, self.from_size)

    @property
    def proved(self) -> bool:
        """Whether every program is shown to work at every size."""
        return self.verdict == Kind.PROVED.name

    def record(self) -> dict[str, Any]:
        """As plain values for JSON."""
        plain: dict[str, Any] = _plain(self)
        return plain


class Subject(NamedTuple):
    """What is verified."""

    environment: str
    options: dict[str, Any]
    weights_sha256: str | None


def certify(subject: Subject, verifier: Verifier) -> Certificate:
    """Run a verifier and write down what it shows."""
    began = time.monotonic()
    result = verifier.verify()
    environment: Environment[Any] = verifier.environment
    total = overall(item.verdict for item in result.programs)
    lemma = None if verifier.cutoff is None else _lemma(verifier.cutoff, result)
    unsealed = Certificate(
        format=FORMAT,
        environment=subject.environment,
        options=subject.options,
        environment_class=f"{type(environment).__module__}.{type(environment).__qualname__}",
        environment_version=environment.version,
        weights_sha256=subject.weights_sha256,
        verdict=total.kind.name,
        from_size=total.from_size,
        to_size=total.to_size,
        programs=[_program(item, environment, verifier.explorer.decisions) for item in result.programs],
        lemma=lemma,
        assumptions=[*ASSUMPTIONS, *([] if lemma is None else [LEMMA_ASSUMPTION])],
        software=_software(),
        seconds=round(time.monotonic() - began, 3),
        digest="",
    )
    return unsealed._replace(digest=digest(unsealed.record()))


def _lemma(cutoff: Cutoff, result: Result) -> LemmaRecord:
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
    return LemmaRecord(cutoff.text, dict(cutoff.sizes), conditions, LEMMA_SAMPLES, result.lemma_fault)


def _software() -> dict[str, str]:
    return {"python": platform.python_version(), **versions(_PACKAGES)}


def digest(record: dict[str, Any]) -> str:
    """SHA-256 of a certificate without its digest."""
    content = {key: value for key, value in record.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _program(item: Shown, environment: Environment[Any], decisions: Decisions) -> ProgramRecord:
    return ProgramRecord(
        name=item.program.name,
        level=item.program.level,
        verdict=item.verdict.kind.name,
        from_size=item.verdict.from_size,
        to_size=item.verdict.to_size,
        attempted=item.attempted,
        sizes=[_size(explored, decisions) for explored in item.sizes],
        sequences=len({sequence for explored in item.sizes for sequence in explored.sequences}),
        numerics=item.numerics,
        invariant=list(item.invariant),
        counter_example=None if item.counter_example is None else _counter_example(item.counter_example, environment),
        reasons=list(item.reasons),
    )


def _size(explored: Explored, decisions: Decisions) -> SizeRecord:
    lines = sorted(_written(sequence, decisions) for sequence in explored.sequences)
    content = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return SizeRecord(explored.size, explored.runs, len(lines), content)


def _written(sequence: Sequence, decisions: Decisions) -> str:
    """Observation and legal actions of every step, and the action taken."""
    steps = []
    for history, mask in sequence:
        observation = " ".join(str(int(entry)) for entry in decisions.histories[history].observation)
        legal = "".join(str(int(allowed)) for allowed in mask)
        steps.append(f"{observation}|{legal}|{decisions.decided[history, mask].action}")
    assert decisions.histories[sequence[0][0]].parent == NO_PARENT
    return ";".join(steps)


def _counter_example(found: CounterExample, environment: Environment[Any]) -> CounterExampleRecord:
    return CounterExampleRecord(
        start=shown(found.start),
        start_text=environment.format(found.start),
        rule=found.violation.rule,
        text=found.violation.text,
        steps=[StepRecord(shown(state), action) for state, action in found.steps],
        final=shown(found.final),
    )


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
