"""The problems of `benchmarks/held_out` can be solved: each as a person would, through specification and check."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import alphanpi
from alphanpi.environment.checking import check
from tests.helpers.paths import BENCHMARKS
from tests.helpers.solutions import Solutions, Steps, View, execute

DIRECTIONS = ("north", "east", "south", "west")


def play(see: View, size: int) -> Steps:
    if see.one_player:
        yield "WALK_OVER"
    else:
        yield "PLAY on upper"
        see = yield "PLAY on lower"
        yield "LOWER_WINS" if see.lower_is_stronger else "UPPER_WINS"
    yield "STOP"


def keep(see: View, size: int) -> Steps:
    if see.negation:
        yield "INVERT on inner"
        yield "STRIP"
    elif not see.literal:
        yield "KEEP on first"
        yield "KEEP on second"
    yield "STOP"


def invert(see: View, size: int) -> Steps:
    if see.negation:
        yield "KEEP on inner"
        yield "STRIP"
    elif see.literal:
        yield "OPPOSITE"
    else:
        yield "EXCHANGE"
        yield "INVERT on first"
        yield "INVERT on second"
    yield "STOP"


def face(see: View, size: int) -> Steps:
    while not see.facing:
        see = yield "TURN"
    yield "STOP"


def follow(see: View, size: int) -> Steps:
    while arrows := [direction for direction in DIRECTIONS if getattr(see, f"arrow_{direction}")]:
        see = yield "STEP" if see.arrow_ahead else f"FACE({arrows[0]})"
    yield "STOP"


def water(see: View, size: int) -> Steps:
    while not see.at_tap:
        see = yield "RIGHT"
    see = yield "FILL"
    while not see.at_begin:
        see = yield "LEFT"
    yield "POUR"
    yield "STOP"


def water_all(see: View, size: int) -> Steps:
    while see.dry or not see.last_plant:
        see = yield "WATER" if see.dry else "RIGHT"
    yield "STOP"


def reverse(see: View, size: int) -> Steps:
    while not see.met:
        yield "SWAP"
        see = yield "LEFT_INWARDS"
        if not see.met:
            see = yield "RIGHT_INWARDS"
    yield "STOP"


def reverse_words(see: View, size: int) -> Steps:
    while True:
        while not (see.blank or see.at_end):
            see = yield "READ"
        if not see.met:
            yield "REVERSE on word"
        if see.at_end:
            yield "STOP"
        see = yield "NEXT_WORD"


class Solved(NamedTuple):
    """A file, and how its programs are carried out."""

    file: str
    solutions: Solutions


SOLVED = [
    Solved("tournament", {"PLAY": play}),
    Solved("negation", {"KEEP": keep, "INVERT": invert}),
    Solved("treasure_map", {"FACE": face, "FOLLOW": follow}),
    Solved("garden", {"WATER": water, "WATER_ALL": water_all}),
    Solved("words", {"REVERSE": reverse, "REVERSE_WORDS": reverse_words}),
]


@pytest.mark.parametrize("solved", SOLVED, ids=[solved.file for solved in SOLVED])
def test_problems_kept_aside_can_be_solved(solved):
    environment = alphanpi.make(f"{BENCHMARKS}/held_out/{solved.file}.py")
    assert check(environment, samples=10).findings == ()
    for program in solved.solutions:
        for size in (1, 2, 3, 5, 8, 40):
            for seed in range(5):
                for start in environment.library.begun(program, environment.initial(program, size, generator(seed))):
                    execute(environment, program, start, solved.solutions)


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
