"""The picture of a pattern that lies on a text."""

from __future__ import annotations

from alphanpi.environment.scene import Scene, Shape, rectangle, text

_WIDTH = 600.0
_TEXT, _PATTERN = 30.0, 100.0
_SIDE = 46.0
_MOST_LABELS = 60


def picture(searched: str, pattern: str, start: int, passed: int, answer: int | None) -> Scene:
    """Two rows of letters; those that have been passed and fit, or are looked at, are marked."""
    columns = max(1, len(searched), start + len(pattern))
    pitch = min(_SIDE + 6, _WIDTH / columns)
    offset = (_WIDTH - pitch * columns) / 2
    labelled = columns <= _MOST_LABELS
    shapes = [
        rectangle(
            "current", offset + start * pitch - 3, _TEXT - 8, (columns - start) * pitch + 6, 66, "focus", radius=8
        )
    ]

    def cell(name: str, letter: str, column: int, top: float, **more: object) -> Shape:
        side = min(_SIDE, pitch - min(3.0, pitch / 8))
        label = letter if labelled else ""
        return rectangle(
            name, offset + column * pitch, top, side, _SIDE, "item", radius=min(8.0, side / 4), label=label, **more
        )

    for place, letter in enumerate(searched):
        compared = start <= place < start + passed
        shapes.append(cell(f"text-{place}", letter, place, _TEXT, tone=0.8 if compared else 0.0, faded=place < start))
    for place, letter in enumerate(pattern):
        shapes.append(cell(f"pattern-{place}", letter, start + place, _PATTERN, tone=0.8 if place < passed else 0.4))
    if passed < len(pattern):
        x = offset + (start + passed) * pitch + min(_SIDE, pitch) / 2
        shapes.append(rectangle("here", x - 8, _PATTERN + _SIDE + 10, 16, 16, "first", radius=8))
    said = "" if answer is None else ("nowhere" if answer < 0 else f"at {answer}")
    shapes.append(text("answer", _WIDTH / 2, _PATTERN + _SIDE + 52, said, 20))
    return Scene(_WIDTH, _PATTERN + _SIDE + 76, tuple(shapes))
