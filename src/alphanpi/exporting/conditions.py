"""What exported code may test, and the shortest condition that tells two sets of observations apart."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from alphanpi.exporting.clock import Clock

Letter = tuple[int, ...]
"""One value per feature: what a call sees before one of its actions."""
Kind = Literal["field", "derived", "may"]

# What a test costs, relative to one call of an action: named conditions read best, legality worst.
_WEIGHTS: dict[Kind, float] = {"derived": 0.95, "field": 1.0, "may": 3.0}
_NEGATION = 0.02
_NUMBER = 0.1
_LONGEST_CONJUNCTION = 3
_TOGETHER = 0.5  # what a test of several features costs besides them: taken where it spares a test
_MANY_FEATURES = 12  # with more, only two are tested together
_MOST_TOGETHER = 4
OPERATORS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<": operator.lt,
}
OPPOSITE = {"==": "!=", "!=": "==", ">=": "<", "<": ">="}


class Feature(NamedTuple):
    """Something that can be tested; `name` is the field's, or for `may` that of the library entry."""

    name: str
    kind: Kind


class Comparison(NamedTuple):
    """`feature operator value`; a feature is known by its place in a letter.

    With other features, the exclusive or of all of them takes its place: `== 0` says of two that they are equal.
    """

    feature: int
    operator: str
    value: int
    others: tuple[int, ...] = ()

    def holds(self, letter: Letter) -> bool:
        """Whether it is true of a letter."""
        found = letter[self.feature]
        for other in self.others:
            found ^= letter[other]
        return OPERATORS[self.operator](found, self.value)

    @property
    def features(self) -> tuple[int, ...]:
        """All features it asks for."""
        return self.feature, *self.others

    def negated(self) -> Comparison:
        """The test that is true exactly where this one is not."""
        return self._replace(operator=OPPOSITE[self.operator])


Terms = tuple[tuple[Comparison, ...], ...]


class BranchCondition(NamedTuple):
    """A disjunction of conjunctions of tests."""

    terms: Terms
    cost: float

    def holds(self, letter: Letter) -> bool:
        """Whether it is true of a letter."""
        return any(all(test.holds(letter) for test in term) for term in self.terms)


class Separator:
    """All tests that some features allow, given the letters that occur.

    Sets of letters are integers with one bit per letter, so that set operations are single instructions on words.
    """

    def __init__(self, features: Sequence[Feature], letters: Collection[Letter], clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self.features = tuple(features)
        self.letters = letters
        self.binary: list[bool] = []  # per feature, whether it is a plain yes or no
        self.all: list[Comparison] = []
        for index in range(len(self.features)):
            values = sorted({letter[index] for letter in letters})
            self.binary.append(set(values) <= {0, 1})
            if len(values) < 2:
                continue
            if self.binary[index]:
                self.all += [Comparison(index, "==", 1), Comparison(index, "==", 0)]
                continue
            for value in values:
                self.all += [Comparison(index, "==", value), Comparison(index, "!=", value)]
            for value in values[1:]:
                self.all += [Comparison(index, ">=", value), Comparison(index, "<", value)]
        self._bit = {letter: 1 << position for position, letter in enumerate(sorted(letters))}
        self._cost = {test: self._price(test) for test in self.all}
        self._passing = {test: self._bits(filter(test.holds, letters)) for test in self.all}
        self._known: dict[tuple[int, int], BranchCondition] = {}
        self._joint = dict(self._several_features())
        self._cost.update({test: self._price(test) for test in self._joint})

    def cost(self, terms: Terms) -> float:
        """What a condition costs."""
        return sum(self._cost[test] for term in terms for test in term)

    def separate(self, yes: Iterable[Letter], no: Iterable[Letter]) -> BranchCondition:
        """A short condition that holds on all of `yes` and none of `no`, which must be disjoint."""
        key = self._bits(yes), self._bits(no)
        if key not in self._known:
            self._known[key] = self._separate(*key)
        return self._known[key]

    def _separate(self, yes: int, no: int) -> BranchCondition:
        self._clock.check()
        plain = self._conjunction(yes, no)
        inverse = self._conjunction(no, yes)
        candidates: list[Terms] = []
        if plain is not None:
            candidates.append((plain,))
        if inverse is not None:
            candidates.append(tuple((self._negated(test),) for test in inverse))
        if not candidates:
            candidates.append(self._cover(yes, no))
        best = min((BranchCondition(terms, self.cost(terms)) for terms in candidates), key=lambda found: found.cost)
        if best.cost <= 2 + _TOGETHER:
            return best
        joint = [BranchCondition(terms, self.cost(terms)) for terms in self._together(yes, no)]
        return min([best, *joint], key=lambda found: found.cost)

    def _several_features(self) -> Iterator[tuple[Comparison, int]]:
        """Tests of several features together, and the letters that pass: parities of bits, and equality of numbers."""
        varied = {test.feature for test in self.all}
        bits = [index for index in sorted(varied) if self.binary[index]]
        most = _MOST_TOGETHER if len(bits) <= _MANY_FEATURES else 2
        everything = self._bits(self.letters)
        for count in range(2, most + 1):
            for first, *others in combinations(bits, count):
                odd = self._passing[Comparison(first, "==", 1)]
                for other in others:
                    odd ^= self._passing[Comparison(other, "==", 1)]
                if odd not in (0, everything):
                    yield Comparison(first, "==", 1, tuple(others)), odd
                    yield Comparison(first, "==", 0, tuple(others)), everything & ~odd
        numbers = [index for index in sorted(varied) if not self.binary[index]][:_MANY_FEATURES]
        for one, other in combinations(numbers, 2):
            test = Comparison(one, "==", 0, (other,))
            same = self._bits(filter(test.holds, self.letters))
            if same not in (0, everything):
                yield test, same
                yield test.negated(), everything & ~same

    def _together(self, yes: int, no: int) -> Iterator[Terms]:
        """Conditions with one test of several features, alone or beside one of a single feature."""
        for test, passing in self._joint.items():
            for one, other, plain in ((yes, no, True), (no, yes, False)):
                if one & ~passing:
                    continue
                left = other & passing
                beside = [
                    (own,)
                    for own, accepted in self._passing.items()
                    if left and not one & ~accepted and not left & accepted
                ]
                for more in beside if left else [()]:
                    term = (test, *more)
                    yield (term,) if plain else tuple((self._negated(single),) for single in term)

    def _bits(self, letters: Iterable[Letter]) -> int:
        bits = 0
        for letter in letters:
            bits |= self._bit[letter]
        return bits

    def _price(self, test: Comparison) -> float:
        price = sum(_WEIGHTS[self.features[feature].kind] for feature in test.features)
        price += _TOGETHER * bool(test.others)
        if not self.binary[test.feature]:
            price += _NUMBER
        return price + _NEGATION * (test.operator in ("!=", "<") or (self.binary[test.feature] and test.value == 0))

    def _negated(self, test: Comparison) -> Comparison:
        return test._replace(value=1 - test.value) if self.binary[test.feature] else test.negated()

    def _conjunction(self, yes: int, no: int) -> tuple[Comparison, ...] | None:
        """The cheapest conjunction that holds on `yes` and excludes all of `no`."""
        excluded: dict[int, Comparison] = {}  # bits of `no` that a test excludes -> cheapest such test
        together = 0
        for test, passing in self._passing.items():
            bits = no & ~passing
            if not yes & ~passing and bits and (bits not in excluded or self._cost[test] < self._cost[excluded[bits]]):
                excluded[bits] = test
                together |= bits
        if together != no:
            return None
        best: tuple[float, tuple[Comparison, ...]] | None = None
        for length in range(1, _LONGEST_CONJUNCTION + 1):
            self._clock.check()
            for chosen in combinations(excluded.items(), length):
                together = 0
                for bits, _ in chosen:
                    together |= bits
                if together == no:
                    price = sum(self._cost[test] for _, test in chosen)
                    if best is None or price < best[0]:
                        best = price, tuple(sorted((test for _, test in chosen), key=lambda test: test.feature))
            if best is not None:
                return best[1]
        return None

    def _cover(self, yes: int, no: int) -> Terms:
        """Conjunctions, none of which holds on a letter of `no`, that together cover `yes`; greedy."""
        terms = []
        remaining = yes
        while remaining:
            self._clock.check()
            covered, pending = remaining, no
            term: list[Comparison] = []
            while pending:
                best, best_score = None, (-1.0, 0.0)
                for test, passing in self._passing.items():
                    removed = pending & ~passing
                    if removed and covered & passing:
                        share = (covered & passing).bit_count() / covered.bit_count()
                        score = (removed.bit_count() / pending.bit_count() + share, -self._cost[test])
                        if score > best_score:
                            best, best_score = test, score
                assert best is not None, "yes and no are disjoint"
                term.append(best)
                pending &= self._passing[best]
                covered &= self._passing[best]
            term = self._needed(term, no)
            covered = remaining
            for test in term:
                covered &= self._passing[test]
            remaining &= ~covered
            terms.append(tuple(sorted(term, key=lambda test: test.feature)))
        return tuple(terms)

    def _needed(self, term: list[Comparison], no: int) -> list[Comparison]:
        """The term without tests that exclude nothing the others do not."""
        for test in list(term):
            rest = no
            for other in term:
                if other != test:
                    rest &= self._passing[other]
            if not rest and len(term) > 1:
                term = [other for other in term if other != test]
        return term
