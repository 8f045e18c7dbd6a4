"""Statements about all places inside functions of one place.

What such a statement says depends on the places around it. So `every(low, high, holds)` inside a function of the place
s is a predicate E of s, and it is said of each s that is looked at what E(s) means:

- if E(s), what is said of a place k holds at all k that are looked at, from low(s) to below high(s);
- if not E(s), it does not hold at the place w(s), which is one of these.

In the same way `first` and `last` are numbers F of s. Whatever the values are, there are E, w and F of which all of
that is true: so nothing that is possible is left out. The same statement, of whatever places, has the same symbol.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import z3

from alphanpi.symbolic.folding import known_places
from alphanpi.symbolic.paths import Paths
from alphanpi.symbolic.universals import STATEMENT, Body, Read, Universals, mentions
from alphanpi.symbolic.values import Term

MOST_EXPLAINED = 150
"""Statements on one way of which it is said what they mean; where that is left out, both answers are possible."""
_WHOLE, _TRUTH = z3.IntSort(), z3.BoolSort()
_WITHIN = z3.Int("place within")
"""Stands for a place that a statement speaks of; it is never looked at, so none that is can be mistaken for it."""


class _Statement(NamedTuple):
    """A statement about places from `low` to below `high`, which depends on the places around it."""

    kind: str  # every, first or last
    symbol: Any
    witness: Any
    around: tuple[Term, ...]  # constants that stand for these places
    low: Term
    high: Term
    body: Body

    def about(self, places: list[Term]) -> _Statement:
        """The same with given places around it."""
        pairs = list(zip(self.around, places, strict=True))

        def put(term: Term) -> Term:
            return z3.simplify(z3.substitute(term, *pairs)) if pairs else term

        reads = tuple(Read(read.symbol, put(read.place)) for read in self.body.reads)
        body = Body(self.body.place, put(self.body.term), reads)
        return self._replace(low=put(self.low), high=put(self.high), body=body)


class Statements:
    """The statements there are, and those on the present way of which it is known what they mean."""

    def __init__(self, paths: Paths, universals: Universals) -> None:
        self.paths = paths
        self.universals = universals
        self._statements: dict[str, _Statement] = {}  # by name of the symbol
        self._names: dict[tuple[object, ...], str] = {}
        self._explained: dict[int, Term] = {}
        universals.explain = self._explain

    def make(self, kind: str, low: Term, high: Term, body: Body, around: list[Term]) -> Term:
        """A statement, which is thereby looked at, as a term of the places around it."""
        used = [place for place in around if any(mentions(term, place) for term in (low, high, body.term))]
        pairs = [(place, z3.Int(f"place around {number}")) for number, place in enumerate(used)]
        pairs.append((body.place, _WITHIN))

        def put(term: Term) -> Term:
            return z3.simplify(z3.substitute(term, *pairs))

        lowest, highest, term = put(low), put(high), put(body.term)
        key = (kind, len(used), lowest.get_id(), highest.get_id(), term.get_id())
        if key not in self._names:
            reads = tuple(Read(read.symbol, put(read.place)) for read in body.reads)
            made = _made(
                kind, len(self._names), [new for _, new in pairs[:-1]], lowest, highest, Body(_WITHIN, term, reads)
            )
            self._statements[made.symbol.name()] = made  # which keeps the ids of the key from being used again
            self._names[key] = made.symbol.name()
        statement = self._statements[self._names[key]]
        stated = statement.symbol(*used)
        for place in used:
            self.universals.look_at(statement.body.trigger, place)
        for read in (read for read in body.reads if not mentions(read.place, body.place)):
            self.universals.look_at(*read)
        self.universals.look_at(STATEMENT, stated)
        return stated

    def _explain(self, stated: Term, removed: int) -> None:
        """Say what a statement about given places means."""
        key = stated.get_id()
        if self.paths.repeating or key in self._explained or len(self._explained) >= MOST_EXPLAINED:
            return
        self._explained[key] = stated
        self.paths.keep(lambda: self._explained.pop(key))
        known = self._statements[stated.decl().name()]
        statement = known.about(stated.children())
        places = known_places(statement.low, statement.high)
        if places is not None:
            self._explain_each(statement, stated, places, removed)
        elif statement.kind == "every":
            self._explain_every(statement, stated, known.witness(*stated.children()), removed)
        else:
            self._explain_outermost(statement, stated, removed)

    def _explain_each(self, statement: _Statement, stated: Term, places: range, removed: int) -> None:
        """Where the places are known, and few."""
        each = [statement.body.at(z3.IntVal(place)) for place in places]
        self.paths.add(stated == of_each(statement.kind, statement.low, statement.high, places, each))
        for place in places:
            self.universals.look_from(statement.body, z3.IntVal(place), removed)

    def _explain_every(self, statement: _Statement, stated: Term, witness: Term, removed: int) -> None:
        low, high, body = statement.low, statement.high, statement.body
        fails = z3.And(low <= witness, witness < high, z3.Not(body.at(witness)))
        self.paths.add(z3.Or(stated, fails))
        holds = body._replace(term=z3.Implies(stated, body.term))
        self.universals.add(low, high, holds, removed, removed + 1)
        self.universals.look_from(body, witness, removed)

    def _explain_outermost(self, statement: _Statement, stated: Term, removed: int) -> None:
        low, high, body = statement.low, statement.high, statement.body
        last = statement.kind == "last"
        missing = z3.simplify(low - 1) if last else high
        bounds = z3.And(missing <= stated, stated < high) if last else z3.And(low <= stated, stated <= missing)
        found = z3.And(bounds, z3.Implies(stated != missing, body.at(stated)))
        self.paths.add(z3.Implies(low <= high, found))
        fails = body._replace(term=z3.Not(body.term))
        before = (z3.simplify(stated + 1), high) if last else (low, stated)
        self.universals.add(*before, fails, removed, removed + 1)
        self.universals.look_from(body, stated, removed)


def of_each(kind: str, low: Term, high: Term, places: range, each: list[Term]) -> Term:
    """What a statement about known places says, by what is said of each."""
    if kind == "every":
        return z3.simplify(z3.And(*each))
    found, pairs = (low - 1 if kind == "last" else high), list(zip(places, each, strict=True))
    for place, holds in pairs if kind == "last" else reversed(pairs):
        found = z3.If(holds, z3.IntVal(place), found)
    return z3.simplify(found)


def _made(kind: str, number: int, around: list[Term], low: Term, high: Term, body: Body) -> _Statement:
    sorts = [_WHOLE] * len(around)
    symbol = z3.Function(f"{kind} number {number}", *sorts, _TRUTH if kind == "every" else _WHOLE)
    witness = z3.Function(f"exception number {number}", *sorts, _WHOLE)
    return _Statement(kind, symbol, witness, tuple(around), low, high, body)
