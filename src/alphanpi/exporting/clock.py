"""The time an export may take, and what it says while it works."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from alphanpi.errors import AlphaNPIError

TIME_LIMIT = 300.0
"""Seconds an export takes at most, unless it is told otherwise."""


class ExportFailed(AlphaNPIError):  # noqa: N818 - what happened, not a mistake in the code
    """No code was found that does what the agent does."""


class CodeNotFound(ExportFailed):
    """There may be such code; it was not found, or it would be too long."""


class Clock:
    """Says what is being done, and ends the export when its time is over; asked wherever work may be long."""

    def __init__(self, limit: float | None = None, say: Callable[[str], None] | None = None) -> None:
        self._limit = math.inf if limit is None else limit
        self._began = time.monotonic()
        self._say = say or (lambda line: None)
        self._what = "the export began"

    def doing(self, what: str) -> None:
        """Something else begins."""
        self._what = what
        self._say(what)
        self.check()

    def grant(self, seconds: float) -> None:
        """Give more time."""
        self._limit += seconds

    def left(self) -> float | None:
        """Seconds until time is over, a little more than none; None for no limit."""
        return None if math.isinf(self._limit) else max(0.1, self._began + self._limit - time.monotonic() + 0.1)

    def check(self) -> None:
        """Raise `CodeNotFound` when time is over."""
        if time.monotonic() - self._began > self._limit:
            raise CodeNotFound(
                f"nothing exported: no code was found within {self._limit:.3g} s; the last thing tried: {self._what}. "
                "Larger problems may keep showing new behaviour; otherwise --time-limit gives more"
            )
