"""What an episode decided, on trial before it is learned.

The search sees states, the agent sees a window. A success found by search may rest on what no window shows: where a
list happens to be sorted already, stopping is right, and in another list that looks the same it is not. So the agent
itself, deciding as the episode did and otherwise as its network says, is run on other problems. What makes it fail more
often is hardly learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from alphanpi.agent.interpreter import Call, Interpreter, Recording
from alphanpi.engine.requests import Trace
from alphanpi.engine.tables import STOP_ACTION
from alphanpi.environment.specification import Program
from alphanpi.learn.routes import MOST_ACTIONS
from alphanpi.learn.starts import Starts, Stream
from alphanpi.network.history_table import HistoryTable

_ON_TRIAL = 12  # episodes of a program whose decisions are tried in an iteration

Decisions = dict[int, int]
"""Actions by history of the interpreter's table."""


class Lesson(NamedTuple):
    """What an iteration has to learn from a trace, and how much of it other problems confirm."""

    trace: Trace
    score: float  # share of problems solved by an agent that decides like the trace


class Trials:
    """Tries the decisions of episodes on other problems."""

    def __init__(self, interpreter: Interpreter, starts: Starts, problems: int) -> None:
        self.interpreter = interpreter
        self.starts = starts
        self.library = interpreter.library
        self.problems = problems
        self.confirmed: set[str] = set()  # programs whose agent solved all problems of the last trial by itself
        self.bars: dict[str, float] = {}  # share of problems the agent solved; what scores less is learned less

    def lessons(self, programs: Sequence[Program], episodes: Sequence[Trace], iteration: int) -> list[Lesson]:
        """The traces of all episodes with their scores."""
        found = []
        for number, program in enumerate(programs):
            own = [episode for episode in episodes if episode.program == program.name]
            calls = self._draw(program, iteration, number * self.problems)
            for episode, score in zip(own, self._scores(program, own, calls), strict=True):
                found += [Lesson(part, score) for part in episode.parts()]
        return found

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

    def _scores(self, program: Program, episodes: Sequence[Trace], calls: Sequence[Call]) -> list[float]:
        self.confirmed.discard(program.name)
        (plain,) = self._solved(calls, [{}])
        self.bars[program.name] = plain
        if plain == 1:
            self.confirmed.add(program.name)
            return [1.0] * len(episodes)
        tried = self._solved(calls, [self._made_by(episode) for episode in episodes[:_ON_TRIAL]])
        return tried + [plain] * (len(episodes) - len(tried))

    def _made_by(self, episode: Trace) -> Decisions:
        """What an episode decided, except in a problem that it did not solve."""
        index = self.library.index_of(episode.program) - self.library.atomic_count
        found: Decisions = {}
        for part in episode.parts():
            if not part.success:
                break
            for step in _walk(self.interpreter.table, index, part):
                found.setdefault(step.history, step.action)
        return found

    def _solved(self, calls: Sequence[Call], tables: Sequence[Decisions]) -> list[float]:
        """The share of the problems that are solved with each table of decisions."""
        runs = self.interpreter.run(
            [*calls] * len(tables),
            Recording(depth=0),
            MOST_ACTIONS,
            [table for table in tables for _ in calls],
            remembering=True,
        )
        count = len(calls)
        return [
            sum(run.success for run in runs[place * count : (place + 1) * count]) / count
            for place in range(len(tables))
        ]


class _Decided(NamedTuple):
    history: int
    action: int


def _walk(table: HistoryTable, program: int, trace: Trace) -> list[_Decided]:
    """The histories of a call, each with the action taken after it."""
    context, found = table.beginning(program), []
    for observation, action in zip(trace.observations.tolist(), trace.actions.tolist(), strict=True):
        history = table.after(context, tuple(observation))
        found.append(_Decided(history, action))
        if action != STOP_ACTION:
            context = table.following(history, action)
    return found
