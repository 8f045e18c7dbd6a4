"""The picture of a list with pointers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from alphanpi.environment.scene import Scene, Shape, Style, line, rectangle, text

_BASE = 230.0
_SHORTEST, _TALLEST = 22.0, 180.0
_WIDTH = 600.0
_MOST_LABELS = 40
_LOWER = 225.0  # how far below the list a second row lies
POINTERS: tuple[tuple[str, Style], ...] = (("pointer 1", "first"), ("pointer 2", "second"))


def picture(
    values: tuple[int, ...],
    pointers: Sequence[int | None],
    bounds: tuple[int, int],
    lower: Sequence[int] | None = None,
) -> Scene:
    """Bars as high as their values; equal values are told apart by their order from the left.

    Up to two pointers, each at a place or nowhere, stand below. A second row, where there is one, holds the bars of the
    places `lower`, in that order, instead of the list.
    """
    pitch = _WIDTH / max(1, len(values))
    start, end = bounds
    gap = min(5.0, pitch / 8)
    shapes = [line("ground", (0, _BASE + 4), (_WIDTH, _BASE + 4))]
    if start <= end:
        here = rectangle("current", start * pitch + 1, 14, (end - start + 1) * pitch - 2, _BASE + 2, "focus", radius=10)
        shapes.insert(0, here)
    if lower is not None:
        shapes.append(line("lower ground", (0, _BASE + _LOWER + 4), (_WIDTH, _BASE + _LOWER + 4)))
    cells = {place: (place, _BASE) for place in range(len(values))}
    cells.update({place: (start + row, _BASE + _LOWER) for row, place in enumerate(lower or ())})
    smallest = min(values, default=0)
    span = max(1, max(values, default=0) - smallest)
    occurrences: Counter[int] = Counter()
    for place, value in enumerate(values):
        share = (value - smallest) / span
        height = _SHORTEST + share * (_TALLEST - _SHORTEST)
        name = f"{value}-{occurrences[value]}"
        occurrences[value] += 1
        cell, base = cells[place]
        left, width = cell * pitch + gap, pitch - 2 * gap
        inside = start <= place <= end
        shapes.append(
            rectangle(
                f"value-{name}",
                left,
                base - height,
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
                text(f"number-{name}", left + width / 2, base - height - 15, str(value), size, faded=not inside)
            )
    drawn = [
        _pointer(row, name, style, (place + 0.5) * pitch, pitch)
        for row, ((name, style), place) in enumerate(zip(POINTERS, pointers, strict=False))
        if place is not None
    ]
    shapes += [stem for stem, _ in drawn] + [chip for _, chip in drawn]
    below = _LOWER + 12 if lower is not None else 98 if pointers else 12
    return Scene(_WIDTH, _BASE + below, tuple(shapes))


def _pointer(row: int, name: str, style: Style, x: float, pitch: float) -> tuple[Shape, Shape]:
    """Stem and chip under the bar it points at; the two have rows of their own, so that they never meet."""
    width = max(16.0, min(38.0, pitch * 0.6))
    x += (-1, 1)[row] * min(12.0, pitch * 0.2)
    top = _BASE + 24 + 38 * row
    return (
        line(f"{name} stem", (x, _BASE + 8), (x, top + 4), style),
        rectangle(name, x - width / 2, top, width, 30, style, radius=8, label=str(row + 1)),
    )
