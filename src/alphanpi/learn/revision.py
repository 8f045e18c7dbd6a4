"""Decisions tried otherwise, on whole problems.

The search sees states, the agent sees a window. A success found by search may rest on what no window shows: where a
list happens to be sorted already, stopping is right, and in another list that looks the same it is not. So what an
episode decided is put on trial before it is learned: the agent itself, deciding as the episode did and otherwise as
its network says, is run on other problems. What makes it fail more often is not learned. And where it still fails,
single decisions of the failing runs are tried otherwise, one after the other, as long as that solves more problems. An
action is judged in all states that look alike at once, by what the agent, not a search, makes of it afterwards.

What was found is kept until the network decides as well without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from alphanpi.agent.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Trace
from alphanpi.engine.tables import STOP_ACTION
from alphanpi.environment.guard import shown
from alphanpi.environment.specification import Program
from alphanpi.environment.step import Step
from alphanpi.learn.routes import Route, run_as_trace
from alphanpi.learn.starts import Starts, Stream
from alphanpi.learn.thrift import MOST_ACTIONS
from alphanpi.network.history_table import HistoryTable, Window

_ON_TRIAL = 12  # episodes of a program whose decisions are tried in an iteration
_OPTIONS = 128  # single decisions that are tried otherwise in one step, at most
_SERIOUS = 16  # those of them that are tried on all problems

Decisions = dict[int, int]
"""Actions by history of the interpreter's table."""


class Revised(NamedTuple):
    """An action to be taken in a window, whatever the network says."""

    program: int  # among the programs to be learned
    window: Window
    action: int


class Lesson(NamedTuple):
    """What an iteration has to learn from a trace, and how much of it other problems confirm."""

    trace: Trace
    score: float  # share of problems solved by an agent that decides like the trace


class _Attempt(NamedTuple):
    """Decisions, and the runs of all problems with them."""

    decisions: Decisions
    runs: list[Execution]

    @property
    def solved(self) -> int:
        return sum(run.success for run in self.runs)


class Revisions:
    """Tries decisions of programs, and remembers those that are better than the network's."""

    def __init__(
        self, interpreter: Interpreter, starts: Starts, search: SearchConfig, problems: int, steps: int
    ) -> None:
        self.interpreter = interpreter
        self.starts = starts
        self.library = interpreter.library
        self.search = search
        self.problems = problems
        self.steps = steps
        self.revised: tuple[Revised, ...] = ()
        self.look_alikes: dict[str, str] = {}  # by program, two states that the same decision does not suit, in words
        self.confirmed: set[str] = set()  # programs whose agent solved all problems of the last trial by itself
        self.bars: dict[str, float] = {}  # share of problems solved; what scores less is learned less

    def learned_from(self, programs: Sequence[Program], episodes: Sequence[Trace], iteration: int) -> list[Lesson]:
        """The traces of all episodes with their scores, and runs of the agent as revised."""
        result = []
        number = 0
        for program in programs:
            own = [episode for episode in episodes if episode.program == program.name]
            calls = self._draw(program, iteration, number)
            number += len(calls)
            result += self._revise(program, own, calls)
        return result

    def _draw(self, program: Program, iteration: int, number: int) -> list[Call]:
        """Problems of all sizes, those where validation failed among them."""
        starts = self.starts
        rng = starts.random(iteration, Stream.TRIAL)
        sizes, errors = starts.sizes(program), starts.errors[program.name]
        drawn = []
        for place in range(self.problems):
            size = int(rng.choice(sizes)) if place % 2 else starts.validation_size(program)
            start = starts.start(program.name, size, iteration=iteration, stream=Stream.TRIAL, number=number + place)
            if errors and place % 4 == 1:
                start = errors[int(rng.integers(len(errors)))].start
            drawn.append(Call(program.name, starts.state(start)))
        return drawn

    def _revise(self, program: Program, episodes: list[Trace], calls: list[Call]) -> list[Lesson]:
        index = self.library.index_of(program.name) - self.library.atomic_count
        decisions = self._decisions(index)
        plain, *more = self._tried(calls, [{}, decisions] if decisions else [{}])
        current = max([plain, *more], key=lambda attempt: attempt.solved)
        self.bars[program.name] = current.solved / len(calls)  # of decisions made for other problems
        self.revised = tuple(one for one in self.revised if one.program != index)
        self.confirmed.discard(program.name)
        if plain.solved == len(calls):
            self.confirmed.add(program.name)
            return [Lesson(part, 1.0) for episode in episodes for part in episode.parts()]
        tables = [self._made_by(episode) for episode in episodes[:_ON_TRIAL]]
        attempts = self._tried(calls, [{**current.decisions, **table} for table in tables])
        scores = [attempt.solved / len(calls) for attempt in attempts]
        scores += [current.solved / len(calls)] * (len(episodes) - len(scores))
        result = [
            Lesson(part, score) for episode, score in zip(episodes, scores, strict=True) for part in episode.parts()
        ]
        current = max([current, *attempts], key=lambda attempt: attempt.solved)
        for _ in range(self.steps):
            options = self._options(program.name, current)
            if len(options) > _OPTIONS:  # each of them plays a role in few problems: a network has to generalise
                break
            better = self._better(calls, current, options)
            if better is None:
                break
            current = better
        return result + self._kept(current, plain, index)

    def _kept(self, current: _Attempt, plain: _Attempt, index: int) -> list[Lesson]:
        """Remember what is decided better than by the network, and learn from how that goes."""
        if current is plain:
            return []
        table = self.interpreter.table
        made = [Revised(index, table.window_before(history), action) for history, action in current.decisions.items()]
        self.revised += tuple(sorted(made))  # histories are numbered in the order in which this process met them
        share = current.solved / len(current.runs)
        return [Lesson(run_as_trace(self.interpreter, run, self.search), share) for run in current.runs if run.success]

    def _decisions(self, index: int) -> Decisions:
        table = self.interpreter.table
        return {table.history_of(one.program, one.window): one.action for one in self.revised if one.program == index}

    def _made_by(self, episode: Trace) -> Decisions:
        """What an episode decided, except in a problem that it did not solve."""
        table = self.interpreter.table
        index = self.library.index_of(episode.program) - self.library.atomic_count
        found: Decisions = {}
        for part in episode.parts():
            if not part.success:
                break
            for history, action in _walk(table, index, part.observations.tolist(), part.actions.tolist()):
                found.setdefault(history, action)
        return found

    def _options(self, name: str, current: _Attempt) -> list[Decisions]:
        """Every decision of a run that failed, taken otherwise."""
        guard = self.interpreter.guard
        found: dict[tuple[int, int], None] = {}
        for run in current.runs:
            if run.success:
                continue
            for step, (history, action) in zip(run.steps, self._passed(run), strict=True):
                for other, legal in enumerate(guard.legal(name, step.state)):
                    if legal and other != action:
                        found[history, other] = None
        return [{history: action} for history, action in found]

    def _better(self, calls: list[Call], current: _Attempt, options: Sequence[Decisions]) -> _Attempt | None:
        """The option that solves most problems, if it solves more; those that solve none of the failing are dropped."""
        failing = [place for place, run in enumerate(current.runs) if not run.success]
        solved = [place for place, run in enumerate(current.runs) if run.success]
        tables = [{**current.decisions, **option} for option in options]
        first = [one for one in self._tried([calls[place] for place in failing], tables) if one.solved]
        first = sorted(first, key=lambda attempt: -attempt.solved)[:_SERIOUS]
        best = None
        for one, other in zip(
            first, self._tried([calls[place] for place in solved], [one.decisions for one in first]), strict=True
        ):
            runs = dict(zip([*failing, *solved], [*one.runs, *other.runs], strict=True))
            attempt = _Attempt(one.decisions, [runs[place] for place in range(len(calls))])
            if attempt.solved > (current if best is None else best).solved:
                best = attempt
            elif best is None and other.solved < len(solved):
                self._note_look_alikes(current, attempt)
        return best

    def _note_look_alikes(self, before: _Attempt, after: _Attempt) -> None:
        """Two states that look the same: what is decided there solves the problem of one and not that of the other."""
        ((history, action),) = after.decisions.items() - before.decisions.items()
        places: list[Step] = []
        for solves, fails in ((after, before), (before, after)):
            runs = zip(before.runs, solves.runs, fails.runs, strict=True)
            run = next(run for run, solved, failed in runs if solved.success and not failed.success)
            passed = zip(run.steps, self._passed(run), strict=True)
            places += [step for step, (before_step, _) in passed if before_step == history][:1]
        if len(places) == 2:
            one, other = places
            self.look_alikes[one.program] = (
                f"{shown(one.state)}, where {self.library.names[action]} would do, and {shown(other.state)}, where "
                f"{other.action} does, look the same to it; add a field that tells them apart, or memory"
            )

    def _passed(self, run: Execution) -> list[tuple[int, int]]:
        """The histories of a run, each with the action taken after it."""
        route = Route.of(run.steps, self.library)
        index = self.library.index_of(route.program) - self.library.atomic_count
        observations = [self.interpreter.guard.observe(state) for state in route.states]
        return _walk(self.interpreter.table, index, observations, route.actions)

    def _tried(self, calls: list[Call], tables: Sequence[Decisions]) -> list[_Attempt]:
        runs = self.interpreter.run(
            calls * len(tables),
            Recording(depth=0),
            MOST_ACTIONS,
            [table for table in tables for _ in calls],
            remembering=True,
        )
        count = len(calls)
        return [_Attempt(table, runs[place * count : (place + 1) * count]) for place, table in enumerate(tables)]


def _walk(
    table: HistoryTable, program: int, observations: Sequence[Sequence[int]], actions: Sequence[int]
) -> list[tuple[int, int]]:
    """The histories of a call, each with the action taken after it."""
    context, found = table.beginning(program), []
    for observation, action in zip(observations, actions, strict=True):
        history = table.after(context, tuple(observation))
        found.append((history, action))
        if action != STOP_ACTION:
            context = table.following(history, action)
    return found
