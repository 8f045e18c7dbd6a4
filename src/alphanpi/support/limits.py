"""Numbers a user gives: what they may be and what they may cost, refused in one line before they are used."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from alphanpi.errors import UsageError

MOST_SEED = 2**63 - 1
MOST_SIZE = 1_000_000  # of a problem
MOST_EPISODES = 1_000_000  # played for one purpose
MOST_SIMULATIONS = 1_000_000  # per action; visits along a trace then fit into 32 bits
MOST_ACTIONS = 2**31 - 1  # of one execution
MOST_NODES = 2**24  # of one search tree
MOST_DEPTH = 2**31 - 1  # actions of one call
MOST_SECONDS = 366 * 24 * 3600.0
_SHOWN_CHARACTERS = 40
_SHARE_OF_MEMORY = 0.8
_MOST_DIGITS = 5


def whole(what: str, value: Any, least: int = 1, most: int = MOST_SEED) -> int:
    """The value, if it is a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise UsageError(f"{what} {_shown(value)}: give a whole number from {least:,} to {most:,}")
    return int(value)


def seed(value: Any) -> int:
    """The value, if random generators take it."""
    return whole("seed", value, 0, MOST_SEED)


def size(what: str, value: Any, least: int = 0) -> int:
    """The value, if problems can be that large."""
    return whole(what, value, least, MOST_SIZE)


def seconds(what: str, value: Any, least: float = 0.0) -> float:
    """The value, if it is a time one can wait for; `least` itself is allowed."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not least <= value <= MOST_SECONDS:  # nan is neither
        raise UsageError(f"{what} {_shown(value)}: give seconds from {least:g} to {MOST_SECONDS:,.0f}")
    return float(value)


def require_memory(needed: int, what: str) -> None:
    """Refuse what would not fit into this machine's memory."""
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > _SHARE_OF_MEMORY * most:
        raise UsageError(f"{what} takes about {_gigabytes(needed)}, and this machine has {_gigabytes(most)}: too large")


def percent(share: float) -> str:
    """A share for a reader; never rounded to 0 % or 100 % unless it is exactly that."""
    if math.isnan(share):
        return "-"
    if not 0 < share < 1:
        return f"{share:.0%}"
    for digits in range(_MOST_DIGITS):
        if float(f"{100 * share:.{digits}f}") not in (0, 100):
            return f"{share:.{digits}%}"
    return ">0%" if share < 0.5 else "<100%"


def _gigabytes(count: int) -> str:
    return f"{count / 2**30:,.1f} GiB"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than some thousand digits
        text = f"of {value.bit_length():,} bits"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
