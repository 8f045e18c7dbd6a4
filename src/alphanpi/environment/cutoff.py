"""Cut-off lemmas: why what holds for all problems up to some size holds for every size.

A lemma speaks about an environment, not about an agent. It may rest on conditions on the recorded runs of an agent;
`alphanpi verify` checks those on every state of every run, and prints lemma and conditions in the certificate. For
bodies that loop it says in which terms an invariant can be found, the same at every size.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np


class Condition(NamedTuple):
    """Something a lemma needs to hold of all recorded runs of a program, from some size on."""

    program: str
    text: str
    from_size: int
    where: Literal["steps", "ends"]  # the states in which actions are chosen, or those in which runs end
    holds: Callable[[Any], bool]


class Situation(NamedTuple):
    """A moment in a call."""

    start: Any
    state: Any


class Ranking(NamedTuple):
    """How many actions may be left, up to a constant, as long as only some actions are taken."""

    actions: tuple[str, ...]
    remaining: Callable[[Any, Any], int]  # of start and state; 0 or more


class Loop(NamedTuple):
    """The terms in which an invariant of a body is found: finitely many views of (start, state), whatever the size.

    The lemma says: whatever can be told of any situation of any size, one of `situations` shows it; see
    docs/lemmas.md.
    """

    view: Callable[[Any, Any], Hashable | None]  # of start and state; None where nothing more is said of the call
    rankings: tuple[Ranking, ...]  # any one of them is enough; together they name the actions that are followed
    situations: Callable[[], Iterable[Situation]]


class Cutoff(NamedTuple):
    """A lemma: if no run up to `sizes` violates its contract and the conditions hold, none of any size does.

    For the programs in `loops`, also an invariant of the body must be found.
    """

    text: str
    sizes: Mapping[str, int]  # for each program, the size up to which every start must be looked at
    conditions: tuple[Condition, ...] = ()
    examine: Callable[[Any, np.random.Generator], str | None] | None = None
    """Tries the lemma on a random larger instance of the environment given; says what does not fit, if anything."""
    loops: Mapping[str, Loop] = {}
