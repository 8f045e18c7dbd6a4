"""Validation after every iteration, and the exam before training is complete."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from alphanpi.agent.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Failure
from alphanpi.environment.specification import STOP, Program
from alphanpi.errors import AlphaNPIError
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.curriculum import Curriculum
from alphanpi.learn.routes import MOST_ACTIONS
from alphanpi.learn.starts import MOST_ERRORS, Error, Start, Starts, Stream

# Actions tried with search, for each of a run without it. A search that tries a needless recursive call in every call
# soon exceeds any number; one that tries something else, now and then, does not, and large problems tell.
_MOST_TRIED = 2
_GRANTED = 4  # so many more may be tried in any run, however short
_ENUMERATED = 20_000  # starts of a program
_FAR_EPISODES = 8  # of the largest problems
_FAR_PLANNED = 2  # of each size that must be solved with search, too
_FAR_ACTIONS = 100_000  # a large problem that takes more is too large
_FAR_SHARE = 2 / 3  # of the size that is asked for; what is fast enough on smaller ones alone may be learned otherwise
_TRIES = 3  # large problems that may take too many actions before none is asked for
_TRAINING_SHARE = 0.5  # of episodes that are on training sizes: what fails there can be practised
_PASSES = 5  # successes in a row after which a failed start is forgotten
_TOO_LARGE = (Failure.NODES, Failure.STATES, Failure.HISTORIES)


class Exam(StrEnum):
    """How the exam went: the first part that was failed, in the order in which they are held."""

    NOT_HELD = ""
    ANSWERS = "failed"  # too many failures without search
    FAR = "failed on large problems"
    PASSED = "passed"


class ExamResult(NamedTuple):
    """The outcome of an exam, and the first instance that failed it."""

    outcome: Exam
    failing: str = ""
    program: str = ""  # of that instance
    practised: bool = False  # whether what fails is among what is practised

    def __str__(self) -> str:
        return f"{self.outcome}: {self.failing}" if self.failing else str(self.outcome)


class _Answer(NamedTuple):
    """How a call went."""

    call: Call
    failure: Failure


class _UnansweredError(Exception):
    """A part of the exam is failed; the message names program, instance and reason."""

    def __init__(self, program: str, message: str, practised: bool) -> None:
        super().__init__(message)
        self.program = program
        self.practised = practised


class Validation:
    """Runs the unlocked programs, greedily and with search."""

    def __init__(
        self,
        starts: Starts,
        curriculum: Curriculum,
        config: TrainConfig,
        *,
        interpreter: Interpreter,
        planner: Search,
    ) -> None:
        self.starts = starts
        self.library = starts.library
        self.curriculum = curriculum
        self.settings = config.validation
        self.interpreter = interpreter
        self.planner = planner

    def run(self, iteration: int, episodes: int) -> dict[str, list[bool]]:
        """Successes per program that is practised; failed starts on training sizes are remembered."""
        outcomes: dict[str, list[bool]] = {program.name: [] for program in self.curriculum.practised}
        for answer in self._validate(iteration, episodes, Stream.VALIDATE):
            outcomes[answer.call.program].append(answer.failure == Failure.NONE)
        return outcomes

    def frozen_shares(self, episodes: int) -> dict[str, float]:
        """Before anything is learned: successes of the frozen programs, whose failures nothing will change."""
        programs = [program for program in self.library.learned if program.name in self.curriculum.frozen]
        starts = self._drawn(programs, 0, episodes, Stream.FROZEN)
        answers = self._answers(starts)
        return {
            program.name: float(
                np.mean([one.failure == Failure.NONE for one in answers if one.call.program == program.name])
            )
            for program in programs
        }

    def _validate(self, iteration: int, episodes: int, stream: Stream) -> list[_Answer]:
        starts = self.draw(iteration, episodes, stream)
        answers = self._answers(starts)
        failed: dict[str, list[Start]] = {program.name: [] for program in self.curriculum.unlocked}
        for start, answer in zip(starts, answers, strict=True):
            if start.size not in self.starts.sizes(self.library.named(start.program)):
                continue
            if answer.failure != Failure.NONE:
                failed[start.program].append(start)
        for name in failed:
            self.starts.remember(name, failed[name], kept=self._still_failing(name))
        return answers

    def exam(self, iteration: int) -> ExamResult:
        """A larger validation in which hardly anything may fail, and what small problems hide."""
        part = Exam.ANSWERS
        try:
            self._ask_again()
            self._ask_for(self._validate(iteration, self.settings.exam_episodes, Stream.EXAM))
            self._answer_all(iteration)
            part = Exam.FAR
            for name in self._highest() if self.settings.far_exam_factor else ():
                self._reach_far(name, iteration)
        except _UnansweredError as error:
            return ExamResult(part, str(error), error.program, error.practised)
        return ExamResult(Exam.PASSED)

    def _ask_again(self) -> None:
        """Starts that failed when all were asked for: while one does, nothing else need be."""
        if self.settings.exam_threshold < 1:
            return
        for errors in self.starts.errors.values():
            for answer in self._answers([error.start for error in errors if error.start.origin]):
                if answer.failure != Failure.NONE:
                    raise self._unanswered(answer.call, answer.failure.name.lower(), "as before", practised=True)

    def _answer_all(self, iteration: int) -> None:
        """Every start of the smallest training sizes, where they can be enumerated: what is rare is seldom drawn.

        Only where nothing may fail: it takes seconds, and a network that is right everywhere takes longer to learn.
        """
        if self.settings.exam_threshold < 1:
            return
        rng = self.starts.random(iteration, Stream.EXAM)
        for program in self.curriculum.unlocked:
            all_starts = self.starts.every(program, _ENUMERATED)
            calls = [Call(program.name, one.state) for one in all_starts]
            runs = self.interpreter.run(calls, max_actions=MOST_ACTIONS, remembering=True)
            failed = [place for place, run in enumerate(runs) if not run.success]
            if failed:
                some = rng.permutation(failed)[:MOST_ERRORS]
                self.starts.remember(program.name, [all_starts[place].start for place in some])
                first = calls[failed[0]]
                reason = runs[failed[0]].failure.name.lower()
                raise self._unanswered(first, reason, f"{len(failed)} of all {len(runs)} failed", practised=True)

    def draw(self, iteration: int, episodes: int, stream: Stream) -> list[Start]:
        """Starts of every unlocked program, part of them on training sizes; frozen ones are asked in exams alone."""
        curriculum = self.curriculum
        programs = curriculum.practised if stream == Stream.VALIDATE else curriculum.unlocked
        return self._drawn(programs, iteration, episodes, stream)

    def _drawn(self, programs: Sequence[Program], iteration: int, episodes: int, stream: Stream) -> list[Start]:
        rng = self.starts.random(iteration, stream)
        starts: list[Start] = []
        for program in programs:
            sizes = self.starts.sizes(program)
            highest = min(max(2, self.curriculum.level), self.library.levels)
            called = program.level < highest and not program.recursive
            count = episodes * self.settings.called_program_factor if called else episodes
            for episode in range(count):
                on_training_size = episode < _TRAINING_SHARE * count
                size = int(rng.choice(sizes)) if on_training_size else self.starts.validation_size(program)
                starts.append(
                    self.starts.start(program.name, size, iteration=iteration, stream=stream, number=len(starts))
                )
        return starts

    def _ask_for(self, answers: Sequence[_Answer]) -> None:
        """Every program must succeed often enough."""
        for name in dict.fromkeys(answer.call.program for answer in answers):
            own = [answer for answer in answers if answer.call.program == name]
            failed = [answer for answer in own if answer.failure != Failure.NONE]
            if 1 - len(failed) / len(own) < self.settings.exam_threshold:
                sizes = self.starts.sizes(self.library.named(name))
                raise self._unanswered(
                    failed[0].call,
                    failed[0].failure.name.lower(),
                    f"{len(failed)} of {len(own)} failed",
                    practised=any(self.starts.guard.size(one.call.state) in sizes for one in failed),
                )

    def _unanswered(self, call: Call, *reasons: str, practised: bool = False) -> _UnansweredError:
        message = f"{call.program} on {self.starts.guard.format(call.state)} ({', '.join(reasons)})"
        return _UnansweredError(call.program, message, practised)

    def _reach_far(self, program: str, iteration: int) -> None:
        """A program on larger problems, without search; the first of each size with it, too.

        Not asked where problems that large cannot be made. A run that takes very many more actions than others fails.
        """
        try:
            parts = self._far_calls(program, iteration)
        except AlphaNPIError:
            return
        for calls in reversed(parts):
            self._solve_all(calls)

    def _far_calls(self, program: str, iteration: int) -> list[list[Call]]:
        """The largest problems, twice as many of half the size, and so on: mistakes may be most frequent in between."""
        starts, episodes = self.starts, _FAR_EPISODES
        smallest = starts.validation_size(self.library.named(program))
        size = asked = min(self.settings.far_exam_factor * smallest, max(starts.environment.test_sizes))
        parts: list[list[Call]] = []
        number = 0
        while not parts or size >= 2 * smallest:
            drawn = [
                starts.start(program, size, iteration=iteration, stream=Stream.FAR_EXAM, number=number + i)
                for i in range(episodes)
            ]
            # Some environments have few different problems of a size.
            calls = list(dict.fromkeys(Call(program, starts.state(start)) for start in drawn))
            (probe,) = self.interpreter.run(calls[:1], max_actions=_FAR_ACTIONS)
            if probe.failure == Failure.ACTIONS and 3 * size // 4 > smallest:
                size = 3 * size // 4
                if not (parts or self.curriculum.learned_anew or size >= _FAR_SHARE * asked):
                    raise self._unanswered(calls[0], f"more than {_FAR_ACTIONS:,} actions")
                continue
            parts.append(calls)
            size, number, episodes = size // 2, number + episodes, 2 * episodes
        return parts

    def _solve_all(self, calls: Sequence[Call]) -> None:
        done = 0
        while done < len(calls):
            some = calls[done : done + max(_TRIES, done)]  # few at first: most agents that fail do so at once
            runs = self.interpreter.run(some, Recording(steps=0), MOST_ACTIONS)
            if done == 0 and all(run.failure == Failure.ACTIONS for run in runs):
                return
            for call, run in zip(some, runs, strict=True):
                if not run.success:
                    raise self._unanswered(call, run.failure.name.lower())
            with_search = max(0, _FAR_PLANNED - done)
            self._plan_alike(some[:with_search], runs[:with_search])
            done += len(some)

    def _plan_alike(self, calls: Sequence[Call], runs: Sequence[Execution]) -> None:
        """Calls that succeed without search must do so with it, and recursive programs try hardly more actions."""
        if not calls:
            return
        needed = [_actions_of_calls(run) for run in runs]
        bounded = all(self._recursive(call.program) for call in calls)
        most = _MOST_TRIED * max(needed) + _GRANTED + 1 if bounded else None
        traces = self.planner.run(_requests(calls), max_actions=most)
        for call, trace, run, actions in zip(calls, traces, runs, needed, strict=True):
            recursive = self._recursive(trace.program)
            if not run.success or (trace.failure in _TOO_LARGE and not recursive):
                continue
            wasteful = recursive and trace.tried > _MOST_TRIED * actions + _GRANTED
            if wasteful or trace.failure == Failure.ACTIONS:
                tried = f"{most} or more" if trace.failure == Failure.ACTIONS else str(trace.tried)
                raise self._unanswered(call, f"{tried} actions tried with search, {actions} taken without")
            if not trace.success:
                raise self._unanswered(call, f"{trace.failure.name.lower()} with search, solved without")

    def _highest(self) -> list[str]:
        return [program.name for program in self.library.learned if program.level == self.library.levels]

    def _recursive(self, program: str) -> bool:
        return self.library.named(program).recursive

    def _still_failing(self, name: str) -> list[Error]:
        """Try the remembered starts again; one that has succeeded often enough in a row is forgotten."""
        errors = self.starts.errors[name]
        again = self._answers([error.start for error in errors])
        updated = [
            Error(error.start, error.passes + 1 if answer.failure == Failure.NONE else 0)
            for error, answer in zip(errors, again, strict=True)
        ]
        return [error for error in updated if error.passes < _PASSES]

    def _answers(self, starts: list[Start]) -> list[_Answer]:
        calls = [Call(start.program, self.starts.state(start)) for start in starts]
        runs = self.interpreter.run(calls, Recording(depth=0), MOST_ACTIONS, remembering=True)
        return [_Answer(call, run.failure) for call, run in zip(calls, runs, strict=True)]


def _requests(calls: Sequence[Call]) -> list[Request]:
    return [Request(call.program, call.state) for call in calls]


def _actions_of_calls(run: Execution) -> int:
    """Actions without STOP, which a search need not try in order to take it."""
    assert run.tally is not None
    return sum(times for (_, action), times in run.tally.choices.items() if action != STOP)
