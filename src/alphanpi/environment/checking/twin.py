"""Whether an environment does the same with unknown values as with known ones.

Known states are handed to it as unknown values that happen to be known, and all it makes of them is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from alphanpi.environment.frames import NO_FRAME_FIELDS, with_fields
from alphanpi.environment.guard import shown
from alphanpi.environment.library import STOP
from alphanpi.environment.specification import Environment
from alphanpi.symbolic.faults import ImpossibleError, NotExpressibleError, RaisesError
from alphanpi.symbolic.reasoning import Reasoning
from alphanpi.symbolic.states import as_constants, differences, known


class Twin:
    """An environment, and the same on unknown values."""

    def __init__(self, environment: Environment[Any]) -> None:
        self.environment = environment
        self.reasoning = Reasoning()
        self.compared = 0
        make = self.reasoning.paths.ways(lambda: tuple(environment.symbolic(self.reasoning) for _ in range(2)))
        self.general, self.general_start = next(make)
        self.number = self.reasoning.number()

    def unfit(self, state: Any, begun: str | None = None) -> str | None:
        """Why a state is none of those that a proof is about: at all, or of those in which that program begins."""
        library = self.environment.library
        entered = library.frame_fields.entered
        if begun is not None and not any(entered(state, argument) == state for argument in library.choices(begun)):
            return f"no call of {begun} gives it such an argument or start"
        for unfit in differences(self._framed(state), state, lambda one, other: bool(one == other)):
            return unfit.what
        return None if self.environment.valid(state) else "it is not `valid`"

    def _framed(self, state: Any) -> Any:
        """The most general state, in the call in which a state is."""
        fields = self.environment.library.frame_fields
        if fields == NO_FRAME_FIELDS:
            return self.general
        values = {name: getattr(state, name) for name in fields.arguments}
        arguments = {name: self.number if type(value) is int else value for name, value in values.items()}
        framed = with_fields(self.general, arguments)
        if fields.start is None:
            return framed
        start = None if getattr(state, fields.start) is None else with_fields(self.general_start, arguments)
        return with_fields(framed, {fields.start: start})

    def difference(self, program: str, before: Any, state: Any) -> str | None:
        """What comes out differently in a state of a call begun in another one; None where nothing does."""
        for what, function, arguments in self._functions(program, before, state):
            real = self._real(function, arguments)
            twin = self._twin(function, arguments)
            self.compared += 1
            if real != twin:
                return f"{what} of {shown(state)} is {twin!s:.80} on unknown values, and {real!s:.80} on known ones"
        return None

    def _functions(self, program: str, before: Any, state: Any) -> Iterator[tuple[str, Callable[..., Any], Any]]:
        environment = self.environment
        yield "valid", lambda one: bool(environment.valid(one)), (state,)
        yield "observe", lambda one: tuple(int(self._number(entry)) for entry in environment.observe(one)), (state,)
        yield "size", environment.size, (state,)
        yield "measure", lambda one: environment.measure(program, one), (state,)
        yield "depth", lambda one: environment.depth(program, one), (state,)
        yield "pre", lambda one: bool(environment.pre(program, one, None)), (state,)
        yield (
            f"the post-condition of {program}",
            lambda one, other: bool(environment.post(program, one, other)),
            (before, state),
        )
        legal = environment.legal(program, state)
        yield "legal actions", lambda one: tuple(bool(entry) for entry in environment.legal(program, one)), (state,)
        for name, allowed in zip(environment.library.names, legal, strict=True):
            if not allowed or name == STOP:
                continue
            if environment.library.named(name).atomic:
                yield name, lambda one, name=name: environment.act(one, name), (state,)
            else:
                yield f"entering {name}", lambda one, name=name: environment.enter(one, name, program), (state,)

    def _real(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            return f"an error ({type(error).__name__})"

    def _twin(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        paths = self.reasoning.paths

        def made() -> Any:
            constants = [as_constants(self.reasoning, self._framed(argument), argument) for argument in arguments]
            result = function(*constants)
            return known(result, paths.known_model())

        try:
            found = list(paths.ways(made))
        except (RaisesError, ImpossibleError):
            return "an error"
        except NotExpressibleError as error:
            paths.misused.clear()
            return f"not expressible: {error}"
        except Exception as error:
            return f"an error ({type(error).__name__})"
        return found[0] if len(found) == 1 else f"one of {len(found)} results"

    def _number(self, entry: Any) -> Any:
        return known(entry, self.reasoning.paths.known_model())
