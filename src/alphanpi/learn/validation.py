"""Validation after every iteration, and the exam before training is complete."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from alphanpi.config import TrainConfig
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Failure
from alphanpi.errors import AlphaNPIError
from alphanpi.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.learn.curriculum import Curriculum
from alphanpi.learn.starts import Error, Start, Starts, Stream
from alphanpi.learn.thrift import MOST_ACTIONS, Route, thrifty_routes
from alphanpi.spec import STOP

_ROUTES = 100  # runs per program in which needless recursive calls are looked for
_MOST_TRIED = 1.1  # actions tried with search, for each of a run without it
_GRANTED = 2  # so many more may be tried in any run, however short
_RUNS_AT_ONCE = 15  # of those that are compared; the first that differ end the exam
_TRIES = 3  # large problems that may take too many actions before none is asked for
_TOO_LARGE = (Failure.NODES, Failure.STATES, Failure.HISTORIES)


class Exam(StrEnum):
    """How the exam went: the first part that was failed, in the order in which they are held."""

    NOT_HELD = ""
    ANSWERS = "failed"  # too many failures without search
    WASTE = "needless calls"  # recursive calls that programs could do without
    PLANNING = "failed with search"
    SEARCH = "needless search"  # with search, much is tried that a run without it does without
    FAR = "failed on large problems"
    PASSED = "passed"


class ExamResult(NamedTuple):
    """The outcome of an exam, and which programs make needless calls."""

    outcome: Exam
    wasteful: tuple[str, ...] = ()


class Validation:
    """Runs the unlocked programs, greedily and with search."""

    def __init__(
        self,
        starts: Starts,
        curriculum: Curriculum,
        config: TrainConfig,
        *,
        interpreter: Interpreter,
        search: Search,
        planner: Search,
    ) -> None:
        self.starts = starts
        self.library = starts.library
        self.curriculum = curriculum
        self.settings = config.validation
        self.thrifty = config.replay.thrifty and config.learning.unroll == "trace"
        self.interpreter = interpreter
        self.search = search
        self.planner = planner

    def run(self, iteration: int, episodes: int, stream: Stream = Stream.VALIDATE) -> dict[str, list[bool]]:
        """Successes per unlocked program; failed starts on training sizes are remembered."""
        starts = self.draw(iteration, episodes, stream)
        outcomes: dict[str, list[bool]] = {program.name: [] for program in self.curriculum.unlocked}
        failed: dict[str, list[Start]] = {name: [] for name in outcomes}
        for start, success in zip(starts, self._outcomes(starts), strict=True):
            outcomes[start.program].append(success)
            if not success and start.size in self.starts.sizes(self.library.named(start.program)):
                failed[start.program].append(start)
        for name in outcomes:
            self.starts.remember(name, failed[name], kept=self._still_failing(name))
        return outcomes

    def exam(self, iteration: int) -> ExamResult:
        """A larger validation in which nothing may fail, the same with search, and what else small problems hide."""
        settings = self.settings
        if _worst(self.run(iteration, settings.exam_episodes, Stream.EXAM)) < settings.exam_threshold:
            return ExamResult(Exam.ANSWERS)
        wasteful = self.wasteful_programs(iteration) if self.thrifty else ()
        if wasteful:
            return ExamResult(Exam.WASTE, wasteful)
        if not self._plans_well(iteration):
            return ExamResult(Exam.PLANNING)
        return ExamResult(self.last_part(iteration))

    def last_part(self, iteration: int) -> Exam:
        """What tells of large problems; not asked where a lemma says that small ones tell all."""
        if self.starts.guard.cutoff() is not None:
            return Exam.PASSED
        if not self._searches_little(iteration):
            return Exam.SEARCH
        return Exam.PASSED if all(self._reaches_far(name, iteration) for name in self._highest()) else Exam.FAR

    def draw(self, iteration: int, episodes: int, stream: Stream) -> list[Start]:
        """Starts of every unlocked program, part of them on training sizes."""
        rng = self.starts.random(iteration, stream)
        starts: list[Start] = []
        for program in self.curriculum.unlocked:
            sizes = self.starts.sizes(program)
            highest = min(max(2, self.curriculum.level), self.library.levels)
            called = program.level < highest and not program.recursive
            more = called and stream != Stream.PLANNING_EXAM
            count = episodes * self.settings.called_program_factor if more else episodes
            for episode in range(count):
                on_training_size = episode < self.settings.training_share * count
                size = int(rng.choice(sizes)) if on_training_size else self.starts.environment.validation_size
                starts.append(
                    self.starts.start(program.name, size, iteration=iteration, stream=stream, number=len(starts))
                )
        return starts

    def wasteful_programs(self, iteration: int) -> tuple[str, ...]:
        """Programs that make recursive calls which they could do without in all of their runs."""
        routes: defaultdict[str, list[Route]] = defaultdict(list)
        starts = self.draw(iteration, _ROUTES, Stream.EXAM)
        starts = [start for start in starts if self.library.named(start.program).recursive]
        calls = [Call(start.program, self.starts.state(start)) for start in starts]
        for start, execution in zip(starts, self.interpreter.run(calls, Recording(depth=0), MOST_ACTIONS), strict=True):
            states = tuple(step.state for step in execution.steps)
            actions = tuple(self.library.index_of(step.action) for step in execution.steps)
            route = Route(start.program, states, actions)
            if execution.success and len(route.self_calls(self.library.index_of(start.program))) > 1:
                routes[start.program].append(route)
        wasteful = []
        for name, found in routes.items():
            shorter = thrifty_routes(self.interpreter, found)
            if all(after is not before for before, after in zip(found, shorter, strict=True)):
                wasteful.append(name)
        return tuple(wasteful)

    def _plans_well(self, iteration: int) -> bool:
        """The exam with search, which listens to the values as well as to the policy."""
        episodes = self.settings.exam_planning_episodes
        if episodes == 0:
            return True
        starts = self.draw(iteration, episodes, Stream.PLANNING_EXAM)
        outcomes: defaultdict[str, list[bool]] = defaultdict(list)
        calls = [Call(start.program, self.starts.state(start)) for start in starts]
        for trace in self.planner.run(_requests(calls)):
            outcomes[trace.program].append(trace.success)
        return _worst(outcomes) >= self.settings.exam_threshold

    def _searches_little(self, iteration: int) -> bool:
        """Whether the highest programs, where they call themselves, try with search little that they do not do.

        To try one needless recursive call in every call makes a search exponential in the size of the problem, which
        no small problem shows by its outcome.
        """
        episodes = self.settings.exam_search_episodes
        starts = self.draw(iteration, episodes, Stream.SEARCH_EXAM) if episodes else []
        starts = [start for start in starts if start.program in self._highest() and self._recursive(start.program)]
        return all(
            self._plans_like_it_runs([Call(start.program, self.starts.state(start)) for start in some])
            for some in (starts[first : first + _RUNS_AT_ONCE] for first in range(0, len(starts), _RUNS_AT_ONCE))
        )

    def _reaches_far(self, program: str, iteration: int) -> bool:
        """A program on larger problems, without search; the first of the largest ones with it, too.

        Not asked where problems that large cannot be made, or the first few all take too many actions. A run that
        takes very many more than others fails.
        """
        try:
            largest, *smaller = self._far_calls(program, iteration)
        except AlphaNPIError:
            return True
        return all(self._solves_all(calls, planned=0) for calls in reversed(smaller)) and self._solves_all(
            largest, self.settings.far_exam_planning_episodes
        )

    def _far_calls(self, program: str, iteration: int) -> list[list[Call]]:
        """The largest problems, twice as many of half the size, and so on: mistakes may be most frequent in between."""
        starts, episodes = self.starts, self.settings.far_exam_episodes
        smallest = starts.environment.validation_size
        size = min(self.settings.far_exam_factor * smallest, max(starts.environment.test_sizes))
        parts: list[list[Call]] = []
        number = 0
        while not parts or size >= 2 * smallest:
            drawn = [
                starts.start(program, size, iteration=iteration, stream=Stream.FAR_EXAM, number=number + i)
                for i in range(episodes)
            ]
            parts.append([Call(program, starts.state(start)) for start in drawn])
            size, number, episodes = size // 2, number + episodes, 2 * episodes
        return parts

    def _solves_all(self, calls: Sequence[Call], planned: int) -> bool:
        done = 0
        while done < len(calls):
            some = calls[done : done + max(_TRIES, done)]  # few at first: most agents that fail do so at once
            failures = {run.failure for run in self.interpreter.run(some, max_actions=MOST_ACTIONS)}
            if done == 0 and failures == {Failure.ACTIONS}:
                return True
            with_search = some[: max(0, planned - done)]
            if failures != {Failure.NONE} or (with_search and not self._plans_like_it_runs(with_search)):
                return False
            done += len(some)
        return True

    def _plans_like_it_runs(self, calls: Sequence[Call]) -> bool:
        """Whether calls that succeed without search do so with it, and recursive programs try hardly more actions."""
        runs = self.interpreter.run(calls, Recording(steps=0), MOST_ACTIONS)
        needed = [_actions_of_calls(run) for run in runs]
        bounded = all(self._recursive(call.program) for call in calls)
        most = 2 * max(needed) + _GRANTED if bounded else None
        for trace, run, actions in zip(self.planner.run(_requests(calls), max_actions=most), runs, needed, strict=True):
            recursive = self._recursive(trace.program)
            if not run.success or (trace.failure in _TOO_LARGE and not recursive):
                continue
            if not trace.success or (recursive and trace.tried > _MOST_TRIED * actions + _GRANTED):
                return False
        return True

    def _highest(self) -> list[str]:
        return [program.name for program in self.library.learned if program.level == self.library.levels]

    def _recursive(self, program: str) -> bool:
        return self.library.named(program).recursive

    def _still_failing(self, name: str) -> list[Error]:
        """Try the remembered starts again; one that has succeeded often enough in a row is forgotten."""
        errors = self.starts.errors[name]
        again = self._outcomes([error.start for error in errors])
        updated = [
            Error(error.start, error.passes + 1 if success else 0) for error, success in zip(errors, again, strict=True)
        ]
        return [error for error in updated if error.passes < self.starts.settings.error_passes]

    def _outcomes(self, starts: list[Start]) -> list[bool]:
        states = [self.starts.state(start) for start in starts]
        if self.settings.mode == "greedy":
            calls = [Call(start.program, state) for start, state in zip(starts, states, strict=True)]
            return [execution.success for execution in self.interpreter.run(calls, max_actions=MOST_ACTIONS)]
        requests = [Request(start.program, state) for start, state in zip(starts, states, strict=True)]
        return [trace.success for trace in self.search.run(requests)]


def _requests(calls: Sequence[Call]) -> list[Request]:
    return [Request(call.program, call.state) for call in calls]


def _actions_of_calls(run: Execution) -> int:
    """Actions without STOP, which a search need not try in order to take it."""
    assert run.tally is not None
    return sum(times for (_, action), times in run.tally.choices.items() if action != STOP)


def _worst(outcomes: Mapping[str, Sequence[bool]]) -> float:
    """Success of the program that did worst."""
    return min(float(np.mean(successes)) for successes in outcomes.values())
