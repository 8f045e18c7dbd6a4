"""Enumerated starts: every state in which a program may begin has to be among them, up to what can be told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from alphanpi.environment.checking.embedding import Embedding
from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.checking.signatures import Look, Signatures
from alphanpi.environment.guard import shown
from alphanpi.errors import AlphaNPIError

_SIZES = 3
_TAUGHT_SIZES = 2
_MOST = 400  # starts of all sizes that are looked at one by one
_LONGEST = 5000
_DRAWS = 50


class _Wanted(NamedTuple):
    """A state in which the program may begin, and how it comes about."""

    state: Any
    origin: str


def check_enumeration(exam: Examination, signatures: Signatures, embedding: Embedding) -> None:
    """Rule `enumerate`: starts of the size asked for, legal, at every size, and none missing."""
    name, most = exam.name, _MOST
    for size in range(exam.program.minimum_size, exam.program.minimum_size + _SIZES):
        with exam.collector.catching(name):
            states = _enumerated(exam, size, most)
            if states is None:
                return
            if len(states) > most:
                if most == _MOST:
                    exam.collector.note(f"{name}: enumerate was not compared: more than {most} starts of size {size}")
                return
            most -= len(states)
            check_well_formed(exam, "enumerate", size, states)
            check_complete(exam, "enumerate", size, states, signatures)
            _note_what_is_never_drawn(exam, size, states, signatures, embedding)


def check_well_formed(exam: Examination, member: str, size: int, states: list[Any]) -> None:
    """Every start given by `enumerate` or `templates` has the size asked for and satisfies the pre-condition."""
    for state in states:
        found = exam.probe.size(state)
        if found != size:
            exam.collector.add(member, exam.name, f"{member} at size {size} yields a state of size {found}", state)
        if not exam.probe.pre(exam.name, state, None):
            message = f"{member} at size {size} yields a state in which the pre-condition does not hold"
            exam.collector.add(member, exam.name, message, state)


def check_complete(exam: Examination, member: str, size: int, states: list[Any], signatures: Signatures) -> None:
    """Every start that `initial` draws, and every state a call begins in, looks like one of the states."""
    among = _Lookup(signatures, states)
    for state, origin in _wanted(exam, size):
        if not states:
            message = f"{member} yields nothing at size {size}, but {origin} begins there"
            exam.collector.add(member, exam.name, message, state)
        elif state not in among:
            message = (
                f"{member} at size {size} lacks a state in which {origin} begins, and nothing that looks like it: "
                f"{signatures.difference(state, [signatures.of(other) for other in states])}"
            )
            exam.collector.add(member, exam.name, message, state)
        if exam.collector.full(member, exam.name):
            return


def order_patterns(count: int) -> Iterator[tuple[int, ...]]:
    """Every way in which that many values can compare."""
    for values in product(range(count), repeat=count):
        if len(set(values)) == max(values, default=-1) + 1:
            yield values


class _Lookup:
    """Whether some state looks like another one; signatures are made only where first views agree."""

    def __init__(self, signatures: Signatures, states: list[Any]) -> None:
        self._signatures = signatures
        self._states = set(states)
        self._by_view: dict[Look, list[Any]] = {}
        for state in states:
            self._by_view.setdefault(signatures.view(state), []).append(state)

    def __contains__(self, state: Any) -> bool:
        if state in self._states:
            return True
        own = self._signatures.of(state)
        return any(self._signatures.of(other) == own for other in self._by_view.get(self._signatures.view(state), ()))


def _enumerated(exam: Examination, size: int, most: int) -> list[Any] | None:
    """Different starts of a size, as far as there are not too many."""
    what = f"enumerate of {exam.name} at size {size}"
    first, second = (exam.probe.listed(exam.probe.enumerate(exam.name, size), what, _LONGEST) for _ in range(2))
    if first is None:
        return None
    if first != second:
        exam.collector.add("enumerate", exam.name, f"enumerate gives different states the second time, at size {size}")
    different = list(dict.fromkeys(first))
    if len(first) == _LONGEST and len(different) <= most:
        message = (
            f"enumerate at size {size} yields {len(different)} states again and again, {_LONGEST} times; it must end"
        )
        exam.collector.add("enumerate", exam.name, message, different[0])
    elif len(different) < len(first):
        twice = Counter(first).most_common(1)[0][0]
        exam.collector.note(f"{exam.name}: enumerate yields a state of size {size} more than once", twice)
    return different


def _wanted(exam: Examination, size: int) -> Iterator[_Wanted]:
    for call in exam.possible.of(exam.name):
        if exam.probe.size(call.entered) == size:
            yield _Wanted(call.entered, f"a call by {call.caller} in {shown(call.state)}")
    for start in exam.starts:
        if start.size == size and exam.probe.size(start.state) == size:
            yield _Wanted(start.state, "a problem that initial draws")
    if size in exam.probe.sizes(exam.program):
        return
    rng = exam.rng(size, 7)
    for _ in range(_DRAWS):
        try:
            state = exam.probe.initial(exam.name, size, rng)
        except AlphaNPIError:  # a finding of its own where the size is one that is taught
            return
        if exam.probe.size(state) == size and exam.probe.pre(exam.name, state, None):
            yield _Wanted(state, "a problem that initial draws")


def _note_what_is_never_drawn(
    exam: Examination, size: int, states: list[Any], signatures: Signatures, embedding: Embedding
) -> None:
    """An agent that is taught on what `initial` draws need not know what to do elsewhere."""
    if size not in exam.probe.sizes(exam.program)[:_TAUGHT_SIZES]:
        return
    drawn = embedding.drawn(size)
    if drawn.saturate():
        for state in drawn.lacks(states)[:1]:
            exam.collector.note(
                f"{exam.name}: enumerate yields a start of size {size} that looks like none that initial draws, so it "
                f"is verified but never taught: {signatures.difference(state, drawn.all())}",
                state,
            )
