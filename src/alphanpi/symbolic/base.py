"""What helpers know of unknown values: that they are unknown, and who reasons about them. Nothing here needs z3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Reasons(Protocol):
    """The operations on unknown values that are no operators of Python."""

    def length(self, values: Any) -> Any:
        """How many values there are."""

    def replaced(self, values: Any, place: Any, value: Any) -> Any:
        """The values with another one at a place."""

    def one_hot(self, value: Any, count: int) -> Any:
        """Truth values of which the one at a place is true."""

    def every(self, low: Any, high: Any, holds: Callable[[Any], Any]) -> Any:
        """Whether something holds of all places from `low` to below `high`."""

    def first(self, low: Any, high: Any, holds: Callable[[Any], Any]) -> Any:
        """The first place of which something holds, `high` if there is none."""

    def last(self, low: Any, high: Any, holds: Callable[[Any], Any]) -> Any:
        """The last place of which something holds, the one before `low` if there is none."""

    def fold(self, step: Callable[[Any, Any], Any], initial: Any, low: Any, high: Any, backwards: bool) -> Any:
        """What is left of a value after a step at each place."""

    def swept(self, values: Any, low: Any, high: Any, pair: Callable[[Any, Any], Any]) -> Any:
        """The values after each two neighbours, from left to right, were put in place of themselves."""

    def is_sorted(self, values: Any) -> Any:
        """Whether the values are in ascending order."""

    def same_values(self, one: Any, other: Any) -> Any:
        """Whether both hold the same values, each as often."""


class Symbolic:
    """Base of all unknown values."""

    __slots__ = ("_reasoning",)
    _reasoning: Reasons


class Unknowns(Protocol):
    """Makes unknown values, each a new one."""

    def number(self) -> Any:
        """An unknown integer."""

    def truth(self) -> Any:
        """An unknown truth value."""

    def numbers(self) -> Any:
        """An unknown tuple of integers, of unknown length."""

    def text(self) -> Any:
        """An unknown text, of unknown length."""


class _Nothing:
    """Asked for unknown values by nobody who wants them."""

    def number(self) -> Any:
        return None

    truth = numbers = text = number


def offers_proof(environment: Any) -> bool:
    """Whether an environment says what its most general state is."""
    try:
        environment.symbolic(_Nothing())
    except NotImplementedError:
        return False
    except Exception:  # what is wrong with it is said where it is used
        return True
    return True


def reasons_of(*values: object) -> Reasons | None:
    """Who reasons about the first unknown value among these; None where all are known."""
    for value in values:
        # `isinstance` would ask the value for its class, which an unknown one refuses.
        if issubclass(type(value), Symbolic):
            return value._reasoning  # type: ignore[attr-defined,no-any-return]
    return None
