"""The picture of a directed graph without cycles, and of an order of its vertices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from alphanpi.environment.scene import Scene, Shape, circle, line, rectangle, text

_WIDTH, _HEIGHT = 600.0, 240.0
_LARGEST = 18.0  # radius of a vertex
_ROW = _HEIGHT + 42.0  # of the order


def layers(successors: Sequence[Sequence[int]]) -> list[int] | None:
    """The length of the longest way to each vertex; None where edges lead in a circle."""
    entering = Counter(one for found in successors for one in found)
    layer = [0] * len(successors)
    free = [vertex for vertex in range(len(successors)) if not entering[vertex]]
    for vertex in free:
        for one in successors[vertex]:
            layer[one] = max(layer[one], layer[vertex] + 1)
            entering[one] -= 1
            if not entering[one]:
                free.append(one)
    return layer if len(free) == len(successors) else None


def picture(successors: Sequence[Sequence[int]], order: Sequence[int], vertex: int | None, child: int | None) -> Scene:
    """Edges lead to the right; vertices that are done are faded, and stand in the order below."""
    places = _places(successors)
    radius = min(_LARGEST, 0.4 * min(_WIDTH, _HEIGHT) / max(1.0, len(successors) ** 0.5))
    shapes: list[Shape] = []
    for start, found in enumerate(successors):
        shapes += [line(f"edge-{start}-{end}", places[start], places[end]) for end in found]
    for name, marked, style in (("vertex", vertex, "first"), ("child", child, "second")):
        if marked is not None:
            shapes.append(circle(f"marked-{name}", *places[marked], radius + 5, style))  # type: ignore[arg-type]
    for one, place in enumerate(places):
        tone = one / max(1, len(successors) - 1)
        done = one in order
        shapes.append(circle(f"vertex-{one}", *place, radius, "item", label=str(one + 1), tone=tone, faded=done))
    shapes.append(text("title", _WIDTH / 2, _ROW - 30, "order", 14, "muted"))
    pitch = min(2 * _LARGEST + 6, _WIDTH / max(1, len(successors)))
    for index, one in enumerate(reversed(order)):  # what is put in front goes to the left of what is there
        x = _WIDTH / 2 + pitch * (len(successors) / 2 - index - 1)
        shapes.append(
            rectangle(
                f"done-{one}",
                x + 2,
                _ROW - 14,
                pitch - 4,
                28,
                "item",
                radius=6,
                label=str(one + 1),
                tone=one / max(1, len(successors) - 1),
            )
        )
    return Scene(_WIDTH, _ROW + 24, tuple(shapes))


def _places(successors: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
    """Columns by layer; the vertices of one column below each other, every other column a little lower."""
    layer = layers(successors) or [0] * len(successors)
    heights = Counter(layer)
    met: Counter[int] = Counter()
    places = []
    for column in layer:
        step = _HEIGHT / heights[column]
        shift = 0.25 * step * (-1 if column % 2 else 1) if max(layer) > 0 else 0.0
        places.append((_WIDTH * (column + 0.5) / (max(layer) + 1), step * (met[column] + 0.5) + 0.6 * shift))
        met[column] += 1
    return places
