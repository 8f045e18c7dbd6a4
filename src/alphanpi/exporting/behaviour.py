"""Watching the greedy agent: every call of every program as a sequence of what it saw and what it did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from alphanpi.engine.histories import Evaluator
from alphanpi.errors import UsageError
from alphanpi.exporting.conditions import Feature, Letter
from alphanpi.exporting.tree import CallTrace, Observed, consistent
from alphanpi.interpreter import Call, Execution, Interpreter
from alphanpi.spec import STOP, Environment, Program

_STEPS_OF_A_SIZE = 40_000  # enumeration goes on to the next size if this one took fewer
_STATES_PER_SIZE = 20_000
_DISTINCT_CALLS = 250  # behaviour with more variety than this will not be complete at the next size either
_STEPS_OF_A_SAMPLE = 10_000
_STEPS_OF_SAMPLES = 2_000_000  # of all samples of a program, about
_LARGEST_SAMPLE = 30
_MAX_ACTIONS = 1_000_000
_CHUNK = 500


class Case(NamedTuple):
    """A call from outside, all actions it led to, and where it ended."""

    call: Call
    actions: tuple[str, ...]  # of all calls in the order they were taken, STOP included
    final: Any


class Coverage(NamedTuple):
    """What was looked at of a program."""

    program: str
    enumerated: int  # starts
    complete_to: int  # every start up to this size; below the smallest size if none
    sampled: int  # random larger starts
    fresh: int  # those of them drawn after the code was found
    largest: int  # size of the largest of them
    failed: int  # starts on which the agent itself fails; they are left out


class Watcher:
    """Runs the greedy agent and keeps, per program, the distinct traces of all calls."""

    def __init__(self, environment: Environment[Any], evaluator: Evaluator) -> None:
        self.environment = environment
        self.interpreter = Interpreter(environment, evaluator)
        self.traces: dict[str, set[CallTrace]] = {entry.name: set() for entry in environment.library.learned}
        self.with_legality: set[str] = set()  # programs whose actions are no function of the observations
        self._starts: dict[Call, None] = {}  # in the order they were watched
        derived = environment.derived
        self.features: tuple[Feature, ...] = (
            *(Feature(name, "field") for name in environment.fields),
            *(Feature(name, "derived") for name in derived),
            *(Feature(name, "may") for name in environment.library.names[1:]),
        )
        self.visible = len(environment.fields) + len(derived)  # features without legality

    def unseen(self, calls: Sequence[Call]) -> list[Call]:
        """The calls that were not watched yet, each once."""
        return [call for call in dict.fromkeys(calls) if call not in self._starts]

    def watch(self, calls: Sequence[Call]) -> list[Case | None]:
        """Run calls and learn from every call inside them; None for those the agent fails on."""
        self._starts.update(dict.fromkeys(calls))
        cases: list[Case | None] = []
        for first in range(0, len(calls), _CHUNK):
            chunk = calls[first : first + _CHUNK]
            executions = self.interpreter.run(chunk, record=True, max_actions=_MAX_ACTIONS)
            for call, execution in zip(chunk, executions, strict=True):
                if not execution.success:
                    cases.append(None)
                    continue
                self._learn(execution)
                cases.append(Case(call, tuple(step.action for step in execution.steps), execution.final))
        return cases

    def settle(self) -> None:
        """Where equal observations were followed by different actions, look again with legality."""
        for program, traces in self.traces.items():
            if program not in self.with_legality and not consistent(traces):
                self.with_legality.add(program)
                traces.clear()
        if any(not traces for traces in self.traces.values()):
            self.watch(list(self._starts))

    def _learn(self, execution: Execution) -> None:
        open_calls: list[list[Observed]] = []
        for step in execution.steps:
            if len(open_calls) <= step.depth:
                open_calls.append([])
            letter = self._letter(step.program, step.state)
            open_calls[-1].append(Observed(letter, step.action))
            if step.action == STOP:
                self.traces[step.program].add(tuple(open_calls.pop()))

    def _letter(self, program: str, state: Any) -> Letter:
        observation = tuple(int(value) for value in self.interpreter.guard.observe(state))
        if self.environment.derived:
            observation += self.interpreter.guard.derive(observation)
        if program in self.with_legality:
            observation += tuple(int(legal) for legal in self.environment.legal(program, state)[1:])
        return observation


class Survey(NamedTuple):
    """The starts looked at, and what the agent did from them."""

    cases: list[Case]
    coverage: list[Coverage]


def survey(watcher: Watcher, max_size: int | None, samples: int, seed: int) -> Survey:
    """Every start of each program up to a size that its cost allows, and random larger ones."""
    cases: list[Case] = []
    coverage = []
    programs = watcher.environment.library.learned
    for number, entry in enumerate(programs):
        enumerated, complete_to = _enumerate(watcher, entry, max_size)
        share = samples // len(programs) + (number < samples % len(programs))
        drawn, largest = draw(watcher, entry, complete_to, share, (seed, number))
        sampled = watcher.watch(drawn)
        found = [case for case in (*enumerated, *sampled) if case is not None]
        if not found:
            raise UsageError(f"{entry.name}: the agent fails on every start that was tried; there is nothing to export")
        cases += found
        coverage.append(
            Coverage(
                entry.name,
                len(enumerated),
                complete_to,
                len(sampled),
                0,
                largest,
                len(enumerated) + len(sampled) - len(found),
            )
        )
    return Survey(cases, coverage)


def _enumerate(watcher: Watcher, entry: Program, max_size: int | None) -> tuple[list[Case | None], int]:
    cases: list[Case | None] = []
    steps, size = 0, entry.minimum_size  # steps taken at the size before
    while size <= max_size if max_size is not None else _goes_on(watcher, entry, size, steps):
        try:
            limit = None if max_size is not None else _STATES_PER_SIZE + 1
            starts = list(islice(watcher.environment.enumerate(entry.name, size), limit))
        except NotImplementedError:
            break
        if max_size is None and len(starts) > _STATES_PER_SIZE:
            break
        found = watcher.watch([Call(entry.name, state) for state in starts])
        steps = sum(len(case.actions) for case in found if case is not None)
        cases += found
        size += 1
    return cases, size - 1


def _goes_on(watcher: Watcher, entry: Program, size: int, steps: int) -> bool:
    """Whether to enumerate this size, when the size before took so many steps."""
    bounded = len(watcher.traces[entry.name]) < _DISTINCT_CALLS
    return bounded and steps < _STEPS_OF_A_SIZE and size <= _LARGEST_SAMPLE


def draw(
    watcher: Watcher, entry: Program, complete_to: int, samples: int, seed: tuple[int, ...]
) -> tuple[list[Call], int]:
    """Different random starts that were not watched yet, up to a size at which one run is still cheap."""
    most_steps = min(_STEPS_OF_A_SAMPLE, max(200, _STEPS_OF_SAMPLES // max(samples, 1)))
    smallest = max(entry.minimum_size, complete_to + 1)
    largest = smallest
    for size in _sizes(smallest):
        start = watcher.environment.initial(entry.name, size, np.random.default_rng((*seed, size)))
        steps = watcher.interpreter.run([Call(entry.name, start)], max_actions=most_steps)[0].actions
        if steps >= most_steps:
            break
        largest = size
    rng = np.random.default_rng(seed)
    sizes = rng.integers(smallest, largest + 1, size=samples)
    calls = [Call(entry.name, watcher.environment.initial(entry.name, int(size), rng)) for size in sizes]
    return watcher.unseen(calls), largest


def _sizes(smallest: int) -> Iterator[int]:
    """Sizes to try, each larger than the one before."""
    yield from range(smallest, min(smallest + 8, _LARGEST_SAMPLE + 1))
    yield from range(smallest + 8, _LARGEST_SAMPLE + 1, 4)
