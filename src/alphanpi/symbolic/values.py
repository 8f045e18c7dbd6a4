"""Unknown numbers, truth values and tuples of numbers: what an environment's own code is run on.

Whatever has a meaning for all values at once is an operator here. Where Python insists on a known answer, `bool` takes
either one in turn. All else is refused: it raises what no `except Exception` stops, and it is written down, so that a
run which swallows it all the same shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import z3

from alphanpi.symbolic.base import Symbolic

if TYPE_CHECKING:
    from alphanpi.symbolic.reasoning import Reasoning

Term = Any
"""A term or formula of z3's, which has no types to speak of."""


class UnknownValue(Symbolic):
    """What all unknown values refuse."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy leaves operators to us
    _reasoning: Reasoning

    @property  # type: ignore[misc]
    def __class__(self) -> NoReturn:  # type: ignore[override] # isinstance asks for it
        self._reasoning.refuse("isinstance() of an unknown value")

    def __getattr__(self, name: str) -> NoReturn:
        self._reasoning.refuse(f"the attribute {name} of an unknown value")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        self._reasoning.refuse(f"setting {name} of an unknown value")

    def _set(self, **members: object) -> None:
        for name, value in members.items():
            object.__setattr__(self, name, value)


class UnknownTruth(UnknownValue):
    """A formula."""

    __slots__ = ("term",)
    term: Term

    def __init__(self, reasoning: Reasoning, term: Term) -> None:
        self._set(_reasoning=reasoning, term=term)

    def __bool__(self) -> bool:
        return self._reasoning.paths.decide(self.term)

    def __int__(self) -> int:
        return int(bool(self))

    def __eq__(self, other: object) -> Any:
        return self._number() == other

    def __ne__(self, other: object) -> Any:
        return self._number() != other

    def __and__(self, other: object) -> Any:
        return UnknownTruth(self._reasoning, z3.And(self.term, self._truth_of(other)))

    def __or__(self, other: object) -> Any:
        return UnknownTruth(self._reasoning, z3.Or(self.term, self._truth_of(other)))

    def __xor__(self, other: object) -> Any:
        return UnknownTruth(self._reasoning, z3.Xor(self.term, self._truth_of(other)))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def _truth_of(self, other: object) -> Term:
        """What takes part in `&`, `|` and `^`, which for numbers are operations on bits."""
        if type(other) is UnknownNumber:
            self._reasoning.refuse("bits of an unknown value")
        return self._reasoning.formula(other)

    def _number(self) -> UnknownNumber:
        """1 or 0, as which Python lets truth values take part in arithmetic."""
        return UnknownNumber(self._reasoning, self._reasoning.integer(self))


class UnknownClaim(UnknownValue):
    """A truth value that speaks of all places at once: it can be asked for, not computed with."""

    __slots__ = ("question",)
    question: Question

    def __init__(self, reasoning: Reasoning, question: Question) -> None:
        self._set(_reasoning=reasoning, question=question)

    def __bool__(self) -> bool:
        return self._reasoning.paths.fork(self.question)

    def __int__(self) -> int:
        return int(bool(self))


class Question(NamedTuple):
    """What is taken for known if the answer is yes, and if it is no."""

    kind: str  # the same whenever the same is asked
    assume: Callable[[], None]
    deny: Callable[[], None]
    negated: bool = False
    formula: Term = None  # where it is no more than that
    said: Term = None  # the same wherever the same is asked of the same values: it is not asked again
    follows: bool = False  # a yes says nothing that does not follow, at any place, where no is impossible


class UnknownNumber(UnknownValue):
    """A term that stands for an integer."""

    __slots__ = ("term",)
    term: Term

    def __init__(self, reasoning: Reasoning, term: Term) -> None:
        self._set(_reasoning=reasoning, term=term)

    def __bool__(self) -> bool:
        return self._reasoning.paths.decide(self.term != 0)

    def __neg__(self) -> UnknownNumber:
        return UnknownNumber(self._reasoning, z3.simplify(-self.term))

    def __pos__(self) -> UnknownNumber:
        return self

    def __abs__(self) -> UnknownNumber:
        return UnknownNumber(self._reasoning, z3.If(self.term < 0, -self.term, self.term))

    def __divmod__(self, other: object) -> tuple[Any, Any]:
        return self // other, self % other  # type: ignore[operator] # given below


def _arithmetic(operate: Callable[[Term, Term], Term], swapped: bool) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: object) -> Any:
        reasoning = self._reasoning
        if type(other) in (UnknownNumbers, tuple) or issubclass(type(other), tuple):
            return reasoning.repeated(other, self) if operate is _times else NotImplemented
        own, given = reasoning.integer(self), reasoning.integer(other)
        return UnknownNumber(reasoning, z3.simplify(operate(given, own) if swapped else operate(own, given)))

    return operator


def _comparison(operate: Callable[[Term, Term], Term]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: object) -> Any:
        reasoning = self._reasoning
        return UnknownTruth(reasoning, operate(reasoning.integer(self), reasoning.integer(other)))

    return operator


def _equality(equal: bool) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: object) -> Any:
        reasoning = self._reasoning
        if not reasoning.is_whole(other):
            return reasoning.unlike(other, equal)
        own, given = reasoning.integer(self), reasoning.integer(other)
        return UnknownTruth(reasoning, own == given if equal else own != given)

    return operator


def _times(one: Term, other: Term) -> Term:
    return one * other


def _divided(what: str) -> Callable[[Any, Any], Any]:
    """Python rounds down, z3 so that the rest is not negative: the same where the divisor is positive and known."""

    def operator(self: Any, other: object) -> Any:
        reasoning = self._reasoning
        if type(other) not in (int, bool) or other <= 0:  # type: ignore[operator]
            reasoning.refuse(f"{what} by anything but a known positive number")
        own = reasoning.integer(self)
        return UnknownNumber(reasoning, z3.simplify(own / other if what == "division" else own % other))

    return operator


_ARITHMETIC: dict[str, Callable[[Term, Term], Term]] = {
    "add": lambda one, other: one + other,
    "sub": lambda one, other: one - other,
    "mul": _times,
}
_COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "lt": lambda one, other: one < other,
    "le": lambda one, other: one <= other,
    "gt": lambda one, other: one > other,
    "ge": lambda one, other: one >= other,
}


class UnknownNumbers(UnknownValue):
    """A tuple of integers: a length, and a term for the value at any place."""

    __slots__ = ("at", "made", "origin", "shift", "size", "symbol")
    at: Callable[[Term], Term]  # the value at a place, for places inside
    size: Term
    origin: Any  # what this is a part of; itself
    shift: Term  # where in it this begins
    made: Any  # how it was made of others, where that tells which values it holds
    symbol: Any  # the function of z3's that it is, if it is no more than that

    def __init__(
        self,
        reasoning: Reasoning,
        size: Term,
        at: Callable[[Term], Term],
        *,
        origin: UnknownNumbers | None = None,
        shift: Term = None,
        made: object = None,
        symbol: Any = None,
    ) -> None:
        self._set(
            _reasoning=reasoning,
            size=size,
            at=at,
            origin=self if origin is None else origin,
            shift=z3.IntVal(0) if shift is None else shift,
            made=made,
            symbol=symbol,
        )

    def __getitem__(self, place: object) -> Any:
        return self._reasoning.part(self, place)

    def __add__(self, other: object) -> Any:
        return self._reasoning.joined(self, other)

    def __radd__(self, other: object) -> Any:
        return self._reasoning.joined(other, self)

    def __eq__(self, other: object) -> Any:
        return self._reasoning.same(self, other, negated=False)

    def __ne__(self, other: object) -> Any:
        return self._reasoning.same(self, other, negated=True)

    def __bool__(self) -> bool:
        return self._reasoning.paths.decide(self.size != 0)


for _name, _operate in _ARITHMETIC.items():
    for _kind in (UnknownNumber, UnknownTruth):
        setattr(_kind, f"__{_name}__", _arithmetic(_operate, swapped=False))
        setattr(_kind, f"__r{_name}__", _arithmetic(_operate, swapped=True))
for _name, _operate in _COMPARISONS.items():
    for _kind in (UnknownNumber, UnknownTruth):
        setattr(_kind, f"__{_name}__", _comparison(_operate))
UnknownNumber.__eq__ = _equality(True)  # type: ignore[method-assign]
UnknownNumber.__ne__ = _equality(False)  # type: ignore[method-assign]
for _kind in (UnknownNumber, UnknownTruth):
    setattr(_kind, "__floordiv__", _divided("division"))  # noqa: B010
    setattr(_kind, "__mod__", _divided("remainder"))  # noqa: B010

_REFUSED = (
    "hash int float complex index round trunc floor ceil len iter next contains getitem setitem delitem call str repr "
    "format bytes copy deepcopy reduce reduce_ex getstate delattr sizeof dir length_hint reversed bool neg pos abs "
    "invert add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or lt le gt ge eq ne enter exit"
)
_REFLECTED = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or"
_INSTEAD = {
    "len": "len(); write length(...) of alphanpi.symbolic",
    "iter": "a loop over, or unpacking,",
    "contains": "`in`",
    "index": "a place in a known tuple, or range(),",
}


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: Any, *arguments: object) -> Any:
        return self._reasoning.refuse(f"{_INSTEAD.get(name, f'{name}()')} of an unknown value")

    return refuse


def refuse_the_rest(kind: type[UnknownValue]) -> None:
    """Whatever a kind of unknown values does not say itself is refused."""
    for name in (*_REFUSED.split(), *(f"r{name}" for name in _REFLECTED.split())):
        if vars(kind).get(f"__{name}__") is None:  # also `__hash__`, which Python sets to None beside `__eq__`
            setattr(kind, f"__{name}__", _refusing(name))


for _one in (UnknownTruth, UnknownClaim, UnknownNumber, UnknownNumbers):
    refuse_the_rest(_one)
Sequence.register(UnknownNumbers)  # so that `case (first, *rest)` asks for its length, which is refused
