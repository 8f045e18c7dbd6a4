"""The records of a run directory: what each file says, and that they belong together.

    meta.json --digest of config.toml--> config.toml
    checkpoints/*/state.json --digest of meta.json--> meta.json
    checkpoints/*/state.json --digests--> model.safetensors, trainer.safetensors, and of itself

Runs begun before there were these digests are still read; what they lack is not compared.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_validator

from alphanpi.errors import UsageError
from alphanpi.support.record import (
    Count,
    LooseRecord,
    NonNegative,
    Record,
    Sha256,
    Share,
    Text,
    lines,
    parsed_record,
    read_bytes,
    refuse,
)

CHECKPOINTS, LAST = "checkpoints", "last"
STATE_FILE, META_FILE = "state.json", "meta.json"
SCORES_FILE, OUTCOME_FILE, CERTIFICATE_FILE = "scores.json", "outcome.json", "certificate.json"
CARD_FILE = "card.json"  # beside the weights of an agent that comes without its run
BEGINNING_FILE = "beginning.safetensors"  # the weights a run began from, if it was not from nothing
MODEL_FILE, TRAINER_FILE = "model.safetensors", "trainer.safetensors"
FORMAT = 3
_MOST_METRICS = 2**30

Seed = Annotated[int, Field(ge=0, lt=2**64)]
Size = Annotated[int, Field(ge=0, le=2**20)]


class BeginningRecord(Record):
    """Whose weights a run began from; a copy of them is in its directory."""

    name: Text  # as the user gave it
    file: Sha256  # of the copy
    freeze: bool


class Meta(Record):
    """What a run is: enough to repeat it."""

    environment: Annotated[Text, Field(min_length=1)]
    options: dict[str, Any]
    seed: Seed
    preset: Text
    device: Text
    command: Text
    started: Text
    python: Text
    platform: Text
    packages: dict[str, Text]
    configuration: Sha256 | None = None  # of the values in config.toml, but for `max_iterations`
    beginning: BeginningRecord | None = None


class ErrorRecord(Record):
    """A start where validation failed; see `learn.starts`."""

    program: Text
    size: Size
    seed: tuple[Seed, ...]
    origin: tuple[int, ...] = ()
    passes: Count


class RingRecord(Record):
    """The traces of one program and outcome; their columns are in the trainer's tensors."""

    program: Count
    success: bool
    next: Count


class CurriculumRecord(Record):
    """How far the curriculum is."""

    level: Annotated[int, Field(ge=1)]
    streak: Count = 0  # counted in older checkpoints
    failed_exams: Count = 0
    learned_anew: bool = False
    completed: bool
    success: dict[str, Share]
    given_up: Text = ""  # why there is no use in going on; not in older checkpoints


class KeptRecord(Record):
    """A decision that is better than the network's; see `learn.trials`."""

    program: Count
    window: tuple[tuple[int, tuple[int, ...]], ...]
    action: Count


class BestRecord(Record):
    """The best validation of a program, and how many have come after it."""

    success: Share
    since: Count


class CheckpointState(Record):
    """What a checkpoint says beside its tensors."""

    format: Literal[2, 3]  # 2 is read, and does not go on
    iteration: Count
    seed: Seed
    elapsed: NonNegative
    seconds: dict[str, float]
    curriculum: CurriculumRecord
    errors: dict[str, tuple[ErrorRecord, ...]]
    window: Count | None = None
    stagnation: dict[str, BestRecord] = Field(default_factory=dict)
    together: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    bars: dict[str, Share] = Field(default_factory=dict)
    revised: tuple[KeptRecord, ...] = ()
    rings: tuple[RingRecord, ...]
    files: dict[str, Sha256]
    run: Sha256 | None = None  # of meta.json
    digest: Sha256 | None = None  # of all the rest


class Iteration(LooseRecord):
    """What is read of a line of metrics.jsonl."""

    iteration: Annotated[int, Field(ge=1)]
    level: Annotated[int, Field(ge=1)]
    advanced: bool
    success: dict[str, Share]
    explored: dict[str, Share] = Field(default_factory=dict)
    exam: Text = ""
    policy_loss: float
    value_loss: float
    simulations: Count
    seconds: dict[str, float]
    elapsed: NonNegative
    explanation: Text = ""
    verdict: Text = ""
    memory: Text = ""


class StoredScore(LooseRecord):
    """One row of stored scores."""

    program: Text
    size: Size
    mode: Literal["greedy", "planning"]
    episodes: Annotated[int, Field(ge=1, le=2**31)]
    successes: Count
    seed: Seed | None = None
    seconds_per_episode: NonNegative | None = None
    failures: dict[str, Count] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _possible(self) -> StoredScore:
        if self.successes > self.episodes:
            raise ValueError(f"{self.successes} successes in {self.episodes} episodes")
        return self


class ScoredAgent(NamedTuple):
    """Whose scores: hashes of the weights, and of the environment's source where it has one."""

    weights_sha256: str
    environment_sha256: str | None


class StoredScores(LooseRecord):
    """Scores beside weights: an object that holds them, or the list alone as `eval --json` prints it."""

    weights_sha256: Sha256 | None = None  # of which they are; None where that was not written down
    environment_sha256: Sha256 | None = None  # likewise
    scores: list[StoredScore] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _listed(cls, content: Any) -> Any:
        return {"scores": content} if isinstance(content, list) else content

    def are_of(self, subject: ScoredAgent) -> bool:
        """Whether they may be of an agent: nothing says that they are of another."""
        pairs = zip((self.weights_sha256, self.environment_sha256), subject, strict=True)
        return all(said in (None, whose) for said, whose in pairs)


class StoredOutcome(LooseRecord):
    """How a run ended, the last time it did."""

    completed: bool
    reason: Text
    iterations: Count
    elapsed: NonNegative
    explanation: Text
    proved: bool


def read_meta(file: Path) -> Meta:
    """What a run is."""
    return parsed_record(read_bytes(file), Meta, str(file), "restore it, or start a new run")


class RunIdentity(NamedTuple):
    """A run as its checkpoints know it."""

    meta: Meta
    digest: str  # of meta.json

    def owns(self, state: CheckpointState) -> bool:
        """Whether a checkpoint is one of this run; in runs begun before there were digests, they may have none."""
        if state.run is None:
            return self.meta.configuration is None and state.seed == self.meta.seed
        return state.run == self.digest and state.digest is not None


def read_run(file: Path) -> RunIdentity:
    """A run by its meta.json."""
    return RunIdentity(read_meta(file), sha256_of(json.loads(file.read_bytes())))


def read_state(folder: Path) -> CheckpointState:
    """What a checkpoint says of itself; a UsageError if it is damaged."""
    file, cure = folder / STATE_FILE, "use another checkpoint"
    content = read_bytes(file, cure)
    state = parsed_record(content, CheckpointState, str(file), cure)
    values = json.loads(content)
    if state.digest is not None and values.pop("digest") != sha256_of(values):
        refuse(str(file), "damaged: its digest does not fit", cure)
    for name in (MODEL_FILE, TRAINER_FILE):
        if name not in state.files:
            refuse(str(file), f"field 'files': no digest of {name}", cure)
    return state


class Metrics(NamedTuple):
    """The iterations of a metrics file, and which of its lines are none."""

    iterations: tuple[Iteration, ...]
    kept: tuple[bytes, ...]  # the line of each
    damaged: tuple[int, ...]  # numbers of lines, from 1; the last one may be cut off in the middle, and is not counted


def read_metrics(file: Path) -> Metrics:
    """What a run logged; nothing where there is no file."""
    if not file.exists():
        return Metrics((), (), ())
    found = list(lines(read_bytes(file, "delete it", _MOST_METRICS)))
    iterations, kept, damaged = [], [], []
    for number, line in enumerate(found, start=1):
        try:
            iterations.append(parsed_record(line, Iteration, str(file)))
            kept.append(line)
        except UsageError:
            if number < len(found):
                damaged.append(number)
    return Metrics(tuple(iterations), tuple(kept), tuple(damaged))


def sha256_of(value: Any) -> str:
    """Of plain values, however they are laid out in a file."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
