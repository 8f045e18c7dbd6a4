"""The picture of a list with two pointers."""

from __future__ import annotations

from collections import Counter

from alphanpi.environment.scene import Scene, Shape, Style, line, rectangle, text

_BASE = 230.0
_SHORTEST, _TALLEST = 22.0, 180.0
_WIDTH = 600.0
_MOST_LABELS = 40
POINTERS: tuple[tuple[str, Style], ...] = (("pointer 1", "first"), ("pointer 2", "second"))


def picture(values: tuple[int, ...], pointers: tuple[int, int], bounds: tuple[int, int]) -> Scene:
    """Bars as high as their values; equal values are told apart by their order from the left."""
    pitch = _WIDTH / len(values)
    start, end = bounds
    gap = min(5.0, pitch / 8)
    shapes = [
        rectangle("current", start * pitch + 1, 14, (end - start + 1) * pitch - 2, _BASE + 2, "focus", radius=10),
        line("ground", (0, _BASE + 4), (_WIDTH, _BASE + 4)),
    ]
    smallest, span = min(values), max(1, max(values) - min(values))
    occurrences: Counter[int] = Counter()
    for place, value in enumerate(values):
        share = (value - smallest) / span
        height = _SHORTEST + share * (_TALLEST - _SHORTEST)
        name = f"{value}-{occurrences[value]}"
        occurrences[value] += 1
        left, width = place * pitch + gap, pitch - 2 * gap
        inside = start <= place <= end
        shapes.append(
            rectangle(
                f"value-{name}",
                left,
                _BASE - height,
                width,
                height,
                "item",
                radius=min(8.0, width / 4),
                tone=share,
                faded=not inside,
            )
        )
        if len(values) <= _MOST_LABELS:
            size = min(22.0, pitch * 0.4)
            shapes.append(
                text(f"number-{name}", left + width / 2, _BASE - height - 15, str(value), size, faded=not inside)
            )
    stems, chips = zip(
        *(
            _pointer(row, name, style, (pointers[row] + 0.5) * pitch, pitch)
            for row, (name, style) in enumerate(POINTERS)
        ),
        strict=True,
    )
    return Scene(_WIDTH, _BASE + 98, (*shapes, *stems, *chips))


def _pointer(row: int, name: str, style: Style, x: float, pitch: float) -> tuple[Shape, Shape]:
    """Stem and chip under the bar it points at; the two have rows of their own, so that they never meet."""
    width = max(16.0, min(38.0, pitch * 0.6))
    x += (-1, 1)[row] * min(12.0, pitch * 0.2)
    top = _BASE + 24 + 38 * row
    return (
        line(f"{name} stem", (x, _BASE + 8), (x, top + 4), style),
        rectangle(name, x - width / 2, top, width, 30, style, radius=8, label=str(row + 1)),
    )
