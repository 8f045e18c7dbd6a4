"""Which values a tuple holds, and whether they are in order.

`upto(values, place, x)` says how often x stands before a place; between two places it stands as often as the difference
says. Two tuples hold the same values if the counts of every x are the same. So to show it, x is an unknown number, and
what is known of counts is used for it:

- one place further there is one more, if x stands there; and no fewer;
- replacing a value changes the counts behind it, of the old and of the new one, by 1;
- tuples that are joined are counted one after the other;
- a sweep whose steps put neighbours in some order changes no count at places that it does not reach over;
- in tuples, or parts of them, that are the same, counts from a place on are the same;
- who holds the same values as another holds each of them at some place: so what is true of all values of the one is
  true of those of the other. That place is looked up only where a claim is to fail, as any would lead to others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import z3

from alphanpi.symbolic.folding import known_places
from alphanpi.symbolic.values import Question, Term, UnknownClaim, UnknownNumbers, UnknownTruth

if TYPE_CHECKING:
    from alphanpi.symbolic.reasoning import Reasoning

PLACE = z3.Int("place")
_WHOLE = z3.IntSort()
_SORTED = z3.Function("is_sorted", _WHOLE, _WHOLE, z3.BoolSort())
"""What is asked of so many values, of which one is at PLACE; the solver is never told of it."""
_MOST_HOPS = 2
"""From a tuple to one that is the same, in which is counted then, too; and from there, and back."""


class Counting:
    """What is known of counts on the present way."""

    def __init__(self, reasoning: Reasoning) -> None:
        self.reasoning = reasoning
        self._symbols: dict[int, tuple[Any, Term]] = {}  # by id of the value at PLACE, which is kept
        self._alike: list[tuple[UnknownNumbers, UnknownNumbers]] = []
        self._counted: list[Term] = []  # unknown numbers of which the counts are compared
        self._explained: dict[tuple[int, ...], tuple[Term, ...]] = {}  # with the terms that keep the ids of the key
        self._equal: list[tuple[UnknownNumbers, UnknownNumbers]] = []
        self._places: dict[tuple[str, int], list[Term]] = {}  # by symbol and value, where it was counted

    def is_sorted(self, values: UnknownNumbers) -> Any:
        """Whether the values are in ascending order."""
        reasoning, universals = self.reasoning, self.reasoning.universals
        last = z3.simplify(values.size - 1)
        places = known_places(z3.IntVal(0), last)
        if places is not None:
            with universals.seeking():
                ordered = [values.at(z3.IntVal(place)) <= values.at(z3.IntVal(place + 1)) for place in places]
            return UnknownTruth(reasoning, z3.simplify(z3.And(*ordered)))
        body = universals.body(PLACE, values.at)
        witness = z3.Int(reasoning.paths.name("descent"))

        def assume() -> None:
            universals.assume_ascending(z3.IntVal(0), values.size, body)

        def deny() -> None:
            with universals.seeking():
                following = universals.at(body, z3.simplify(witness + 1))
                reasoning.paths.add(witness >= 0, witness < last, universals.at(body, witness) > following)

        said = _SORTED(values.size, body.term)
        return UnknownClaim(reasoning, Question("is_sorted", assume, deny, said=said, follows=True))

    def same_values(self, one: UnknownNumbers, other: UnknownNumbers) -> Any:
        """Whether both hold the same values, each as often."""
        reasoning, paths, universals = self.reasoning, self.reasoning.paths, self.reasoning.universals
        witness = z3.Int(paths.name("counted"))
        skolem = [z3.Function(paths.name("place of"), _WHOLE, _WHOLE) for _ in range(2)]
        lengths = [known_places(z3.IntVal(0), values.size) for values in (one, other)]
        if lengths[0] is not None and lengths[1] is not None:
            with universals.seeking():
                return self._gone_through(one, other, lengths[0], lengths[1])

        def assume() -> None:
            paths.add(one.size == other.size)
            for holder, held, place_of in ((one, other, skolem[0]), (other, one, skolem[1])):

                def found(place: Term, holder: Any = holder, held: Any = held, place_of: Any = place_of) -> Term:
                    there = place_of(place)
                    return z3.And(there >= 0, there < held.size, held.at(there) == holder.at(place))

                universals.assume(z3.IntVal(0), holder.size, universals.body(PLACE, found), sought=True)
            self._alike.append((one, other))
            paths.keep(self._alike.pop)
            for value in self._counted:
                paths.add(self._total(one, value) == self._total(other, value))

        def deny() -> None:
            self._counted.append(witness)
            paths.keep(self._counted.pop)
            for left, right in self._alike:
                paths.add(self._total(left, witness) == self._total(right, witness))
            differ = self._total(one, witness) != self._total(other, witness)
            paths.add(z3.Or(one.size != other.size, differ))

        return UnknownClaim(reasoning, Question("same values", assume, deny))

    def _gone_through(self, one: UnknownNumbers, other: UnknownNumbers, places: range, others: range) -> UnknownTruth:
        """Where both lengths are known, and few."""

        def count(values: UnknownNumbers, within: range, value: Term) -> Term:
            return z3.Sum([z3.IntVal(0), *(_one(values.at(z3.IntVal(place)) == value) for place in within)])

        held = [one.at(z3.IntVal(place)) for place in places]
        same = [count(one, places, value) == count(other, others, value) for value in held]
        return UnknownTruth(self.reasoning, z3.simplify(z3.And(len(places) == len(others), *same)))

    def note_equal(self, one: UnknownNumbers, other: UnknownNumbers) -> None:
        """Take for known of counts, too, that two tuples are the same."""
        if self.reasoning.paths.repeating:
            return
        self._equal.append((one, other))
        self.reasoning.paths.keep(self._equal.pop)
        for value in self._counted:
            self.reasoning.paths.add(self._total(one, value) == self._total(other, value))

    def _total(self, values: UnknownNumbers, value: Term, hops: int = 0) -> Term:
        """How often a value stands in a tuple."""
        return self._upto(values, values.size, value, hops)

    def _upto(self, values: UnknownNumbers, place: Term, value: Term, hops: int = 0) -> Term:
        """How often a value stands in a tuple before a place."""
        values = self.reasoning.resolved(values)
        if values.origin is values:
            return self._from_start(values, place, value, hops)
        whole, shift = values.origin, values.shift
        before = self._upto(whole, shift, value, hops)
        return z3.simplify(self._upto(whole, z3.simplify(place + shift), value, hops) - before)

    def _from_start(self, values: UnknownNumbers, place: Term, value: Term, hops: int) -> Term:
        kind, *parts = values.made or ("",)
        if kind == "replaced":
            before, at, new = parts
            change = _one(new == value) - _one(before.at(at) == value)
            return z3.simplify(self._upto(before, place, value, hops) + z3.If(at < place, change, 0))
        if kind == "joined":
            left, right = parts
            # The counts are told apart, not the places: nested ones would all be looked at, and all look different.
            behind = self._total(left, value, hops) + self._upto(right, z3.simplify(place - left.size), value, hops)
            return z3.simplify(z3.If(place <= left.size, self._upto(left, place, value, hops), behind))
        symbol = self._symbol(values)
        self._explain(values, symbol, place, value, hops)
        return symbol(place, value)

    def _symbol(self, values: UnknownNumbers) -> Any:
        """The function that counts values of a tuple; the same for tuples that are made alike."""
        content = self.reasoning.universals.body(PLACE, values.at).term
        function = z3.Function(f"upto!{len(self._symbols)}", _WHOLE, _WHOLE, _WHOLE)
        return self._symbols.setdefault(content.get_id(), (function, content))[0]

    def _explain(self, values: UnknownNumbers, symbol: Any, place: Term, value: Term, hops: int) -> None:
        """Say what is known of the count of a value before a place."""
        paths = self.reasoning.paths
        key = (place.get_id(), value.get_id(), symbol.get_id())
        if paths.repeating or key in self._explained or hops > _MOST_HOPS:
            return
        self._explained[key] = (place, value, symbol)
        paths.keep(lambda: self._explained.pop(key))
        count, back, on = symbol(place, value), z3.simplify(place - 1), z3.simplify(place + 1)
        paths.add(
            count >= 0,
            symbol(z3.IntVal(0), value) == 0,
            z3.Implies(place <= 0, count == 0),
            z3.Implies(
                z3.And(place > 0, place <= values.size), count == symbol(back, value) + _one(values.at(back) == value)
            ),
            z3.Implies(
                z3.And(place >= 0, place < values.size), symbol(on, value) == count + _one(values.at(place) == value)
            ),
        )
        others = self._places.setdefault((symbol.name(), value.get_id()), [])
        for other in others:
            rises = symbol(other, value) - count
            paths.add(z3.If(place <= other, z3.And(rises >= 0, rises <= other - place), rises <= 0))
        others.append(place)
        paths.keep(others.pop)
        if values.made is not None:  # swept
            _, before, begin, end = values.made
            untouched = z3.And(place >= 0, place <= values.size, z3.Or(place <= begin, end <= place, end <= begin))
            paths.add(z3.Implies(untouched, count == self._upto(before, place, value, hops)))
            for reached in (begin, end):
                self._explain(values, symbol, z3.simplify(reached), value, hops)
        for pair in list(self._equal):
            for one, other in (pair, pair[::-1]):
                if self._symbol(self.reasoning.resolved(one.origin)).eq(symbol):
                    inside = z3.And(one.shift <= place, place <= one.shift + one.size)
                    within = z3.simplify(place - one.shift)
                    counts = [self._upto(part, within, value, hops + 1) for part in (one, other)]
                    paths.add(z3.Implies(inside, counts[0] == counts[1]))


def _one(formula: Term) -> Term:
    return z3.If(formula, z3.IntVal(1), z3.IntVal(0))
