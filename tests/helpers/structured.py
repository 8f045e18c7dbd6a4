"""Random structured programs over random observations, and what they do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from alphanpi.environment.specification import STOP
from alphanpi.exporting.blocks import Block, Do, Entrance, If, Return, Statement, While
from alphanpi.exporting.conditions import BranchCondition, Comparison, Feature, Letter
from alphanpi.exporting.contexts import decided
from alphanpi.exporting.tree import CallTrace, TraceStep

FEATURES = tuple(Feature(name, "field") for name in "abcd")
_LONGEST = 60


class Drawn(NamedTuple):
    """A program, calls of it, and how many of the last steps decide the next one."""

    block: Block
    traces: set[CallTrace]
    window: int


def condition(rng: random.Random) -> BranchCondition:
    """One test or two."""
    places = rng.sample(range(len(FEATURES)), rng.choice((1, 1, 2)))
    tests = tuple(Comparison(place, "==", rng.randint(0, 1)) for place in places)
    return BranchCondition((tests,) if rng.random() < 0.5 else tuple((test,) for test in tests), 1.0)


def block(rng: random.Random, depth: int, actions: str, acting: bool = False) -> Block:
    """Some statements; if asked to, the last one is an action."""
    found: list[Statement] = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(("do", "do", "if", "while", "while")) if depth else "do"
        if kind == "do":
            found.append(Do(rng.choice(actions)))
        elif kind == "if":
            otherwise = block(rng, depth - 1, actions) if rng.random() < 0.5 else ()
            found.append(If(Entrance(), block(rng, depth - 1, actions), otherwise, condition(rng)))
        else:
            found.append(While(Entrance(), block(rng, depth - 1, actions, True), condition(rng)))
    if acting and not any(isinstance(statement, Do) for statement in found):
        found.insert(rng.randint(0, len(found)), Do(rng.choice(actions)))
    return tuple(found)


def statements(program: Block) -> int:
    """How many there are, all in all."""
    total = 0
    for statement in program:
        match statement:
            case Do() | Return():
                total += 1
            case If(_, then, otherwise):
                total += 1 + statements(then) + statements(otherwise)
            case While(_, body):
                total += 1 + statements(body)
    return total


class TooLongError(Exception):
    """A call that seems to have no end."""


class _ReturnedError(Exception):
    """Ends a call."""


def played(program: Block, letters: Iterator[Letter]) -> CallTrace:
    """A call that sees these letters, one after each action."""
    seen = next(letters)
    steps: list[TraceStep] = []

    def run(statements: Block) -> None:
        nonlocal seen
        for statement in statements:
            match statement:
                case Do(action):
                    steps.append(TraceStep(seen, action))
                    if len(steps) > _LONGEST:
                        raise TooLongError
                    seen = next(letters)
                case If(_, then, otherwise, test):
                    assert test is not None
                    run(then if test.holds(seen) else otherwise)
                case While(_, body, test):
                    assert test is not None
                    while test.holds(seen):
                        run(body)
                case Return():
                    raise _ReturnedError

    with suppress(_ReturnedError):
        run(program)
    return (*steps, TraceStep(seen, STOP))


def tape(rng: random.Random) -> Iterator[Letter]:
    """Random letters without end."""
    while True:
        yield tuple(rng.randint(0, 1) for _ in FEATURES)


def calls(program: Block, seed: int, count: int) -> set[CallTrace]:
    """Calls on random letters, without those that are very long."""
    rng = random.Random(seed)
    found = set()
    for _ in range(count):
        try:
            found.add(played(program, tape(rng)))
        except TooLongError:
            continue
    return found


def drawn(seed: int, most_windows: int = 3, depth: int = 3) -> Drawn | None:
    """A random program, unless more than so many steps would have to be remembered."""
    rng = random.Random(seed)
    program = block(rng, depth, "ABCDEFGH"[: rng.randint(2, 8)])
    traces = calls(program, seed, 400)
    fitting = [window for window in range(1, most_windows + 1) if decided(traces, window)]
    return Drawn(program, traces, fitting[0]) if fitting and len(traces) > 20 else None
