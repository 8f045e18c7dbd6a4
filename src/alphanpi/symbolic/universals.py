"""Facts about all places, used at the places that are looked at: no question to the solver has a quantifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import z3

from alphanpi.symbolic.paths import Paths
from alphanpi.symbolic.values import Term

ONE, OTHER = z3.Int("one place"), z3.Int("another place")
MOST_REMOVED = 1
"""Places that are looked at only because a fact about another one speaks of them, and so on: how often."""
STATEMENT = "statement"
"""Stands for a symbol where what is looked at is a statement about all places, as a term of the places around it."""

_OTHER = z3.Int("another place")


class Read(NamedTuple):
    """A place in a symbol that something looks at."""

    symbol: str
    place: Term

    @property
    def is_statement(self) -> bool:
        """Whether it is a statement, rather than a place."""
        return self.symbol == STATEMENT


class Body(NamedTuple):
    """A formula or term about one place."""

    place: Term  # a constant that stands for it
    term: Term
    reads: tuple[Read, ...]

    def at(self, place: Term) -> Term:
        """The same about a given place."""
        return z3.substitute(self.term, (self.place, place))

    @property
    def trigger(self) -> str:
        """Stands for a symbol where places are looked at that statements about the same symbols may be about."""
        return " ".join(["about", *sorted({read.symbol for read in self.reads if not read.is_statement})])


class Universal(NamedTuple):
    """A formula that holds of all places from `low` to below `high`."""

    key: tuple[int, int, int, int]
    low: Term
    high: Term
    body: Body
    shifts: dict[str, list[Term]]  # by symbol, by how much the places it looks at are away from its own
    removed: int  # as of places: whether it is known only because something else speaks of it
    sought: bool  # whether it is used only at places that are sought


class _Order(NamedTuple):
    """Values that ascend from `low` to below `high`, and the places at which they have been compared."""

    body: Body
    shifts: dict[str, list[Term]]
    ascends: Term  # at ONE and OTHER
    places: list[Term]

    def of(self, one: Term, other: Term) -> Term:
        """What that says of two places."""
        return z3.simplify(z3.substitute(self.ascends, (ONE, one), (OTHER, other)))


class _FactAt(NamedTuple):
    """A fact at one place."""

    formula: Term | None  # None where it says nothing
    reads: tuple[Read, ...]
    kept: tuple[Term, ...]  # so that no other term gets their ids


class _Place(NamedTuple):
    """A place that was looked at in a symbol."""

    symbol: str
    term: Term
    removed: int
    sought: bool  # whether it is where a claim is to fail, or follows from such a place


class Universals:
    """All that is known of all places on the present way, and the places that were looked at."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self._facts: list[Universal] = []
        self._orders: list[_Order] = []
        self._places: dict[tuple[str, int], _Place] = {}
        self._used: set[tuple[int, int]] = set()  # facts by number, places by id
        self._instances: dict[tuple[int, ...], _FactAt] = {}
        self._reads: list[Read] | None = None
        self.seen: list[Read] | None = None
        """Places that are looked at, where somebody wants to know."""
        self.explain: Callable[[Term, int], None] = _unexplained
        """Says what a statement means; with how far it is removed from what was looked at."""
        self._seeking = False

    # ---- symbols

    def read(self, symbol: Any, place: Term) -> Term:
        """The value of a symbol at a place, which is thereby looked at."""
        place = z3.simplify(place)
        self.look_at(symbol.name(), place)
        return symbol(place)

    def body(self, place: Term, make: Callable[[Term], Term]) -> Body:
        """What a function makes of a place that is a constant."""
        outer, self._reads = self._reads, []
        try:
            term = z3.simplify(make(place))
            reads = {(read.symbol, read.place.get_id()): read for read in self._reads}
        finally:
            self._reads = outer
        # Statements first: what they mean is said as near as possible to where it was asked for.
        return Body(place, term, tuple(sorted(reads.values(), key=lambda read: not read.is_statement)))

    # ---- facts

    @contextmanager
    def seeking(self) -> Iterator[None]:
        """What is looked at meanwhile is where a claim is to fail."""
        outer, self._seeking = self._seeking, True
        try:
            yield
        finally:
            self._seeking = outer

    def assume(self, low: Term, high: Term, body: Body, sought: bool = False) -> None:
        """Take a fact for known at all places; it may be used only at those that are `sought`."""
        self.paths.plain = False
        if not self.paths.repeating:
            self.add(low, high, body, 0, 0, sought)
            self.point_at(body)

    def add(self, low: Term, high: Term, body: Body, removed: int, low_removed: int, sought: bool = False) -> None:
        """Use a fact at all places that are looked at, and where it begins; both with how far it is removed."""
        shifts = _shifts(body)
        key = (low.get_id(), high.get_id(), body.place.get_id(), body.term.get_id())
        number = len(self._facts)
        self._facts.append(Universal(key, low, high, body, shifts, removed, sought))
        self.paths.keep(self._facts.pop)
        # Two facts may contradict each other at places that nobody has looked at: each is used where it begins.
        for symbol, known in shifts.items() if not sought else ():
            for shift in known:
                self.look_at(symbol, z3.simplify(low + shift), low_removed)
        for place in list(self._places.values()):
            self._use(number, place)

    def point_at(self, body: Body) -> None:
        """Look at what statements about the same symbols may be about, as the body looks so far from its own place."""
        for known in _shifts(body).values():
            for shift in known:
                self.look_at(body.trigger, shift)

    def assume_ascending(self, low: Term, high: Term, body: Body) -> None:
        """Take for known that of two places the later one has no smaller value."""
        self.paths.plain = False
        if self.paths.repeating:
            return
        inside = [low <= ONE, high > ONE, low <= OTHER, high > OTHER]
        left, right = body.at(ONE), body.at(OTHER)
        ascends = z3.And(z3.Implies(ONE <= OTHER, left <= right), z3.Implies(OTHER <= ONE, right <= left))
        order = _Order(body, _shifts(body), z3.simplify(z3.Implies(z3.And(*inside), ascends)), [])
        self._orders.append(order)
        self.paths.keep(self._orders.pop)
        for place in list(self._places.values()):
            self._compare(order, place)
        for end in (low, z3.simplify(high - 1)):
            self.at(body, end)

    def at(self, body: Body, place: Term) -> Term:
        """A body at a place, which is thereby looked at."""
        for symbol, read in _reads_at(body, place):
            self.look_at(symbol, read)
        return body.at(place)

    def look_from(self, body: Body, place: Term, removed: int) -> None:
        """Look at what a body says of a place that nobody has looked at."""
        for read in _reads_at(body, place):
            self.look_at(read.symbol, read.place, removed + (not read.is_statement))

    def look_at(self, symbol: str, term: Term, removed: int = 0, sought: bool = False) -> None:
        """Use all facts about a symbol at a place."""
        if self._reads is not None:
            self._reads.append(Read(symbol, term))
            return
        key = (symbol, term.get_id())
        if self.seen is not None and removed == 0:
            self.seen.append(Read(symbol, term))
        if symbol == STATEMENT:
            self.explain(term, removed)
            return
        known, sought = self._places.get(key), sought or self._seeking
        if known is not None:
            removed, sought = min(removed, known.removed), sought or known.sought
        nothing_new = known is not None and (removed, sought) == (known.removed, known.sought)
        if self.paths.repeating or removed > MOST_REMOVED or nothing_new:
            return
        place = self._places[key] = _Place(symbol, term, removed, sought)
        self.paths.keep(lambda: self._places.pop(key) if known is None else self._places.update({key: known}))
        for number in range(len(self._facts)):
            self._use(number, place)
        for order in list(self._orders):
            self._compare(order, place)

    def _compare(self, order: _Order, place: _Place) -> None:
        for shift in order.shifts.get(place.symbol, ()):
            at = z3.simplify(place.term - shift)
            if not any(at.eq(other) for other in order.places):
                for other in order.places:
                    self.paths.add(order.of(at, other))
                order.places.append(at)
                self.paths.keep(order.places.pop)
            for symbol, read in _reads_at(order.body, at):
                self.look_at(symbol, read, place.removed + (not read.eq(place.term)), place.sought)

    def _use(self, number: int, place: _Place) -> None:
        fact = self._facts[number]
        if fact.sought and not place.sought:
            return
        for shift in fact.shifts.get(place.symbol, ()):
            at = z3.simplify(place.term - shift)
            used = (number, at.get_id())
            key = (*fact.key, at.get_id())
            instance = self._instances.get(key)
            if instance is None:
                instance = self._instances[key] = _instance(fact, at)
            if instance.formula is None:
                continue
            if used not in self._used:
                self._used.add(used)
                self.paths.keep(lambda used=used, at=at: self._used.discard(used))  # type: ignore[misc] # keeps the id
                self.paths.add(instance.formula)
            for read in instance.reads:
                further = not (read.is_statement or read.place.eq(place.term))
                self.look_at(read.symbol, read.place, max(place.removed, fact.removed) + further, place.sought)


def _instance(fact: Universal, at: Term) -> _FactAt:
    inside = z3.And(fact.low <= at, at < fact.high)
    formula = z3.simplify(z3.Implies(inside, fact.body.at(at)))
    reads = _reads_at(fact.body, at)
    return _FactAt(
        None if z3.is_true(formula) else formula, reads, (fact.low, fact.high, fact.body.place, fact.body.term, at)
    )


def _reads_at(body: Body, at: Term) -> tuple[Read, ...]:
    return tuple(Read(symbol, z3.simplify(z3.substitute(read, (body.place, at)))) for symbol, read in body.reads)


def _shifts(body: Body) -> dict[str, list[Term]]:
    """By symbol, by how much the places that a body looks at are away from its own."""
    shifts: dict[str, list[Term]] = {}
    for symbol, read in body.reads:
        if symbol == STATEMENT:
            continue
        shift = z3.simplify(read - body.place)
        if mentions(shift, body.place):
            continue
        known = shifts.setdefault(symbol, [])
        if not any(shift.eq(other) for other in known):
            known.append(shift)
    return shifts


def _unexplained(stated: Term, removed: int) -> None:
    raise NotImplementedError("there are no statements")


def mentions(term: Term, constant: Term) -> bool:
    """Whether a term has a constant in it."""
    return not z3.substitute(term, (constant, _OTHER)).eq(term)
