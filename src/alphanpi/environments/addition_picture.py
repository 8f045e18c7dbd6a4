"""The picture of a written addition."""

from __future__ import annotations

from alphanpi.environment.scene import Scene, line, rectangle, text

_WIDTH = 600.0
_ROWS = {"carry": 26.0, "first": 70.0, "second": 120.0, "total": 188.0}
_LINE = 152.0
_MOST_DIGITS = 60


def picture(first: str, second: str, column: int, carry: int, carried: int, total: str) -> Scene:
    """Digits in columns; those of the current problem are underlaid, the column at the pen is marked."""
    columns = len(first) + 1  # the sum may be one digit longer
    pitch = min(52.0, _WIDTH / columns)
    right = (_WIDTH + pitch * columns) / 2
    size = min(30.0, pitch * 0.8)

    def middle(place: int) -> float:
        """Of a column, counted from the right."""
        return right - (place + 0.5) * pitch

    left = right - columns * pitch
    shapes = [
        rectangle("current", left, 8, (columns - column) * pitch, 212, "focus", radius=10),
        rectangle("pen", middle(column) - pitch / 2, 226, pitch, 8, "first", radius=4),
        line("line", (left, _LINE), (right, _LINE)),
    ]
    if columns <= _MOST_DIGITS:
        for name, number in (("first", first), ("second", second), ("total", total)):
            for place, digit in enumerate(reversed(number)):
                shapes.append(
                    text(f"{name}-{place}", middle(place), _ROWS[name], digit, size, faded=place < column)
                )
        shapes.append(text("plus", left + pitch / 2, _ROWS["second"], "+", size, "muted"))
    for place, amount in ((column, carry), (column + 1, carried)):
        if amount:
            shapes.append(text(f"carry-{place}", middle(place), _ROWS["carry"], "1", size * 0.7, "muted"))
    return Scene(_WIDTH, 240.0, tuple(shapes))
