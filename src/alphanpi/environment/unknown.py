"""Values of which nothing is known but how they compare, and the choices a run is a function of.

A run on unknown values asks for comparisons one by one. Each answer that is still open becomes a choice, and the run
is repeated for every sequence of choices. Any concrete values agree with exactly one such sequence, so the repetitions
together cover all values, however many there are.

That argument holds only if nothing but comparisons tells an environment anything. So whatever else is done with an
unknown value raises, and is written down as well, since an environment may catch what is raised: a run during which it
happened shows nothing. What cannot be noticed, such as `type` or `id`, is left to runs on concrete values.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn, Protocol


class Chooser(Protocol):
    """Decides what is open."""

    def choose(self, options: int) -> int:
        """One of the numbers below `options`."""


class Choices:
    """A sequence of choices: the first ones given, the others the first option; `following` gives the next sequence."""

    def __init__(self, given: tuple[int, ...] = ()) -> None:
        self._given = given
        self._made: list[tuple[int, int]] = []  # choice, number of options

    def choose(self, options: int) -> int:
        """One of the numbers below `options`."""
        position = len(self._made)
        choice = self._given[position] if position < len(self._given) else 0
        self._made.append((choice, options))
        return choice

    def following(self) -> Choices | None:
        """The next sequence in lexical order, None after the last."""
        for position in reversed(range(len(self._made))):
            choice, options = self._made[position]
            if choice + 1 < options:
                return Choices((*(earlier for earlier, _ in self._made[:position]), choice + 1))
        return None


class Relations(NamedTuple):
    """What was known of an order at some moment."""

    at_most: tuple[int, ...]  # bit j of entry i: value i ≤ value j
    below: tuple[int, ...]  # bit j of entry i: value i < value j


REPR = "repr()"


class Order:
    """What is known of the order of some values: a transitively closed set of relations, grown by choices.

    Both answers to an open question are consistent: a ≤ b contradicts only b < a, and the closure holds every
    relation that follows.
    """

    def __init__(self, count: int = 0) -> None:
        self.values: tuple[Unknown, ...] = ()
        self.asked = 0
        """Comparisons asked for so far, whether they were open or not."""
        self.misused: list[str] = []
        """What else was done with the values since the order was begun."""
        self._choices: Chooser | None = None
        self._by_name = False
        self._replacement: Callable[[int], Any] | None = None
        self._at_most: list[int] = []  # as in Relations
        self._below: list[int] = []
        self.first(count)

    def first(self, count: int) -> tuple[Unknown, ...]:
        """That many values, made where there are not so many yet."""
        for number in range(len(self.values), count):
            self.values = (*self.values, Unknown(number, self))
            self._at_most.append(1 << number)
            self._below.append(0)
        return self.values[:count]

    def begin(self, choices: Chooser, known: Relations | None = None) -> None:
        """Know this and nothing else; open questions are decided by these choices from now on."""
        count = len(self.values)
        self._choices = choices
        self.misused = []
        self._at_most = [1 << number for number in range(count)]
        self._below = [0] * count
        if known is not None:
            self._at_most[: len(known.at_most)] = known.at_most
            self._below[: len(known.below)] = known.below

    def end(self) -> None:
        """From now on nothing can be decided."""
        self._choices = None

    def known(self) -> Relations:
        """What is known now."""
        return Relations(tuple(self._at_most), tuple(self._below))

    def below(self, i: int, j: int) -> bool:
        """Whether value i < value j; decided now if it was open."""
        self.asked += 1
        if self._below[i] >> j & 1:
            return True
        if self._at_most[j] >> i & 1:
            return False
        if self._choices is None:
            self.refuse("a comparison outside of any run")
        if self._choices.choose(2):
            self._relate(i, j, strict=True)
            return True
        self._relate(j, i, strict=False)
        return False

    def same(self, i: int, j: int) -> bool:
        """Whether the two values are equal; decided now if it was open."""
        return not self.below(i, j) and not self.below(j, i)

    def example(self) -> tuple[int, ...]:
        """Integers, from 0, that are ordered as is known; what is open is made as equal as it can be."""
        count, before = len(self._below), self._before()
        levels = [0] * count
        for j in sorted(range(count), key=lambda number: before[number].bit_count()):
            levels[j] = max((levels[i] + (self._below[i] >> j & 1) for i in _bits(before[j])), default=0)
        return tuple(levels)

    def drawn(self, rng: random.Random) -> tuple[int, ...]:
        """Integers, from 0, that are ordered as is known; what is open is decided at random, and gaps are left."""
        count, before = len(self._below), self._before()
        waiting, value, values = (1 << count) - 1, 0, [0] * count
        while waiting:
            free = [j for j in range(count) if waiting >> j & 1 and not before[j] & waiting]
            chosen = rng.choice(free)
            least = max((values[i] + (self._below[i] >> chosen & 1) for i in _bits(before[chosen])), default=0)
            value = max(value + rng.choice((0, 0, 1, 2)), least)
            for j in free:
                if j == chosen or (self._at_most[chosen] >> j & 1 and self._at_most[j] >> chosen & 1):
                    values[j] = value
                    waiting &= ~(1 << j)
        return tuple(values)

    def _before(self) -> list[int]:
        """Bit i of entry j: value i ≤ value j is known, value j ≤ value i is not."""
        before = [0] * len(self._at_most)
        for i, row in enumerate(self._at_most):
            for j in _bits(row):
                if not self._at_most[j] >> i & 1:
                    before[j] |= 1 << i
        return before

    def find(self, mapping: Mapping[Any, Any], key: Any) -> Any:
        """What a mapping holds for a key with unknown values in it, each equal to itself alone; None if nothing."""
        self._by_name = True
        try:
            return mapping.get(key)
        finally:
            self._by_name = False

    def keep(self, mapping: dict[Any, Any], key: Any, value: Any) -> None:
        """Put something into a mapping under such a key."""
        self._by_name = True
        try:
            mapping[key] = value
        finally:
            self._by_name = False

    def concrete(self, state: Any, values: tuple[int, ...]) -> Any:
        """The state with these values in place of the unknown ones."""
        return self._replaced(state, values.__getitem__)

    def canonical(self, state: Any) -> Any:
        """The state with its unknown values renamed to the first ones, in the order in which they are met."""
        names: dict[int, int] = {}
        return self._replaced(state, lambda number: self.values[names.setdefault(number, len(names))])

    def _replaced(self, state: Any, replacement: Callable[[int], Any]) -> Any:
        self._replacement = replacement
        try:
            return copy.deepcopy(state)
        finally:
            self._replacement = None

    def refuse(self, what: str) -> NoReturn:
        """Write down what is done with a value that must only be compared, and raise."""
        self.misused.append(what)
        raise TypeError(f"an unknown value can only be compared with other values: {what}")

    def _relate(self, i: int, j: int, strict: bool) -> None:
        """Add value i ≤ value j, or <, and all that follows."""
        above, strictly_above = self._at_most[j], self._below[j]
        for k in range(len(self._below)):
            if self._at_most[k] >> i & 1:
                strictly = strict or bool(self._below[k] >> i & 1)
                self._at_most[k] |= above
                self._below[k] |= above if strictly else strictly_above


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Unknown:
    """One unknown value. It can be compared with others of its order, and nothing else."""

    __slots__ = ("_index", "_order")
    _index: int
    _order: Order

    def __init__(self, index: int, order: Order) -> None:
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "_order", order)

    def __lt__(self, other: object) -> bool:
        return self._order.below(self._index, self._other(other))

    def __gt__(self, other: object) -> bool:
        return self._order.below(self._other(other), self._index)

    def __le__(self, other: object) -> bool:
        return not self._order.below(self._other(other), self._index)

    def __ge__(self, other: object) -> bool:
        return not self._order.below(self._index, self._other(other))

    def __eq__(self, other: object) -> bool:
        if self._order._by_name:
            return self is other
        return self._order.same(self._index, self._other(other))

    def __hash__(self) -> int:
        if not self._order._by_name:
            self._order.refuse("hash()")
        return self._index

    def __repr__(self) -> str:
        # Messages show states, so this does not raise.
        self._order.misused.append(REPR)
        return f"?{self._index}"

    def __copy__(self) -> Unknown:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        replacement = self._order._replacement
        return self if replacement is None else replacement(self._index)

    @property  # type: ignore[misc]
    def __class__(self) -> NoReturn:  # type: ignore[override] # isinstance asks for it
        self._order.refuse("isinstance()")

    def __getattr__(self, name: str) -> NoReturn:
        self._order.misused.append(f"its attribute {name}")
        raise AttributeError(f"an unknown value can only be compared with other values: it has no attribute {name}")

    def _other(self, other: object) -> int:
        if type(other) is not Unknown or other._order is not self._order:
            self._order.refuse(f"a comparison with a value of type {type(other).__name__}")
        return other._index


_ARITHMETIC = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or"
_OTHERS = (
    "neg pos abs invert int float complex index round trunc floor ceil bool len iter next contains getitem setitem "
    "delitem call str format bytes reduce reduce_ex getstate setattr delattr sizeof dir length_hint reversed"
)


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(self: Unknown, *arguments: object) -> NoReturn:
        self._order.refuse(f"{name}()")

    return refuse


for _name in (*_ARITHMETIC.split(), *(f"r{name}" for name in _ARITHMETIC.split()), *_OTHERS.split()):
    setattr(Unknown, f"__{_name}__", _refusing(_name.removeprefix("r") if _name[1:] in _ARITHMETIC.split() else _name))
