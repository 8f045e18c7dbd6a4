"""What ends a run on unknown values. None of it is an `Exception`, so that no environment handles it by mistake."""

from __future__ import annotations


class NotExpressibleError(BaseException):
    """The environment does something with an unknown value that has no meaning for all values at once."""


class RaisesError(BaseException):
    """The environment would raise, for values that are possible here."""


class ImpossibleError(BaseException):
    """No values lead here."""


class EffortError(BaseException):
    """There are more ways than are looked at, or the time is over."""
