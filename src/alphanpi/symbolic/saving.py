"""Known states as plain numbers that can be saved, and states from such numbers, by way of `symbolic`.

`symbolic` asks for the values of a state one by one. Given numbers instead of unknown ones, it makes that state again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from alphanpi.symbolic.base import Unknowns

State = TypeVar("State")


class _Stand(NamedTuple):
    """Stands in a state for a value that was asked for."""

    turn: int
    whole: bool  # else a tuple or a text


class _Stands:
    """Hands out what stands for values, in the order in which they are asked for."""

    def __init__(self) -> None:
        self.count = 0

    def number(self) -> Any:
        return self._stand(True)

    def truth(self) -> Any:
        return self._stand(True)

    def numbers(self) -> Any:
        return self._stand(False)

    text = numbers

    def _stand(self, whole: bool) -> _Stand:
        self.count += 1
        return _Stand(self.count - 1, whole)


class _Numbered:
    """Hands out values that were saved."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def number(self) -> int:
        return next(self._numbers)

    def truth(self) -> bool:
        return bool(self.number())

    def numbers(self) -> tuple[int, ...]:
        return tuple(self.number() for _ in range(self.number()))

    def text(self) -> str:
        return "".join(map(chr, self.numbers()))

    @property
    def used_up(self) -> bool:
        return next(self._numbers, None) is None


def numbers_of(symbolic: Callable[[Unknowns], State], state: State) -> tuple[int, ...] | None:
    """The numbers that `symbolic` makes the state of; None where it cannot be made of any."""
    try:
        stands = _Stands()
        found = dict(_found(symbolic(stands), state))
        numbers = [number for turn in range(stands.count) for number in found[turn]]
        return tuple(numbers) if made_of(symbolic, numbers) == state else None
    except Exception:  # what it does with a value that stands for another one is the user's affair
        return None


def made_of(symbolic: Callable[[Unknowns], State], numbers: Sequence[int]) -> State | None:
    """The state that `symbolic` makes of the numbers; None where these are too few or too many."""
    saved = _Numbered(numbers)
    try:
        state = symbolic(saved)
    except (StopIteration, RuntimeError, ValueError, OverflowError):  # a generator's end; no character
        return None
    return state if saved.used_up else None


def _found(general: Any, state: Any) -> Iterator[tuple[int, tuple[int, ...]]]:
    """By the turn in which they were asked for, the values of a state."""
    if type(general) is _Stand:
        plain = map(ord, state) if isinstance(state, str) else () if general.whole else map(int, state)
        yield general.turn, (int(state),) if general.whole else (len(state), *plain)
    else:
        for both in zip(_parts(general), _parts(state), strict=True):
            yield from _found(*both)


def _parts(state: Any) -> tuple[Any, ...]:
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        return tuple(getattr(state, field.name) for field in dataclasses.fields(state))
    return tuple(state) if isinstance(state, tuple) else ()
