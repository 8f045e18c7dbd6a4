"""A certificate's content: what is written to files, and what is accepted from them."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from alphanpi.support.markup import table, text
from alphanpi.verification.verdicts import NONE, Kind, Verdict

FORMAT: Literal[3] = 3
LARGEST_SIZE = 100_000
"""Up to which a verification can be asked for."""

Size = Annotated[int, Field(ge=NONE, le=10**9)]  # NONE where there is none
Count = Annotated[int, Field(ge=0, le=10**15)]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Margin = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Deviation = Annotated[float, Field(ge=0)]  # infinite if not a number
VerdictName = Annotated[str, Field(pattern="^(REFUTED|BOUNDED|SATURATED|PROVED)$")]


class CertificatePart(BaseModel):
    """Part of a certificate."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SizeRecord(CertificatePart):
    """All runs of a program at one size."""

    size: Size
    runs: Count
    sequences: Count
    sequences_sha256: Hash


class NumericsRecord(CertificatePart):
    """How firm the decisions of a program are; see `Numerics`."""

    tolerance: Margin
    smallest_margin: Margin | None
    batched_deviation: Deviation
    double_margin: Margin | None
    double_deviation: Deviation | None
    same_decisions: bool


class AuditRecord(CertificatePart):
    """How much a program was run for real."""

    sizes: list[Size]
    runs: Count
    calls: Count
    cut: Count


class LoopRecord(CertificatePart):
    """The invariant of a body that may loop; see `LoopShown`."""

    situations: Count  # looked at, which stand for those of all sizes
    points: Count  # pairs of what the agent carries and a view
    points_sha256: Hash
    views: Count
    spare: Count  # actions that its depth leaves over in any case


class ProofRecord(CertificatePart):
    """What a proof by machine went through."""

    paths: Count  # ways through the body, from states of which nothing is known
    sequences_sha256: Hash
    points: Count = 0  # steps, where sequences have no end or are not told apart
    points_sha256: Hash | None = None
    statements: list[str] = []  # what stays true where it loops


class CounterExampleStep(CertificatePart):
    """One step of a counter-example."""

    state: str
    action: str


class CounterExampleRecord(CertificatePart):
    """A start from which the program really fails, and the run that found it."""

    start: str
    start_text: str  # as the environment writes it for people
    rule: str
    text: str
    steps: list[CounterExampleStep]
    final: str


class ProgramRecord(CertificatePart):
    """What was shown of one program."""

    name: str
    level: Annotated[int, Field(ge=1)]
    verdict: VerdictName
    from_size: Size
    to_size: Size
    attempted: Annotated[int, Field(ge=NONE, le=LARGEST_SIZE)]  # up to which it was looked at, a fault included
    sizes: list[SizeRecord]
    sequences: Count  # distinct ones, over all sizes
    numerics: NumericsRecord
    audit: AuditRecord | None  # None where it was not run
    invariant: list[str]
    loop: LoopRecord | None = None  # older certificates have none
    counter_example: CounterExampleRecord | None
    reasons: list[str]
    proof: ProofRecord | None = None  # where it was looked at by machine
    frozen: Hash | None = None  # of the network that decides for it, where that is kept from an agent before

    @property
    def runs(self) -> int:
        """Runs looked at, of starts one by one or, by machine, of all starts that go the same way."""
        return sum(one.runs for one in self.sizes) if self.proof is None else self.proof.paths

    @property
    def claim(self) -> Verdict:
        """The verdict."""
        return Verdict(Kind[self.verdict], self.to_size, self.from_size, machine=self.proof is not None)

    @model_validator(mode="after")
    def _consistent(self) -> ProgramRecord:
        sizes = [one.size for one in self.sizes]
        if sizes != sorted(set(sizes)) or any(size > self.attempted for size in sizes):
            raise ValueError("`sizes` are out of order, or beyond `attempted`")
        if (self.verdict == "REFUTED") != (self.counter_example is not None):
            raise ValueError("a counter-example belongs to REFUTED, and REFUTED needs one")
        return self


class ConditionRecord(CertificatePart):
    """A condition of the lemma, and on how many runs it was checked."""

    program: str
    text: str
    from_size: int
    runs: Count
    holds: bool


class LemmaRecord(CertificatePart):
    """The cut-off lemma and how its conditions were checked."""

    text: str
    sizes: dict[str, Size]
    conditions: list[ConditionRecord]
    samples: Count
    fault: str | None


class Certificate(CertificatePart):
    """Everything a verification showed."""

    format: Literal[3]
    environment: str
    options: dict[str, Any]
    environment_class: str
    environment_version: int
    environment_sha256: Hash | None  # of the source; None where the class has no source files
    weights_sha256: Hash | None
    method: Literal["exploration", "machine"] = "exploration"  # older certificates do not say
    verdict: VerdictName
    from_size: Size
    to_size: Size
    programs: Annotated[list[ProgramRecord], Field(min_length=1)]
    lemma: LemmaRecord | None
    tried: bool  # whether there was time to try the lemma and to run the agent
    assumptions: list[str]
    software: dict[str, str]
    seconds: Annotated[float, Field(ge=0, le=1e7)]
    digest: str  # of all the rest

    @property
    def claim(self) -> Verdict:
        """The overall verdict."""
        return Verdict(Kind[self.verdict], self.to_size, self.from_size, machine=self.method == "machine")

    @property
    def proved(self) -> bool:
        """Whether every program is shown to work at every size."""
        return self.verdict == Kind.PROVED.name

    def record(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return self.model_dump()

    def _repr_html_(self) -> str:
        rows = []
        for program in self.programs:
            sizes, least = [one.size for one in program.sizes], program.numerics.smallest_margin
            extent = "all" if program.proof is not None else f"{sizes[0]}-{sizes[-1]}" if sizes else "-"
            rows.append(
                (
                    *(program.name, program.claim, extent),
                    f"{program.runs:,}",
                    "-" if least is None else f"{least:.3g}",
                    "" if program.counter_example is None else f"fails on {program.counter_example.start_text}",
                )
            )
        shown = table(("program", "verdict", "sizes", "runs", "smallest margin", "counter-example"), rows)
        assumed = "".join(f"<li>{text(one)}</li>" for one in self.assumptions)
        return (
            f"<div><b>{text(self.claim)}</b>: {text(self.claim.meaning)}{shown}"
            f"<details><summary>assumed</summary><ul>{assumed}</ul></details></div>"
        )

    def sealed(self) -> Certificate:
        """With its digest."""
        return self.model_copy(update={"digest": digest(self.record())})


def digest(record: dict[str, Any]) -> str:
    """SHA-256 of a certificate without its digest."""
    content = {key: value for key, value in record.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
