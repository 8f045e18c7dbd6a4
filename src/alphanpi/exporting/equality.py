"""Running exported text beside the agent's record: every action of every call must be the same."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from alphanpi.errors import SpecificationError
from alphanpi.exporting.behaviour import Case
from alphanpi.exporting.machine import Machine
from alphanpi.exporting.render import function_name
from alphanpi.guard import shown
from alphanpi.spec import STOP, Environment
from alphanpi.standalone import Standalone

_NAME = "exported"


class Difference(NamedTuple):
    """Where exported code first does something else than the agent."""

    case: Case
    step: int  # among all actions of the run, from 0
    agent: str | None
    exported: str | None

    def __str__(self) -> str:
        did = "ends in another state" if self.exported is None and self.agent is None else f"does {self.exported}"
        agent = "" if self.agent is None else f" where the agent does {self.agent}"
        program, state = self.case.call
        return f"{program} from {shown(state)}: step {self.step + 1}: the exported code {did}{agent}"


class _MismatchError(Exception):
    """Ends a run at its first difference."""


class _Recorder:
    """Compares what exported code does with what it should do, while it runs."""

    def __init__(self) -> None:
        self.expected: tuple[str, ...] = ()
        self.step = 0
        self.done: str | None = None

    def begin(self, expected: tuple[str, ...]) -> None:
        self.expected, self.step, self.done = expected, 0, None

    def take(self, action: str) -> None:
        if self.step >= len(self.expected) or self.expected[self.step] != action:
            self.done = action
            raise _MismatchError
        self.step += 1


class Exported:
    """The functions of an exported module, watched."""

    def __init__(self, text: str, environment: Environment[Any], standalone: Standalone[Any] | None) -> None:
        self._environment = environment
        self._standalone = standalone
        self._recorder = _Recorder()
        self._depth = 0
        self._namespace: dict[str, Any] = {"__name__": _NAME}
        try:
            exec(compile(text, f"<{_NAME}>", "exec"), self._namespace)
        except Exception as error:
            raise SpecificationError(
                f"{type(environment).__name__}: standalone(): its source cannot be run: {type(error).__name__}: {error}"
            ) from error
        for entry in environment.library.learned:
            name = function_name(entry.name)
            self._namespace[name] = self._watched_program(entry.name, self._namespace[name])
        if standalone is not None:
            runtime = self._namespace.get(standalone.class_name)
            if runtime is None:
                raise SpecificationError(
                    f"{type(environment).__name__}: standalone(): its source has no class {standalone.class_name}"
                )
            for entry in environment.library[1 : environment.library.atomic_count]:
                method = getattr(runtime, entry.name.lower(), None)  # pruned where nothing uses it
                if method is not None:
                    setattr(runtime, entry.name.lower(), self._watched_action(entry.name, method))

    def compare(self, case: Case) -> Difference | None:
        """Run the case; the first difference, if there is one."""
        recorder = self._recorder
        recorder.begin(case.actions)
        self._depth = 0
        program, state = case.call
        subject = self._subject(program, state)
        try:
            self._namespace[function_name(program)](subject)
        except _MismatchError:
            agent = case.actions[recorder.step] if recorder.step < len(case.actions) else None
            return Difference(case, recorder.step, agent, recorder.done)
        except Exception as error:  # whatever goes wrong in generated code is a difference
            agent = case.actions[recorder.step] if recorder.step < len(case.actions) else None
            return Difference(case, recorder.step, agent, f"raise {type(error).__name__}: {error}")
        if recorder.step != len(case.actions) or not self._agrees(case.final, subject):
            return Difference(case, recorder.step, None, None)
        return None

    def _subject(self, program: str, state: Any) -> Any:
        if self._standalone is None:
            machine = Machine(self._environment, program, state)
            act = machine.act

            def watched(action: str) -> None:
                self._recorder.take(action)
                act(action)

            machine.act = watched  # type: ignore[method-assign]
            return machine
        return self._namespace[self._standalone.class_name](*self._standalone.arguments(state))

    def _agrees(self, final: Any, subject: Any) -> bool:
        if self._standalone is None:
            return bool(subject.state == final)
        return self._standalone.agrees(final, subject)

    def _watched_program(self, name: str, function: Callable[[Any], None]) -> Callable[[Any], None]:
        def watched(subject: Any) -> None:
            if self._depth:
                self._recorder.take(name)
            self._depth += 1
            if isinstance(subject, Machine):
                caller, subject.program = subject.program, name
                function(subject)
                subject.program = caller
            else:
                function(subject)
            self._depth -= 1
            self._recorder.take(STOP)

        return watched

    def _watched_action(self, name: str, method: Callable[[Any], None]) -> Callable[[Any], None]:
        def watched(subject: Any) -> None:
            self._recorder.take(name)
            method(subject)

        return watched


def differences(
    text: str,
    environment: Environment[Any],
    standalone: Standalone[Any] | None,
    cases: Iterable[Case],
    most: int = 200,
) -> list[Difference]:
    """The first differences between exported text and the agent; none if they do the same on all cases."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 50_000))
    try:
        exported = Exported(text, environment, standalone)
        found = []
        for case in cases:
            difference = exported.compare(case)
            if difference is not None:
                found.append(difference)
                if len(found) >= most:
                    break
        return found
    finally:
        sys.setrecursionlimit(limit)
