"""Formulas about many cases, made short."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from alphanpi.symbolic.values import Term


def all_equal(terms: Sequence[Term], values: Sequence[Term]) -> Term:
    """That all terms have these values; what a number is not is left out where it is said what it is."""
    known = {
        term.arg(0).get_id()
        for term, value in zip(terms, values, strict=True)
        if z3.is_true(value) and _is_one_value(term)
    }
    said = []
    for term, value in zip(terms, values, strict=True):
        if z3.is_true(value):
            said.append(term)
        elif not z3.is_false(value):
            said.append(term == value)
        elif not (_is_one_value(term) and term.arg(0).get_id() in known):
            said.append(z3.Not(term))
    return z3.And(*said)


def any_of(some: Sequence[Term], cases: Sequence[Term]) -> Term:
    """That one of these is the case, where one of all `cases` is known to be, and no two are."""
    chosen = {formula.get_id() for formula in some}
    others = [formula for formula in cases if formula.get_id() not in chosen]
    return z3.Or(*some) if len(some) < len(others) else z3.Not(z3.Or(*others))


def _is_one_value(term: Term) -> bool:
    return z3.is_eq(term) and z3.is_int_value(term.arg(1)) and not z3.is_int_value(term.arg(0))
