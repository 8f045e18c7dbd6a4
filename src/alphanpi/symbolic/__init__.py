"""Writing environments that can be proved right at every size: operations that know what unknown values mean."""

from __future__ import annotations

from alphanpi.symbolic.base import Unknowns
from alphanpi.symbolic.helpers import is_sorted, every, exchanged, first, fold, length, replaced, same_values, swept

__all__ = [
    "Unknowns",
    "is_sorted",
    "every",
    "exchanged",
    "first",
    "fold",
    "length",
    "replaced",
    "same_values",
    "swept",
]
