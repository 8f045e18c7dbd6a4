"""What a report holds. The JSON object is exactly these records, fields by name; see docs/report.md."""

from __future__ import annotations

from typing import Any, NamedTuple

SCHEMA = 1


class LibraryEntry(NamedTuple):
    """An entry of the library; others refer to it by its place in the list."""

    name: str
    level: int
    recursive: bool
    summary: str


class AgentRecord(NamedTuple):
    """Who is reported on."""

    run: str
    environment: str
    summary: str
    options: dict[str, Any]
    seed: int
    weights: str  # SHA-256
    unit: tuple[str, str]  # what a size counts: one, and several; empty where the environment does not say


class CallCount(NamedTuple):
    """How often a program did something, in the runs the report looked at."""

    caller: int
    callee: int
    times: int


class TrainingRecord(NamedTuple):
    """How the agent came about, as far as its folder tells."""

    seconds: float | None
    iterations: int | None
    completed: bool | None
    preset: str | None
    command: str | None
    started: str | None


class ExamRecord(NamedTuple):
    """An exam that was held in training."""

    iteration: int
    elapsed: float
    passed: bool
    text: str


class LearningRecord(NamedTuple):
    """One entry per kept iteration in every list; `left_out` iterations were skipped to keep the report small."""

    iteration: list[int]
    elapsed: list[float]
    level: list[int]
    advanced: list[bool]
    success: dict[str, list[float | None]]  # of the validation
    explored: dict[str, list[float | None]]  # of the episodes that were learned from
    policy_loss: list[float]
    value_loss: list[float]
    simulations_per_second: list[float]
    exams: list[ExamRecord]
    left_out: int


class ScoreRecord(NamedTuple):
    """Success of a program at a size, with its 95 % Wilson interval and the paper's number."""

    program: str
    size: int
    mode: str
    episodes: int
    successes: int
    rate: float
    low: float
    high: float
    paper: float | None


class ReliabilityRecord(NamedTuple):
    """How many of a program's calls, at any depth of the measured runs, did what they promise."""

    program: str
    calls: int
    failures: int
    rate: float
    low: float
    high: float


class GeneralisationRecord(NamedTuple):
    """Where the scores come from, and the scores."""

    origin: str  # "stored" or "measured"
    note: str
    scores: list[ScoreRecord]
    reliability: list[ReliabilityRecord]


class StateRecord(NamedTuple):
    """A state as text, and as a picture: places of its shapes in `shapes`."""

    text: str
    scene: list[int] | None


class StepRecord(NamedTuple):
    """One step of the execution."""

    depth: int
    program: int
    action: int
    state: int
    observation: list[int]
    probabilities: list[tuple[int, float]]  # legal entries by falling probability
    search: int | None  # the call's place in `searches`; its decision is of this state and action
    decision: int  # actions of the call before this one
    reason: int | None  # without a search, why: a place in its `reasons`
    line: int | None  # of the source, from 1


class CallRecord(NamedTuple):
    """A call of the execution, with all that was done inside of it; others refer to steps by their place."""

    program: int
    size: int  # of the problem at its beginning
    depth: int  # calls around it
    first: int  # step
    last: int


class ExecutionRecord(NamedTuple):
    """A run of a program, step by step; deeper steps than `depth` are left out where that is not null."""

    program: str
    input: str
    success: bool
    failure: str
    actions: int
    depth: int | None
    left_out: int
    note: str
    steps: list[StepRecord]
    calls: list[CallRecord]  # in the order in which they began
    moves: list[int]  # steps after which the state looks different
    final: int


class DecisionRecord(NamedTuple):
    """A search tree; nodes and edges are rows whose columns `SearchesRecord` names."""

    step: int
    choice: int
    taken: int
    left_out: int  # nodes
    nodes: list[list[Any]]


class SearchRecord(NamedTuple):
    """The search of one call: a tree for each of its actions."""

    program: int
    state: int
    success: bool
    decisions: list[DecisionRecord]


class SearchesRecord(NamedTuple):
    """The searches behind the execution's steps, and of programs that were called inside these searches."""

    simulations: int  # per action
    called_simulations: int  # per action in programs that are called
    c_puct: float
    c_level: float
    node_columns: list[str]
    edge_columns: list[str]
    note: str
    reasons: list[str]  # why steps have no tree
    searches: list[SearchRecord]


class TreePageRecord(NamedTuple):
    """What the page of a single search needs; `step` is the decision that is shown first."""

    schema: int
    version: str
    run: str
    library: list[LibraryEntry]
    states: list[StateRecord]
    searches: SearchesRecord
    step: int


class FunctionRecord(NamedTuple):
    """Where the source of a program is."""

    program: int
    first: int  # line, from 1
    last: int


class VerdictRecord(NamedTuple):
    """What a certificate says, in words."""

    text: str  # of all programs
    meaning: str
    programs: list[str]  # of each, in the certificate's order


class ReportRecord(NamedTuple):
    """The whole report."""

    schema: int
    version: str
    agent: AgentRecord
    library: list[LibraryEntry]
    fields: list[str]
    calls: list[CallCount]
    training: TrainingRecord
    learning: LearningRecord | None
    generalisation: GeneralisationRecord
    shapes: list[list[Any]]
    shape_columns: list[str]
    scene_size: tuple[float, float] | None
    states: list[StateRecord]
    execution: ExecutionRecord
    searches: SearchesRecord
    source: str | None
    source_note: str  # where it comes from, or why there is none
    script: str | None  # the same as a JavaScript module with a function `run`
    script_note: str  # likewise
    script_input: str  # for it to begin with: the run's, unless that was drawn, which nobody can type
    source_functions: list[FunctionRecord]  # in the order of the source
    line_note: str  # why steps have no line
    certificate: dict[str, Any] | None
    verdict: VerdictRecord | None  # the certificate's, in words
    certificate_note: str  # likewise
    certificate_checked: bool  # whether it was computed for the report, or computed again with the same result

    def __repr__(self) -> str:
        watched = self.execution
        return f"<ReportRecord of {self.agent.run}: {watched.program} on {watched.input}>"

    def _repr_html_(self) -> str:
        from alphanpi.reporting.cards import embedded

        return embedded(self)


def plain(value: Any, digits: int | None = 5) -> Any:
    """Records as JSON objects, floats with as many digits as anyone looks at; a certificate's with all."""
    if isinstance(value, float):
        return _short(value, digits)
    if isinstance(value, ReportRecord):
        members = {name: plain(member, digits) for name, member in value._asdict().items()}
        return members | {"certificate": plain(value.certificate, None)}  # its digest is over every digit
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(member, digits) for name, member in value._asdict().items()}
    if isinstance(value, dict):
        return {name: plain(member, digits) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member, digits) for member in value]
    return value


def _short(value: float, digits: int | None) -> float | int | None:
    if value != value or value in (float("inf"), float("-inf")):  # JSON has no such numbers
        return None
    if digits is None:
        return value
    rounded = round(value, digits)
    return int(rounded) if rounded == int(rounded) else rounded
