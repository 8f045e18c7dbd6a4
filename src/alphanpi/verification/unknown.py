"""Values of which nothing is known but how they compare, and the choices a run is a function of.

A run on unknown values asks for comparisons one by one. Each answer that is still open becomes a choice, and the run
is repeated for every sequence of choices. Any concrete values agree with exactly one such sequence, so the repetitions
together cover all values, however many there are.
"""

from __future__ import annotations

from typing import NoReturn


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


class Order:
    """What is known of the order of some values: a transitively closed set of relations, grown by choices.

    Both answers to an open question are consistent: a ≤ b contradicts only b < a, and the closure holds every
    relation that follows.
    """

    def __init__(self, count: int) -> None:
        self._choices: Choices | None = None
        self.values = tuple(Unknown(i, self) for i in range(count))
        self._at_most = [1 << i for i in range(count)]  # bit j of entry i: value i ≤ value j
        self._below = [0] * count  # bit j of entry i: value i < value j

    def begin(self, choices: Choices) -> None:
        """Forget what was known; open questions are decided by these choices from now on."""
        self._choices = choices
        self._at_most = [1 << i for i in range(len(self.values))]
        self._below = [0] * len(self.values)

    def below(self, i: int, j: int) -> bool:
        """Whether value i < value j; decided now if it was open."""
        if self._below[i] >> j & 1:
            return True
        if self._at_most[j] >> i & 1:
            return False
        if self._choices is None:
            raise TypeError("unknown values cannot be compared before a run begins")
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
        count = len(self._below)
        levels = [0] * count
        for _ in range(count):  # longest chains settle after at most `count` rounds
            for i in range(count):
                for j in range(count):
                    if self._at_most[i] >> j & 1:
                        levels[j] = max(levels[j], levels[i] + (self._below[i] >> j & 1))
        return tuple(levels)

    def _relate(self, i: int, j: int, strict: bool) -> None:
        """Add value i ≤ value j, or <, and all that follows."""
        above, strictly_above = self._at_most[j], self._below[j]
        for k in range(len(self._below)):
            if self._at_most[k] >> i & 1:
                strictly = strict or bool(self._below[k] >> i & 1)
                self._at_most[k] |= above
                self._below[k] |= above if strictly else strictly_above


class Unknown:
    """One unknown value. It can be compared with others of its order, and nothing else."""

    __slots__ = ("_index", "_order")

    def __init__(self, index: int, order: Order) -> None:
        self._index = index
        self._order = order

    def __lt__(self, other: object) -> bool:
        return self._order.below(self._index, self._other(other))

    def __gt__(self, other: object) -> bool:
        return self._order.below(self._other(other), self._index)

    def __le__(self, other: object) -> bool:
        return not self._order.below(self._other(other), self._index)

    def __ge__(self, other: object) -> bool:
        return not self._order.below(self._index, self._other(other))

    def __eq__(self, other: object) -> bool:
        return self._order.same(self._index, self._other(other))

    def __hash__(self) -> int:
        return 0  # equal values must have equal hashes, and which are equal is open

    def __repr__(self) -> str:
        return f"?{self._index}"

    def __bool__(self) -> NoReturn:
        raise TypeError("an unknown value has no truth value; it can only be compared with other values")

    def _other(self, other: object) -> int:
        if not isinstance(other, Unknown) or other._order is not self._order:
            raise TypeError(f"an unknown value can only be compared with other values, not with {other!r}")
        return other._index
