"""Values that are carried from place to place: folds, and sweeps over neighbours.

Such a value is a function F of the place, with F(first) given and F(k + 1) = step(F(k), k); for folds that go backwards
the same from the other end. What needs an induction over the places is used here as a lemma:

- *Linked*: two such functions with the same steps from a place on, and the same value there, are the same from there.
- *Rising*: if no step makes the value smaller, no later value is smaller than an earlier one.
- *Permuting*: a sweep whose every step puts two neighbours in some order holds the same values as before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import z3

from alphanpi.symbolic.universals import Body, Read
from alphanpi.symbolic.values import Term, UnknownNumbers

if TYPE_CHECKING:
    from alphanpi.symbolic.reasoning import Reasoning

MOST_EXPANDED = 64
"""Places that are gone through one by one, where their number is known."""
PLACE = z3.Int("place")
VALUE, NEIGHBOUR = z3.Int("value carried"), z3.Int("value of a neighbour")


class Carried(NamedTuple):
    """A value carried from place to place."""

    symbol: Any
    step: Term  # of VALUE and PLACE
    reads: tuple[Read, ...]
    begun: Term
    low: Term
    high: Term
    backwards: bool

    def is_the_same_as(self, other: Carried) -> bool:
        """Whether nothing new is said by it."""
        return bool(self.symbol.eq(other.symbol) and self.low.eq(other.low) and self.high.eq(other.high))

    def looks_where(self, other: Carried) -> bool:
        """Whether the steps of both look at the same symbols."""
        return {read.symbol for read in self.reads} == {read.symbol for read in other.reads}

    def stepped(self, place: Term) -> Term:
        """What a step at a place makes of the value that comes to it."""
        before = self.symbol(z3.simplify(place + 1) if self.backwards else place)
        return z3.substitute(self.step, (VALUE, before), (PLACE, place))


class Folding:
    """Folds and sweeps on the present way."""

    def __init__(self, reasoning: Reasoning) -> None:
        self.reasoning = reasoning
        self._symbols: dict[tuple[object, ...], tuple[Any, ...]] = {}  # with the terms that keep the ids of the key
        self._carried: list[Carried] = []
        self._pairs: dict[tuple[int, int], tuple[Any, ...]] = {}

    def fold(self, step: Callable[[Any, Any], Any], begun: Term, low: Term, high: Term, backwards: bool) -> Term:
        """What is left of a value after a step at each place."""
        reasoning = self.reasoning
        places = known_places(low, high)
        if places is not None:
            return self._gone_through(step, begun, places[::-1] if backwards else places)
        inside = [low <= PLACE, high > PLACE]
        (term,), reads = reasoning.steps(step, [VALUE, PLACE], lambda result: [reasoning.integer(result)], inside)
        carried = self._carry(term, reads, begun, low, high, backwards)
        end = low if backwards else high
        result = reasoning.universals.read(carried.symbol, end)
        return z3.simplify(z3.If(low < high, result, begun))

    def _gone_through(self, step: Callable[[Any, Any], Any], begun: Term, places: range) -> Term:
        reasoning, value = self.reasoning, begun
        for place in places:
            (value,), _ = reasoning.steps(
                step, [value, z3.IntVal(place)], lambda result: [reasoning.integer(result)], []
            )
        return value

    def swept(self, values: UnknownNumbers, low: Term, high: Term, pair: Callable[[Any, Any], Any]) -> UnknownNumbers:
        """The values after each two neighbours were put in place of themselves."""
        reasoning, universals = self.reasoning, self.reasoning.universals
        last = z3.simplify(high - 1)
        reasoning.require(
            z3.Or(last <= low, z3.And(low >= 0, high <= values.size)), "a sweep beyond the ends of a tuple"
        )

        def both(results: Any) -> list[Term]:
            left, right = results
            return [reasoning.integer(left), reasoning.integer(right)]

        (left, right), _ = reasoning.steps(pair, [VALUE, NEIGHBOUR], both, [])
        body = universals.body(
            PLACE, lambda place: z3.substitute(right, (NEIGHBOUR, values.at(z3.simplify(place + 1))))
        )
        carried = self._carry(body.term, body.reads, values.at(low), low, last, backwards=False)
        symbol = carried.symbol
        permutes, rises = self._facts_of(left, right)
        if rises:
            between = z3.And(symbol(low) <= symbol(PLACE), symbol(PLACE) <= symbol(last))
            universals.assume(low, z3.simplify(last + 1), Body(PLACE, between, (Read(symbol.name(), PLACE),)))

        def at(place: Term) -> Term:
            here = universals.read(symbol, place)
            put = z3.substitute(left, (VALUE, here), (NEIGHBOUR, values.at(z3.simplify(place + 1))))
            inside, end = z3.And(low <= place, place < last), z3.And(low <= place, place == last)
            return z3.simplify(z3.If(inside, put, z3.If(end, here, values.at(place))))

        made = ("swept", values, low, high) if permutes else None
        return UnknownNumbers(reasoning, values.size, at, made=made)

    def _facts_of(self, left: Term, right: Term) -> tuple[bool, bool]:
        """Whether two results are the arguments in some order; whether the second is not below the first argument."""
        key = (left.get_id(), right.get_id())
        if key not in self._pairs:
            kept = z3.And(left == VALUE, right == NEIGHBOUR)
            exchanged = z3.And(left == NEIGHBOUR, right == VALUE)
            self._pairs[key] = (_always(z3.Or(kept, exchanged)), _always(right >= VALUE), left, right)
        permutes, rises, *_ = self._pairs[key]
        return permutes, rises

    def _carry(
        self, step: Term, reads: tuple[Read, ...], begun: Term, low: Term, high: Term, backwards: bool
    ) -> Carried:
        """The function, and what is known of it; the same for the same steps from the same beginning."""
        anchor = z3.simplify(high if backwards else low)
        key = (backwards, anchor.get_id(), begun.get_id(), step.get_id())
        if key not in self._symbols:
            symbol = z3.Function(f"carried!{len(self._symbols)}", z3.IntSort(), z3.IntSort())
            self._symbols[key] = (symbol, anchor, begun, step)
        carried = Carried(self._symbols[key][0], step, reads, begun, low, high, backwards)
        paths, universals = self.reasoning.paths, self.reasoning.universals
        if paths.repeating or any(carried.is_the_same_as(other) for other in self._carried):
            return carried
        paths.add(carried.symbol(anchor) == begun)
        result = carried.symbol(PLACE if backwards else PLACE + 1)
        name = carried.symbol.name()
        reading = (*reads, Read(name, PLACE), Read(name, z3.simplify(PLACE + 1)))
        universals.assume(low, high, Body(PLACE, result == carried.stepped(PLACE), reading))
        universals.look_at(name, anchor)
        for other in list(self._carried):
            if other.backwards == backwards and not other.symbol.eq(carried.symbol) and carried.looks_where(other):
                self._link(other, carried)
                self._link(carried, other)
        self._carried.append(carried)
        paths.keep(self._carried.pop)
        return carried

    def _link(self, one: Carried, other: Carried) -> None:
        """Use the first lemma, if its premises are known here."""
        paths, universals = self.reasoning.paths, self.reasoning.universals
        anchor = other.high if other.backwards else other.low
        apart = one.high < anchor if one.backwards else one.low > anchor
        differ = z3.And(other.low <= PLACE, other.high > PLACE, one.step != other.step)
        if (
            paths.excluded(apart)
            and paths.excluded(differ, effect=lambda: self._look_where(one, other))
            and paths.excluded(universals.read(one.symbol, anchor) != other.begun)
        ):
            same = one.symbol(PLACE) == other.symbol(PLACE)
            reads = tuple(Read(carried.symbol.name(), PLACE) for carried in (one, other))
            universals.assume(other.low, z3.simplify(other.high + 1), Body(PLACE, same, reads))

    def _look_where(self, *carried: Carried) -> None:
        for read in (read for one in carried for read in one.reads):
            self.reasoning.universals.look_at(*read)


def known_places(low: Term, high: Term) -> range | None:
    """The places from `low` to below `high`, if these are known and few."""
    low, high = z3.simplify(low), z3.simplify(high)
    if not (z3.is_int_value(low) and z3.is_int_value(high)):
        return None
    places = range(low.as_long(), high.as_long())
    return places if len(places) <= MOST_EXPANDED else None


def _always(formula: Term) -> bool:
    """Whether a formula holds whatever is put in it."""
    solver = z3.Solver()
    solver.set("rlimit", 1_000_000)
    solver.add(z3.Not(formula))
    return bool(solver.check() == z3.unsat)
