"""One run of a program's body, with every call replaced by the contract of the program called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from alphanpi.environment.specification import STOP
from alphanpi.environment.unknown import Choices
from alphanpi.network.decisions import Decisions, Mask
from alphanpi.verification.contracts import Contracts


class BodyStep(NamedTuple):
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


class CallEntry(NamedTuple):
    """A state in which a call begins."""

    call: CallMade
    state: Any


class BodyRun(NamedTuple):
    """One run of a body."""

    start: Any
    steps: tuple[BodyStep, ...]
    final: Any
    entries: tuple[CallEntry, ...]
    outcomes: tuple[int, ...]  # which outcome was chosen wherever a call had several
    violation: Violation | None

    @property
    def sequence(self) -> tuple[tuple[int, Mask], ...]:
        """What the network saw: histories, which stand for observations, and masks."""
        return tuple((step.history, step.mask) for step in self.steps)


def run_body(
    contracts: Contracts,
    decisions: Decisions,
    program: str,
    start: Any,
    choices: Choices,
    covered: Callable[[str, int], bool],
) -> BodyRun:
    """Run a body greedily from a start; `choices` decides which outcome a call has where there are several."""
    guard, library = contracts.guard, decisions.table.library
    index = library.index_of(program) - library.atomic_count
    limit, measure = guard.depth(program, start), guard.measure(program, start)
    state, context = start, decisions.table.beginning(index)
    steps: list[BodyStep] = []
    entries: list[CallEntry] = []
    taken: list[int] = []

    def ended(rule: str = "", text: str = "") -> BodyRun:
        violation = Violation(rule, text) if rule else None
        return BodyRun(start, tuple(steps), state, tuple(entries), tuple(taken), violation)

    while True:
        history = decisions.table.after(context, guard.observe(state))
        mask = guard.legal(program, state)
        chosen = decisions.decide(history, mask).action
        action = library.names[chosen]
        steps.append(BodyStep(state, history, mask, action))
        if action == STOP:
            if not guard.post(program, start, state):
                return ended("post", f"{program} stops where its post-condition is false")
            contracts.require_listed(program, start, state)
            return ended()
        if len(steps) >= limit:
            return ended("depth", f"{program} does not stop within {limit} actions")
        context = decisions.table.following(history, chosen)
        if library.named(action).atomic:
            state = guard.act(state, action)
            continue
        entry = guard.enter(state, action, program)
        size = guard.size(entry)
        callee = library.called(action).name
        if chosen in library.recursions(program):
            smaller = guard.measure(callee, entry)
            if not 0 <= smaller < measure:
                called = "itself" if callee == program else callee
                return ended("measure", f"{program} calls {called} with measure {smaller}, not below its own {measure}")
        if not covered(callee, size):
            below = library.named(callee).minimum_size
            why = f"below its minimum_size {below}" if size < below else "where its contract has not been shown"
            return ended("uncovered", f"{program} calls {action} at size {size}, {why}")
        if not guard.pre(callee, entry, None):
            return ended("uncovered", f"{program} calls {action} in a state in which no run of {callee} may start")
        entries.append(CallEntry(CallMade(callee, size), entry))
        possible = contracts.strengthened(callee, entry)
        if not possible:
            return ended("uncovered", f"{program} calls {action}, of which no outcome is known at size {size}")
        choice = 0
        if len(possible) > 1:
            choice = choices.choose(len(possible))
            taken.append(choice)
        state = guard.leave(state, possible[choice], action, program)
