"""Which values a tuple holds, and whether they are in order.

`count(values, low, high, x)` says how often x stands between two places. Two tuples hold the same values if the counts
of every x are the same. So to show it, x is an unknown number, and what is known of counts is used for it:

- a count is the count without the first, or the last, place, and what stands there;
- replacing a value changes the count of the old and of the new one by 1;
- a sweep whose steps put neighbours in some order changes no count between places that contain it;
- who holds the same values as another holds each of them at some place.
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
_MOST_LAYERS = 40


class Counting:
    """What is known of counts on the present way."""

    def __init__(self, reasoning: Reasoning) -> None:
        self.reasoning = reasoning
        self._symbols: dict[int, tuple[Any, Term]] = {}  # by id of the value at PLACE, which is kept
        self._alike: list[tuple[UnknownNumbers, UnknownNumbers]] = []
        self._counted: list[Term] = []  # unknown numbers of which the counts are compared
        self._explained: dict[tuple[int, ...], Term] = {}

    def is_sorted(self, values: UnknownNumbers) -> Any:
        """Whether the values are in ascending order."""
        reasoning, universals = self.reasoning, self.reasoning.universals
        last = z3.simplify(values.size - 1)
        places = known_places(z3.IntVal(0), last)
        if places is not None:
            ordered = [values.at(z3.IntVal(place)) <= values.at(z3.IntVal(place + 1)) for place in places]
            return UnknownTruth(reasoning, z3.simplify(z3.And(*ordered)))
        pair = universals.body(PLACE, lambda place: values.at(place) <= values.at(z3.simplify(place + 1)))
        bounds = universals.body(
            PLACE,
            lambda place: z3.And(values.at(z3.IntVal(0)) <= values.at(place), values.at(place) <= values.at(last)),
        )
        witness = z3.Int(reasoning.paths.name("descent"))

        def assume() -> None:
            universals.assume(z3.IntVal(0), last, pair)
            universals.assume(z3.IntVal(0), values.size, bounds)

        def deny() -> None:
            reasoning.paths.add(witness >= 0, witness < last, z3.Not(universals.at(pair, witness)))

        return UnknownClaim(reasoning, Question("is_sorted", assume, deny))

    def same_values(self, one: UnknownNumbers, other: UnknownNumbers) -> Any:
        """Whether both hold the same values, each as often."""
        reasoning, paths, universals = self.reasoning, self.reasoning.paths, self.reasoning.universals
        witness = z3.Int(paths.name("counted"))
        skolem = [z3.Function(paths.name("place of"), _WHOLE, _WHOLE) for _ in range(2)]
        lengths = [known_places(z3.IntVal(0), values.size) for values in (one, other)]
        if lengths[0] is not None and lengths[1] is not None:
            return self._gone_through(one, other, lengths[0], lengths[1])

        def assume() -> None:
            paths.add(one.size == other.size)
            for holder, held, place_of in ((one, other, skolem[0]), (other, one, skolem[1])):

                def found(place: Term, holder: Any = holder, held: Any = held, place_of: Any = place_of) -> Term:
                    there = place_of(place)
                    return z3.And(there >= 0, there < held.size, held.at(there) == holder.at(place))

                universals.assume(z3.IntVal(0), holder.size, universals.body(PLACE, found))
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

    def _total(self, values: UnknownNumbers, value: Term) -> Term:
        """How often a value stands in a tuple."""
        low = values.shift
        return self._count(values.origin, low, z3.simplify(low + values.size), value)

    def _count(self, values: UnknownNumbers, low: Term, high: Term, value: Term, layers: int = 0) -> Term:
        """How often a value stands between two places, with what is known of it."""
        reasoning, paths = self.reasoning, self.reasoning.paths
        values = reasoning.resolved(values)
        if values.origin is not values:  # a part of another
            shift = values.shift
            return self._count(values.origin, z3.simplify(low + shift), z3.simplify(high + shift), value, layers)
        content = reasoning.universals.body(PLACE, values.at).term
        kept = self._symbols.setdefault(
            content.get_id(), (z3.Function(f"count!{len(self._symbols)}", _WHOLE, _WHOLE, _WHOLE, _WHOLE), content)
        )
        symbol = kept[0]
        count = symbol(low, high, value)
        key = (count.get_id(),)
        if paths.repeating or key in self._explained or layers > _MOST_LAYERS:
            return count
        self._explained[key] = count
        paths.keep(lambda: self._explained.pop(key))
        first, last = values.at(low), values.at(z3.simplify(high - 1))
        paths.add(
            count >= 0,
            z3.Implies(low >= high, count == 0),
            z3.Implies(low < high, count == symbol(z3.simplify(low + 1), high, value) + _one(first == value)),
            z3.Implies(low < high, count == symbol(low, z3.simplify(high - 1), value) + _one(last == value)),
        )
        if values.made is not None:
            kind, before, *rest = values.made
            count_before = self._count(before, low, high, value, layers + 1)
            if kind == "replaced":
                at, new = rest
                change = _one(new == value) - _one(before.at(at) == value)
                paths.add(count == count_before + z3.If(z3.And(low <= at, at < high), change, 0))
            else:
                begin, end = rest
                self._count(values, begin, z3.simplify(end), value, layers + 1)  # of which the most is known
                apart = z3.Or(high <= begin, end <= low, end <= begin)
                paths.add(z3.Implies(z3.Or(apart, z3.And(low <= begin, end <= high)), count == count_before))
        return count


def _one(formula: Term) -> Term:
    return z3.If(formula, z3.IntVal(1), z3.IntVal(0))
