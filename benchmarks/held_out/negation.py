"""Formulas in negation normal form: two programs that call each other on the parts of a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from alphanpi import Environment, action, program, subproblem

OTHER = {"and": "or", "or": "and"}


class Formula(NamedTuple):
    """A literal, or the negation of a formula, or two formulas joined by `and` or `or`."""

    kind: str  # literal, not, and, or
    parts: tuple[Formula, ...] = ()
    positive: bool = True  # of a literal


def put_back(place: int) -> Callable[[Formula, Formula], Formula]:
    """The caller's formula with what has become of one of its parts."""
    return lambda caller, part: caller._replace(parts=(*caller.parts[:place], part, *caller.parts[place + 1 :]))


def normal(formula: Formula, inverted: bool) -> Formula:
    """The same formula, or the opposite, with negated literals in place of other negations."""
    if formula.kind == "literal":
        return formula._replace(positive=formula.positive != inverted)
    if formula.kind == "not":
        return normal(formula.parts[0], not inverted)
    kind = OTHER[formula.kind] if inverted else formula.kind
    return Formula(kind, tuple(normal(one, inverted) for one in formula.parts))


def nodes(formula: Formula) -> int:
    """How many literals, negations and connectives there are."""
    return 1 + sum(nodes(one) for one in formula.parts)


def literals(formula: Formula) -> int:
    """How many literals there are."""
    return sum(map(literals, formula.parts)) or 1


def drawn(size: int, rng: np.random.Generator) -> Formula:
    """A formula of so many literals, with up to two negations around each of its parts."""
    if size == 1:
        formula = Formula("literal", positive=bool(rng.integers(2)))
    else:
        first = int(rng.integers(1, size))
        formula = Formula("and" if rng.integers(2) else "or", (drawn(first, rng), drawn(size - first, rng)))
    for _ in range(int(rng.choice(3, p=(0.5, 0.3, 0.2)))):
        formula = Formula("not", (formula,))
    return formula


class NegationNormalForm(Environment[Formula]):
    """Brings a formula into negation normal form. The size is the number of its literals."""

    fields = ("literal", "negation", "conjunction", "positive")
    train_sizes = (1, 2, 3)
    validation_size = 6
    test_sizes = (10, 30, 100)

    first = subproblem(enter=lambda whole: whole.parts[0] if whole.kind in OTHER else None, leave=put_back(0))
    second = subproblem(enter=lambda whole: whole.parts[1] if whole.kind in OTHER else None, leave=put_back(1))
    inner = subproblem(enter=lambda whole: whole.parts[0] if whole.kind == "not" else None, leave=put_back(0))

    @action(pre=lambda formula: formula.kind == "literal")
    def OPPOSITE(self, formula: Formula) -> Formula:
        """Make a positive literal negative and a negative one positive."""
        return formula._replace(positive=not formula.positive)

    @action(pre=lambda formula: formula.kind in OTHER)
    def EXCHANGE(self, formula: Formula) -> Formula:
        """Write `or` for `and`, and `and` for `or`."""
        return formula._replace(kind=OTHER[formula.kind])

    @action(pre=lambda formula: formula.kind == "not")
    def STRIP(self, formula: Formula) -> Formula:
        """Take the negation away."""
        return formula.parts[0]

    @program(level=1, depth=4, recursive=(first, second, inner), group="polarity")
    def KEEP(self, before: Formula, after: Formula) -> bool:
        """The normal form of the formula."""
        return after == normal(before, inverted=False)

    @program(level=1, depth=4, recursive=(first, second, inner), group="polarity")
    def INVERT(self, before: Formula, after: Formula) -> bool:
        """The normal form of the opposite of the formula."""
        return after == normal(before, inverted=True)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Formula:
        return drawn(size, rng)

    def observe(self, formula: Formula) -> tuple[bool, ...]:
        return formula.kind == "literal", formula.kind == "not", formula.kind == "and", formula.positive

    def size(self, formula: Formula) -> int:
        return literals(formula)

    def measure(self, program: str, state: Formula) -> int:
        return nodes(state)
