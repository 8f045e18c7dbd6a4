"""Embedding: inside a larger problem, a small one must look exactly as it does alone.

The signature of every nested problem has to occur among those of problems of the same size drawn on their own. What
solutions need is a finding; what a program might do is a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.checking.ideal import IdealCall
from alphanpi.environment.checking.signatures import DrawnStart, Signatures

_SEARCH_STEPS = 16
_SIZES = 2


class Embedding:
    """Compares nested problems of one program with problems of their own, of the smallest sizes."""

    def __init__(self, exam: Examination, signatures: Signatures) -> None:
        self._exam = exam
        self._signatures = signatures
        self._drawn: dict[int, DrawnStart] = {}

    def drawn(self, size: int) -> DrawnStart:
        """The problems of a size drawn on their own."""
        if size not in self._drawn:
            self._drawn[size] = DrawnStart(self._exam, self._signatures, size)
        return self._drawn[size]

    def check(self) -> None:
        """Rule `embedding`, of a recursive program; what others call it for is a note."""
        if self._exam.program.recursive:
            self._check_recursion()
        self._note_calls_by_others()

    def _check_recursion(self) -> None:
        exam, name = self._exam, self._exam.name
        with exam.collector.catching(name):
            needed = self._by_size([*_descents(exam), *_self_calls(exam.needed.of(name))])
            possible = self._by_size(_self_calls(exam.possible.of(name)))
            sizes = [size for size in sorted({*needed, *possible}) if size in exam.probe.sizes(exam.program)]
            for size in sizes[:_SIZES]:
                with exam.collector.catching(name):
                    self._compare(size, needed.get(size, {}), possible.get(size, {}))
            if not sizes:
                exam.collector.note(f"{name}: embedding was not checked: no nested problem was met")

    def _note_calls_by_others(self) -> None:
        """What other programs need it for should be taught, be it as a problem of another size."""
        exam = self._exam
        with exam.collector.catching(exam.name):
            sizes = exam.probe.sizes(exam.program)[:_SIZES]
            calls = {
                call.entered: call
                for call in exam.needed.of(exam.name)
                if call.caller != exam.name and exam.probe.size(call.entered) in sizes
            }
            if not calls or not all(self.drawn(size).saturate() for size in sizes):
                return
            unseen = list(calls)
            for size in sizes:
                unseen = self.drawn(size).unseen(unseen)
            for state in [state for state in unseen if self.drawn(exam.probe.size(state)).lacks([state])][:1]:
                drawn = [signature for size in sizes for signature in self.drawn(size).all()]
                exam.collector.note(
                    f"{exam.name}: {calls[state].caller} needs it where it looks like nothing that initial draws: "
                    f"{self._signatures.difference(state, drawn)}",
                    calls[state].state,
                )

    def _by_size(self, calls: list[IdealCall]) -> dict[int, dict[Any, IdealCall]]:
        """Size -> state in which a call begins -> the first such call."""
        found: dict[int, dict[Any, IdealCall]] = {}
        for call in calls:
            found.setdefault(self._exam.probe.size(call.entered), {}).setdefault(call.entered, call)
        return found

    def _compare(self, size: int, needed: dict[Any, IdealCall], possible: dict[Any, IdealCall]) -> None:
        collector, name, drawn = self._exam.collector, self._exam.name, self.drawn(size)
        if not drawn.saturate():
            collector.note(f"{name}: embedding was not checked at size {size}: {drawn.reason}")
            return
        wrong = drawn.lacks(needed)
        for state in wrong:
            collector.add(
                "embedding",
                name,
                f"the problem of size {size} inside this one looks like none of that size on its own: "
                f"{self._signatures.difference(state, drawn.all())}; observations and pre-conditions must depend on "
                "the current problem alone, and initial must be able to draw it",
                needed[state].state,
            )
        if not wrong:
            for state in drawn.lacks(possible)[:1]:
                collector.note(
                    f"{name}: it may call itself where the problem of size {size} looks like none that initial draws: "
                    f"{self._signatures.difference(state, drawn.all())}",
                    possible[state].state,
                )


def _self_calls(calls: list[IdealCall]) -> list[IdealCall]:
    return [call for call in calls if call.caller == call.callee]


def _descents(exam: Examination) -> Iterator[IdealCall]:
    """Recursive calls one inside the other, each the first that is legal on a random walk."""
    probe, name = exam.probe, exam.name
    for outer in probe.sizes(exam.program)[1 : _SIZES + 3]:
        for sample in range(exam.samples):
            rng = exam.rng(outer, sample, 3)
            state = probe.initial(name, outer, rng)
            while (found := _callable_state(exam, state, rng)) is not None:
                caller, call = found
                entered = probe.enter(caller, call, name)
                if not probe.measure(name, entered) < probe.measure(name, caller):
                    break  # a finding of its own, and no end to this descent
                yield IdealCall(name, caller, name, entered)
                state = entered


class _Callable(NamedTuple):
    state: Any
    call: str


def _callable_state(exam: Examination, state: Any, rng: np.random.Generator) -> _Callable | None:
    """The first state on a random walk where the program may call itself, and has an action left to stop."""
    probe = exam.probe
    steps = min(_SEARCH_STEPS, probe.depth(exam.name, state) - 2)
    calls = [call for call in probe.recursive_calls(exam.name) if probe.library.called(call).name == exam.name]
    for reached in probe.walk(exam.name, state, rng, steps):
        legal = [call for call in calls if probe.pre(call, reached, exam.name)]
        if legal:
            return _Callable(reached, legal[int(rng.integers(len(legal))) if len(legal) > 1 else 0])
    return None
