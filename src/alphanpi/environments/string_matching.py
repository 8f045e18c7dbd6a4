"""String matching: a pattern is laid on a text, compared letter by letter, and moved on until it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environment.step import Step
from alphanpi.environments.string_matching_picture import picture
from alphanpi.errors import UsageError

NOWHERE = -1
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class LaidPattern(NamedTuple):
    """A pattern that lies on a text. The current problem is `text[start:]`, and the pattern lies at its beginning."""

    text: str
    pattern: str
    start: int = 0
    matched: int = 0  # letters of the pattern that have been passed; the next one is looked at
    answer: int | None = None  # where the pattern is, or NOWHERE; None as long as nobody has said

    @property
    def pattern_passed(self) -> bool:
        """No letter of the pattern is left."""
        return self.matched == len(self.pattern)

    @property
    def text_passed(self) -> bool:
        """No letter of the text is left."""
        return self.start + self.matched == len(self.text)

    @property
    def same(self) -> bool:
        """There are two letters to look at, one upon the other, and they are the same."""
        if self.pattern_passed or self.text_passed:
            return False
        return self.text[self.start + self.matched] == self.pattern[self.matched]


def untouched(state: LaidPattern) -> bool:
    """Nothing has been compared or said in the current problem."""
    return state.matched == 0 and state.answer is None


def without_first_letter(state: LaidPattern) -> LaidPattern | None:
    """The text but for its first letter, with the pattern moved on."""
    return state._replace(start=state.start + 1, matched=0) if state.start < len(state.text) else None


def with_callers_place(caller: LaidPattern, callee: LaidPattern) -> LaidPattern:
    """The pattern where the caller had it, with the callee's answer."""
    return caller._replace(answer=callee.answer)


def fitting(state: LaidPattern) -> int:
    """How many letters of the pattern, from its first, are those of the text."""
    pairs = zip(state.text[state.start : state.start + len(state.pattern)], state.pattern, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), _overlap(state))


def _overlap(state: LaidPattern) -> int:
    return min(len(state.pattern), len(state.text) - state.start)


def patterns_of_letters(length: int) -> Iterator[str]:
    """Every way in which that many letters can be the same: the first is a, and every new one the next letter."""
    if length == 0:
        yield ""
        return
    for shorter in patterns_of_letters(length - 1):
        for letter in LETTERS[: len(set(shorter)) + 1]:
            yield shorter + letter


class StringMatching(Environment[LaidPattern]):
    """Naive string matching: where in a text a pattern occurs first."""

    fields = ("same", "pattern_passed", "text_passed")
    size_unit = ("letter", "letters")
    train_sizes: ClassVar = (1, 2, 3, 4)
    validation_size: ClassVar = 7
    test_sizes: ClassVar = (10, 70, 1000)

    rest = subproblem(enter=without_first_letter, leave=with_callers_place)

    @action(pre=lambda state: not (state.pattern_passed or state.text_passed))
    def ADVANCE(self, state: LaidPattern) -> LaidPattern:
        """Go on to the next letter of the pattern, and of the text."""
        return state._replace(matched=state.matched + 1)

    @action(pre=lambda state: state.answer is None)
    def FOUND(self, state: LaidPattern) -> LaidPattern:
        """Say that the pattern occurs where it lies."""
        return state._replace(answer=state.start)

    @action(pre=lambda state: state.answer is None)
    def NOT_FOUND(self, state: LaidPattern) -> LaidPattern:
        """Say that the pattern occurs nowhere."""
        return state._replace(answer=NOWHERE)

    @program(level=1, depth=lambda state: len(state.pattern) + 1, minimum_size=0, pre=untouched)
    def MATCH_HERE(self, before: LaidPattern, after: LaidPattern) -> bool:
        """Advance as far as the letters are the same."""
        return after == before._replace(matched=fitting(before))

    @program(level=2, depth=3, minimum_size=0, pre=untouched, recursive=rest)
    def SEARCH(self, before: LaidPattern, after: LaidPattern) -> bool:
        """Say where the pattern occurs first, or that it does nowhere; how far it was compared is free."""
        answer = before.text.find(before.pattern, before.start)
        return after == before._replace(matched=after.matched, answer=answer)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> LaidPattern:
        """Letters a and b; the pattern is a piece of the text, or any letters, as often."""
        length = int(rng.integers(1, size + 2))
        text, pattern = (_drawn(rng, letters) for letters in (size, length))
        if length <= size and rng.integers(2):
            place = int(rng.integers(size - length + 1))
            pattern = text[place : place + length]
        return LaidPattern(text, pattern)

    def enumerate(self, program: str, size: int) -> Iterator[LaidPattern]:
        """Every pattern up to one letter longer than the text, on every text of its letters and one other.

        A longer one is never passed, and looks like that.
        """
        for length in range(1, size + 2):
            for pattern in patterns_of_letters(length):
                for text in product(LETTERS[: len(set(pattern)) + 1], repeat=size):
                    yield LaidPattern("".join(text), pattern)

    def outcomes(self, program: str, before: LaidPattern) -> Iterator[LaidPattern]:
        """One state; for SEARCH, one for each letter to which the pattern may have been compared."""
        if program == "MATCH_HERE":
            yield before._replace(matched=fitting(before))
            return
        answer = before.text.find(before.pattern, before.start)
        for matched in range(_overlap(before) + 1):
            yield before._replace(matched=matched, answer=answer)

    def base_case(self, program: str, state: LaidPattern) -> bool:
        """The pattern fits here, or the text ends before it does not."""
        return program == "MATCH_HERE" or fitting(state) == _overlap(state)

    def observe(self, state: LaidPattern) -> tuple[bool, ...]:
        """Whether the two letters are the same, and whether there are any."""
        return state.same, state.pattern_passed, state.text_passed

    def size(self, state: LaidPattern) -> int:
        """Letters of the text from where the pattern lies."""
        return len(state.text) - state.start

    def parse(self, program: str, text: str) -> LaidPattern:
        """Read the pattern, `in`, and the text."""
        pattern, word, searched = (part.strip() for part in text.partition(" in "))
        if not word or not pattern:
            raise UsageError(f"{text!r} is no pattern to be found in a text; write for example 'bar in abracadabar'")
        return LaidPattern(searched, pattern)

    def format(self, state: LaidPattern) -> str:
        """The text from where the pattern lies, and the pattern with what has been passed in brackets; or the answer."""
        if state.answer is not None:
            return "nowhere" if state.answer == NOWHERE else f"at {state.answer}"
        passed, ahead = state.pattern[: state.matched], state.pattern[state.matched :]
        return f"[{passed}]{ahead} in {state.text[state.start :]}"

    def result(self, program: str, final: LaidPattern, actions: Sequence[Step]) -> str:
        """Where the pattern occurs, counted from 0."""
        if program == "MATCH_HERE":
            return f"{final.matched} of {len(final.pattern)} letters fit"
        return "nowhere" if final.answer in (None, NOWHERE) else f"at position {final.answer}"

    def render(self, state: LaidPattern) -> Scene:
        """The text, and the pattern below it where it lies."""
        return picture(state.text, state.pattern, state.start, state.matched, state.answer)


def _drawn(rng: np.random.Generator, length: int) -> str:
    return "".join(LETTERS[letter] for letter in rng.integers(2, size=length))
