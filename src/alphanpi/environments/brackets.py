"""Brackets of several kinds: whether they are balanced, and how deep they are nested.

Read as a person reads them: a group is an opening bracket, any number of groups inside, and the bracket that closes it.
What is inside a group is a part of the problem, and groups are read by recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environments.brackets_picture import CHARACTERS, picture
from alphanpi.errors import UsageError

_SYMBOLS = {character: bracket for bracket, character in CHARACTERS.items()}
_KINDS = len(CHARACTERS) // 2


class Reading(NamedTuple):
    """Brackets, read up to a position."""

    brackets: tuple[int, ...]  # k opens a group of kind k, -k closes it
    position: int
    nesting: int  # groups that are open there
    deepest: int  # the greatest nesting that was recorded
    wrong: bool  # there is no way to go on
    begun: Reading | None = None  # where the call began: a group's call at its opening bracket

    @property
    def bracket(self) -> int:
        """The next one; 0 at the end."""
        return self.brackets[self.position] if self.position < len(self.brackets) else 0

    @property
    def in_group(self) -> bool:
        """Whether the call has opened its group and not closed it."""
        return self.begun is not None and self.nesting > self.begun.nesting

    @property
    def closes(self) -> bool:
        """Whether the next bracket ends the group of the call."""
        return self.begun is not None and self.in_group and not self.wrong and self.bracket == -self.begun.bracket


def inside_group(reading: Reading) -> Reading | None:
    """What is left to be read, for a group inside that of the call; there is none before it is opened."""
    return reading if reading.in_group else None


def read_so_far(caller: Reading, callee: Reading) -> Reading:
    """The caller goes on where the inner group has ended."""
    return callee


def read(before: Reading, one_group: bool) -> Reading:
    """What is known after a group, or after everything, or where something is wrong."""
    opened: list[int] = []
    deepest = before.deepest
    for position in range(before.position, len(before.brackets)):
        bracket = before.brackets[position]
        if bracket > 0:
            opened.append(bracket)
            deepest = max(deepest, before.nesting + len(opened))
        elif opened and opened[-1] == -bracket:
            opened.pop()
            if one_group and not opened:
                return before._replace(position=position + 1, deepest=deepest)
        else:
            return before._replace(position=position, nesting=before.nesting + len(opened), deepest=deepest, wrong=True)
    nesting = before.nesting + len(opened)
    return before._replace(position=len(before.brackets), nesting=nesting, deepest=deepest, wrong=bool(opened))


class Brackets(Environment[Reading]):
    """Are brackets balanced, and how deep are they nested?"""

    fields = ("opens", "closes", "at_end", "deeper", "wrong")
    size_unit = ("bracket", "brackets")
    train_sizes: ClassVar = (1, 2, 3, 4, 5, 6)
    validation_size: ClassVar = 10
    test_sizes: ClassVar = (10, 60, 100, 1000)
    call_start: ClassVar = "begun"

    inside = subproblem(enter=inside_group, leave=read_so_far)

    @action(pre=lambda reading: reading.bracket > 0 and not reading.in_group and not reading.wrong)
    def OPEN(self, reading: Reading) -> Reading:
        """Read the bracket that begins a group."""
        return reading._replace(position=reading.position + 1, nesting=reading.nesting + 1)

    @action(pre=lambda reading: reading.closes)
    def CLOSE(self, reading: Reading) -> Reading:
        """Read the bracket that ends the group."""
        return reading._replace(position=reading.position + 1, nesting=reading.nesting - 1)

    @action()
    def RECORD(self, reading: Reading) -> Reading:
        """Keep this nesting as the greatest."""
        return reading._replace(deepest=reading.nesting)

    @action(pre=lambda reading: not reading.wrong)
    def REJECT(self, reading: Reading) -> Reading:
        """Say that something is wrong here."""
        return reading._replace(wrong=True)

    @program(
        level=1,
        depth=lambda reading: (len(reading.brackets) - reading.position) // 2 + 4,
        pre=lambda reading: reading.bracket > 0 and not reading.wrong,
        recursive=inside,
    )
    def GROUP(self, before: Reading, after: Reading) -> bool:
        """Read a group to its end, or to what is wrong."""
        return after == read(before, one_group=True)

    @program(
        level=2,
        depth=lambda reading: (len(reading.brackets) - reading.position) // 2 + 2,
        pre=lambda reading: not reading.wrong and not reading.in_group,
        minimum_size=0,
        train_sizes=(0, 1, 2, 3, 4, 5, 6),
    )
    def CHECK(self, before: Reading, after: Reading) -> bool:
        """Read all groups, to the end or to what is wrong."""
        return after == read(before, one_group=False)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Reading:
        """Brackets that are balanced, or would be if one of them were another, or not there."""
        brackets = _balanced(size // 2, rng)
        if size % 2 or (size and rng.random() < 0.5):
            place = int(rng.integers(size))
            stray = int(rng.choice(tuple(CHARACTERS)))
            brackets = (*brackets[:place], stray, *brackets[place + 1 - size % 2 :])
        if program == "CHECK":
            return Reading(brackets, 0, 0, 0, wrong=False)
        nesting = int(rng.integers(3))  # an outer group may have recorded less, as there is one inside
        deepest = int(rng.integers(nesting + 3))
        return Reading((abs(brackets[0]), *brackets[1:]), 0, nesting, deepest, wrong=False)

    def enumerate(self, program: str, size: int) -> Iterator[Reading]:
        """All ways to open and close, up to the first wrong bracket, which is a closing one of another kind.

        Kinds are compared in no other way than whether the next bracket ends the current group, and nothing is read
        behind a bracket that is wrong; nestings are compared with the greatest alone.
        """
        for brackets in _all_readings(size):
            if program == "CHECK":
                yield Reading(brackets, 0, 0, 0, wrong=False)
            elif brackets[0] > 0:
                yield Reading(brackets, 0, 1, 0, wrong=False)
                for deepest in range(size + 1):
                    yield Reading(brackets, 0, 0, deepest, wrong=False)

    def outcomes(self, program: str, before: Reading) -> Iterator[Reading]:
        """The one way to end."""
        yield read(before, one_group=program == "GROUP")

    def observe(self, reading: Reading) -> tuple[bool, ...]:
        """What the next bracket is, whether this nesting is greater than those before, whether something is wrong."""
        return (
            reading.bracket > 0,
            reading.closes,
            reading.bracket == 0,
            reading.nesting > reading.deepest,
            reading.wrong,
        )

    def size(self, reading: Reading) -> int:
        """Brackets from the beginning of the call on."""
        return len(reading.brackets) - (reading.begun or reading).position

    def base_case(self, program: str, reading: Reading) -> bool:
        """A group with none inside."""
        following = reading._replace(position=reading.position + 1)
        return program != "GROUP" or following.bracket <= 0

    def parse(self, program: str, text: str) -> Reading:
        """Read brackets; blanks are left out."""
        characters = "".join(text.split())
        strange = next((character for character in characters if character not in _SYMBOLS), None)
        if strange is not None:
            raise UsageError(f"brackets: {strange!r} is no bracket; write for example ([]{{}})")
        reading = Reading(tuple(_SYMBOLS[character] for character in characters), 0, 0, 0, wrong=False)
        if program == "GROUP" and reading.bracket <= 0:
            raise UsageError("brackets: a group begins with an opening bracket; write for example ([]{})")
        return reading

    def format(self, reading: Reading) -> str:
        """The brackets, with a mark at the place up to which they are read, and the greatest nesting."""
        characters = [CHARACTERS[bracket] for bracket in reading.brackets]
        mark = "✗" if reading.wrong else "·"
        return "".join([*characters[: reading.position], mark, *characters[reading.position :], f"  {reading.deepest}"])

    def result(self, program: str, final: Reading, actions: Sequence[Any]) -> str:
        """The verdict, with the greatest nesting or the place of the mistake."""
        if not final.wrong:
            return f"balanced, nested {final.deepest} deep"
        if final.bracket == 0:
            return f"not balanced: {final.nesting} not closed at the end"
        return f"not balanced: {CHARACTERS[final.bracket]} at place {final.position + 1} closes nothing"

    def render(self, reading: Reading) -> Scene:
        """The brackets in a row, those read in boxes as deep as they are nested."""
        return picture(reading.brackets, reading.position, reading.deepest, reading.wrong)


def _balanced(pairs: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Random brackets, all in order."""
    brackets: list[int] = []
    opened: list[int] = []
    for left in range(2 * pairs, 0, -1):
        if not opened or (len(opened) < left and rng.random() < 0.5):
            opened.append(int(rng.integers(1, _KINDS + 1)))
            brackets.append(opened[-1])
        else:
            brackets.append(-opened.pop())
    return tuple(brackets)


def _all_readings(size: int) -> Iterator[tuple[int, ...]]:
    """All brackets of that number: of kind 1 in order, then perhaps one that is wrong and any others."""
    for right in range(size + 1):
        for brackets in product((1, -1), repeat=right):
            if all(sum(brackets[: place + 1]) >= 0 for place in range(right)):
                yield from [(*brackets, -2, *(1,) * (size - right - 1))] if right < size else [brackets]
