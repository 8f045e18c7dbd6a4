"""All runs of a program at a size: from every start, for every comparison and every outcome of a call."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from alphanpi.environment.cutoff import Condition
from alphanpi.environment.guard import RAISED, Guard, shown
from alphanpi.environment.specification import Environment, Program
from alphanpi.environment.unknown import REPR, Choices, Relations
from alphanpi.errors import AlphaNPIError, SpecificationError, UsageError
from alphanpi.network.decisions import Decisions, Mask
from alphanpi.symbolic.saving import made_of, numbers_of
from alphanpi.verification.body import BodyRun, CallEntry, CallMade, Violation, run_body
from alphanpi.verification.contracts import Contracts
from alphanpi.verification.lemma import holds, situations_of

MOST_FAILING = 10
"""Starts of violating runs that a counter-example names."""

MOST_HISTORIES = 300_000
"""Histories kept at most; about 1.3 kB each with the paper's network."""

MOST_STARTS = 1_000_000
"""Starts remembered at most, to know which calls begin elsewhere."""

# Of the runs of a program at a size on unknown values, so many are repeated on integers, then one from each start and
# every so many.
_ALL_REPEATED = 100
_REPEATED = 5
_MOST_MADE = 64  # lists of templates around integers, kept for the next runs

TIME_MET = "the time limit was met"

SequenceShown = tuple[tuple[int, Mask], ...]
"""What the network is shown in a run: histories, which stand for observations, and masks."""

Covered = Callable[[str, int], bool]
"""Whether the contract of a program is shown at a size."""


class LimitError(Exception):
    """Time or memory ran out in the middle of a size; the message says which."""


_GENERAL = -1


class StartOrigin(NamedTuple):
    """Where a concrete start comes from: enough to make it again, in numbers that can be saved."""

    number: int  # among the templates, or among the enumerated starts; -1, -2, ...: among the situations of a loop
    values: tuple[int, ...]  # put into the template, one for each of its size; none for an enumerated start

    @classmethod
    def of_general(cls, environment: Environment[Any], start: Any) -> StartOrigin | None:
        """A start that `symbolic` makes of values, in no list of starts; None where it cannot be made so."""
        values = numbers_of(environment.symbolic, start)
        return cls(_GENERAL, values) if values else None

    @property
    def general(self) -> bool:
        """Whether `symbolic` makes it of the values."""
        return self.number == _GENERAL and bool(self.values)


class CounterExample(NamedTuple):
    """A start and a run from it that breaks a rule, on concrete values."""

    start: Any
    steps: tuple[tuple[Any, str], ...]  # state, action
    final: Any
    violation: Violation
    failing: tuple[StartOrigin, ...]  # some starts of violating runs; none where calls are seen to begin elsewhere


class Explored(NamedTuple):
    """What all runs of a program at one size did."""

    size: int
    starts: int  # of those the environment gives
    runs: int
    sequences: frozenset[SequenceShown]
    views: frozenset[Hashable]  # of the final states, relative to their problem
    calls: frozenset[CallMade]
    broken_conditions: frozenset[int]  # numbers of the lemma's conditions that some run does not meet
    counter_example: CounterExample | None

    @property
    def points(self) -> frozenset[tuple[int, Mask]]:
        """Their steps: histories and masks."""
        return frozenset(point for sequence in self.sequences for point in sequence)

    def with_more(self, more: Explored) -> Explored:
        """What these runs did and some more of the same size."""
        return Explored(
            size=self.size,
            starts=self.starts + more.starts,
            runs=self.runs + more.runs,
            sequences=self.sequences | more.sequences,
            views=self.views | more.views,
            calls=self.calls | more.calls,
            broken_conditions=self.broken_conditions | more.broken_conditions,
            counter_example=self.counter_example or more.counter_example,
        )


class Mark(NamedTuple):
    """How much an explorer remembered at some moment."""

    known: int
    reached: dict[CallMade, int]
    several: frozenset[str]


class _Beginning(NamedTuple):
    """A state from which runs begin."""

    start: Any
    number: int | None  # among the templates, or among the enumerated starts; None for one in which a call begins
    relations: Relations | None  # what is known of its values beforehand


class _Seen(NamedTuple):
    """A run, and where it began; what is known of unknown values holds until the next run."""

    run: BodyRun
    beginning: _Beginning


class _Violating(NamedTuple):
    """A run that breaks a rule, with concrete values for its unknown ones."""

    run: BodyRun
    beginning: _Beginning
    values: tuple[int, ...]


class Explorer:
    """Explores programs of one environment with one network."""

    def __init__(
        self,
        environment: Environment[Any],
        decisions: Decisions,
        conditions: tuple[Condition, ...] = (),
        deadline: float = float("inf"),
    ) -> None:
        self.environment = environment
        self.decisions = decisions
        self.contracts = Contracts(environment)
        self.guard = self.contracts.guard
        self.order = self.contracts.order
        self.conditions = conditions
        self.deadline = deadline
        self.pending: defaultdict[CallMade, list[Any]] = defaultdict(list)
        """States in which calls were seen to begin and from which nothing has been run yet."""
        self._reached: defaultdict[CallMade, list[Any]] = defaultdict(list)
        self._known: dict[tuple[str, Any], bool] = {}  # whatever is a start or was reached
        self._made: dict[tuple[int, ...], list[Any]] = {}  # templates around concrete values
        self._unknown = False  # whether any state holds unknown values
        self._seen: dict[tuple[str, Any], bool] = {}  # where calls begin, before unknown values are renamed

    def explore(self, program: Program, size: int, covered: Covered, entries: Sequence[Any] | None = None) -> Explored:
        """Run a program from every start of a size, or from the states given alone.

        The starts are those the environment gives and those in which calls were seen to begin. The invariant in force
        is taken for the program's own calls.
        """
        name = program.name
        sequences: set[SequenceShown] = set()
        views: set[Hashable] = set()
        calls: set[CallMade] = set()
        broken: set[int] = set()
        violating: list[_Violating] = []
        starts: set[int] = set()
        runs = 0
        for run, beginning in self._runs(name, size, covered, entries):
            runs += 1
            if beginning.number is not None:
                starts.add(beginning.number)
            sequences.add(run.sequence)
            calls.update(entry.call for entry in run.entries)
            if run.violation is not None:
                if len(violating) < MOST_FAILING or len(run.steps) < len(violating[-1].run.steps):
                    found = _Violating(run, beginning, self.order.example())
                    violating = sorted([*violating, found], key=lambda one: len(one.run.steps))[:MOST_FAILING]
                continue
            view = self.contracts.view(name, run.final)
            if view is not None:
                views.add(view)
            broken |= self._broken(name, size, run)
            for entry in run.entries:
                self._reach(entry)
        self.order.end()
        return Explored(
            size=size,
            starts=len(starts),
            runs=runs,
            sequences=frozenset(sequences),
            views=frozenset(views),
            calls=frozenset(calls),
            broken_conditions=frozenset(broken),
            counter_example=self._counter_example(name, size, violating, covered) if violating else None,
        )

    def mark(self) -> Mark:
        """What is remembered now."""
        reached = {call: len(states) for call, states in self._reached.items()}
        return Mark(len(self._known), reached, frozenset(self.contracts.several))

    def back_to(self, mark: Mark) -> None:
        """Forget what was met since."""
        while len(self._known) > mark.known:
            self._known.popitem()
        for call, states in self._reached.items():
            del states[mark.reached.get(call, 0) :]
        self._seen.clear()
        self.contracts.several = set(mark.several)
        self.pending.clear()

    def _runs(self, program: str, size: int, covered: Covered, entries: Sequence[Any] | None) -> Iterator[_Seen]:
        rng = random.Random(f"{program} {size}")
        self._made.clear()
        runs = 0
        for beginning in self._beginnings(program, size, entries):
            choices: Choices | None = Choices()
            first = True
            while choices is not None:
                if time.monotonic() > self.deadline:
                    raise LimitError(TIME_MET)
                if len(self.decisions.table.histories) > MOST_HISTORIES:
                    raise LimitError(histories_met())
                self.order.begin(choices, beginning.relations)
                try:
                    run = self._run(program, size, beginning, choices, covered)
                    if run is not None:
                        yield _Seen(run, beginning)
                except AlphaNPIError as error:
                    self._require_compared(program, error)
                    raise
                self._require_compared(program)
                if run is not None and self._unknown:
                    runs += 1
                    if first or runs % _REPEATED == 0 or (runs <= _ALL_REPEATED and entries is None):
                        self._require_same_on_numbers(run, program, size, beginning, covered, rng)
                first = False
                choices = choices.following()

    def _beginnings(self, program: str, size: int, entries: Sequence[Any] | None) -> Iterator[_Beginning]:
        if entries is None:
            yield from self._given(program, size)
            entries = self._reached[CallMade(program, size)][:]
        for state in entries:
            yield _Beginning(state, None, None)

    def _given(self, program: str, size: int) -> Iterator[_Beginning]:
        """The starts the environment gives, each with what making them took for known."""
        values = self.order.first(size)
        choices: Choices | None = Choices()
        while choices is not None:
            self.order.begin(choices)
            asked = self.order.asked
            try:
                starts = list(self.guard.templates(program, size, values))
            except NotImplementedError:
                yield from self._enumerated(program, size)
                return
            except AlphaNPIError as error:
                self._require_compared(program, error)
                raise
            self._require_compared(program)
            self._unknown = True
            compared = self.order.asked > asked
            relations = self.order.known() if compared else None
            for number, start in enumerate(starts):
                if not compared:  # else it stands for some values, not for all
                    self._know(program, self._canonical(start))
                yield _Beginning(start, number, relations)
            choices = choices.following()

    def _enumerated(self, program: str, size: int) -> Iterator[_Beginning]:
        try:
            for number, start in enumerate(self.guard.enumerate(program, size)):
                self._know(program, start)
                yield _Beginning(start, number, None)
        except NotImplementedError:
            raise UsageError(
                f"{self.guard.name} cannot be verified: give it methods symbolic and valid, to prove all sizes, or "
                "enumerate(program, size), every start of a size; see docs/verification.md"
            ) from None

    def _run(
        self, program: str, size: int, beginning: _Beginning, choices: Choices, covered: Covered
    ) -> BodyRun | None:
        """The run, or None where the values chosen so far do not satisfy the pre-condition."""
        start, asked = beginning.start, self.order.asked
        if beginning.number is not None and self.guard.size(start) != size:
            raise SpecificationError(
                f"{self.guard.name}: the starts of {program} at size {size} hold {shown(start)}, "
                f"which is of size {self.guard.size(start)}"
            )
        if not self.guard.pre(program, start, None):
            if self.order.asked > asked or beginning.number is None:
                return None
            raise SpecificationError(
                f"{self.guard.name}: the starts of {program} at size {size} hold {shown(start)}, "
                "where its pre-condition is false"
            )
        return run_body(self.contracts, self.decisions, program, start, choices, covered)

    def _know(self, program: str, state: Any) -> bool:
        """Take note of a start; whether it is a new one."""
        key = (program, state)
        try:
            if self.order.find(self._known, key):
                return False
            self.order.keep(self._known, key, True)
        except TypeError:
            self.guard.hashable(state, f"a start of {program}")
            raise
        if len(self._known) > MOST_STARTS:
            raise LimitError(starts_met())
        return True

    def _reach(self, entry: CallEntry) -> None:
        """Take note of a state in which a call begins: if it is not one of the starts, it has to be run, too."""
        program, state = entry.call.program, entry.state
        if self._unknown:
            if self.order.find(self._seen, (program, state)):
                return
            if len(self._seen) >= MOST_STARTS:
                self._seen.clear()
            self.order.keep(self._seen, (program, state), True)
            state = self._canonical(state)
        if self._know(program, state):
            self._reached[entry.call].append(state)
            self.pending[entry.call].append(state)

    def _canonical(self, state: Any) -> Any:
        """A state that stands for all with other unknown values in the same places."""
        try:
            return self.order.canonical(state)
        except RAISED as error:
            raise UsageError(
                f"{self.guard.name}: copy.deepcopy of {shown(state)} raises {type(error).__name__}: {error}; "
                "verifying with `templates` needs copies of states"
            ) from error

    def _require_compared(self, program: str, error: AlphaNPIError | None = None) -> None:
        """Nothing is shown by a run in which unknown values were used otherwise, even if the error was caught."""
        misused = [what for what in self.order.misused if error is None or what != REPR]
        if misused:
            raise SpecificationError(
                f"{self.guard.name}: verifying {program}: {misused[0]} of a value that `templates` left open; such "
                "values can only be compared with each other. Leave `templates` out, and give `enumerate`"
            ) from error

    def _require_same_on_numbers(
        self, run: BodyRun, program: str, size: int, beginning: _Beginning, covered: Covered, rng: random.Random
    ) -> None:
        """On integers that compare as the unknown values did, the same must happen."""
        at_random = rng.random() < 0.5
        values = self.order.drawn(rng) if at_random else self.order.example()
        if beginning.number is None or at_random:
            start = self.order.concrete(beginning.start, values)
        else:  # also what `templates` does with values plays a role
            if values not in self._made:
                if len(self._made) > _MOST_MADE:
                    self._made.clear()
                self._made[values] = list(self.guard.templates(program, size, values[:size]))
            made = self._made[values]
            if beginning.number >= len(made):
                raise SpecificationError(
                    f"{self.guard.name}: templates of {program} gives {len(made)} starts around {values[:size]}, and "
                    "more around unknown values that compare in the same way"
                )
            start = made[beginning.number]
        again = run_body(self.contracts, self.decisions, program, start, Choices(run.outcomes), covered)
        if (again.sequence, _rule(again)) != (run.sequence, _rule(run)):
            raise SpecificationError(
                f"{self.guard.name}: {program} begun in {shown(start)} is not shown what it is shown with unknown "
                "values that compare in the same way, so more than comparisons of values plays a role. Leave "
                "`templates` out, and give `enumerate`"
            )

    def _broken(self, program: str, size: int, run: BodyRun) -> set[int]:
        return {
            number
            for number, condition in enumerate(self.conditions)
            if condition.program == program
            and size >= condition.from_size
            and not all(
                holds(self.guard, condition, state)
                for state in ([run.final] if condition.where == "ends" else [step.state for step in run.steps])
            )
        }

    def _counter_example(
        self, program: str, size: int, violating: list[_Violating], covered: Covered
    ) -> CounterExample:
        """The shortest run again, on concrete values; comparisons and outcomes of calls come out the same."""
        origins = [
            StartOrigin(one.beginning.number, one.values[:size] if self._unknown else ())
            for one in violating
            if one.beginning.number is not None
        ]
        run, beginning, values = violating[0]
        if beginning.number is None:
            start = self.order.concrete(beginning.start, values)
        else:
            start = _made_again(self.guard, program, size, origins[0])
        again = run_body(self.contracts, self.decisions, program, start, Choices(run.outcomes), covered)
        violation = again.violation or run.violation
        assert violation is not None
        return CounterExample(
            start=start,
            steps=tuple((step.state, step.action) for step in again.steps),
            final=again.final,
            violation=violation,
            failing=tuple(origins),
        )


def recreate(environment: Environment[Any], program: str, size: int, origin: StartOrigin) -> Any:
    """The start an origin stands for."""
    return _made_again(Guard(environment), program, size, origin)


def _made_again(guard: Guard, program: str, size: int, origin: StartOrigin) -> Any:
    if origin.general:
        made = made_of(guard.environment.symbolic, origin.values)
        if made is None or not guard.pre(program, made, None) or guard.size(made) != size:
            raise SpecificationError(f"{guard.name}: `symbolic` makes no start of {program} of these numbers")
        return made
    if origin.number < 0:
        cutoff = guard.cutoff()
        loop = None if cutoff is None else cutoff.loops.get(program)
        situations = [] if loop is None else situations_of(guard, program, loop)
        if -origin.number > len(situations):
            raise SpecificationError(
                f"{guard.name}: {program} has {len(situations)} situations, and no {origin.number}"
            )
        return situations[-1 - origin.number].start
    try:
        if size and not origin.values:
            raise NotImplementedError
        start = next(islice(guard.templates(program, size, origin.values), origin.number, None), None)
    except NotImplementedError:
        start = next(islice(guard.enumerate(program, size), origin.number, None), None)
    if start is None:
        raise SpecificationError(
            f"{guard.name}: the starts of {program} at size {size} are {origin.number} this time, and were more before"
        )
    return start


def histories_met() -> str:
    """The message of the limit on memory for histories."""
    return f"more than {MOST_HISTORIES:,} histories were met"


def starts_met() -> str:
    """The message of the limit on memory for starts."""
    return f"more than {MOST_STARTS:,} starts were met"


def _rule(run: BodyRun) -> str:
    return "" if run.violation is None else run.violation.rule
