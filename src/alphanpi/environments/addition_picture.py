"""The picture of a written addition."""

from __future__ import annotations

from alphanpi.environment.scene import Scene, line, rectangle, text

_WIDTH, _HEIGHT = 600.0, 246.0
_CARRY, _LINE = 30.0, 156.0
_ROWS = (("first", 74.0), ("second", 124.0), ("result", 192.0))
_WIDEST = 52.0
_MOST_DIGITS = 60


def picture(
    first: tuple[int, ...], second: tuple[int, ...], column: int, carries: tuple[int, int], result: tuple[int, ...]
) -> Scene:
    """Digits in columns; the current problem is underlaid, a line under the column shows where the pen is."""
    columns = len(first) + 1  # the sum may be one digit longer
    pitch = min(_WIDEST, _WIDTH / columns)
    left = (_WIDTH - pitch * columns) / 2
    size = min(30.0, pitch * 0.8)

    def middle(place: int) -> float:
        """Of a column, counted from the right."""
        return left + (columns - place - 0.5) * pitch

    shapes = [
        rectangle("current", left, 10, (columns - column) * pitch, 214, "focus", radius=10),
        rectangle("pen", middle(column) - pitch * 0.4, 228, pitch * 0.8, 8, "first", radius=4),
        line("line", (left, _LINE), (left + columns * pitch, _LINE)),
    ]
    if columns <= _MOST_DIGITS:
        shapes.append(text("plus", middle(columns - 1), _ROWS[1][1], "+", size, "muted"))
        for (row, height), number in zip(_ROWS, (first, second, result), strict=True):
            shapes += [
                text(f"{row}-{place}", middle(place), height, str(digit), size, faded=place < column)
                for place, digit in enumerate(number)
            ]
    shapes += [
        text(f"carry-{column + ahead}", middle(column + ahead), _CARRY, "1", size * 0.7, "muted")
        for ahead, carry in enumerate(carries)
        if carry
    ]
    return Scene(_WIDTH, _HEIGHT, tuple(shapes))
