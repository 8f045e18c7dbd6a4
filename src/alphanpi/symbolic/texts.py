"""Unknown texts: tuples of letters, and a letter is a text of length 1, as Python has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import z3

from alphanpi.symbolic.universals import Body, Read
from alphanpi.symbolic.values import Term, UnknownNumbers, UnknownTruth, UnknownValue, refuse_the_rest

if TYPE_CHECKING:
    from alphanpi.symbolic.reasoning import Reasoning

_FIRST = ord("a")
_CODES = range(0x110000)
_PLACE = z3.Int("place")


class UnknownText(UnknownValue):
    """A text. Its letters are numbers, from 0 for an `a` on, since these are what the solver comes up with first."""

    __slots__ = ("letters",)
    letters: UnknownNumbers

    def __init__(self, reasoning: Reasoning, letters: UnknownNumbers) -> None:
        self._set(_reasoning=reasoning, letters=letters)

    def __getitem__(self, place: object) -> UnknownText:
        reasoning, letters = self._reasoning, self.letters
        part = reasoning.part(letters, place)
        if type(place) is slice:
            return UnknownText(reasoning, part)
        return UnknownText(reasoning, UnknownNumbers(reasoning, z3.IntVal(1), lambda _: part.term))

    def __add__(self, other: object) -> Any:
        letters = self._letters_of(other)
        return NotImplemented if letters is None else self._joined(self.letters, letters)

    def __radd__(self, other: object) -> Any:
        letters = self._letters_of(other)
        return NotImplemented if letters is None else self._joined(letters, self.letters)

    def __eq__(self, other: object) -> Any:
        return self._same(other, negated=False)

    def __ne__(self, other: object) -> Any:
        return self._same(other, negated=True)

    def __bool__(self) -> bool:
        return bool(self.letters)

    def _joined(self, left: UnknownNumbers, right: UnknownNumbers) -> UnknownText:
        return UnknownText(self._reasoning, self._reasoning.joined(left, right))

    def _same(self, other: object, negated: bool) -> Any:
        letters = self._letters_of(other)
        if letters is not None:
            return self._reasoning.same(self.letters, letters, negated)
        if issubclass(type(other), UnknownValue):
            return negated  # a number, a tuple or a truth value
        return negated if self._reasoning.is_whole(other) else self._reasoning.unlike(other, not negated)

    def _letters_of(self, other: object) -> UnknownNumbers | None:
        if type(other) is UnknownText:
            return other.letters
        return letters_of(self._reasoning, other) if issubclass(type(other), str) else None


def _comparison(operate: Callable[[Term, Term], Term]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: object) -> Any:
        letters = self._letters_of(other)
        if letters is None:
            return NotImplemented
        sides = (self.letters, letters)
        if not all(z3.is_int_value(side.size) and side.size.as_long() == 1 for side in sides):
            self._reasoning.refuse("the order of texts that are not letters")
        one, two = (side.at(z3.IntVal(0)) for side in sides)
        return UnknownTruth(self._reasoning, operate(one, two))

    return operator


_COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "lt": lambda one, other: one < other,
    "le": lambda one, other: one <= other,
    "gt": lambda one, other: one > other,
    "ge": lambda one, other: one >= other,
}
for _name, _operate in _COMPARISONS.items():
    setattr(UnknownText, f"__{_name}__", _comparison(_operate))
refuse_the_rest(UnknownText)


def unknown_text(reasoning: Reasoning) -> UnknownText:
    """A text of which nothing is known."""
    letters = reasoning.numbers()
    symbol = letters.symbol
    code = symbol(_PLACE) + _FIRST
    is_letter = z3.And(code >= _CODES.start, code < _CODES.stop)
    reasoning.universals.assume(z3.IntVal(0), letters.size, Body(_PLACE, is_letter, (Read(symbol.name(), _PLACE),)))
    return UnknownText(reasoning, letters)


def letters_of(reasoning: Reasoning, text: Any) -> UnknownNumbers:
    """The letters of a known text as numbers."""
    return reasoning.constant(tuple(ord(letter) - _FIRST for letter in text))


def written(letters: list[int]) -> str:
    """A known text of letters as numbers; those that are none stand at places that nobody has looked at."""
    return "".join(chr(letter + _FIRST if letter + _FIRST in _CODES else _FIRST) for letter in letters)
