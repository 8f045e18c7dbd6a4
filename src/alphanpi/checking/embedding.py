"""Embedding: inside a larger problem, a small one must look exactly as it does alone.

A problem is known by its signature: what a program sees, and may do, along a few fixed random walks. Every
signature of a nested problem has to occur among those of problems of the same size drawn on their own.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from alphanpi.checking.rules import Examination

_WALKS, _STEPS = 3, 5
_SEARCH_STEPS = 16
_SIZES = 2
_DRAWS_PER_LOOK = 500
_MOST_DRAWS = 6000
_MOST_SIGNATURES = 450  # more than that cannot be seen often enough within the draws allowed
_DRAWS_PER_SIGNATURE = 10
_LARGEST_UNSEEN_SHARE = 0.001

Signature = tuple[tuple[tuple[int, ...], tuple[bool, ...]], ...]


class _Nested(NamedTuple):
    caller: Any
    state: Any


def check_embedding(exam: Examination) -> None:
    """Compare nested problems of the smallest sizes with problems of their own: rule `embedding`."""
    name = exam.program.name
    with exam.collector.catching(name):
        nested = _nested_problems(exam)
        for size in sorted(nested)[:_SIZES]:
            with exam.collector.catching(name):
                _compare(exam, size, nested[size])
        if not nested:
            exam.collector.note(f"{name}: embedding was not checked: no nested problem was met")


def _nested_problems(exam: Examination) -> dict[int, list[_Nested]]:
    """Nested problems by size; only sizes that are also drawn on their own."""
    probe, program = exam.probe, exam.program
    sizes = probe.sizes(program)
    found: dict[int, list[_Nested]] = {size: [] for size in sizes}
    for outer in sizes[1 : _SIZES + 3]:
        for sample in range(exam.samples):
            rng = exam.rng(outer, sample, 3)
            state = probe.initial(program.name, outer, rng)
            while (caller := _callable_state(exam, state, rng)) is not None:
                entered = probe.enter(caller, program.name, program.name)
                size = probe.size(entered)
                if size >= probe.size(caller):  # a finding of its own, and no end to this descent
                    break
                if size in found:
                    found[size].append(_Nested(caller, entered))
                state = entered
    return {size: problems for size, problems in found.items() if problems}


def _callable_state(exam: Examination, state: Any, rng: np.random.Generator) -> Any | None:
    """The first state on a random walk where the program may call itself."""
    name = exam.program.name
    for reached in exam.probe.walk(name, state, rng, _SEARCH_STEPS):
        if exam.probe.pre(name, reached, name):
            return reached
    return None


def _compare(exam: Examination, size: int, nested: list[_Nested]) -> None:
    name = exam.program.name
    alone = _Alone(exam, size)
    if not alone.saturate():
        exam.collector.note(f"{name}: embedding was not checked at size {size}: {alone.reason}")
        return
    unseen = [problem for problem in nested if not alone.has(alone.signature(problem.state))]
    if not unseen:
        return
    alone.draw(_MOST_DRAWS)
    for problem in unseen:
        if not alone.has(alone.signature(problem.state)):
            exam.collector.add(
                "embedding",
                name,
                f"the problem of size {size} inside this one looks like none of that size on its own: "
                "observations and pre-conditions must depend on the current problem alone, "
                "and initial must be able to draw it",
                problem.caller,
            )


class _Alone:
    """The signatures of problems of one size drawn on their own."""

    def __init__(self, exam: Examination, size: int) -> None:
        self._exam = exam
        self._size = size
        self._rng = exam.rng(size, 4)
        self._choices = exam.rng(5).random((_WALKS, _STEPS)).tolist()
        self._views: dict[Any, tuple[tuple[int, ...], tuple[bool, ...]]] = {}
        self._of_state: dict[Any, Signature] = {}
        self._drawn: Counter[Signature] = Counter()
        self.reason = ""

    def has(self, signature: Signature) -> bool:
        """Whether a problem of its own was drawn with that signature."""
        return signature in self._drawn

    def draw(self, count: int) -> None:
        """Draw more problems."""
        probe, name = self._exam.probe, self._exam.program.name
        for _ in range(count):
            self._drawn[self.signature(probe.initial(name, self._size, self._rng))] += 1

    def saturate(self) -> bool:
        """Draw until a further draw would hardly show a new signature; False where that takes too many.

        The share of draws seen once estimates the chance that the next one is new (Good and Turing).
        """
        while self._drawn.total() < _MOST_DRAWS:
            self.draw(_DRAWS_PER_LOOK)
            draws, signatures = self._drawn.total(), len(self._drawn)
            if signatures > _MOST_SIGNATURES:
                self.reason = f"problems of that size look too different from each other ({signatures} ways)"
                return False
            once = sum(count == 1 for count in self._drawn.values())
            if draws >= _DRAWS_PER_SIGNATURE * signatures and once <= _LARGEST_UNSEEN_SHARE * draws:
                return True
        self.reason = f"{_MOST_DRAWS} draws did not show all ways such a problem can look"
        return False

    def signature(self, state: Any) -> Signature:
        """What the program sees and may do along the fixed walks."""
        known = self._of_state.get(state)
        if known is None:
            known = tuple(view for choices in self._choices for view in self._views_along(state, choices))
            self._of_state[state] = known
        return known

    def _views_along(self, state: Any, choices: list[float]) -> list[tuple[tuple[int, ...], tuple[bool, ...]]]:
        library, probe = self._exam.probe.library, self._exam.probe
        views = [self._view(state)]
        for choice in choices:
            mask = views[-1][1]
            actions = [action for action in range(1, library.atomic_count) if mask[action]]
            if not actions:
                break
            state = probe.act(state, library.names[actions[int(choice * len(actions))]])
            views.append(self._view(state))
        return views

    def _view(self, state: Any) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        view = self._views.get(state)
        if view is None:
            probe = self._exam.probe
            view = self._views[state] = probe.observe(state), probe.mask(self._exam.program.name, state)
        return view
