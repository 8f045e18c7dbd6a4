"""All runs of a program at a size: from every start, for every comparison and every outcome of a call."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from alphanpi.cutoff import Condition
from alphanpi.errors import UsageError
from alphanpi.spec import Environment, Program
from alphanpi.verification.body import CallMade, Contracts, Run, Violation, run_body
from alphanpi.verification.decisions import Decisions, Mask
from alphanpi.verification.unknown import Choices, Order

MOST_FAILING = 10
"""Starts of violating runs that a counter-example names."""

Sequence = tuple[tuple[int, Mask], ...]


MOST_HISTORIES = 300_000
"""Histories kept at most; about 1.3 kB each with the paper's network."""


TIME_MET = "the time limit was met"


class LimitError(Exception):
    """Time or memory ran out in the middle of a size; the message says which."""


class Origin(NamedTuple):
    """Where a concrete start comes from: enough to make it again, in numbers that can be saved."""

    number: int  # among the templates, or among the enumerated starts
    values: tuple[int, ...]  # put into the template; none for an enumerated start


class CounterExample(NamedTuple):
    """A start and a run from it that breaks a rule, on concrete values."""

    start: Any
    steps: tuple[tuple[Any, str], ...]  # state, action
    final: Any
    violation: Violation
    failing: tuple[Origin, ...]  # some more starts of violating runs, this one first


class Explored(NamedTuple):
    """What all runs of a program at one size did."""

    size: int
    runs: int
    sequences: frozenset[Sequence]
    views: frozenset[Hashable]  # of the final states, relative to their problem
    calls: frozenset[CallMade]
    broken_conditions: frozenset[int]  # numbers of the lemma's conditions that some run does not meet
    counter_example: CounterExample | None


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
        self.conditions = conditions
        self.deadline = deadline

    def explore(self, program: Program, size: int, covered: Callable[[str, int], bool]) -> Explored:
        """Run a program from every start of a size; the invariant in force is taken for its own calls."""
        name = program.name
        sequences: set[Sequence] = set()
        views: set[Hashable] = set()
        calls: set[CallMade] = set()
        broken: set[int] = set()
        violating: list[tuple[Run, Origin]] = []
        runs = 0
        for run, origin in self._runs(name, size, covered):
            runs += 1
            sequences.add(run.sequence)
            calls |= run.calls
            if run.violation is not None:
                if len(violating) < MOST_FAILING or len(run.steps) < len(violating[-1][0].steps):
                    violating = sorted([*violating, (run, origin())], key=_length)[:MOST_FAILING]
                continue
            view = self.contracts.view(name, run.final)
            if view is not None:
                views.add(view)
            broken |= self._broken(name, size, run)
        return Explored(
            size=size,
            runs=runs,
            sequences=frozenset(sequences),
            views=frozenset(views),
            calls=frozenset(calls),
            broken_conditions=frozenset(broken),
            counter_example=self._counter_example(name, size, violating, covered) if violating else None,
        )

    def _runs(
        self, program: str, size: int, covered: Callable[[str, int], bool]
    ) -> Iterator[tuple[Run, Callable[[], Origin]]]:
        """Every run, with a function that says, until the next run, where it starts."""
        order = Order(size)
        try:
            starts = list(self.environment.templates(program, size, order.values))
        except NotImplementedError:
            yield from self._enumerated_runs(program, size, covered)
            return
        for number, start in enumerate(starts):
            choices: Choices | None = Choices()
            while choices is not None:
                order.begin(choices)
                yield self._run(program, start, choices, covered), partial(_template_origin, number, order)
                choices = choices.following()

    def _enumerated_runs(
        self, program: str, size: int, covered: Callable[[str, int], bool]
    ) -> Iterator[tuple[Run, Callable[[], Origin]]]:
        try:
            for number, start in enumerate(self.environment.enumerate(program, size)):
                choices: Choices | None = Choices()
                while choices is not None:
                    yield self._run(program, start, choices, covered), partial(Origin, number, ())
                    choices = choices.following()
        except NotImplementedError:
            raise UsageError(
                f"{type(self.environment).__name__} cannot be verified: give it a method enumerate(program, size), "
                "every start of a size; see docs/verification.md"
            ) from None

    def _run(self, program: str, start: Any, choices: Choices, covered: Callable[[str, int], bool]) -> Run:
        if time.monotonic() > self.deadline:
            raise LimitError(TIME_MET)
        if len(self.decisions.histories) > MOST_HISTORIES:
            raise LimitError(histories_met())
        return run_body(self.contracts, self.decisions, program, start, choices, covered)

    def _broken(self, program: str, size: int, run: Run) -> set[int]:
        return {
            number
            for number, condition in enumerate(self.conditions)
            if condition.program == program
            and size >= condition.from_size
            and not all(
                condition.holds(state)
                for state in ([run.final] if condition.where == "ends" else [step.state for step in run.steps])
            )
        }

    def _counter_example(
        self, program: str, size: int, violating: list[tuple[Run, Origin]], covered: Callable[[str, int], bool]
    ) -> CounterExample:
        """The shortest run again, on concrete values; comparisons and outcomes of calls come out the same."""
        run, origin = violating[0]
        start = recreate(self.environment, program, size, origin)
        again = run_body(self.contracts, self.decisions, program, start, Choices(run.outcomes), covered)
        violation = again.violation or run.violation
        assert violation is not None
        return CounterExample(
            start=start,
            steps=tuple((step.state, step.action) for step in again.steps),
            final=again.final,
            violation=violation,
            failing=tuple(origin for _, origin in violating),
        )


def recreate(environment: Environment[Any], program: str, size: int, origin: Origin) -> Any:
    """The start an origin stands for."""
    if origin.values:
        states = environment.templates(program, size, origin.values)
    else:
        states = environment.enumerate(program, size)
    return next(islice(states, origin.number, None))


def histories_met() -> str:
    """The message of the limit on memory."""
    return f"more than {MOST_HISTORIES:,} histories were met"


def _length(violating: tuple[Run, Origin]) -> int:
    return len(violating[0].steps)


def _template_origin(number: int, order: Order) -> Origin:
    return Origin(number, order.example())
