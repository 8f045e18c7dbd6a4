"""What calls set in a state, known whatever `symbolic` says: their argument, and the state in which they begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import z3

from alphanpi.environment.frames import Argument
from alphanpi.environment.library import Library
from alphanpi.symbolic.faults import ImpossibleError
from alphanpi.symbolic.reasoning import Reasoning

Choice = Mapping[str, tuple[Argument, ...]]
"""By field, the values that an argument may have: one that is known, or whole numbers, looked at together."""


class Framing:
    """The frames of calls around the most general state."""

    def __init__(self, library: Library, reasoning: Reasoning) -> None:
        self.library = library
        self.fields = library.frame_fields
        self.reasoning = reasoning

    def choices(self, program: str) -> Iterator[Choice]:
        """All arguments with which a program may begin."""
        arguments = self.library.named(program).arguments
        apart = [[values] if _are_whole(values) else [(value,) for value in values] for values in arguments.values()]
        for chosen in product(*apart):
            yield dict(zip(arguments, chosen, strict=True))

    def begun(self, general: Any, choice: Choice) -> Any:
        """The most general state, at the beginning of a call with one of these arguments."""
        return self.fields.entered(general, {name: self._among(values) for name, values in choice.items()})

    def entered(self, general: Any, entry: str) -> Any:
        """The most general state, at the beginning of such a call."""
        (argument,) = self.library.choices(entry)
        return self.fields.entered(general, argument)

    def of(self, state: Any, general: Any) -> Any:
        """The most general state in the call in which another one is."""
        return self.fields.left(state, general)

    def is_kept(self, start: Any, end: Any) -> bool:
        """Whether a call has at its end the argument and the start that it began with."""
        names = self.fields.arguments if self.fields.start is None else (*self.fields.arguments, self.fields.start)
        return all(bool(getattr(start, name) == getattr(end, name)) for name in names)

    def _among(self, values: tuple[Argument, ...]) -> Any:
        if len(values) == 1:
            return values[0]
        number = self.reasoning.number()
        if not self.reasoning.paths.decide(z3.Or(*[number.term == value for value in values])):
            raise ImpossibleError
        return number


def _are_whole(values: tuple[Argument, ...]) -> bool:
    return all(type(value) is int for value in values)
