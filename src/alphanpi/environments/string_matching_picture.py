"""The picture of a pattern that lies on a text."""

from __future__ import annotations

from alphanpi.environment.scene import Scene, rectangle, text

_WIDTH, _HEIGHT = 600.0, 226.0
_TEXT, _PATTERN, _SIDE = 30.0, 104.0, 46.0
_MOST_LETTERS = 60


def picture(searched: str, pattern: str, start: int, passed: int, answer: int | None) -> Scene:
    """Two rows of letters; those that were passed have another colour, a point shows which are looked at."""
    columns = max(1, len(searched), start + len(pattern))
    pitch = min(_SIDE + 6, _WIDTH / columns)
    side = pitch - min(6.0, pitch / 6)
    left = (_WIDTH - pitch * columns) / 2
    behind = (columns - start) * pitch
    shapes = [rectangle("current", left + start * pitch - 3, _TEXT - 10, behind + 6, _SIDE + 20, "focus", radius=8)]
    rows = (("text", searched, 0, _TEXT), ("pattern", pattern, start, _PATTERN))
    for row, letters, first, top in rows:
        for place, letter in enumerate(letters):
            shapes.append(
                rectangle(
                    f"{row}-{place}",
                    left + (first + place) * pitch,
                    top,
                    side,
                    _SIDE,
                    "item",
                    radius=min(8.0, side / 4),
                    label=letter if columns <= _MOST_LETTERS else "",
                    tone=0.8 if start <= first + place < start + passed else 0.1,
                    faded=first + place < start,
                )
            )
    if passed < len(pattern):
        x = left + (start + passed) * pitch + side / 2
        shapes.append(rectangle("here", x - 8, _PATTERN + _SIDE + 8, 16, 16, "first", radius=8))
    if answer is not None:
        said = "nowhere" if answer < 0 else f"at position {answer}"
        shapes.append(text("answer", _WIDTH / 2, _HEIGHT - 26, said, 20))
    return Scene(_WIDTH, _HEIGHT, tuple(shapes))
