"""A statement about moments of a call, which may be true of all of them."""

from __future__ import annotations

from typing import NamedTuple

from alphanpi.proof.readings import Reading


class Statement(NamedTuple):
    """Something that may be true of a moment."""

    text: str
    holds: Reading
    kept: tuple[int, ...] | None = None  # it says that this part of the state is that of the start
    implied: tuple[str, ...] = ()  # texts of statements that are not needed as long as this one is
