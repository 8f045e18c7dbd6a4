"""How a film is laid out: its size, its colours, and what is written below it."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from alphanpi.errors import UsageError
from alphanpi.reporting.animation import Film
from alphanpi.reporting.colours import DARK, LIGHT, Palette
from alphanpi.support.limits import whole

MARGIN = 14
CAPTION_SIZE, CAPTION_LINE = 15, 20
_CAPTION_GAP = 5
_CHARACTER = 0.54  # width of one, of the size of the writing, on the average
NARROWEST, WIDEST = 50, 4000
LONGEST_CAPTION = 1000
THEMES = {"light": (LIGHT,), "dark": (DARK,), "auto": (LIGHT, DARK)}


class Layout(NamedTuple):
    """Lengths are in the scene's own units, margins included."""

    width: float
    height: float
    caption_top: float
    caption: tuple[str, ...]  # lines
    scale: float  # pixels per unit
    palettes: tuple[Palette, ...]  # for a light system, and for a dark one where they differ


class Appearance(NamedTuple):
    """What a user says of it."""

    width: int | None  # pixels; a unit of the scene is one if omitted
    theme: str
    caption: str

    def require(self) -> None:
        """Refuse what cannot be drawn."""
        if self.width is not None:
            whole("width", self.width, NARROWEST, WIDEST)
        if self.theme not in THEMES:
            raise UsageError(f"unknown theme {self.theme!r}; there are {', '.join(THEMES)}")
        if len(self.caption) > LONGEST_CAPTION:
            raise UsageError(f"a caption of {len(self.caption):,} characters; give at most {LONGEST_CAPTION:,}")

    def of(self, reel: Film) -> Layout:
        """The layout of a film."""
        width = reel.width + 2 * MARGIN
        lines = textwrap.wrap(self.caption, max(8, int(reel.width / (_CHARACTER * CAPTION_SIZE))))
        height = reel.height + 2 * MARGIN + CAPTION_LINE * len(lines)
        scale = 1.0 if self.width is None else self.width / width
        return Layout(width, height, reel.height + _CAPTION_GAP, tuple(lines), scale, THEMES[self.theme])
