"""Signatures: a problem is known by what a program sees, and may do, along a few fixed walks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from operator import ne
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.checking.probe import Probe

_WALKS, _STEPS = 3, 5
_MOST_FIELDS = 3
# The same for every seed: whether two problems are told apart must not depend on it.
_CHOICES: list[list[float]] = np.random.default_rng(5).random((_WALKS, _STEPS)).tolist()
_DRAWS_PER_LOOK = 500
_MOST_TO_SATURATE = 6000
_MOST_DRAWS = 8000
_MOST_SIGNATURES = 450  # more than that cannot be seen often enough within the draws allowed
_DRAWS_PER_SIGNATURE = 10
_LARGEST_UNSEEN_SHARE = 0.001


class Look(NamedTuple):
    """What a program sees and may do in one state of a walk."""

    action: str  # taken last; empty at the beginning of a walk
    observation: tuple[int, ...]
    mask: tuple[bool, ...]


Signature = tuple[tuple[Look, ...], ...]  # one entry for each walk


class Signatures:
    """The signatures of a program's problems, remembered."""

    def __init__(self, probe: Probe, program: str) -> None:
        self._probe = probe
        self._program = program
        self._atomic = probe.library.names[1 : probe.library.atomic_count]
        self._views: dict[Any, Look] = {}
        self._actions: dict[Any, list[str]] = {}  # legal atomic ones
        self._of_state: dict[Any, Signature] = {}

    def of(self, state: Any) -> Signature:
        """What the program sees and may do along the fixed walks."""
        known = self._of_state.get(state)
        if known is None:
            known = tuple(tuple(self._along(state, choices)) for choices in _CHOICES)
            self._of_state[state] = known
        return known

    def view(self, state: Any) -> Look:
        """What the program sees and may do at once."""
        view = self._views.get(state)
        if view is None:
            probe = self._probe
            view = self._views[state] = Look("", probe.observe(state), probe.legal(self._program, state))
            self._actions[state] = [name for name, legal in zip(self._atomic, view.mask[1:], strict=False) if legal]
        return view

    def difference(self, state: Any, others: Iterable[Signature]) -> str:
        """What tells a problem from the most similar of others: a field with both values, or an action."""
        own, views = self.of(state), list(others)
        if not views:
            return "there is none to compare it with"
        nearest = min(views, key=lambda other: _distance(own, other))
        for walk, other in zip(own, nearest, strict=True):
            for place, (here, there) in enumerate(zip_longest(walk, other)):
                if here != there:
                    path = " ".join(view.action for view in walk[1 : place + 1])
                    return f"{f'after {path}' if path else 'at once'} {self._told(here, there)}"
        return "nothing that was looked at"

    def _told(self, here: Look | None, there: Look | None) -> str:
        if here is None or there is None or here.action != there.action:
            return "other actions are legal"
        fields = self._probe.fields
        told = [
            f"{field!r} is {int(value)} here and {int(other)} there"
            for field, value, other in zip(fields, here.observation, there.observation, strict=True)
            if value != other
        ]
        if told:
            return f"the field {', '.join(told[:_MOST_FIELDS])}"
        for name, legal, other in zip(self._probe.library.names, here.mask, there.mask, strict=True):
            if legal != other:
                return f"{name} is {'legal' if legal else 'illegal'} here and {'legal' if other else 'illegal'} there"
        return "nothing differs"

    def _along(self, state: Any, choices: list[float]) -> Iterator[Look]:
        yield self.view(state)
        for choice in choices:
            actions = self._actions[state]
            if not actions:
                return
            action = actions[int(choice * len(actions))]
            state = self._probe.act(state, action)
            _, observation, mask = self.view(state)
            yield Look(action, observation, mask)


class DrawnStart:
    """The signatures of problems of one size that `initial` draws."""

    def __init__(self, exam: Examination, signatures: Signatures, size: int) -> None:
        self._exam = exam
        self._signatures = signatures
        self._size = size
        self._rng = exam.rng(size, 4)
        self._count: Counter[Signature] = Counter()
        self._saturated: bool | None = None
        self.reason = ""

    def unseen(self, states: Iterable[Any]) -> list[Any]:
        """The states that look like no problem drawn so far."""
        return [state for state in states if self._signatures.of(state) not in self._count]

    def lacks(self, states: Iterable[Any]) -> list[Any]:
        """The states that look like no problem drawn, after many draws more if need be."""
        unseen = self.unseen(states)
        while unseen and self._count.total() < _MOST_DRAWS:
            self._draw(_DRAWS_PER_LOOK)
            unseen = self.unseen(unseen)
        return unseen

    def all(self) -> list[Signature]:
        """Every signature drawn."""
        return list(self._count)

    def saturate(self) -> bool:
        """Draw until a further draw would hardly show a new signature; False where that takes too many."""
        if self._saturated is None:
            self._saturated = self._saturate()
        return self._saturated

    def _draw(self, count: int) -> None:
        for _ in range(count):
            state = self._exam.probe.initial(self._exam.name, self._size, self._rng)
            self._count[self._signatures.of(state)] += 1

    def _saturate(self) -> bool:
        """The share of draws seen once estimates the chance that the next one is new (Good and Turing)."""
        while self._count.total() < _MOST_TO_SATURATE:
            self._draw(_DRAWS_PER_LOOK)
            draws, signatures = self._count.total(), len(self._count)
            if signatures > _MOST_SIGNATURES:
                self.reason = f"problems of that size look too different from each other ({signatures} ways)"
                return False
            once = sum(count == 1 for count in self._count.values())
            if draws >= _DRAWS_PER_SIGNATURE * signatures and once <= _LARGEST_UNSEEN_SHARE * draws:
                return True
        self.reason = f"{_MOST_TO_SATURATE} draws did not show all ways such a problem can look"
        return False


def _distance(own: Signature, other: Signature) -> int:
    """In how many entries two signatures differ; walks that part count for more."""
    total = 0
    for walk, another in zip(own, other, strict=True):
        for here, there in zip_longest(walk, another):
            if here is None or there is None or here.action != there.action:
                total += 1000
            else:
                total += sum(map(ne, here.observation, there.observation)) + sum(map(ne, here.mask, there.mask))
    return total
