"""Colours of pictures outside the page; the page has the same in its style sheet."""

from __future__ import annotations

from typing import NamedTuple

from alphanpi.environment.scene import Shape


class Palette(NamedTuple):
    """What the styles of shapes look like."""

    background: str
    ground: str
    focus: str
    item_low: str
    item_high: str
    on_item: str
    first: str
    second: str
    third: str
    on_marker: str
    text: str
    muted: str

    def fill(self, shape: Shape) -> str:
        """Colour of a shape's body."""
        colours = {
            "ground": self.ground,
            "focus": self.focus,
            "item": mixed(self.item_low, self.item_high, shape.tone),
            "first": self.first,
            "second": self.second,
            "third": self.third,
            "text": self.text,
            "muted": self.muted,
        }
        colour = colours[shape.style]
        return mixed(colour, self.background, 0.78) if shape.faded else colour

    def writing(self, shape: Shape) -> str:
        """Colour of a shape's label."""
        if shape.faded:
            return mixed(self.muted, self.background, 0.3)
        if shape.kind == "text":
            return self.muted if shape.style == "muted" else self.text
        return self.on_marker if shape.style in ("first", "second", "third") else self.on_item


def mixed(one: str, other: str, share: float) -> str:
    """A colour between two, as #rrggbb."""
    parts = [
        round(int(one[place : place + 2], 16) * (1 - share) + int(other[place : place + 2], 16) * share)
        for place in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


LIGHT = Palette(
    background="#f0f2f5",
    ground="#b9c0ca",
    focus="#dde6fb",
    item_low="#3b6fd4",
    item_high="#1e2a78",
    on_item="#ffffff",
    first="#b04f08",
    second="#0d746c",
    third="#7434d8",
    on_marker="#ffffff",
    text="#1b2330",
    muted="#586273",
)
DARK = Palette(
    background="#202836",
    ground="#465164",
    focus="#2c3a5e",
    item_low="#c5d4ff",
    item_high="#5f86f2",
    on_item="#0c1120",
    first="#f3a55c",
    second="#4fcfbe",
    third="#c5a8ff",
    on_marker="#0c1120",
    text="#e7ebf1",
    muted="#a5afbd",
)
