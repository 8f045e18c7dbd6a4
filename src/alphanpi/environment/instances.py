"""What a program is run on, as users give it: a text, a number, a sequence of them, or a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from alphanpi.environment.facets import Textual
from alphanpi.environment.guard import Guard, shown
from alphanpi.errors import UsageError

Instance = Any
"""A text, a number or a sequence, as the environment's `parse` reads it; or a state itself."""

_NUMBERS = (int, float, np.integer, np.floating)
_SEPARATORS = (" ", ",", "")
_SHOWN_CHARACTERS = 200


def state_of(guard: Guard, program: str, given: Instance) -> Any:
    """The state that was given, or that `parse` reads from it.

    A plain tuple is a sequence, unless the environment's states are plain tuples themselves. Where an environment has
    no `parse`, everything of the type of its states is one.
    """
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if type(guard.environment).parse is Textual.parse and type(given) is _kind_of_state(guard, program):
        return guard.hashable(guard.begun(program, given), "the state given")
    if isinstance(given, str):
        return guard.parse(program, given)
    if isinstance(given, _NUMBERS) and not isinstance(given, bool):
        return guard.parse(program, str(given))
    if isinstance(given, (list, range)) or (type(given) is tuple and _kind_of_state(guard, program) is not tuple):
        return _from_sequence(guard, program, [_word(entry) for entry in given])
    guard.library.named(program)
    return guard.hashable(guard.begun(program, given), "the state given")


def text_of(guard: Guard, given: Instance) -> str:
    """What was given, for a reader."""
    if isinstance(given, str):
        return given
    if isinstance(given, (*_NUMBERS, list, range, np.ndarray)) or type(given) is tuple:
        entries = [given] if isinstance(given, _NUMBERS) else given
        text = " ".join(map(str, entries))
    else:
        text = guard.format(given)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _kind_of_state(guard: Guard, program: str) -> type:
    environment, least = guard.environment, guard.library.named(program).minimum_size
    trained = guard.library.called(program).sizes_to_train(environment.train_sizes)
    size = min((size for size in trained if size >= least), default=least)
    return type(guard.initial(program, size, np.random.default_rng(0)))


def _from_sequence(guard: Guard, program: str, words: list[str]) -> Any:
    """The first reading that `parse` accepts: words apart, with commas, or as one word if its size is their number."""
    refusal: UsageError | None = None
    for separator in _SEPARATORS:
        try:
            state = guard.parse(program, separator.join(words))
        except UsageError as error:
            refusal = refusal or error
            continue
        if separator or len(words) == 1 or guard.size(state) == len(words):
            return state
    raise refusal or UsageError(f"{guard.name}: {shown(words)} cannot be read as an instance of {program}")


def _word(entry: Any) -> str:
    if isinstance(entry, str) or (isinstance(entry, _NUMBERS) and not isinstance(entry, bool)):
        return str(entry)
    if isinstance(entry, (bool, np.bool_)):
        return str(int(entry))
    raise UsageError(f"a sequence of numbers or words, and in it {shown(entry)}: write it as the environment reads it")
