"""All runs of a program at a size: from every start, for every comparison and every outcome of a call."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any, NamedTuple

from alphanpi.cutoff import Condition
from alphanpi.errors import UsageError
from alphanpi.spec import Environment, Program
from alphanpi.verification.body import CallMade, Contracts, Run, Violation, run_body
from alphanpi.verification.decisions import Decisions, Mask
from alphanpi.verification.unknown import Choices, Order

Sequence = tuple[tuple[int, Mask], ...]


class OutOfTimeError(Exception):
    """The time limit was met in the middle of a size."""


class CounterExample(NamedTuple):
    """A start and a run from it that breaks a rule, on concrete values."""

    start: Any
    steps: tuple[tuple[Any, str], ...]  # state, action
    final: Any
    violation: Violation


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
        worst: tuple[Run, Any] | None = None
        runs = 0
        for run, concrete in self._runs(name, size, covered):
            runs += 1
            sequences.add(run.sequence)
            calls |= run.calls
            if run.violation is not None:
                if worst is None or len(run.steps) < len(worst[0].steps):
                    worst = run, concrete()
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
            counter_example=None if worst is None else self._counter_example(name, *worst, covered),
        )

    def _runs(
        self, program: str, size: int, covered: Callable[[str, int], bool]
    ) -> Iterator[tuple[Run, Callable[[], Any]]]:
        """Every run, with a function that gives its start on concrete values; unknowns hold until the next run."""
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
                yield (
                    self._run(program, start, choices, covered),
                    partial(self._concrete, program, size, order, number),
                )
                choices = choices.following()

    def _enumerated_runs(
        self, program: str, size: int, covered: Callable[[str, int], bool]
    ) -> Iterator[tuple[Run, Callable[[], Any]]]:
        try:
            for start in self.environment.enumerate(program, size):
                choices: Choices | None = Choices()
                while choices is not None:
                    yield self._run(program, start, choices, covered), partial(_identity, start)
                    choices = choices.following()
        except NotImplementedError:
            raise UsageError(
                f"{type(self.environment).__name__} cannot be verified: give it a method enumerate(program, size), "
                "every start of a size; see docs/verification.md"
            ) from None

    def _concrete(self, program: str, size: int, order: Order, number: int) -> Any:
        return list(self.environment.templates(program, size, order.example()))[number]

    def _run(self, program: str, start: Any, choices: Choices, covered: Callable[[str, int], bool]) -> Run:
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
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
        self, program: str, run: Run, start: Any, covered: Callable[[str, int], bool]
    ) -> CounterExample:
        """The run again, on concrete values; comparisons come out the same, calls are given the same outcomes."""
        again = run_body(self.contracts, self.decisions, program, start, Choices(run.outcomes), covered)
        violation = again.violation or run.violation
        assert violation is not None
        return CounterExample(start, tuple((step.state, step.action) for step in again.steps), again.final, violation)


def _identity(state: Any) -> Any:
    return state
