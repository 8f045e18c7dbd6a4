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
from alphanpi.symbolic import Unknowns, first, length

NOWHERE, UNANSWERED = -1, -2
LETTERS = "ab"


class Texts(NamedTuple):
    """A pattern that lies on a text, with its first letter on the first of `text[start:]`, the current problem."""

    text: str
    pattern: str
    start: int = 0
    passed: int = 0  # letters of the pattern that have been compared; the next one is looked at
    answer: int = UNANSWERED  # where the pattern occurs, or NOWHERE

    @property
    def pattern_passed(self) -> bool:
        """No letter of the pattern is left."""
        return self.passed == length(self.pattern)

    @property
    def text_passed(self) -> bool:
        """No letter of the text is left."""
        return self.start + self.passed == length(self.text)

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


def unanswered(state: Texts) -> bool:
    """Nobody has said yet where the pattern occurs."""
    return state.answer == UNANSWERED


def untouched(state: Texts) -> bool:
    """Nothing has been compared or said."""
    return state.passed == 0 and unanswered(state)


def behind_first_letter(state: Texts) -> Texts | None:
    """The text without its first letter, the pattern at its beginning."""
    return state._replace(start=state.start + 1, passed=0) if state.start < length(state.text) else None


def with_callers_place(caller: Texts, callee: Texts) -> Texts:
    """The pattern where the caller had it, with the callee's answer."""
    return caller._replace(answer=callee.answer)


def compared(state: Texts) -> Texts:
    """The letters passed as long as they are the same."""
    text, pattern, start, passed, _ = state
    most = min(length(pattern), length(text) - start)
    return state._replace(passed=first(passed, most, lambda place: text[start + place] != pattern[place]))


def occurs(state: Texts) -> int:
    """Where the pattern occurs first in the current problem, or NOWHERE."""
    text, pattern, letters = state.text, state.pattern, length(state.pattern)
    most = length(text) - letters + 1
    found = first(state.start, most, lambda place: text[place : place + letters] == pattern)
    return found if found < most else NOWHERE


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

    @action(pre=lambda state: unanswered(state) and state.pattern_passed)
    def FOUND(self, state: Texts) -> Texts:
        """Say that the pattern occurs where it lies."""
        return state._replace(answer=state.start)

    @action(pre=lambda state: unanswered(state) and state.text_passed)
    def NOT_FOUND(self, state: Texts) -> Texts:
        """Say that the pattern occurs nowhere."""
        return state._replace(answer=NOWHERE)

    @program(level=1, depth=lambda state: length(state.pattern) + 1, minimum_size=0, pre=untouched)
    def MATCH_HERE(self, before: Texts, after: Texts) -> bool:
        """Pass letters as long as they are the same."""
        return after == compared(before)

    @program(level=2, depth=3, minimum_size=0, pre=untouched, recursive=rest)
    def SEARCH(self, before: Texts, after: Texts) -> bool:
        """Say where the pattern occurs first, or that it occurs nowhere; how far it was compared does not matter."""
        return after == before._replace(passed=after.passed, answer=occurs(before))

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Texts:
        """Letters a and b; the pattern is a piece of the text, or any letters, as often."""
        many = int(rng.integers(1, size + 2))
        text, pattern = ("".join(LETTERS[letter] for letter in rng.integers(2, size=number)) for number in (size, many))
        if many <= size and rng.integers(2):
            place = int(rng.integers(size - many + 1))
            pattern = text[place : place + many]
        return Texts(text, pattern)

    def enumerate(self, program: str, size: int) -> Iterator[Texts]:
        """One pattern and text for each way in which their letters can be the same here and the pattern can occur.

        Nothing else is seen or asked for. Two letters are enough: others add no way. So are patterns of up to one
        letter more than the text has: longer ones cannot be passed either.
        """
        known: set[tuple[int, tuple[bool, ...], int]] = set()
        for many in range(1, size + 2):
            for letters in product(LETTERS, repeat=size + many):
                state = Texts("".join(letters[:size]), "".join(letters[size:]))
                way = (many, tuple(map(eq, state.text, state.pattern)), occurs(state))
                if way not in known:
                    known.add(way)
                    yield state

    def outcomes(self, program: str, before: Texts) -> Iterator[Texts]:
        """One state; for SEARCH, one for each letter to which the pattern may have been compared."""
        if program == "MATCH_HERE":
            yield compared(before)
            return
        answer = occurs(before)
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
        return length(state.text) - state.start

    def parse(self, program: str, text: str) -> Texts:
        """Read the pattern, `in`, and the text."""
        pattern, word, searched = (part.strip() for part in f"{text} ".partition(" in "))
        if not word or not pattern:
            raise UsageError(f"{text!r} is no pattern to be found in a text; write for example 'cad in abracadabra'")
        return Texts(searched, pattern)

    def format(self, state: Texts) -> str:
        """The pattern and the text from where it lies, the letters that are passed set apart; or the answer."""
        if not unanswered(state):
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
        return "nowhere" if final.answer in (NOWHERE, UNANSWERED) else f"at position {final.answer}"

    def render(self, state: Texts) -> Scene:
        """The text, and the pattern below it where it lies."""
        answer = None if unanswered(state) else state.answer
        return picture(state.text, state.pattern, state.start, state.passed, answer)

    def symbolic(self, unknown: Unknowns) -> Texts:
        """Any text and any pattern, which lies anywhere."""
        number = unknown.number
        return Texts(unknown.text(), unknown.text(), number(), number(), number())

    def valid(self, state: Texts) -> bool:
        """There is a pattern, which lies on the text; of both, no more letters are passed than there are."""
        start, passed = state.start, state.passed
        return 0 <= start <= start + passed <= length(state.text) and passed <= length(state.pattern) >= 1
