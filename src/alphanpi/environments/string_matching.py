"""String matching: a pattern is laid on a text, compared letter by letter, and moved on until it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from operator import eq
from typing import ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environment.step import Step
from alphanpi.environments.string_matching_picture import picture
from alphanpi.errors import UsageError

NOWHERE = -1
LETTERS = "ab"


class Texts(NamedTuple):
    """A pattern that lies on a text, with its first letter on the first of `text[start:]`, the current problem."""

    text: str
    pattern: str
    start: int = 0
    passed: int = 0  # letters of the pattern that have been compared; the next one is looked at
    answer: int | None = None  # where the pattern occurs, or NOWHERE; None as long as nobody has said

    @property
    def pattern_passed(self) -> bool:
        """No letter of the pattern is left."""
        return self.passed == len(self.pattern)

    @property
    def text_passed(self) -> bool:
        """No letter of the text is left."""
        return self.start + self.passed == len(self.text)

    @property
    def letters(self) -> tuple[str, str] | None:
        """The two that are looked at, one upon the other; None where one of them is missing."""
        if self.pattern_passed or self.text_passed:
            return None
        return self.text[self.start + self.passed], self.pattern[self.passed]

    @property
    def same(self) -> bool:
        """There are two letters to look at, and they are the same."""
        return self.letters is not None and self.letters[0] == self.letters[1]


def untouched(state: Texts) -> bool:
    """Nothing has been compared or said."""
    return state.passed == 0 and state.answer is None


def behind_first_letter(state: Texts) -> Texts | None:
    """The text without its first letter, the pattern at its beginning."""
    return state._replace(start=state.start + 1, passed=0) if state.start < len(state.text) else None


def with_callers_place(caller: Texts, callee: Texts) -> Texts:
    """The pattern where the caller had it, with the callee's answer."""
    return caller._replace(answer=callee.answer)


def compared(state: Texts) -> Texts:
    """The letters passed as long as they are the same."""
    most = min(len(state.pattern), len(state.text) - state.start)
    ahead = range(state.passed, most)
    differs = (place for place in ahead if state.text[state.start + place] != state.pattern[place])
    return state._replace(passed=next(differs, most))


class StringMatching(Environment[Texts]):
    """Naive string matching: where in a text a pattern occurs first."""

    fields = ("same", "pattern_passed", "text_passed")
    size_unit = ("letter", "letters")
    train_sizes: ClassVar = (1, 2, 3, 4)
    validation_size: ClassVar = 7
    test_sizes: ClassVar = (10, 70, 1000)

    rest = subproblem(enter=behind_first_letter, leave=with_callers_place)

    @action(pre=lambda state: state.letters is not None)
    def ADVANCE(self, state: Texts) -> Texts:
        """Pass the two letters that are looked at."""
        return state._replace(passed=state.passed + 1)

    @action(pre=lambda state: state.answer is None and state.pattern_passed)
    def FOUND(self, state: Texts) -> Texts:
        """Say that the pattern occurs where it lies."""
        return state._replace(answer=state.start)

    @action(pre=lambda state: state.answer is None and state.text_passed)
    def NOT_FOUND(self, state: Texts) -> Texts:
        """Say that the pattern occurs nowhere."""
        return state._replace(answer=NOWHERE)

    @program(level=1, depth=lambda state: len(state.pattern) + 1, minimum_size=0, pre=untouched)
    def MATCH_HERE(self, before: Texts, after: Texts) -> bool:
        """Pass letters as long as they are the same."""
        return after == compared(before)

    @program(level=2, depth=3, minimum_size=0, pre=untouched, recursive=rest)
    def SEARCH(self, before: Texts, after: Texts) -> bool:
        """Say where the pattern occurs first, or that it occurs nowhere; how far it was compared does not matter."""
        answer = before.text.find(before.pattern, before.start)
        return after == before._replace(passed=after.passed, answer=answer)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Texts:
        """Letters a and b; the pattern is a piece of the text, or any letters, as often."""
        length = int(rng.integers(1, size + 2))
        text, pattern = ("".join(LETTERS[letter] for letter in rng.integers(2, size=many)) for many in (size, length))
        if length <= size and rng.integers(2):
            place = int(rng.integers(size - length + 1))
            pattern = text[place : place + length]
        return Texts(text, pattern)

    def enumerate(self, program: str, size: int) -> Iterator[Texts]:
        """One pattern and text for each way in which their letters can be the same here and the pattern can occur.

        Nothing else is seen or asked for. Two letters are enough: others add no way. So are patterns of up to one
        letter more than the text has: longer ones cannot be passed either.
        """
        known: set[tuple[int, tuple[bool, ...], int]] = set()
        for length in range(1, size + 2):
            for letters in product(LETTERS, repeat=size + length):
                text, pattern = "".join(letters[:size]), "".join(letters[size:])
                way = (length, tuple(map(eq, text, pattern)), text.find(pattern))
                if way not in known:
                    known.add(way)
                    yield Texts(text, pattern)

    def outcomes(self, program: str, before: Texts) -> Iterator[Texts]:
        """One state; for SEARCH, one for each letter to which the pattern may have been compared."""
        if program == "MATCH_HERE":
            yield compared(before)
            return
        answer = before.text.find(before.pattern, before.start)
        for passed in range(min(len(before.pattern), self.size(before)) + 1):
            yield before._replace(passed=passed, answer=answer)

    def base_case(self, program: str, state: Texts) -> bool:
        """The pattern fits here, or would if the text went on."""
        return program == "MATCH_HERE" or compared(state).letters is None

    def observe(self, state: Texts) -> tuple[bool, ...]:
        """Whether the two letters are the same, and which of them is missing."""
        return state.same, state.pattern_passed, state.text_passed

    def size(self, state: Texts) -> int:
        """Letters of the text from where the pattern lies."""
        return len(state.text) - state.start

    def parse(self, program: str, text: str) -> Texts:
        """Read the pattern, `in`, and the text."""
        pattern, word, searched = (part.strip() for part in f"{text} ".partition(" in "))
        if not word or not pattern:
            raise UsageError(f"{text!r} is no pattern to be found in a text; write for example 'cad in abracadabra'")
        return Texts(searched, pattern)

    def format(self, state: Texts) -> str:
        """The pattern and the text from where it lies, the letters that are passed set apart; or the answer."""
        if state.answer is not None:
            return "nowhere" if state.answer == NOWHERE else f"at {state.answer}"
        here = state.start + state.passed
        bar = "|" if state.passed else ""
        return (
            f"{state.pattern[: state.passed]}{bar}{state.pattern[state.passed :]} in "
            f"{state.text[state.start : here]}{bar}{state.text[here:]}"
        )

    def result(self, program: str, final: Texts, actions: Sequence[Step]) -> str:
        """Where the pattern occurs, counted from 0."""
        if program == "MATCH_HERE":
            return f"{final.passed} of {len(final.pattern)} letters fit"
        return "nowhere" if final.answer in (None, NOWHERE) else f"at position {final.answer}"

    def render(self, state: Texts) -> Scene:
        """The text, and the pattern below it where it lies."""
        return picture(state.text, state.pattern, state.start, state.passed, state.answer)
