"""The picture of a binary search."""

from __future__ import annotations

from alphanpi.environment.scene import Scene, rectangle, text

_WIDTH = 600.0
_TOP, _HEIGHT = 70.0, 56.0
_CHIP = (96.0, 30.0)
_MOST_LABELS = 40


def picture(
    values: tuple[int, ...], wanted: int, bounds: tuple[int, int], middle: int | None, answer: int | None
) -> Scene:
    """A row of numbers, the half that is left underlaid, what is looked for above and the answer below."""
    low, high = bounds
    pitch = min(80.0, _WIDTH / max(1, len(values)))
    offset = (_WIDTH - pitch * len(values)) / 2
    gap = min(3.0, pitch / 8)
    smallest, span = min(values, default=0), max(1, max(values, default=0) - min(values, default=0))
    shapes = [
        text("question", _WIDTH / 2, 22, f"where is {wanted}?", 20),
        rectangle(
            "current", offset + low * pitch - 2, _TOP - 10, (high - low) * pitch + 4, _HEIGHT + 20, "focus", radius=10
        ),
    ]
    for place, value in enumerate(values):
        shapes.append(
            rectangle(
                f"place-{place}",
                offset + place * pitch + gap,
                _TOP,
                pitch - 2 * gap,
                _HEIGHT,
                "item",
                radius=min(8.0, pitch / 5),
                label=str(value) if len(values) <= _MOST_LABELS else "",
                tone=(value - smallest) / span,
                faded=not low <= place < high,
            )
        )
    chips = []
    if middle is not None:
        chips.append(("middle", middle, _TOP + _HEIGHT + 18))
    if answer is not None and answer >= 0:
        chips.append(("found", answer, _TOP + _HEIGHT + 56))
    for name, place, top in chips:
        x = min(max(offset + (place + 0.5) * pitch, _CHIP[0] / 2), _WIDTH - _CHIP[0] / 2)
        shapes.append(
            rectangle(
                name, x - _CHIP[0] / 2, top, *_CHIP, "first" if name == "middle" else "third", radius=15, label=name
            )
        )
    if answer is not None and answer < 0:
        shapes.append(text("absent", _WIDTH / 2, _TOP + _HEIGHT + 71, "nowhere", 20))
    return Scene(_WIDTH, _TOP + _HEIGHT + 100, tuple(shapes))
