"""What an episode decided, on trial before it is learned.

The search sees states, the agent sees a window. A success found by search may rest on what no window shows: where a
list happens to be sorted already, stopping is right, and in another list that looks the same it is not. So the agent
itself, deciding as the episode did and otherwise as its network says, is run on other problems. What makes it fail more
often is hardly learned. And what makes it fail least is kept: how the agent goes about those problems then is learned,
too, until the network does as well by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from alphanpi.agent.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Trace
from alphanpi.engine.tables import STOP_ACTION
from alphanpi.environment.specification import Program
from alphanpi.learn.routes import MOST_ACTIONS, run_as_trace
from alphanpi.learn.starts import Starts, Stream
from alphanpi.network.history_table import Window

_ON_TRIAL = 12  # episodes of a program whose decisions are tried in an iteration

Decisions = dict[int, int]
"""Actions by history of the interpreter's table."""


class KeptDecision(NamedTuple):
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


class Trials:
    """Tries decisions of programs, and keeps those that are better than the network's."""

    def __init__(self, interpreter: Interpreter, starts: Starts, search: SearchConfig, problems: int) -> None:
        self.interpreter = interpreter
        self.starts = starts
        self.library = interpreter.library
        self.search = search
        self.problems = problems
        self.kept: tuple[KeptDecision, ...] = ()
        self.bars: dict[str, float] = {}  # share of problems solved; what scores less is learned less

    def lessons(self, programs: Sequence[Program], episodes: Sequence[Trace], iteration: int) -> list[Lesson]:
        """The traces of all episodes with their scores, and runs of the agent with the decisions that are kept."""
        result = []
        number = 0
        for program in programs:
            own = [episode for episode in episodes if episode.program == program.name]
            calls = self._draw(program, iteration, number)
            number += len(calls)
            result += self._tried_by(program, own, calls)
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

    def _tried_by(self, program: Program, episodes: list[Trace], calls: list[Call]) -> list[Lesson]:
        index = self.library.index_of(program.name) - self.library.atomic_count
        decisions = self._decisions(index)
        plain, *more = self._tried(calls, [{}, decisions] if decisions else [{}])
        current = max([plain, *more], key=lambda attempt: attempt.solved)
        self.bars[program.name] = current.solved / len(calls)  # of decisions made for other problems
        self.kept = tuple(one for one in self.kept if one.program != index)
        if plain.solved == len(calls):
            return [Lesson(part, 1.0) for episode in episodes for part in episode.parts()]
        tables = [self._made_by(episode) for episode in episodes[:_ON_TRIAL]]
        attempts = self._tried(calls, [{**current.decisions, **table} for table in tables])
        scores = [attempt.solved / len(calls) for attempt in attempts]
        scores += [current.solved / len(calls)] * (len(episodes) - len(scores))
        result = [
            Lesson(part, score) for episode, score in zip(episodes, scores, strict=True) for part in episode.parts()
        ]
        current = max([current, *attempts], key=lambda attempt: attempt.solved)
        return result + self._kept(current, plain, index)

    def _kept(self, current: _Attempt, plain: _Attempt, index: int) -> list[Lesson]:
        """Remember what is decided better than by the network, and learn from how that goes."""
        if current is plain:
            return []
        table = self.interpreter.table
        made = [
            KeptDecision(index, table.window_before(history), action) for history, action in current.decisions.items()
        ]
        self.kept += tuple(sorted(made))  # histories are numbered in the order in which this process met them
        share = current.solved / len(current.runs)
        return [Lesson(run_as_trace(self.interpreter, run, self.search), share) for run in current.runs if run.success]

    def _decisions(self, index: int) -> Decisions:
        table = self.interpreter.table
        return {table.history_of(one.program, one.window): one.action for one in self.kept if one.program == index}

    def _made_by(self, episode: Trace) -> Decisions:
        """What an episode decided, except in a problem that it did not solve."""
        table = self.interpreter.table
        index = self.library.index_of(episode.program) - self.library.atomic_count
        found: Decisions = {}
        for part in episode.parts():
            if not part.success:
                break
            context = table.beginning(index)
            for observation, action in zip(part.observations.tolist(), part.actions.tolist(), strict=True):
                history = table.after(context, tuple(observation))
                found.setdefault(history, action)
                if action != STOP_ACTION:
                    context = table.following(history, action)
        return found

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
