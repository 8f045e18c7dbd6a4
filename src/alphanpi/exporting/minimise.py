"""From the traces of a program to its shortest code: drop features that do not matter, then search."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from alphanpi.exporting.blocks import Block, cost, tidy
from alphanpi.exporting.conditions import Feature, Tests
from alphanpi.exporting.synthesis import Synthesiser
from alphanpi.exporting.tree import CallTrace, Forest, projected

_SMALL = 400  # traces up to which all features are tried at once, and more orders
_ORDERS = 6
_LOOP_ADVANTAGE = 0.6  # a program of bounded length gets loops only if they make it this much shorter


class Learned(NamedTuple):
    """A program as code; tests refer to its own selection of features."""

    program: str
    block: Block
    features: tuple[Feature, ...]
    binary: tuple[bool, ...]  # per feature, whether it is a plain yes or no
    cost: float
    traces: int  # distinct call traces the code was made from


def minimise(program: str, traces: Collection[CallTrace], features: Sequence[Feature], unbounded: bool) -> Learned:
    """The shortest code found that does what the traces say; loops at once where lengths have no bound."""
    width = len(next(iter(traces))[0].letter)
    best: Learned | None = None
    for kept in _selections(traces, features[:width]):
        shortened = projected(traces, kept)
        selected = tuple(features[index] for index in kept)
        straight = None if unbounded else _code(program, shortened, selected, loops=False)
        found = straight
        if straight is None or _repeats(shortened):
            found = _code(program, shortened, selected, loops=True)
            if straight is not None and found.cost > _LOOP_ADVANTAGE * straight.cost:
                found = straight
        assert found is not None
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None, "there is always a selection"
    return best._replace(traces=len(traces))


def _code(program: str, traces: set[CallTrace], features: tuple[Feature, ...], loops: bool) -> Learned:
    forest = Forest()
    tree = forest.grow(traces)
    assert tree is not None, "a selection of features keeps the traces apart"
    tests = Tests(features, set(forest.letters(tree)))
    block = tidy(Synthesiser(forest, tests, loops).program(tree))
    return Learned(program, block, features, tuple(tests.binary), cost(block, tests), len(traces))


def _repeats(traces: Collection[CallTrace]) -> bool:
    """Whether some call takes the same action three times in a row."""
    return any(
        trace[step].action == trace[step + 1].action == trace[step + 2].action
        for trace in traces
        for step in range(len(trace) - 2)
    )


def _selections(traces: Collection[CallTrace], features: Sequence[Feature]) -> Iterator[tuple[int, ...]]:
    """Sets of features from which none can be dropped, found by dropping them in various orders."""
    indices = list(range(len(features)))
    seen = set()
    small = len(traces) <= _SMALL
    if small and not any(feature.kind == "may" for feature in features):
        yield tuple(indices)
    legality = [index for index in indices if features[index].kind == "may"]
    visible = [index for index in indices if features[index].kind != "may"]
    shuffle = random.Random(0).shuffle
    for attempt in range(_ORDERS if small else 2):
        order = visible if attempt == 0 else visible[::-1]
        if attempt > 1:
            shuffle(order := visible.copy())
        kept = _without_needless(traces, indices, legality + order)
        if kept not in seen:
            seen.add(kept)
            yield kept


def _without_needless(traces: Collection[CallTrace], indices: list[int], order: list[int]) -> tuple[int, ...]:
    kept = indices
    for index in order:
        fewer = [other for other in kept if other != index]
        if Forest().grow(projected(traces, fewer)) is not None:
            kept = fewer
    return tuple(kept)
