"""What a run did, as an environment is told of it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Step(NamedTuple):
    """One action of an execution."""

    depth: int  # calls around it
    program: str  # that chose it
    state: Any  # in which it was chosen
    action: str
