"""What the network may be shown in an unknown state: every observation that is possible, and what is then true."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import z3

from alphanpi.environment.specification import Environment
from alphanpi.symbolic.faults import EffortError, RaisesError
from alphanpi.symbolic.formulas import all_equal
from alphanpi.symbolic.reasoning import Reasoning, is_unknown
from alphanpi.symbolic.values import Term, UnknownClaim, UnknownNumber, UnknownTruth

MOST_OBSERVATIONS = 2_000
"""That are possible at one place on the way."""
_VALUES = (0, 1, *range(2, 17), *range(-1, -17, -1))  # that an entry may have, where the solver does not name them
_SMALLEST, _LARGEST = np.iinfo(np.int16).min, np.iinfo(np.int16).max


class Met(NamedTuple):
    """An observation that is possible, and what is then true."""

    observation: tuple[int, ...]
    formula: Term


class Observations:
    """Observations of one environment's unknown states."""

    def __init__(self, environment: Environment[Any], reasoning: Reasoning) -> None:
        self.environment = environment
        self.reasoning = reasoning

    def entries(self, state: Any) -> tuple[Any, ...]:
        """What `observe` gives: numbers, some of them unknown; whatever speaks of all places is asked for."""
        seen = self.environment.observe(state)
        entries = tuple(self._entry(value) for value in seen)
        if len(entries) != len(self.environment.fields):
            raise RaisesError(f"observe returned {len(entries)} entries")
        return entries

    def possible(self, entries: tuple[Any, ...], guards: list[Term]) -> list[list[Met]]:
        """The observations that are possible with these entries, for each of the guards where that holds."""
        numbers = [number for number, entry in enumerate(entries) if is_unknown(entry)]
        terms = [entries[number].term for number in numbers]
        asked = guards if len(guards) > 1 else []  # one of them is known to hold
        found = self._values([*terms, *asked])
        varying = [place for place in range(len(terms)) if len({values[place].get_id() for values in found}) > 1]
        met: list[list[Met]] = [[] for _ in guards]
        for values in found:
            known = dict(zip(numbers, map(_number, values), strict=False))
            seen = tuple(_small(known.get(number, entry)) for number, entry in enumerate(entries))
            one = Met(seen, all_equal([terms[place] for place in varying], [values[place] for place in varying]))
            holding = values[len(terms) :] if asked else [z3.BoolVal(True)]
            for own, holds in zip(met, holding, strict=True):
                if z3.is_true(holds):
                    own.append(one)
        return met

    def _values(self, terms: list[Term]) -> list[tuple[Term, ...]]:
        """What terms may be together; what the solver does not know counts as possible."""
        paths = self.reasoning.paths
        found = paths.values_of(terms, MOST_OBSERVATIONS)
        if found is None:
            found = list(paths.ways(lambda: tuple(map(self._asked_for, terms))))
        if len(found) > MOST_OBSERVATIONS:
            raise EffortError(f"there are more than {MOST_OBSERVATIONS:,} observations that it may make at one place")
        return found

    def _asked_for(self, term: Term) -> Term:
        """A value of a term, each in turn."""
        if not z3.is_int(term):
            return z3.BoolVal(self.reasoning.paths.decide(term))
        for value in map(z3.IntVal, _VALUES):
            if self.reasoning.paths.decide(term == value):
                return value
        return self.reasoning.refuse("an observation with an entry that is not between -16 and 16")

    def _entry(self, value: Any) -> Any:
        if type(value) in (UnknownNumber, UnknownTruth):
            return value
        if not issubclass(type(value), (int, np.integer, np.bool_, UnknownClaim)):
            raise RaisesError(f"observe returned a {type(value).__name__}")
        return _small(int(value))


def _small(entry: int) -> int:
    if not _SMALLEST <= entry <= _LARGEST:
        raise RaisesError(f"observe returned {entry}, which is out of {_SMALLEST}..{_LARGEST}")
    return entry


def _number(value: Term) -> int:
    return value.as_long() if z3.is_int_value(value) else int(z3.is_true(value))
