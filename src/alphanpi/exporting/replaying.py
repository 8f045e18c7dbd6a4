"""Running exported functions on sequences of observations: what they ask is answered, what they do is compared."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from alphanpi.environment.guard import RAISED, Guard
from alphanpi.environment.specification import STOP
from alphanpi.environment.standalone import method_name
from alphanpi.exporting.conditions import Feature
from alphanpi.exporting.equality import AGAIN, executed, telling
from alphanpi.exporting.minimise import Learned
from alphanpi.exporting.render import Renderer, functions
from alphanpi.verification.sequences import ShownSequence


class _OtherwiseError(Exception):
    """The code does something else."""


class _BeginsAgain(Exception):  # noqa: N818 - no error
    """A function goes on with the smaller problem, which is another sequence."""


class _Meaning(NamedTuple):
    """What the members of the object mean that functions are called with."""

    fields: Mapping[str, Feature]  # by attribute
    actions: Mapping[str, str]  # by method
    inner: Mapping[str, str]  # by call, the method that gives its problem


class _Replay:
    """Stands in for a runtime's object, or for an `env`, along one sequence."""

    def __init__(self, sequence: ShownSequence, guard: Guard, meaning: _Meaning) -> None:
        self._sequence, self._guard, self._meaning = sequence, guard, meaning
        self.taken = 0
        self.given: str | None = None  # the method that gave the problem of the next call

    def take(self, action: str) -> None:
        if self.taken >= len(self._sequence) or self._sequence[self.taken].action != action:
            raise _OtherwiseError
        self.taken += 1

    def act(self, action: str) -> None:
        self.take(action)

    def call(self, program: str, function: Callable[..., None]) -> None:
        self.take(program)

    def field(self, name: str) -> int:
        environment, shown = self._guard.environment, self._sequence[self.taken].observation
        if name in environment.fields:
            return shown[tuple(environment.fields).index(name)]
        return self._guard.derive(shown)[tuple(environment.derived).index(name)]

    def may(self, name: str) -> bool:
        return bool(self._sequence[self.taken].mask[self._guard.library.index_of(name)])

    def _give(self, method: str) -> _Replay:
        self.given = method
        return self

    def begin(self, program: str) -> None:
        """A function is called, or begins again: which call that is, the method tells that gave its problem."""
        given, self.given = self.given, None
        library = self._guard.library
        calls = [call for call, method in self._meaning.inner.items() if method == given]
        self.take(next((call for call in calls if library.called(call).name == program), program))

    def __getattr__(self, name: str) -> Any:
        meaning = self._meaning
        if name in meaning.fields:
            return self.field(meaning.fields[name].name)
        if name in meaning.actions:
            return partial(self.take, meaning.actions[name])
        if name in meaning.inner.values():
            return partial(self._give, name)
        raise AttributeError(name)


class Replayer:
    """The functions of an exported module, for sequences; their text is all that is executed of it."""

    def __init__(self, text: str, guard: Guard, renderer: Renderer, programs: list[Learned]) -> None:
        self._guard = guard
        meaning = _meaning(guard, renderer)
        if meaning is None:  # fields are expressions over the runtime: the same code over an `env` is run
            renderer = Renderer(guard.library, None)
            text, meaning = functions(renderer, programs), _Meaning({}, {}, {})
        self._meaning = meaning
        namespace = executed(telling(ast.parse(text), renderer.names))
        self._functions: dict[str, Callable[[Any], None]] = {
            program: namespace[name] for program, name in renderer.names.items()
        }
        for program, name in renderer.names.items():
            namespace[name] = partial(_called, program)
        namespace[AGAIN] = self._again
        self._current: _Replay | None = None

    def differing(self, program: str, sequences: Iterable[ShownSequence]) -> list[ShownSequence]:
        """The sequences on which the code does something else than the agent."""
        return [sequence for sequence in sequences if not self._follows(program, sequence)]

    def _follows(self, program: str, sequence: ShownSequence) -> bool:
        replay = self._current = _Replay(sequence, self._guard, self._meaning)
        try:
            self._functions[program](replay)
            replay.take(STOP)
        except _BeginsAgain:
            return [step.action for step in sequence[replay.taken :]] == [STOP]
        except (_OtherwiseError, *RAISED):
            return False
        return replay.taken == len(sequence)

    def _again(self, program: str) -> None:
        assert self._current is not None, "a function is under way"
        self._current.begin(program)
        raise _BeginsAgain


def _called(program: str, subject: _Replay) -> None:
    subject.begin(program)


def _meaning(guard: Guard, renderer: Renderer) -> _Meaning | None:
    """What a runtime's attributes stand for; None where some field is more than an attribute."""
    standalone, library = renderer.standalone, guard.library
    if standalone is None:
        return _Meaning({}, {}, {})
    fields: dict[str, Feature] = {}
    for name in (*guard.environment.fields, *guard.environment.derived):
        feature = Feature(name, "field" if name in guard.environment.fields else "derived")
        match ast.parse(renderer.value(feature), mode="eval").body:
            case ast.Attribute(value=ast.Name(), attr=attribute):
                fields[attribute] = feature
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(attribute))]):
                fields[attribute] = feature
            case _:
                return None
    actions = {method_name(entry.name): entry.name for entry in library[1 : library.atomic_count]}
    return _Meaning(fields, actions, dict(standalone.inner))
