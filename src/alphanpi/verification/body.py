"""One run of a program's body, with every call replaced by the contract of the program called."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from alphanpi.errors import SpecificationError, UsageError
from alphanpi.guard import Guard, shown
from alphanpi.spec import STOP, Environment
from alphanpi.verification.decisions import NO_PARENT, Decisions, Mask
from alphanpi.verification.unknown import Choices


class Step(NamedTuple):
    """An action chosen in a state."""

    state: Any
    history: int
    mask: Mask
    action: str


class Violation(NamedTuple):
    """A rule a run breaks."""

    rule: str  # post, depth, measure, uncovered
    text: str


class CallMade(NamedTuple):
    """A program called at a size."""

    program: str
    size: int


class Run(NamedTuple):
    """One run of a body."""

    start: Any
    steps: tuple[Step, ...]
    final: Any
    calls: frozenset[CallMade]
    outcomes: tuple[int, ...]  # which outcome was chosen wherever a call had several
    violation: Violation | None

    @property
    def sequence(self) -> tuple[tuple[int, Mask], ...]:
        """What the network saw: histories, which stand for observations, and masks."""
        return tuple((step.history, step.mask) for step in self.steps)


class Contracts:
    """The post-states of calls: what the environment allows, restricted to the invariants found so far."""

    def __init__(self, environment: Environment[Any]) -> None:
        self.environment = environment
        self.guard = Guard(environment)
        self.invariants: dict[str, set[Hashable]] = {}
        """For programs with a relative view, the views of all outcomes of the agent's own runs."""

    def outcomes(self, program: str, entry: Any) -> list[Any]:
        """Every state in which a call may end, as the specification has it."""
        try:
            return list(self.environment.outcomes(program, entry))
        except NotImplementedError:
            name = type(self.environment).__name__
            raise UsageError(
                f"{name} cannot be verified: give it a method outcomes(program, before), every state in which a call "
                "may end; see docs/verification.md"
            ) from None

    def strengthened(self, program: str, entry: Any) -> list[Any]:
        """Those of them that the agent's own runs have been shown to stay within."""
        allowed = [after for after in self.outcomes(program, entry) if self.within(program, after)]
        for after in allowed:
            if not self.guard.post(program, entry, after):
                raise SpecificationError(
                    f"{self.guard.name}: outcomes of {program} begun in {shown(entry)} gives {shown(after)}, "
                    "where the post-condition is false"
                )
        return allowed

    def view(self, program: str, after: Any) -> Hashable:
        """An outcome relative to its problem; None where the environment has no such view."""
        return self.environment.relative(program, after)

    def within(self, program: str, after: Any) -> bool:
        """Whether an outcome is in the invariant of its program."""
        view = self.view(program, after)
        return view is None or view in self.invariants.get(program, ())


def run_body(
    contracts: Contracts,
    decisions: Decisions,
    program: str,
    start: Any,
    choices: Choices,
    covered: Callable[[str, int], bool],
) -> Run:
    """Run a body greedily from a start; `choices` decides which outcome a call has where there are several."""
    guard, library = contracts.guard, decisions.library
    index = library.index_of(program) - library.atomic_count
    may_call = library.may_call(program)
    limit, measure = guard.depth(program, start), guard.measure(program, start)
    state, history = start, NO_PARENT
    steps: list[Step] = []
    calls: set[CallMade] = set()
    taken: list[int] = []

    def ended(rule: str = "", text: str = "") -> Run:
        violation = Violation(rule, text) if rule else None
        return Run(start, tuple(steps), state, frozenset(calls), tuple(taken), violation)

    while True:
        history = decisions.history(index, history, guard.observe(state))
        mask = tuple(
            allowed and (name == STOP or guard.pre(name, state, program))
            for name, allowed in zip(library.names, may_call, strict=True)
        )
        action = library.names[decisions.decide(history, mask).action]
        steps.append(Step(state, history, mask, action))
        if action == STOP:
            if not guard.post(program, start, state):
                return ended("post", f"{program} stops where its post-condition is false")
            _require_complete(contracts, program, start, state)
            return ended()
        if len(steps) >= limit:
            return ended("depth", f"{program} does not stop within {limit} actions")
        if library.named(action).atomic:
            state = guard.act(state, action)
            continue
        entry = guard.enter(state, action, program)
        size = guard.size(entry)
        if action == program:
            smaller = guard.measure(program, entry)
            if not 0 <= smaller < measure:
                return ended("measure", f"{program} calls itself with measure {smaller}, not below its own {measure}")
        if not covered(action, size):
            return ended("uncovered", f"{program} calls {action} at size {size}, where its contract has not been shown")
        calls.add(CallMade(action, size))
        possible = contracts.strengthened(action, entry)
        if not possible:
            return ended("uncovered", f"{program} calls {action}, of which no outcome is known at size {size}")
        choice = 0
        if len(possible) > 1:
            choice = choices.choose(len(possible))
            taken.append(choice)
        state = guard.leave(state, possible[choice], action, program)


def _require_complete(contracts: Contracts, program: str, start: Any, final: Any) -> None:
    """A run that satisfies the post-condition must be among the outcomes callers are given."""
    if not any(final == after for after in contracts.outcomes(program, start)):
        raise SpecificationError(
            f"{contracts.guard.name}: outcomes of {program} begun in {shown(start)} lacks {shown(final)}, "
            "which the post-condition allows"
        )
