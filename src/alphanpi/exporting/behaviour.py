"""Watching the greedy agent: every call of every program as a sequence of what it saw and what it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, NamedTuple

from alphanpi.agent.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.engine.tables import Failure
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import STOP, Environment, Program
from alphanpi.errors import SpecificationError, UsageError
from alphanpi.exporting.clock import Clock
from alphanpi.exporting.conditions import Feature, Letter
from alphanpi.exporting.contexts import Context, contexts, decided
from alphanpi.exporting.sparing import Sparing
from alphanpi.exporting.tree import CallTrace, TraceStep, consistent
from alphanpi.network.evaluator import Evaluator, window_of
from alphanpi.verification.sequences import ShownSequence, ShownStep

_STEPS_OF_A_SIZE = 8_000  # enumeration goes on to the next size if this one took fewer
_STATES_PER_SIZE = 20_000
_LARGEST_SIZE = 30
_DISTINCT_CALLS = 250  # behaviour with more variety than this will not be complete at the next size either
_MAX_ACTIONS = 1_000_000
_LARGEST_CHUNK = 500
_STEPS_OF_A_CHUNK = 100_000  # about; they are kept until the chunk is done
_LOOKS = 100  # observations until the clock is asked


class Case(NamedTuple):
    """A call from outside, what the agent did, and where it ended."""

    call: Call
    actions: tuple[str, ...] | None  # of all calls in the order they were taken, STOP included; None: not kept
    steps: int  # number of the actions
    final: Any


class WatchedRuns(NamedTuple):
    """What became of some calls."""

    cases: list[Case]  # those the agent succeeds on
    failed: int
    endless: int  # given up after very many actions


class _Timed(Guard):
    """A guard that looks at the clock: whatever the agent does, it looks around before."""

    def __init__(self, environment: Environment[Any], clock: Clock) -> None:
        super().__init__(environment)
        self._clock = clock
        self._looks = 0

    def observe(self, state: Any) -> tuple[int, ...]:
        self._looks += 1
        if self._looks % _LOOKS == 0:
            self._clock.check()
        return super().observe(state)


class Watcher:
    """Runs the greedy agent and keeps, per program, the distinct traces of all calls."""

    def __init__(
        self,
        environment: Environment[Any],
        evaluator: Evaluator,
        clock: Clock | None = None,
        simplify: bool = False,
        interpreter: Interpreter | None = None,
    ) -> None:
        self.environment = environment
        self.clock = clock or Clock()
        self.interpreter = interpreter or Interpreter(environment, evaluator)
        self.guard = self.interpreter.guard = _Timed(environment, self.clock)
        self.sparing = Sparing(self.interpreter) if simplify else None
        self.library = environment.library
        self.window = window_of(evaluator)
        self.traces: dict[str, set[CallTrace]] = {entry.name: set() for entry in self.library.learned}
        self.fresh: dict[str, set[CallTrace]] = {entry.name: set() for entry in self.library.learned}
        self.with_legality: set[str] = set()  # programs whose actions are no function of the observations
        self.situations: dict[str, set[tuple[Context, Letter]]] = {entry.name: set() for entry in self.library.learned}
        """Of an agent with a window, by program: what it knew of its call, and what it saw."""
        self._taught: Mapping[str, Sequence[ShownSequence]] = {}
        self._learned: dict[Call, None] = {}  # starts that were learned from, in their order
        self._seen: set[Call] = set()
        fields, derived = tuple(environment.fields), tuple(environment.derived)
        twice = sorted({name for name in (*fields, *derived) if (*fields, *derived).count(name) > 1})
        if twice:
            raise SpecificationError(
                f"{self.guard.name}: fields and derived: {twice[0]!r} is there twice, and code could not tell which "
                "is meant; rename one"
            )
        self.features: tuple[Feature, ...] = (
            *(Feature(name, "field") for name in fields),
            *(Feature(name, "derived") for name in derived),
            *(Feature(name, "may") for name in self.library.names[1:]),
        )

    def unseen(self, calls: Sequence[Call]) -> list[Call]:
        """The calls that were not watched yet, each once."""
        return [call for call in dict.fromkeys(calls) if call not in self._seen]

    def watch(self, calls: Sequence[Call], learn: bool = True) -> WatchedRuns:
        """Run calls; their traces and those of all calls inside them are learned from, or only kept as fresh ones."""
        self._seen.update(calls)
        if learn:
            self._learned.update(dict.fromkeys(calls))
        cases: list[Case] = []
        failed = endless = first = 0
        chunk = 1
        while first < len(calls):
            self.clock.check()
            some = calls[first : first + chunk]
            longest = 1
            for call, execution in zip(some, self._right(some), strict=True):
                longest = max(longest, execution.actions)
                if execution.success:
                    self._keep(execution, self.traces if learn else self.fresh)
                    actions = tuple(step.action for step in execution.steps)
                    cases.append(Case(call, actions, len(actions), execution.final))
                endless += execution.failure == Failure.ACTIONS
                failed += not execution.success and execution.failure != Failure.ACTIONS
            first += chunk
            chunk = max(1, min(_LARGEST_CHUNK, 2 * chunk, _STEPS_OF_A_CHUNK // longest))
        return WatchedRuns(cases, failed, endless)

    def novel(self, calls: Sequence[Call]) -> list[Call]:
        """The calls that meet a situation no call before was in; with a window there are only so many."""
        found: list[Call] = []
        for first in range(0, len(calls), _LARGEST_CHUNK):
            self.clock.check()
            some = calls[first : first + _LARGEST_CHUNK]
            for call, execution in zip(some, self._right(some), strict=True):
                before = self._known
                if execution.success:
                    self._keep(execution, {entry.name: set() for entry in self.library.learned})
                if self._known > before:
                    found.append(call)
        return found

    @property
    def _known(self) -> int:
        return sum(map(len, self.situations.values()))

    def again(self) -> WatchedRuns:
        """Watch all that was learned from once more, since the agent is led otherwise now."""
        for found in (*self.traces.values(), *self.fresh.values()):
            found.clear()
        for known in self.situations.values():
            known.clear()
        return self.watch(list(self._learned))

    def _right(self, calls: Sequence[Call]) -> list[Execution]:
        """The runs of the agent; where it is led otherwise and fails, as it does by itself."""
        runs = self.run(calls, _MAX_ACTIONS, record=True)
        if self.sparing is None:
            return runs
        for place, run in enumerate(runs):
            if not run.success:
                plain = self.interpreter.run([calls[place]], record=True, max_actions=_MAX_ACTIONS)[0]
                if plain.success:
                    self.sparing.refuse(run.steps)
                    runs[place] = plain
        return runs

    def run(self, calls: Sequence[Call], max_actions: int, record: bool | Recording = False) -> list[Execution]:
        """The runs of the agent, led by decisions that spare it actions where it is to be simplified."""
        led = None if self.sparing is None else [self.sparing.decisions] * len(calls)
        return self.interpreter.run(calls, record, max_actions, led)

    def settle(self) -> None:
        """Where equal observations were followed by different actions, look again with legality."""
        for program, traces in self.traces.items():
            if program not in self.with_legality and not self.determined(program):
                self.with_legality.add(program)
                traces.clear()
        if any(not traces for traces in self.traces.values()):
            self.watch(list(self._learned))
            self.teach(self._taught)

    def determined(self, program: str) -> bool:
        """Whether what calls of a program saw decides what they did: all of it or, in loops with a window, the last."""
        traces = self.traces[program]
        if not self.window or not self.library.named(program).growing:
            return consistent(traces)
        return decided(traces, self.window)

    def _keep(self, execution: Execution, traces: dict[str, set[CallTrace]]) -> None:
        if self.sparing is not None:
            self.sparing.note(execution.steps)
        open_calls: list[list[TraceStep]] = []
        for step in execution.steps:
            if len(open_calls) <= step.depth:
                open_calls.append([])
            letter = self._letter(step.program, step.state)
            open_calls[-1].append(TraceStep(letter, step.action))
            if step.action == STOP:
                trace = tuple(open_calls.pop())
                traces[step.program].add(trace)
                if self.window:
                    before = contexts(trace, self.window)
                    self.situations[step.program].update(
                        (context, one.letter) for context, one in zip(before, trace, strict=True)
                    )

    def teach(self, sequences: Mapping[str, Sequence[ShownSequence]]) -> None:
        """Learn from what calls of programs are shown and do, wherever that may happen."""
        self._taught = sequences
        for program, known in sequences.items():
            for sequence in known:
                steps = [TraceStep(self._shown_letter(program, step), step.action) for step in sequence]
                self.traces[program].add(tuple(steps))

    def _shown_letter(self, program: str, step: ShownStep) -> Letter:
        letter = step.observation
        if self.environment.derived:
            letter += self.guard.derive(letter)
        return letter + tuple(map(int, step.mask[1:])) if program in self.with_legality else letter

    def _letter(self, program: str, state: Any) -> Letter:
        letter = tuple(int(value) for value in self.guard.observe(state))
        if self.environment.derived:
            letter += self.guard.derive(letter)
        if program in self.with_legality:
            may_call = self.library.may_call(program)[1:]
            letter += tuple(
                int(allowed and self.guard.pre(name, state, program))
                for name, allowed in zip(self.library.names[1:], may_call, strict=True)
            )
        return letter


class Enumerated(NamedTuple):
    """Every start of a program up to a size."""

    watched: WatchedRuns
    complete_to: int  # below the smallest size if there are none


def enumerated(watcher: Watcher, entry: Program, max_size: int | None) -> Enumerated:
    """Watch every start of a program up to a size, by default the largest that is cheap."""
    cases: list[Case] = []
    failed = endless = steps = 0  # steps taken at the size before
    size = entry.minimum_size
    while size <= max_size if max_size is not None else _goes_on(watcher, entry, size, steps):
        limit = None if max_size is not None else _STATES_PER_SIZE + 1
        try:
            calls = [Call(entry.name, state) for state in islice(_starts(watcher, entry.name, size), limit)]
        except NotImplementedError:
            break
        if limit is not None and len(calls) == limit:
            break
        found = watcher.watch(list(dict.fromkeys(calls)))
        steps = sum(case.steps for case in found.cases)
        cases, failed, endless = cases + found.cases, failed + found.failed, endless + found.endless
        size += 1
    return Enumerated(WatchedRuns(cases, failed, endless), size - 1)


def _goes_on(watcher: Watcher, entry: Program, size: int, steps: int) -> bool:
    """Whether to enumerate this size, when the size before took so many steps."""
    bounded = len(watcher.traces[entry.name]) < _DISTINCT_CALLS
    return bounded and steps < _STEPS_OF_A_SIZE and size <= _LARGEST_SIZE


def _starts(watcher: Watcher, program: str, size: int) -> Iterator[Any]:
    """Every start of a size: as the environment enumerates them, or its templates with values in every order."""
    for number, state in enumerate(_enumerated_or_templates(watcher, program, size)):
        if number % 1000 == 0:
            watcher.clock.check()
        yield watcher.guard.hashable(state, f"enumerate of {program} at size {size}")


def _enumerated_or_templates(watcher: Watcher, program: str, size: int) -> Iterator[Any]:
    try:
        yield from watcher.guard.enumerate(program, size)
    except NotImplementedError:
        for values in weak_orders(size):
            for state in watcher.guard.templates(program, size, values):
                if watcher.guard.pre(program, state, None):
                    yield state


def weak_orders(count: int) -> Iterator[tuple[int, ...]]:
    """One tuple for every way in which some values can be ordered, equal ones included; from 0, without gaps."""
    for values in product(range(count), repeat=count):
        if len(set(values)) == max(values, default=-1) + 1:
            yield values


def refuse_failing(entry: Program, watched: Sequence[WatchedRuns]) -> None:
    """An agent that never succeeds has no behaviour to export."""
    if any(found.cases for found in watched):
        return
    tried = sum(found.failed + found.endless for found in watched)
    what = "the agent fails on every start that was tried" if tried else "there is no start to try"
    raise UsageError(f"{entry.name}: {what}; there is nothing to export")
