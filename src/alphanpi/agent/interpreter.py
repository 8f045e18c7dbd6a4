"""Running a program as the network alone says: per step the most probable legal action, no search.

Calls live on an explicit stack, so their depth is bounded by a limit and not by Python. Many instances run side by
side and share one table of evaluated histories.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

from alphanpi.engine.tables import Failure
from alphanpi.environment.guard import RAISED, Guard, shown
from alphanpi.environment.specification import Environment
from alphanpi.environment.step import Step
from alphanpi.errors import UsageError
from alphanpi.network.evaluator import Evaluator
from alphanpi.network.history_table import HistoryTable, Key


class Call(NamedTuple):
    """A program called in a state, as it is inside the call: `Guard.begun` sets arguments and the call's start."""

    program: str
    state: Any


class Recording(NamedTuple):
    """Which steps of an execution to keep; all are counted."""

    steps: int | None = None  # at most so many, the first ones
    depth: int | None = None  # none with more calls around it
    outline: bool = False  # where there are too many, drop the deepest calls rather than the last steps


class Tally(NamedTuple):
    """What was done in an execution, the steps that were not kept included."""

    by_depth: tuple[int, ...]  # actions with that many calls around them
    choices: dict[tuple[str, str], int]  # how often a program chose an action


class Execution(NamedTuple):
    """Outcome of running a program."""

    success: bool
    failure: Failure
    final: Any  # state at the end, the caller's frames restored only on success
    actions: int  # of all calls together
    culprit: Call | None  # the innermost call that failed
    steps: tuple[Step, ...]  # empty unless asked for
    tally: Tally | None = None  # counted where steps were asked for


class _Outcome(NamedTuple):
    """How a call ended."""

    final: Any
    actions: int
    height: int  # calls inside each other below it
    culprit: Call | None  # the innermost call that failed, if it did


class _Frame:
    __slots__ = ("before", "call", "context", "entry", "height", "length", "limit", "program", "state")

    def __init__(self, program: int, state: Any, limit: int, before: int = 0, call: str = "") -> None:
        self.program = program
        self.call = call  # the entry by which it was called
        self.before = before  # actions of the instance when it was called
        self.entry = self.state = state
        self.context = HistoryTable.beginning(program)
        self.length = self.height = 0
        self.limit = limit


class _Recorder:
    """Keeps and counts the steps of one execution."""

    __slots__ = ("by_depth", "choices", "deepest", "most", "names", "outline", "steps")

    def __init__(self, recording: Recording, names: Sequence[str]) -> None:
        self.names = names
        self.most = sys.maxsize if recording.steps is None else recording.steps
        self.deepest = sys.maxsize if recording.depth is None else recording.depth
        self.outline = recording.outline
        self.steps: list[Step] = []
        self.by_depth: list[int] = []
        self.choices = [0] * len(names) ** 2  # by library indices of program and action

    def add(self, depth: int, program: int, state: Any, action: int) -> None:
        while depth >= len(self.by_depth):
            self.by_depth.append(0)
        self.by_depth[depth] += 1
        self.choices[program * len(self.names) + action] += 1
        if depth > self.deepest:
            return
        # Too many: give up the deepest level, perhaps this step's own. The outermost call is never given up.
        while self.outline and len(self.steps) >= self.most and 0 < self.deepest >= depth:
            self.deepest = max(1, depth, *(step.depth for step in self.steps)) - 1
            self.steps = [step for step in self.steps if step.depth <= self.deepest]
        if depth <= self.deepest and len(self.steps) < self.most:
            self.steps.append(Step(depth, self.names[program], state, self.names[action]))

    def tally(self) -> Tally:
        pairs = zip(product(self.names, self.names), self.choices, strict=True)
        return Tally(tuple(self.by_depth), {pair: times for pair, times in pairs if times})


class _Instance:
    __slots__ = ("actions", "decisions", "execution", "frames", "led", "recorder", "remembering")

    def __init__(
        self,
        frame: _Frame,
        recorder: _Recorder | None,
        decisions: Mapping[int, int],
        led: frozenset[int],
        remembering: bool,
    ) -> None:
        self.frames = [frame]
        self.decisions = decisions
        self.led = led  # the program that does not do what the network says, and those that may call it
        self.remembering = remembering
        self.actions = 0
        self.recorder = recorder
        self.execution: Execution | None = None

    def end(self, success: bool, failure: Failure, final: Any, culprit: Call | None) -> None:
        recorder = self.recorder
        self.execution = Execution(
            success=success,
            failure=failure,
            final=final,
            actions=self.actions,
            culprit=culprit,
            steps=() if recorder is None else tuple(recorder.steps),
            tally=None if recorder is None else recorder.tally(),
        )


class Interpreter:
    """Executes programs greedily with one network."""

    def __init__(self, environment: Environment[Any], evaluator: Evaluator, max_call_depth: int = 20_000) -> None:
        self.guard = Guard(environment)
        self.environment = environment
        self.library = environment.library
        self.table = HistoryTable(self.library, evaluator)
        self.max_call_depth = max_call_depth
        self._under_way: list[_Instance] = []
        self._remembered: dict[tuple[int, Any], _Outcome] = {}
        self._atomic = self.library.atomic_count
        self._names = self.library.names
        self._callees = self.library.callees
        self._groups = [
            frozenset(self.library.index_of(name) - self._atomic for name in self.library.group(program.name))
            for program in self.library.learned
        ]
        self._conditions = [self.guard.conditions(program.name) or () for program in self.library.learned]

    def forget(self) -> None:
        """To be called when the network's weights have changed."""
        self.table.forget()
        self._remembered.clear()

    def run(
        self,
        calls: Sequence[Call],
        record: bool | Recording = False,
        max_actions: int | None = None,
        decisions: Sequence[Mapping[int, int]] | None = None,
        remembering: bool = False,
    ) -> list[Execution]:
        """Execute all calls side by side.

        Args:
            calls: What to execute.
            record: Keep all steps, or some.
            max_actions: Bounds each execution.
            decisions: For each call, actions to take after some histories of the table, where they are legal, whatever
                the network says.
            remembering: Look up what calls inside of others did before in the same state, but for those of a program
                that is led by decisions; their steps are counted, but neither kept nor tallied.
        """
        recording = Recording() if record is True else record or None
        instances = []
        for call, own in zip(calls, decisions if decisions is not None else [{}] * len(calls), strict=True):
            frame = self._frame(call)
            led = self._groups[frame.program] if own else frozenset[int]()
            recorder = recording and _Recorder(recording, self._names)
            instances.append(_Instance(frame, recorder, own, led, remembering))
        self._under_way = instances
        try:
            self._play(instances, max_actions)
        except BaseException:
            self.forget()  # an interrupt may have come between two entries
            raise
        finally:
            self._under_way = []
        return [instance.execution for instance in instances if instance.execution is not None]

    @property
    def actions(self) -> int:
        """Taken so far in the executions under way."""
        return sum(instance.actions for instance in self._under_way)

    def _play(self, active: list[_Instance], max_actions: int | None) -> None:
        while active:
            wanted: dict[Key, None] = {}
            waiting = []
            for instance in active:
                missing = self._advance(instance, max_actions)
                if missing is not None:
                    wanted[missing] = None
                    waiting.append(instance)
            if wanted:
                self.table.extend(list(wanted))
            active = waiting

    def _frame(self, call: Call) -> _Frame:
        index = self.library.index_of(call.program)
        if index < self._atomic:
            raise UsageError(f"{call.program} is an atomic action; give a program")
        if not self.guard.pre(call.program, call.state, None):
            raise UsageError(f"{call.program}: its pre-condition does not hold in {shown(call.state)}")
        called = self.library.called(call.program).name
        return _Frame(self._callees[index], call.state, self.guard.depth(called, call.state))

    def _advance(self, instance: _Instance, max_actions: int | None) -> Key | None:
        """Run an instance to its end, or to a history the network has not seen, which is returned."""
        guard, names, atomic = self.guard, self._names, self._atomic
        frames, recorder, numbers = instance.frames, instance.recorder, self.table.numbers
        following = self.table.following
        while True:
            frame = frames[-1]
            key = (frame.context, guard.look(frame.state))
            try:
                history = numbers.get(key)
            except TypeError:  # something in it cannot be hashed
                history = None
            if history is None:
                guard.well_formed(key[1], frame.state)
                return key
            action = self._choose(history, frame, instance.decisions)
            frame.length += 1
            instance.actions += 1
            if recorder is not None:
                recorder.add(len(frames) - 1, atomic + frame.program, frame.state, action)
            if action == 0:
                own = names[atomic + frame.program]
                if not guard.post(own, frame.entry, frame.state):
                    self._fail(instance, Failure.POST)
                    return None
                frames.pop()
                if not frames:
                    instance.end(True, Failure.NONE, frame.state, None)
                    return None
                if instance.remembering:
                    self._remember(instance, frame, frame.state, None)
                caller = frames[-1]
                caller.height = max(caller.height, frame.height + 1)
                caller.state = guard.leave(caller.state, frame.state, frame.call, names[atomic + caller.program])
                continue
            if frame.length >= frame.limit:
                self._fail(instance, Failure.DEPTH)
                return None
            frame.context = following(history, action)
            if max_actions is not None and instance.actions >= max_actions:
                self._fail(instance, Failure.ACTIONS)
                return None
            if action < atomic:
                frame.state = guard.act(frame.state, names[action])
                continue
            if len(frames) > self.max_call_depth:
                self._fail(instance, Failure.CALL_DEPTH)
                return None
            call, callee = names[action], self._callees[action]
            entry = guard.enter(frame.state, call, names[atomic + frame.program])
            try:
                known = self._remembered.get((callee, entry)) if instance.remembering else None
            except RAISED as error:
                guard.incomparable(error, entry, f"calling {call}", frame.state)
            if known is not None and max_actions is not None and instance.actions + known.actions >= max_actions:
                known = None  # it may end inside, which does not depend on what was remembered
            if known is not None and len(frames) + known.height > self.max_call_depth:
                known = None
            if known is None or callee in instance.led:
                limit = guard.depth(names[atomic + callee], entry)
                frames.append(_Frame(callee, entry, limit, instance.actions, call))
                continue
            instance.actions += known.actions
            frame.height = max(frame.height, known.height + 1)
            if known.culprit is not None:
                instance.end(False, Failure.CALL, known.final, known.culprit)
                return None
            frame.state = guard.leave(frame.state, known.final, call, names[atomic + frame.program])

    def _remember(self, instance: _Instance, frame: _Frame, final: Any, culprit: Call | None) -> None:
        """Take note of how a call ended; not of those for which the instance has decisions of its own."""
        if frame.program not in instance.led:
            actions = instance.actions - frame.before
            self._remembered[frame.program, frame.entry] = _Outcome(final, actions, frame.height, culprit)

    def _choose(self, history: int, frame: _Frame, decisions: Mapping[int, int]) -> int:
        """The most probable legal action; pre-conditions are asked in the order of the logits."""
        decided = decisions.get(history)
        ranking = self.table.rankings[history] if decided is None else (decided, *self.table.rankings[history])
        conditions, state = self._conditions[frame.program], frame.state  # none where `pre` is the environment's own
        try:
            for action in ranking if conditions else ():
                test = conditions[action]
                if test is True or (test is not False and test(state)):
                    return action
        except RAISED:  # the guard asks the same and names the condition at fault
            pass
        caller = self._names[self._atomic + frame.program]
        return next(action for action in ranking if action == 0 or self.guard.pre(self._names[action], state, caller))

    def _fail(self, instance: _Instance, failure: Failure) -> None:
        frame = instance.frames[-1]
        culprit = Call(self._names[self._atomic + frame.program], frame.entry)
        if len(instance.frames) > 1 and failure in (Failure.POST, Failure.DEPTH):
            failure = Failure.CALL
            if instance.remembering and all(one.program not in instance.led for one in instance.frames[1:]):
                for caller, called in reversed(list(pairwise(instance.frames))):
                    caller.height = max(caller.height, called.height + 1)
                    self._remember(instance, called, frame.state, culprit)
        instance.end(False, failure, frame.state, culprit)


def failure_counts(executions: Iterable[Any]) -> dict[str, int]:
    """How often each failure reason occurred, by name."""
    counts: dict[str, int] = {}
    for execution in executions:
        if not execution.success:
            name = execution.failure.name.lower()
            counts[name] = counts.get(name, 0) + 1
    return counts
