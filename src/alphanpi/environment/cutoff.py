"""Cut-off lemmas: why what holds for all problems up to some size holds for every size.

A lemma speaks about an environment, not about an agent. It may rest on conditions on the recorded runs of an agent;
`alphanpi verify` checks those on every state of every run, and prints lemma and conditions in the certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np


class Condition(NamedTuple):
    """Something a lemma needs to hold of all recorded runs of a program, from some size on."""

    program: str
    text: str
    from_size: int
    where: Literal["steps", "ends"]  # the states in which actions are chosen, or those in which runs end
    holds: Callable[[Any], bool]


class Cutoff(NamedTuple):
    """A lemma: if no run up to `sizes` violates its contract and the conditions hold, none of any size does."""

    text: str
    sizes: Mapping[str, int]  # for each program, the size up to which every start must be looked at
    conditions: tuple[Condition, ...]
    examine: Callable[[Any, np.random.Generator], str | None]
    """Tries the lemma on a random larger instance of the environment given; says what does not fit, if anything."""
