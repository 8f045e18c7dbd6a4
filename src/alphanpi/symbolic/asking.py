"""Formulas as questions: made simple once, however often a function that is repeated asks for them."""

from __future__ import annotations

from typing import NamedTuple

import z3

from alphanpi.symbolic.values import Term


class Asked(NamedTuple):
    """A question, and what can be told of it without the solver."""

    given: Term  # which keeps its id from being used again
    formula: Term  # the same, made simple
    key: int  # the id of that
    answer: bool | None  # where it is the same whatever the values
    valued: Valued | None  # where it asks whether a term is a number


class Valued(NamedTuple):
    """A term that is said to be a number."""

    term: Term
    key: int  # the id of the term
    value: int


class Asking:
    """Questions asked so far."""

    def __init__(self) -> None:
        self._asked: dict[int, Asked] = {}  # by id of the formula given

    def asked(self, given: Term) -> Asked:
        """A formula as a question."""
        key = given.get_id()
        found = self._asked.get(key)
        if found is None:
            formula = z3.simplify(given)
            answer = True if z3.is_true(formula) else False if z3.is_false(formula) else None
            found = self._asked[key] = Asked(given, formula, formula.get_id(), answer, valued(formula))
        return found


def valued(formula: Term) -> Valued | None:
    """The term and the number of which a formula says that they are the same, if that is what it says."""
    if z3.is_eq(formula):
        for term, value in ((formula.arg(0), formula.arg(1)), (formula.arg(1), formula.arg(0))):
            if z3.is_int_value(value):
                return Valued(term, term.get_id(), value.as_long())
    return None
