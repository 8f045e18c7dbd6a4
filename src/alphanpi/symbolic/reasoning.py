"""What the operations on unknown values mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import z3

from alphanpi.symbolic.base import Reasons
from alphanpi.symbolic.counting import Counting
from alphanpi.symbolic.faults import ImpossibleError
from alphanpi.symbolic.folding import Folding, known_places
from alphanpi.symbolic.paths import Paths
from alphanpi.symbolic.statements import Statements, of_each
from alphanpi.symbolic.texts import UnknownText, unknown_text
from alphanpi.symbolic.universals import Body, Read, Universals
from alphanpi.symbolic.values import (
    Question,
    Term,
    UnknownClaim,
    UnknownNumber,
    UnknownNumbers,
    UnknownTruth,
    UnknownValue,
)

_WHOLE = (int, bool)
PLACE = z3.Int("place")
"""Stands for any place in bodies of facts."""


class _Required(NamedTuple):
    """Something that must hold for a function of one place not to raise."""

    condition: Term  # where it is needed
    formula: Term
    what: str


class Reasoning(Reasons):
    """The meaning of unknown values on one tree of ways."""

    def __init__(self, deadline: float = float("inf")) -> None:
        self.paths = Paths(deadline)
        self.universals = Universals(self.paths)
        self.statements = Statements(self.paths, self.universals)
        self.folding = Folding(self)
        self.counting = Counting(self)
        self._bound: dict[str, UnknownNumbers] = {}  # what unknown tuples have turned out to be
        self._touched: set[str] = set()  # unknown tuples of which something was said before
        self.assuming = False
        """Whether what is asked is known not to raise."""
        self._required: list[_Required] | None = None
        self._around: list[Term] | None = None  # inside a function of places: constants that stand for them
        self._firsts: dict[tuple[int, ...], tuple[Term, ...]] = {}

    def refuse(self, what: str) -> NoReturn:
        """Something that has no meaning for unknown values."""
        self.paths.refuse(what)

    @contextmanager
    def taken_for_known(self) -> Iterator[None]:
        """What is asked meanwhile is known not to raise."""
        self.assuming = True
        try:
            yield
        finally:
            self.assuming = False

    # ---- making unknown values

    def number(self) -> UnknownNumber:
        """An unknown integer."""
        return UnknownNumber(self, z3.Int(self.paths.name("number")))

    def truth(self) -> UnknownTruth:
        """An unknown truth value."""
        return UnknownTruth(self, z3.Bool(self.paths.name("truth")))

    def numbers(self) -> UnknownNumbers:
        """An unknown tuple of integers."""
        name = self.paths.name("numbers")
        self.paths.plain = False
        size = z3.Int(f"size of {name}")
        self.paths.add(size >= 0)
        return self.symbol(z3.Function(name, z3.IntSort(), z3.IntSort()), size)

    def text(self) -> UnknownText:
        """An unknown text."""
        return unknown_text(self)

    def symbol(self, symbol: Any, size: Term) -> UnknownNumbers:
        """A tuple that is a function of z3's."""
        name = symbol.name()

        def at(place: Term) -> Term:
            known = self._bound.get(name)
            if known is not None:
                return known.at(place)
            self._touch(name)
            return self.universals.read(symbol, place)

        return UnknownNumbers(self, size, at, symbol=symbol)

    def _touch(self, name: str) -> None:
        if name not in self._touched and not self.paths.repeating:
            self._touched.add(name)
            self.paths.keep(lambda: self._touched.discard(name))

    def resolved(self, values: UnknownNumbers) -> UnknownNumbers:
        """What an unknown tuple has turned out to be."""
        while values.symbol is not None and values.symbol.name() in self._bound:
            values = self._bound[values.symbol.name()]
        return values

    def constant(self, values: tuple[Any, ...]) -> UnknownNumbers:
        """A tuple of which the length is known."""
        terms = [self.integer(value) for value in values]

        def at(place: Term) -> Term:
            found = terms[-1] if terms else z3.IntVal(0)
            for number in reversed(range(len(terms) - 1)):
                found = z3.If(place == number, terms[number], found)
            return z3.simplify(found)

        return UnknownNumbers(self, z3.IntVal(len(terms)), at)

    # ---- Python's values as terms

    def is_whole(self, value: object) -> bool:
        """Whether a value is an integer, known or not."""
        return type(value) in (UnknownNumber, UnknownTruth) or issubclass(type(value), _WHOLE)

    def integer(self, value: object) -> Term:
        """An integer as a term."""
        kind = type(value)
        if kind is UnknownNumber:
            return self.paths.resolved(value.term)  # type: ignore[attr-defined]
        if kind is UnknownTruth:
            return z3.If(value.term, z3.IntVal(1), z3.IntVal(0))  # type: ignore[attr-defined]
        if not issubclass(kind, _WHOLE):
            self.refuse(f"arithmetic with a value of type {kind.__name__}")
        return z3.IntVal(int(value))  # type: ignore[call-overload]

    def formula(self, value: object) -> Term:
        """A truth value as a formula."""
        if type(value) is UnknownTruth:
            return value.term
        if type(value) is UnknownNumber:
            return value.term != 0
        if type(value) is not bool:
            self.refuse(f"a truth value of type {type(value).__name__}")
        return z3.BoolVal(value)

    def sequence(self, values: object) -> UnknownNumbers:
        """A tuple as an unknown one."""
        if type(values) is UnknownNumbers:
            return values
        if not issubclass(type(values), tuple):
            self.refuse(f"a tuple of numbers of type {type(values).__name__}")
        return self.constant(values)  # type: ignore[arg-type]

    def unlike(self, other: object, equal: bool) -> bool:
        """Whether an integer equals something that is none, as Python has it."""
        if not issubclass(type(other), (str, tuple, type(None), UnknownNumbers)):
            self.refuse(f"a comparison with a value of type {type(other).__name__}")
        return not equal

    # ---- what must hold

    def require(self, formula: Term, what: str) -> None:
        """Raise on every way on which a formula does not hold."""
        if self._required is not None:
            condition = self.paths.condition
            self._required.append(_Required(z3.BoolVal(True) if condition is None else condition, formula, what))
        elif not self.paths.decide(formula):
            if self.assuming:
                raise ImpossibleError
            raise self.paths.raising(what)

    def body(self, function: Callable[[Any], Any], convert: Callable[[object], Term], low: Term, high: Term) -> Body:
        """A function of one place as a formula or term; it must raise at no place from `low` to below `high`."""
        required: list[_Required] = []
        its_place = PLACE if self._around is None else z3.Int(f"place at depth {len(self._around)}")

        def make(place: Term) -> Term:
            with self._function_of([place], required):
                branches = self.paths.branches(lambda: convert(function(UnknownNumber(self, place))))
            return merged([(condition, result) for condition, result in branches])

        body = self.universals.body(its_place, make)
        self._require_all(required, [low <= its_place, high > its_place])
        return body

    @contextmanager
    def _function_of(self, places: list[Term], required: list[_Required]) -> Iterator[None]:
        """Inside a function of places, where what must hold for it not to raise is collected."""
        outer, around = self._required, self._around
        self._required, self._around = required, [*(around or ()), *places]
        try:
            yield
        finally:
            self._required, self._around = outer, around

    def _require_all(self, required: list[_Required], inside: list[Term]) -> None:
        if self.assuming:
            # What really happens does not raise. Where it asks about all places it was true at each of them, or false
            # at one: so it is among what is said here of places, whatever is read outside.
            return
        if self._required is not None:  # inside a function of another place
            around = self.paths.condition
            inside = inside if around is None else [around, *inside]
            self._required += [one._replace(condition=z3.And(*inside, one.condition)) for one in required]
            return
        lacking = z3.simplify(z3.Or(*[z3.And(one.condition, z3.Not(one.formula)) for one in required]))
        if z3.is_false(lacking) or self.paths.repeating:
            return
        if not self.paths.excluded(*inside, lacking):
            raise self.paths.raising(f"{required[0].what}, at some of the places looked at")

    def steps(
        self,
        function: Callable[..., Any],
        arguments: list[Term],
        convert: Callable[[Any], list[Term]],
        inside: list[Term],
    ) -> tuple[list[Term], tuple[Read, ...]]:
        """A function of several integers as terms, one for each of its results, and the places it looks at."""
        if self._around is not None:
            self.refuse("a fold or a sweep inside a function of one place")
        required: list[_Required] = []
        found: list[Term] = []

        def make(_: Term) -> Term:
            constants = [argument for argument in arguments if z3.is_const(argument) and not z3.is_int_value(argument)]
            with self._function_of(constants, required):
                branches = self.paths.branches(
                    lambda: convert(function(*(UnknownNumber(self, argument) for argument in arguments)))
                )
            found.extend(
                merged([(condition, results[number]) for condition, results in branches])
                for number in range(len(branches[0].result))
            )
            return z3.IntVal(0)

        body = self.universals.body(PLACE, make)
        self._require_all(required, inside)
        return found, body.reads

    # ---- operations of Python

    def part(self, values: UnknownNumbers, place: object) -> Any:
        """`values[place]`."""
        if type(place) is slice:
            return self._slice(values, place)
        if not self.is_whole(place):
            self.refuse(f"a place of type {type(place).__name__}")
        at = self.integer(place)
        self.require(z3.And(at >= 0, at < values.size), "a place outside of a tuple")
        return UnknownNumber(self, values.at(z3.simplify(at)))

    def _slice(self, values: UnknownNumbers, part: slice) -> UnknownNumbers:
        if part.step is not None:
            self.refuse("a slice with a step")
        low = z3.IntVal(0) if part.start is None else self.integer(part.start)
        high = values.size if part.stop is None else self.integer(part.stop)
        self.require(z3.And(low >= 0, low <= values.size), "a slice that begins outside of a tuple")
        self.require(z3.And(high >= 0, high <= values.size), "a slice that ends outside of a tuple")
        # Asked, not left open: places behind it are told by its size, and would look different where they are the same.
        size = high - low if self.paths.decide(low <= high) else z3.IntVal(0)
        return UnknownNumbers(
            self,
            z3.simplify(size),
            lambda place: values.at(z3.simplify(place + low)),
            origin=values.origin,
            shift=z3.simplify(values.shift + low),
        )

    def joined(self, one: object, other: object) -> UnknownNumbers:
        """`one + other`."""
        left, right = self.sequence(one), self.sequence(other)
        # What lies behind a part that was put in place of one as long should look as if it had not moved.
        size, more = self.paths.resolved(left.size), self.paths.resolved(right.size)

        def at(place: Term) -> Term:
            inside = z3.simplify(place < size)
            if z3.is_true(inside):
                return left.at(place)
            if z3.is_false(inside):
                return right.at(z3.simplify(place - size))
            return z3.If(inside, left.at(place), right.at(z3.simplify(place - size)))

        return UnknownNumbers(self, z3.simplify(size + more), at, made=("joined", left, right))

    def repeated(self, values: object, times: object) -> UnknownNumbers:
        """`values * times`, of one value."""
        if type(values) is UnknownNumbers or len(values) != 1:  # type: ignore[arg-type]
            self.refuse("repeating anything but a tuple of one value")
        value, count = self.integer(values[0]), self.integer(times)  # type: ignore[index]
        return UnknownNumbers(self, z3.simplify(z3.If(count > 0, count, 0)), lambda place: value)

    def same(self, one: UnknownNumbers, other: object, negated: bool) -> Any:
        """`one == other`, or `!=`."""
        if issubclass(type(other), tuple):
            strangers = [value for value in other if not self.is_whole(value)]  # type: ignore[attr-defined]
            if strangers:
                return self.unlike(strangers[0], not negated)
        if type(other) is not UnknownNumbers and not issubclass(type(other), tuple):
            return self.unlike(other, not negated) if not self.is_whole(other) else negated
        # What is said before anything is taken for known must be the same on every repetition: nothing is resolved yet.
        left, right = one, self.sequence(other)
        witness = z3.Int(self.paths.name("differing"))
        places, others = known_places(z3.IntVal(0), left.size), known_places(z3.IntVal(0), right.size)
        if places is not None and places == others:
            with self.universals.seeking():
                formula = z3.And(*[left.at(z3.IntVal(place)) == right.at(z3.IntVal(place)) for place in places])
            return UnknownTruth(self, z3.simplify(z3.Not(formula) if negated else formula))
        if self._around is not None:
            alike = self._stated(z3.IntVal(0), left.size, lambda place: left.at(place.term) == right.at(place.term))
            formula = z3.And(left.size == right.size, alike)
            return UnknownTruth(self, z3.simplify(z3.Not(formula) if negated else formula))

        def assume() -> None:
            self.paths.add(left.size == right.size)
            if self._bind(left, right) or self._bind(right, left):
                return
            both = self.universals.body(PLACE, lambda place: left.at(place) == right.at(place))
            if not z3.is_true(both.term):
                self.universals.assume(z3.IntVal(0), left.size, both)
                self.counting.note_equal(left, right)

        def deny() -> None:
            with self.universals.seeking():
                differ = z3.And(witness >= 0, witness < left.size, left.at(witness) != right.at(witness))
            self.paths.add(z3.Or(left.size != right.size, differ))

        return UnknownClaim(self, Question("same", assume, deny, negated))

    def _bind(self, unknown: UnknownNumbers, known: UnknownNumbers) -> bool:
        """An unknown tuple of which nothing has been said is from now on another one."""
        unknown = self.resolved(unknown)
        if unknown.symbol is None or unknown.symbol.name() in self._touched:
            return False
        name = unknown.symbol.name()
        content = self.universals.body(PLACE, known.at).term  # itself in what it is to be would have no end
        if _uses(content, name):
            return False
        self._bound[name] = known
        self.paths.keep(lambda: self._bound.pop(name))
        return True

    # ---- helpers

    def length(self, values: Any) -> UnknownNumber:
        """How many values there are."""
        return UnknownNumber(self, (values.letters if type(values) is UnknownText else self.sequence(values)).size)

    def replaced(self, values: Any, place: Any, value: Any) -> UnknownNumbers:
        """The values with another one at a place."""
        before, at, new = self.sequence(values), self.integer(place), self.integer(value)
        self.require(z3.And(at >= 0, at < before.size), "a place outside of a tuple")

        def after(where: Term) -> Term:
            here = z3.simplify(where == at)
            if z3.is_true(here):
                return new
            return before.at(where) if z3.is_false(here) else z3.If(here, new, before.at(where))

        return UnknownNumbers(self, before.size, after, made=("replaced", before, at, new))

    def one_hot(self, value: Any, count: int) -> tuple[UnknownTruth, ...]:
        """Truth values of which the one at a place is true."""
        at = self.integer(value)
        self.require(z3.And(at >= 0, at < count), f"a value that is not from 0 to {count - 1}")
        return tuple(UnknownTruth(self, z3.simplify(at == place)) for place in range(count))

    def every(self, low: Any, high: Any, holds: Callable[[Any], Any]) -> Any:
        """Whether something holds of all places."""
        bottom, top = self.integer(low), self.integer(high)
        if self._around is not None:
            return UnknownTruth(self, self._stated(bottom, top, lambda place: self.formula(holds(place))))
        witness = z3.Int(self.paths.name("exception"))
        body = self.body(holds, self.formula, bottom, top)
        if z3.is_true(body.term):
            return True
        places = known_places(bottom, top)
        if places is not None:
            with self.universals.seeking():
                each = [self.universals.at(body, z3.IntVal(place)) for place in places]
            return UnknownTruth(self, of_each("every", bottom, top, places, each))

        def deny() -> None:
            with self.universals.seeking():
                self.paths.add(bottom <= witness, witness < top, z3.Not(self.universals.at(body, witness)))
            self.universals.point_at(body)

        return UnknownClaim(
            self, Question("every", lambda: self.universals.assume(bottom, top, body), deny, follows=True)
        )

    def _stated(self, low: Term, high: Term, holds: Callable[[UnknownNumber], Term]) -> Term:
        """That something holds of all places, inside a function of one place."""
        body = self.body(holds, lambda formula: formula, low, high)
        places = range(0) if z3.is_true(body.term) else known_places(low, high)
        if places is None:
            return self.statements.make("every", low, high, body, self._around or [])
        return of_each("every", low, high, places, [self.universals.at(body, z3.IntVal(place)) for place in places])

    def first(self, low: Any, high: Any, holds: Callable[[Any], Any]) -> Any:
        """The first place of which something holds."""
        return self._outermost(low, high, holds, last=False)

    def last(self, low: Any, high: Any, holds: Callable[[Any], Any]) -> Any:
        """The last place of which something holds."""
        return self._outermost(low, high, holds, last=True)

    def _outermost(self, low: Any, high: Any, holds: Callable[[Any], Any], last: bool) -> Any:
        bottom, top = self.integer(low), self.integer(high)
        missing = z3.simplify(bottom - 1) if last else top  # what is found where it holds of no place
        if not self.paths.decide(bottom <= top):
            return UnknownNumber(self, missing)
        body = self.body(holds, self.formula, bottom, top)
        places, kind = known_places(bottom, top), "last" if last else "first"
        if places is not None:
            each = [self.universals.at(body, z3.IntVal(place)) for place in places]
            return UnknownNumber(self, of_each(kind, bottom, top, places, each))
        if self._around is not None:
            return UnknownNumber(self, self.statements.make(kind, bottom, top, body, self._around))
        found = z3.Int(self.paths.name(kind))
        key = (last, bottom.get_id(), top.get_id(), body.term.get_id())
        if key in self._firsts:
            return UnknownNumber(self, self._firsts[key][0])
        if not self.paths.repeating:
            self._firsts[key] = (found, bottom, top, body.term)  # which keeps their ids from being used again
            self.paths.keep(lambda: self._firsts.pop(key))
        self.paths.add(found >= bottom - 1 if last else found >= bottom, found < top if last else found <= top)
        self.paths.add(z3.Implies(found != missing, self.universals.at(body, found)))
        fails = body._replace(term=z3.Not(body.term))
        self.universals.assume(z3.simplify(found + 1) if last else bottom, top if last else found, fails)
        return UnknownNumber(self, found)

    def fold(
        self, step: Callable[[Any, Any], Any], initial: Any, low: Any, high: Any, backwards: bool
    ) -> UnknownNumber:
        """What is left of a value after a step at each place."""
        bottom, top, begun = self.integer(low), self.integer(high), self.integer(initial)
        return UnknownNumber(self, self.folding.fold(step, begun, bottom, top, backwards))

    def swept(self, values: Any, low: Any, high: Any, pair: Callable[[Any, Any], Any]) -> UnknownNumbers:
        """The values after each two neighbours were put in place of themselves."""
        return self.folding.swept(self.sequence(values), self.integer(low), self.integer(high), pair)

    def is_sorted(self, values: Any) -> Any:
        """Whether the values are in ascending order."""
        given = self.sequence(values)
        return self.counting.is_sorted(given)

    def same_values(self, one: Any, other: Any) -> Any:
        """Whether both hold the same values, each as often."""
        return self.counting.same_values(self.sequence(one), self.sequence(other))


def merged(branches: list[tuple[Term, Term]]) -> Term:
    """One term that is each of several under its condition; the conditions cover all."""
    term = branches[-1][1]
    for condition, result in reversed(branches[:-1]):
        term = z3.If(condition, result, term)
    return z3.simplify(term)


def is_unknown(value: object) -> bool:
    """Whether a value is an unknown one; `isinstance` would be refused."""
    return issubclass(type(value), UnknownValue)


def _uses(term: Term, name: str) -> bool:
    if z3.is_app(term) and term.decl().name() == name:
        return True
    return any(_uses(child, name) for child in term.children())
