"""Times as people write them."""

from __future__ import annotations

import re

from alphanpi.errors import UsageError
from alphanpi.support.limits import MOST_SECONDS

_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def seconds_of(text: str, what: str) -> float:
    """Seconds, from 90, 90s, 5m or 1h; `what` names it in an error."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{what} {text}: write 90, 90s, 5m or 1h")
    seconds = float(match[1]) * _UNITS[match[2]]
    if seconds == 0:
        raise UsageError(f"{what} {text} leaves no time; give a positive one")
    if seconds > MOST_SECONDS:
        raise UsageError(f"{what} {text}: give at most a year")
    return seconds


def shown(seconds: float) -> str:
    """A time for a reader, in the unit that fits."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
