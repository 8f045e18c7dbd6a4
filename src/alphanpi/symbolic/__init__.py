"""Writing environments that can be proved right at every size: operations that know what unknown values mean."""

from __future__ import annotations

from alphanpi.symbolic.base import Unknowns
from alphanpi.symbolic.helpers import (
    every,
    exchanged,
    first,
    fold,
    is_sorted,
    last,
    length,
    one_hot,
    replaced,
    same_values,
    swept,
)

__all__ = [
    "Unknowns",
    "every",
    "exchanged",
    "first",
    "fold",
    "is_sorted",
    "last",
    "length",
    "one_hot",
    "replaced",
    "same_values",
    "swept",
]
