"""What exported modules use: the plain Python of `standalone()` does what the environment does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.carrying import runtime_of
from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.checking.probe import Probe
from alphanpi.environment.checking.report import Collector
from alphanpi.environment.guard import shown
from alphanpi.environment.library import Program
from alphanpi.environment.standalone import Standalone, method_name, rebuilt_arguments
from alphanpi.errors import SpecificationError

_SIZES = 3
_STARTS_PER_SIZE = 8
_STEPS = 8
_INNER_STEPS = 3


class _Stage(NamedTuple):
    """A state of a walk, and the actions that led there."""

    state: Any
    actions: tuple[str, ...]


def check_derived(exams: list[Examination]) -> None:
    """The values of derived conditions: rule `derive`."""
    probe, collector = exams[0].probe, exams[0].collector
    with collector.catching(None):
        for exam in exams if _derived(probe) else ():
            for number, start in enumerate(exam.smallest(_SIZES, _STARTS_PER_SIZE)):
                with collector.catching(exam.name, start.state):
                    for state in probe.walk(exam.name, start.state, exam.rng(number, 12), _STEPS):
                        _check_derive(exam, state)


def _derived(probe: Probe) -> tuple[str, ...]:
    """The names of the derived conditions."""
    names = tuple(probe.ask("derived", lambda: probe.environment.derived))
    both = sorted({*names} & {*probe.fields})
    if both:
        raise SpecificationError(f"{probe.name}: derived: {both[0]!r} is a field; give it another name")
    return names


def _check_derive(exam: Examination, state: Any) -> None:
    observation = tuple(int(value) for value in exam.probe.observe(state))
    if exam.probe.derive(observation) != exam.probe.derive(observation):
        exam.collector.add("derive", exam.name, "derive gives two different results for one observation", state)


def check_standalone(exams: list[Examination]) -> None:
    """Rule `standalone`."""
    probe, collector = exams[0].probe, exams[0].collector
    with collector.catching(None):
        standalone = runtime_of(probe).standalone
        if standalone is None:
            return
        runtime = _Runtime(probe, collector, standalone)
        if not runtime.complete():
            return
        for exam in exams:
            for number, start in enumerate(exam.smallest(_SIZES, _STARTS_PER_SIZE)):
                with collector.catching(exam.name, start.state):
                    runtime.follow(exam, start.state, exam.rng(number, 10))
                if collector.full("standalone", exam.name):
                    break
        runtime.check_agrees_can_fail()


class _Runtime:
    """The class of a standalone source, beside the environment."""

    def __init__(self, probe: Probe, collector: Collector, standalone: Standalone[Any]) -> None:
        self._probe = probe
        self._collector = collector
        self._standalone = standalone
        self._derived = _derived(probe)
        self._namespace: dict[str, Any] = {"__name__": "exported"}
        self._asked, self._denied = 0, 0  # how often `agrees` was asked about another state, and said no

    def complete(self) -> bool:
        """Whether the source can be run, and has the class with all its methods."""
        probe, collector, standalone = self._probe, self._collector, self._standalone
        name, count = standalone.class_name, len(collector.findings)
        with collector.catching(None):
            code = probe.ask("standalone: its source", compile, standalone.source, "<standalone source>", "exec")
            probe.ask("standalone: its source", exec, code, self._namespace)
        if len(collector.findings) > count:
            return False
        kind = self._namespace.get(name)
        if not isinstance(kind, type):
            collector.add("standalone", None, f"its source has no class {name}")
            return False
        for entry in probe.library[1 : probe.library.atomic_count]:
            method = method_name(entry.name)
            if not callable(getattr(kind, method, None)):
                collector.add("standalone", entry.name, f"the class {name} has no method {method}")
        for entry in probe.library.framed():
            inner = standalone.inner.get(entry.name)
            if inner is None:
                message = "inner names no method that gives the problem of this call"
                collector.add("standalone", entry.name, message)
            elif not callable(getattr(kind, str(inner), None)):
                message = f"inner says {inner!r}, but the class {name} has no such method"
                collector.add("standalone", entry.name, message)
        return len(collector.findings) == count

    def follow(self, exam: Examination, start: Any, rng: np.random.Generator) -> None:
        """Walk from a start in both worlds, with one recursive call at its end where that is legal."""
        stages = [_Stage(start, ())]
        for state, action in _walk(exam, start, rng):
            stages.append(_Stage(state, (*stages[-1].actions, action)))
        for stage in stages:
            if not self._compare(exam, start, stage):
                return
        for entry in self._probe.library.framed():
            if self._probe.library.may_call(exam.name)[self._probe.library.index_of(entry.name)]:
                legal = (stage for stage in stages if self._probe.pre(entry.name, stage.state, exam.name))
                self._call(exam, start, entry, next(legal, None), rng)

    def check_agrees_can_fail(self) -> None:
        """A comparison that never says no checks nothing."""
        if self._asked and not self._denied:
            message = f"agrees says yes to every one of {self._asked} states that look different from the object's"
            self._collector.add("standalone", None, message)

    def _compare(self, exam: Examination, start: Any, stage: _Stage) -> bool:
        subject = self._subject(start)
        self._act(subject, stage.actions)
        if not self._same_fields(exam, subject, stage.state, stage.actions, start):
            return False
        if not self._agrees(stage.state, subject):
            message = f"after {_path(stage.actions)} agrees says that the object is not in {shown(stage.state)}"
            self._collector.add("standalone", exam.name, message, start)
            return False
        if self._probe.observe(stage.state) != self._probe.observe(start):
            self._asked += 1
            self._denied += not self._agrees(start, subject)
        return True

    def _call(
        self, exam: Examination, start: Any, entry: Program, stage: _Stage | None, rng: np.random.Generator
    ) -> None:
        """The problem of a call must look as the environment's does, and what is done in it must be seen outside."""
        if stage is None or self._probe.library.frame(exam.name, entry.name) is None:
            return
        probe, name = self._probe, entry.name
        outer = self._subject(start)
        self._act(outer, stage.actions)
        method = self._standalone.inner[name]
        inner = probe.ask(f"standalone: {method}()", getattr(outer, method))
        state = probe.enter(stage.state, name, exam.name)
        done = (*stage.actions, f"{method}()")
        if not self._same_fields(exam, inner, state, done, start):
            return
        for after, action in _walk(exam, state, rng, _INNER_STEPS, entry.runs):
            state = after
            done = (*done, action)
            self._act(inner, (action,))
            if not self._same_fields(exam, inner, state, done, start):
                return
        self._same_fields(exam, outer, probe.leave(stage.state, state, name, exam.name), (*done, "and back"), start)

    def _subject(self, start: Any) -> Any:
        kind, ask = self._namespace[self._standalone.class_name], self._probe.ask
        arguments = ask("standalone: arguments", rebuilt_arguments, self._standalone, self._namespace, start)
        return ask(f"standalone: creating a {self._standalone.class_name}", lambda: kind(*arguments))

    def _act(self, subject: Any, actions: tuple[str, ...]) -> None:
        for action in actions:
            self._probe.ask(f"standalone: {method_name(action)}()", getattr(subject, method_name(action)))

    def _agrees(self, state: Any, subject: Any) -> bool:
        return bool(self._probe.ask("standalone: agrees", self._standalone.agrees, state, subject))

    def _same_fields(self, exam: Examination, subject: Any, state: Any, actions: tuple[str, ...], start: Any) -> bool:
        probe = self._probe
        observation = tuple(int(value) for value in probe.observe(state))
        names, values = probe.fields, observation
        if self._derived:
            names, values = (*names, *self._derived), (*values, *probe.derive(observation))
        for name, expected in zip(names, values, strict=True):
            expression = self._standalone.fields.get(name)
            found = probe.ask(f"standalone: the field {name!r}", self._field, subject, name, expression)
            if found != expected:
                message = f"after {_path(actions)} the field {name!r} is {found!r} and should be {expected}"
                self._collector.add("standalone", exam.name, message, start)
                return False
        return True

    def _field(self, subject: Any, name: str, expression: str | None) -> Any:
        if expression is None:
            return getattr(subject, name)
        return eval(expression, self._namespace, {self._standalone.parameter: subject})


def _walk(
    exam: Examination, state: Any, rng: np.random.Generator, steps: int = _STEPS, program: str = ""
) -> Iterator[tuple[Any, str]]:
    """States and the actions that lead to them, of the program examined or another."""
    for _ in range(steps):
        actions = exam.probe.legal_actions(program or exam.name, state)
        if not actions:
            return
        action = actions[int(rng.integers(len(actions)))]
        state = exam.probe.act(state, action)
        yield state, action


def _path(actions: tuple[str, ...]) -> str:
    return " ".join(actions) or "nothing"
