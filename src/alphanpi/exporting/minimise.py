"""From the traces of a program to its shortest code: drop features that do not matter, then search."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from typing import NamedTuple

from alphanpi.exporting.blocks import Block, cost, tidy
from alphanpi.exporting.clock import Clock
from alphanpi.exporting.conditions import Feature, Separator
from alphanpi.exporting.contexts import with_states
from alphanpi.exporting.loops import LoopSynthesiser
from alphanpi.exporting.situations import Situations, as_single_steps
from alphanpi.exporting.synthesis import Synthesiser
from alphanpi.exporting.tree import CallTrace, Forest, consistent, projected
from alphanpi.network.evaluator import UNBOUNDED

_FEW = 200
_SMALL = 1000  # traces up to which more is tried
_ORDERS = 10
_FEW_ORDERS = 5
_STATE = 1  # entry of a letter that is no feature, but a state
_LOOP_ADVANTAGE = 0.6  # a program of bounded length gets loops only if they make it this much shorter


class Learned(NamedTuple):
    """A program as code; tests refer to its own selection of features."""

    program: str
    block: Block
    features: tuple[Feature, ...]
    binary: tuple[bool, ...]  # per feature, whether it is a plain yes or no
    cost: float
    traces: int  # distinct call traces the code was made from


def minimise(
    program: str,
    traces: Collection[CallTrace],
    features: Sequence[Feature],
    unbounded: bool,
    clock: Clock | None = None,
    window: int = UNBOUNDED,
) -> Learned:
    """The shortest code found that does what the traces say; loops at once where lengths have no bound."""
    clock = clock or Clock()
    if unbounded and window != UNBOUNDED:
        with_loops = _looping(program, traces, features, window, clock)
        if with_loops is not None:
            return with_loops
    width = len(next(iter(traces))[0].letter)
    repeats = _repeats(traces)
    best: Learned | None = None
    looped: Learned | None = None
    selections = _selections(traces, features[:width], clock)
    for number, kept in enumerate(selections):
        attempt = f"attempt {number + 1} of {len(selections)}"
        clock.doing(f"{program}: looking for code that does {len(traces):,} distinct calls, {attempt}")
        shortened = projected(traces, kept)
        selected = tuple(features[index] for index in kept)
        best = _code(program, shortened, selected, unbounded, best, clock)
        if not unbounded and repeats:
            looped = _code(program, shortened, selected, True, looped, clock)
    assert best is not None, "there is always a selection"
    if looped is not None and looped.cost < _LOOP_ADVANTAGE * best.cost:
        best = looped
    return best._replace(traces=len(traces))


def _looping(
    program: str, traces: Collection[CallTrace], features: Sequence[Feature], window: int, clock: Clock
) -> Learned | None:
    """The shortest code over situations, if some is found."""
    stated = with_states(traces, window)
    steps = as_single_steps(stated)
    width = len(next(iter(traces))[0].letter)
    best: Learned | None = None
    selections = _selections(steps, features[:width], clock, _STATE)
    for number, kept in enumerate(selections):
        attempt = f"attempt {number + 1} of {len(selections)}"
        clock.doing(f"{program}: looking for loops that do {len(traces):,} distinct calls, {attempt}")
        situations = Situations()
        beginning = situations.grow(stated, kept, True)
        assert beginning is not None, "a selection of features decides the actions"
        selected = tuple(features[index] for index in kept)
        tests = Separator(selected, set(situations.letters(beginning)), clock)
        found = LoopSynthesiser(situations, tests, clock).found(beginning, math.inf if best is None else best.cost)
        best = _better(best, program, found, selected, tests, len(traces))
    return best


def _better(
    best: Learned | None,
    program: str,
    found: Block | None,
    features: tuple[Feature, ...],
    tests: Separator,
    traces: int,
) -> Learned | None:
    """Code that was found over these features if it is better than the best so far, else that."""
    if found is None:
        return best
    block = tidy(found)
    learned = Learned(program, block, features, tuple(tests.binary), cost(block, tests), traces)
    return learned if best is None or learned.cost < best.cost else best


def _code(
    program: str,
    traces: set[CallTrace],
    features: tuple[Feature, ...],
    loops: bool,
    best: Learned | None,
    clock: Clock,
) -> Learned | None:
    """Code over these features if it is better than the best so far, else that."""
    forest = Forest()
    tree = forest.grow(traces)
    assert tree is not None, "a selection of features keeps the traces apart"
    tests = Separator(features, set(forest.letters(tree)), clock)
    found = Synthesiser(forest, tests, loops, clock).program(tree, math.inf if best is None else best.cost)
    return _better(best, program, found, features, tests, len(traces))


def _repeats(traces: Collection[CallTrace]) -> bool:
    """Whether some call takes the same action three times in a row."""
    return any(
        trace[step].action == trace[step + 1].action == trace[step + 2].action
        for trace in traces
        for step in range(len(trace) - 2)
    )


def _selections(
    traces: Collection[CallTrace], features: Sequence[Feature], clock: Clock, first: int = 0
) -> list[tuple[int, ...]]:
    """Sets of features from which none can be dropped, found by dropping them in various orders; best first.

    What letters hold before the first feature is never dropped, and not part of a set.
    """
    indices = list(range(first + len(features)))
    legality = [index for index in indices[first:] if features[index - first].kind == "may"]
    visible = [index for index in indices[first:] if features[index - first].kind != "may"]
    shuffle = random.Random(0).shuffle
    found: set[tuple[int, ...]] = set()
    for attempt in range(_ORDERS if len(traces) <= _SMALL else _FEW_ORDERS):
        order = visible if attempt == 0 else visible[::-1]
        if attempt > 1:
            shuffle(order := visible.copy())
        found.add(_without_needless(traces, indices, legality + order, clock))
    ordered = sorted(found - {tuple(indices)}, key=lambda kept: (len(projected(traces, kept)), kept))
    if not legality or not ordered:
        # With few traces, all features together leave the search the widest choice; with many, it takes long.
        ordered = [tuple(indices), *ordered] if len(traces) <= _FEW else [*ordered, tuple(indices)]
    return [tuple(index - first for index in kept[first:]) for kept in ordered]


def _without_needless(
    traces: Collection[CallTrace], indices: list[int], order: list[int], clock: Clock
) -> tuple[int, ...]:
    """The features left when those that do not matter are dropped in this order, many at once where possible."""
    kept, current = indices, traces
    pending = [order]
    while pending:
        clock.check()
        group = pending.pop()
        places = [place for place, index in enumerate(kept) if index not in group]
        fewer = projected(current, places)
        if consistent(fewer):
            kept, current = [kept[place] for place in places], fewer
        elif len(group) > 1:
            half = len(group) // 2
            pending += [group[half:], group[:half]]
    return tuple(kept)
