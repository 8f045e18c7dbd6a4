"""Real runs: before anything is claimed of larger sizes, the agent itself is run, up to those looked at and beyond.

Exploration sees a program through contracts, from the starts it is given. Here the greedy interpreter runs from starts
that are drawn, and every call in these runs must succeed, be shown what some explored run of its program was shown, and
end in an outcome of its contract. This can refute a claim or show that starts are missing; it proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from alphanpi.agent.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.engine.tables import Failure
from alphanpi.environment.guard import shown
from alphanpi.environment.specification import STOP, Program
from alphanpi.environment.step import Step as Taken
from alphanpi.errors import AlphaNPIError, SpecificationError
from alphanpi.network.decisions import Decisions, Mask
from alphanpi.network.history_table import Observation
from alphanpi.verification.body import Violation
from alphanpi.verification.contracts import Contracts
from alphanpi.verification.exploration import TIME_MET, CounterExample, LimitError, SequenceShown
from alphanpi.verification.numerics import Point

BEYOND = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)
"""How far above the sizes looked at the agent is run."""
DRAWS = 40
"""Starts drawn at each size, fewer where runs are long."""
GIVEN = 10
"""Starts at each size looked at, from those the environment gives for verification."""
MOST_ACTIONS = 5_000
"""Actions of one run."""
ACTIONS_PER_SIZE = 2_500
"""Actions after which no further runs of a program at a size are begun."""
MOST_LISTED = 30
"""Calls of each program, at each size of what is run, of which the end is looked up among the outcomes."""
_LOOKED_THROUGH = 2_000  # starts among which those run are spread
_SEED = 1_000


class Claim(NamedTuple):
    """What real runs are to bear out of one program."""

    program: Program
    sizes: tuple[int, ...]  # looked at completely
    sequences: frozenset[SequenceShown]  # seen there
    points: frozenset[Point]  # all their steps, and those an invariant has; what counts where the agent has a window
    beyond: bool  # whether larger sizes are claimed to show nothing new


class Audited(NamedTuple):
    """How much a program was run."""

    sizes: tuple[int, ...] = ()
    runs: int = 0
    calls: int = 0  # in runs of any program, nested ones included
    cut: int = 0  # runs that were ended after many actions


class AuditFinding(NamedTuple):
    """What real runs say against a claim."""

    text: str
    counter_example: CounterExample | None  # where the program fails


class Audit(NamedTuple):
    """What real runs of all programs showed."""

    audited: dict[str, Audited]
    findings: dict[str, AuditFinding]  # of the programs that have any, the first


class _Known(NamedTuple):
    """Where a step leads that explored runs made."""

    place: int
    action: str


class _OpenCall:
    """A call under way in a recorded run."""

    __slots__ = ("entry", "followed", "measure", "place", "program")

    def __init__(self, program: str, entry: Any, measure: int, followed: bool, place: int = 0) -> None:
        self.program = program
        self.entry = entry
        self.measure = measure
        self.followed = followed  # whether anything is claimed about it that is not refuted yet
        self.place = place


class Auditor:
    """Runs the agent and compares."""

    def __init__(
        self,
        contracts: Contracts,
        decisions: Decisions,
        interpreter: Interpreter,
        claims: Sequence[Claim],
        deadline: float = float("inf"),
    ) -> None:
        self.contracts = contracts
        self.guard = contracts.guard
        self.interpreter = interpreter
        self.claims = {claim.program.name: claim for claim in claims}
        self.deadline = deadline
        names = self.guard.library.names
        self._table = decisions.table
        self._known = {
            name: _transitions(claim.points, decisions, names)
            if self._table.window
            else _steps(claim.sequences, decisions, names)
            for name, claim in self.claims.items()
        }
        self._listed = dict.fromkeys(self.claims, 0)
        self._calls = dict.fromkeys(self.claims, 0)
        self._findings: dict[str, AuditFinding] = {}
        self._within = True  # whether the runs under way begin at a size that was looked at

    def audit(self) -> Audit:
        """Run every program at every size; a SpecificationError names a start that is missing."""
        audited = {name: self._program(claim) for name, claim in self.claims.items()}
        return Audit(
            {name: record._replace(calls=self._calls[name]) for name, record in audited.items()}, self._findings
        )

    def _program(self, claim: Claim) -> Audited:
        name, total = claim.program.name, Audited()
        top = max(claim.sizes)
        for size in (*claim.sizes, *(top + more for more in BEYOND if claim.beyond)):
            if name in self._findings:
                break
            self._within = size <= top
            self._listed = dict.fromkeys(self.claims, 0)
            starts = self._starts(claim, size)
            spent = position = 0
            while position < len(starts) and spent < ACTIONS_PER_SIZE:
                if time.monotonic() > self.deadline:
                    raise LimitError(TIME_MET)
                # The first run shows how many more there is room for.
                count = 1 if position == 0 else max(1, (ACTIONS_PER_SIZE - spent) * position // max(spent, 1))
                batch = starts[position : position + min(count, DRAWS)]
                position += len(batch)
                calls = [Call(name, state) for state in batch]
                record = Recording(steps=MOST_ACTIONS)
                for execution in self.interpreter.run(calls, record=record, max_actions=MOST_ACTIONS):
                    spent += execution.actions
                    total = total._replace(runs=total.runs + 1, cut=total.cut + (execution.failure == Failure.ACTIONS))
                    self._follow(execution)
            if position:
                total = total._replace(sizes=(*total.sizes, size))
        return total

    def _starts(self, claim: Claim, size: int) -> list[Any]:
        """Starts that are drawn and, spread over all or the first ones, some of those given."""
        name, larger = claim.program.name, size > max(claim.sizes)
        index = self.guard.library.index_of(name)
        starts: list[Any] = []
        try:
            starts.extend(
                self.guard.initial(name, size, np.random.default_rng((_SEED, index, size, number)))
                for number in range(DRAWS)
            )
        except AlphaNPIError as error:
            if larger:
                self._findings[name] = AuditFinding(
                    f"it cannot be run at size {size}, beyond those looked at: {error}", None
                )
        other = [state for state in starts if self.guard.size(state) != size]
        if other and larger:
            found = f"asked for size {size}, `initial` draws {shown(other[0])}, of size {self.guard.size(other[0])}"
            self._findings[name] = AuditFinding(f"it cannot be run beyond the sizes looked at: {found}", None)
        for state in starts:
            if not self.guard.pre(name, state, None):
                raise SpecificationError(
                    f"{self.guard.name}: initial of {name} at size {size} draws {shown(state)}, where its "
                    "pre-condition is false"
                )
        # Making all starts of a larger size, or only the first, may take for ever.
        return starts if larger else [*starts, *self._given(name, size)]

    def _given(self, name: str, size: int) -> list[Any]:
        """Some of the starts given for verification, spread over the first ones."""
        rng = np.random.default_rng((_SEED, self.guard.library.index_of(name), size))
        values = [int(value) for value in rng.integers(max(size, 2), size=size)]
        try:
            first = list(islice(self.guard.templates(name, size, values), _LOOKED_THROUGH))
        except NotImplementedError:
            first = list(islice(self.guard.enumerate(name, size), _LOOKED_THROUGH))
        legal = [state for state in first if self.guard.pre(name, state, None)]
        return legal[:: max(1, len(legal) // GIVEN)][:GIVEN]

    def _follow(self, execution: Execution) -> None:
        """Compare every step and every call of a run with what is known."""
        frames: list[_OpenCall] = []
        for number, step in enumerate(execution.steps, start=1):
            if step.depth == len(frames):
                self._begin(frames, step)
            frame = frames[-1]
            if frame.followed and not self._as_explored(frame, step):
                frame.followed = False
                self._found(frame, "a real run is shown what no explored run of it is")
            if step.action == STOP:
                if execution.success or number < len(execution.steps):  # else it is the step that fails
                    self._end(frame, step.state)
                frames.pop()
        if not execution.success and execution.failure != Failure.ACTIONS and execution.culprit is not None:
            self._failed(execution.culprit)

    def _begin(self, frames: list[_OpenCall], step: Taken) -> None:
        claim = self.claims.get(step.program)
        size = self.guard.size(step.state)
        followed = claim is not None and (claim.beyond or size in claim.sizes)
        library, place = self.guard.library, 0
        if self._table.window:
            place = self._table.beginning(library.index_of(step.program) - library.atomic_count)
        frame = _OpenCall(step.program, step.state, self.guard.measure(step.program, step.state), followed, place)
        if followed:
            self._calls[step.program] += 1
            caller = frames[-1] if frames else None
            together = caller is not None and library.named(caller.program).level == library.named(step.program).level
            if caller is not None and together and not 0 <= frame.measure < caller.measure:
                called = "itself" if caller.program == step.program else step.program
                self._found(
                    caller, f"it calls {called} with measure {frame.measure}, not below its own {caller.measure}"
                )
        frames.append(frame)

    def _as_explored(self, frame: _OpenCall, step: Taken) -> bool:
        mask = self.guard.legal(step.program, step.state)
        known = self._known[step.program].get((frame.place, self.guard.observe(step.state), mask))
        if known is None or known.action != step.action:
            return False
        frame.place = known.place
        return True

    def _end(self, frame: _OpenCall, final: Any) -> None:
        """The end of a call that succeeded."""
        name = frame.program
        if not frame.followed or self._listed[name] >= MOST_LISTED:
            return
        self._listed[name] += 1
        self.contracts.require_listed(name, frame.entry, final)
        view = self.contracts.view(name, final)
        if name in self.contracts.several and view is not None and view not in self.contracts.invariants.get(name, ()):
            self._found(frame, f"a real run ends with {view}, and no explored run does")

    def _failed(self, culprit: Call) -> None:
        claim = self.claims.get(culprit.program)
        size = self.guard.size(culprit.state)
        if claim is None or not (claim.beyond or size in claim.sizes):
            return
        found = failing_run(self.interpreter, culprit)
        frame = _OpenCall(culprit.program, culprit.state, 0, followed=True)
        self._found(frame, "a real run fails", found)

    def _found(self, frame: _OpenCall, text: str, counter_example: CounterExample | None = None) -> None:
        name, size = frame.program, self.guard.size(frame.entry)
        if self._within and size in self.claims[name].sizes:
            raise SpecificationError(
                f"{self.guard.name}: the starts of {name} at size {size} lack {shown(frame.entry)}, from where {text}; "
                "`enumerate`, or `templates`, must give every start that is drawn or called"
            )
        if name not in self._findings or (counter_example and self._findings[name].counter_example is None):
            self._findings[name] = AuditFinding(f"at size {size}, from {shown(frame.entry)}, {text}", counter_example)


def failing_run(interpreter: Interpreter, culprit: Call) -> CounterExample:
    """A call that fails by its own fault, step by step."""
    record = Recording(steps=MOST_ACTIONS, depth=0)
    (execution,) = interpreter.run([culprit], record=record, max_actions=MOST_ACTIONS)
    post = execution.failure == Failure.POST
    text = f"{culprit.program} {'stops where its post-condition is false' if post else 'does not stop in time'}"
    return CounterExample(
        start=culprit.state,
        steps=tuple((step.state, step.action) for step in execution.steps),
        final=execution.final,
        violation=Violation("post" if post else "depth", text),
        failing=(),
    )


def _transitions(
    points: Iterable[Point], decisions: Decisions, names: Sequence[str]
) -> dict[tuple[int, Observation, Mask], _Known]:
    """The same where the agent has a window: the places are contexts, and few."""
    known: dict[tuple[int, Observation, Mask], _Known] = {}
    for history, mask in points:
        before, observation = decisions.table.histories[history]
        action = decisions.decided[history, mask].action
        place = before if names[action] == STOP else decisions.table.following(history, action)
        known[before, observation, mask] = _Known(place, names[action])
    return known


def _steps(
    sequences: Iterable[SequenceShown], decisions: Decisions, names: Sequence[str]
) -> dict[tuple[int, Observation, Mask], _Known]:
    """A tree of all sequences: from a place in it, by observation and legal actions, to the next place."""
    known: dict[tuple[int, Observation, Mask], _Known] = {}
    for sequence in sequences:
        place = 0
        for history, mask in sequence:
            key = (place, decisions.table.histories[history].observation, mask)
            if key not in known:
                known[key] = _Known(len(known) + 1, names[decisions.decided[history, mask].action])
            place = known[key].place
    return known
