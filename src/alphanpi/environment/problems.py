"""What a program is run on: as a user typed it, or drawn by the environment where nothing was typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.guard import NO_FURTHER_SIZES, Guard
from alphanpi.environment.instances import Instance, state_of, text_of
from alphanpi.errors import UsageError
from alphanpi.support import limits

_SHOWN_CHARACTERS = 120
_MOST_DRAWN = 500  # problems, for a call with a given argument, which most of them may not allow


class Problem(NamedTuple):
    """A start of a program."""

    program: str  # as the library spells it
    text: str  # as it was typed; of one that was drawn, as the environment writes it
    state: Any
    size: int | None = None  # with which it was drawn, and the seed
    seed: int | None = None
    further: Mapping[str, int] = NO_FURTHER_SIZES

    def __str__(self) -> str:
        return self.text

    @property
    def origin(self) -> str:
        """How it was drawn, in words; empty where it was typed."""
        further = "".join(f"{name} {value}, " for name, value in self.further.items())
        return "" if self.size is None else f"drawn: size {self.size}, {further}seed {self.seed}"

    @property
    def line(self) -> str:
        """The problem in one line that is not too long, and how it was drawn."""
        text = " ".join(self.text.split())
        shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
        return f"{self.program} on {shown}" + (self.origin and f" ({self.origin})")


def choose(
    guard: Guard,
    program: str | None = None,
    instance: Instance = None,
    *,
    size: int | None = None,
    seed: int | None = None,
    further: Mapping[str, int] = NO_FURTHER_SIZES,
    example: str | None = None,
) -> Problem:
    """The problem a user wants: what was typed, an example of the topmost program, or one that is drawn.

    Drawn is the first problem that `evaluate` measures with that size and seed; by default with the validation size,
    and seed 0.

    Args:
        guard: Of the environment.
        program: The topmost one if omitted; in any case of letters.
        instance: As a user types it, or gives it in Python.
        size: Draw one of this size.
        seed: Draw one with this seed.
        further: Draw one of these further sizes of the environment.
        example: An instance of the topmost program, taken where the user says nothing.
    """
    topmost = guard.library.learned[-1].name
    program = topmost if program is None else guard.library.spelt(program)
    require_known(guard, further)
    drawing = size is not None or seed is not None or bool(further)
    if instance is not None and drawing:
        raise UsageError(f"{program}: give an input, or a size and a seed to have one drawn; not both")
    if instance is None and not drawing and program == topmost:
        instance = example
    if instance is not None:
        called = guard.library.called(program).name
        return Problem(called, text_of(guard, instance), state_of(guard, program, instance))
    return _drawn(guard, program, size, 0 if seed is None else limits.seed(seed), further)


def require_known(guard: Guard, further: Mapping[str, int]) -> None:
    """Refuse further sizes that the environment does not have."""
    known = guard.environment.further_sizes
    for name, value in further.items():
        if name not in known:
            what = f"it has {', '.join(known)}" if known else "it has none"
            raise UsageError(f"{guard.name} has no further size {name!r}; {what}")
        limits.size(name, value)


def _drawn(guard: Guard, program: str, size: int | None, seed: int, further: Mapping[str, int]) -> Problem:
    entry = guard.library.named(program)
    if entry.atomic:
        raise UsageError(f"{program} is an atomic action; give a program")
    if size is None:
        usual = guard.library.called(program).size_to_validate(guard.environment.validation_size)
        size = max(usual, entry.minimum_size)
    elif limits.size(f"{program}: size", size) < entry.minimum_size:
        raise UsageError(f"{program} cannot start at size {size}; its smallest is {entry.minimum_size}")
    for number in range(1 if entry.target is None else _MOST_DRAWN):
        state = guard.initial(program, size, np.random.default_rng((seed, size, number)), further)
        if entry.target is None or guard.pre(entry.runs, state, None):
            return Problem(entry.runs, guard.format(state), state, size, seed, further)
    raise UsageError(
        f"{program} cannot begin on any of {_MOST_DRAWN} problems drawn with size {size} and seed {seed}; give an "
        "input, or another size"
    )
