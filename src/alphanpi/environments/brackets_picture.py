"""The picture of brackets that are read."""

from __future__ import annotations

from alphanpi.environment.scene import Scene, Shape, line, rectangle, text

CHARACTERS = {1: "(", -1: ")", 2: "[", -2: "]", 3: "{", -3: "}"}
"""How the brackets of each kind are written."""

_WIDTH, _MIDDLE, _HALF = 600.0, 110.0, 80.0
_WIDEST = 40.0  # room for a bracket


def picture(brackets: tuple[int, ...], position: int, deepest: int, wrong: bool) -> Scene:
    """The brackets in a row; groups that are read to their end stand in boxes, inner ones in smaller boxes."""
    pitch = min(_WIDEST, _WIDTH / (len(brackets) + 1))
    left = (_WIDTH - pitch * (len(brackets) + 1)) / 2
    shapes: list[Shape] = []
    opened: list[int] = []
    for place in range(position):
        if brackets[place] > 0:
            opened.append(place)
        elif opened:
            first = opened.pop()
            shapes.append(_box(first, left + first * pitch, (place - first + 1) * pitch, len(opened)))
    shapes.reverse()  # outer boxes end later, and lie below
    size = min(30.0, pitch * 0.75)
    for place, bracket in enumerate(brackets):
        middle = left + (place + 0.5) * pitch
        shapes.append(text(f"bracket-{place}", middle, _MIDDLE, CHARACTERS[bracket], size, faded=place >= position))
    here = left + position * pitch
    shapes.append(line("reader", (here, _MIDDLE - _HALF), (here, _MIDDLE + _HALF), "second" if wrong else "first"))
    verdict = "wrong here" if wrong else "read up to here"
    shapes.append(text("verdict", min(max(here, 60.0), _WIDTH - 60.0), _MIDDLE + _HALF + 16, verdict, 14, "muted"))
    shapes.append(text("deepest", _WIDTH / 2, _MIDDLE + _HALF + 46, f"greatest nesting: {deepest}", 16))
    return Scene(_WIDTH, _MIDDLE + _HALF + 66, tuple(shapes))


def _box(first: int, x: float, width: float, nesting: int) -> Shape:
    half = max(16.0, _HALF - 8 - 9 * nesting)
    tone = min(1.0, nesting / 4)
    return rectangle(
        f"group-{first}", x + 2, _MIDDLE - half, width - 4, 2 * half, "item", radius=8, tone=tone, faded=True
    )
