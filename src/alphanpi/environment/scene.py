"""Pictures of states: flat lists of shapes that know who they are.

An environment's `render(state)` gives a scene. A shape that appears in two scenes under the same id is the same
thing, so a player can move it from one place to the other. Colours are the viewer's business: a shape says what it
means, not what it looks like. Units are arbitrary; y grows downwards.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Style = Literal["ground", "focus", "item", "first", "second", "third", "text", "muted"]
"""ground: what stays; focus: background of the current problem; item: what the problem is about, coloured by its
tone; first, second, third: markers such as pointers and roles; text, muted: writing."""


class Shape(NamedTuple):
    """One element of a scene. Rectangles and lines start at (x, y); circles and texts are centred there."""

    kind: Literal["rectangle", "circle", "line", "text"]
    id: str
    x: float
    y: float
    width: float = 0.0  # of a line: how far it goes to the right
    height: float = 0.0  # of a line: how far it goes down; of a text: its size
    radius: float = 0.0  # of a circle, or of a rectangle's corners
    label: str = ""  # written in the middle
    style: Style = "ground"
    tone: float = 0.0  # of an item: 0 to 1, its place on the colour scale
    faded: bool = False  # not part of the current problem
    lift: float | None = None  # height at which it travels when it moves sideways


class Scene(NamedTuple):
    """A picture; later shapes lie over earlier ones."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


def rectangle(
    id: str,  # noqa: A002 - what it is called in the picture
    x: float,
    y: float,
    width: float,
    height: float,
    style: Style = "ground",
    **more: Any,
) -> Shape:
    """A rectangle by its upper left corner."""
    return Shape("rectangle", id, x, y, width, height, style=style, **more)


def circle(id: str, x: float, y: float, radius: float, style: Style = "ground", **more: Any) -> Shape:  # noqa: A002
    """A circle by its centre."""
    return Shape("circle", id, x, y, radius=radius, style=style, **more)


def line(
    id: str,  # noqa: A002
    start: tuple[float, float],
    end: tuple[float, float],
    style: Style = "ground",
    **more: Any,
) -> Shape:
    """A line between two points."""
    return Shape("line", id, *start, end[0] - start[0], end[1] - start[1], style=style, **more)


def text(id: str, x: float, y: float, label: str, size: float = 14, style: Style = "text", **more: Any) -> Shape:  # noqa: A002
    """Writing, centred at a point."""
    return Shape("text", id, x, y, height=size, label=label, style=style, **more)


def problems(scene: Scene) -> list[str]:
    """What is wrong with a scene: no area, ids that occur twice, numbers that cannot be drawn."""
    found = []
    seen: set[str] = set()
    if not (scene.width > 0 and scene.height > 0):
        found.append(f"a scene of {scene.width} x {scene.height} has no area")
    for shape in scene.shapes:
        if shape.id in seen:
            found.append(f"two shapes have the id {shape.id!r}")
        seen.add(shape.id)
        numbers = (shape.x, shape.y, shape.width, shape.height, shape.radius)
        found += [f"{shape.id!r}: {value} is not a usable coordinate" for value in numbers if not -1e6 < value < 1e6]
        if not 0.0 <= shape.tone <= 1.0:
            found.append(f"{shape.id!r}: tone {shape.tone} is not between 0 and 1")
    return found
