"""States of a report: each is written down once, and pictures share their shapes."""

from __future__ import annotations

from typing import Any

from alphanpi.guard import Guard
from alphanpi.reporting.records import StateRecord
from alphanpi.scene import Scene, Shape
from alphanpi.spec import Environment

_LONGEST_TEXT = 240


class StateTable:
    """Numbers states in the order in which they are asked for."""

    def __init__(self, environment: Environment[Any]) -> None:
        self._guard = Guard(environment)
        self._format = environment.format
        self._number: dict[Any, int] = {}
        self._shape_number: dict[Shape, int] = {}
        self.records: list[StateRecord] = []
        self.shapes: list[list[Any]] = []
        self.size: tuple[float, float] | None = None

    def number(self, state: Any) -> int:
        """The state's number; a new one is written and drawn."""
        known = self._number.get(state)
        if known is None:
            known = self._number[state] = len(self.records)
            self.records.append(StateRecord(self._text(state), self._drawn(self._guard.render(state))))
        return known

    def _text(self, state: Any) -> str:
        text = self._format(state)
        return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"

    def _drawn(self, scene: Scene | None) -> list[int] | None:
        if scene is None:
            return None
        width, height = self.size or (0.0, 0.0)
        self.size = (max(width, scene.width), max(height, scene.height))
        return [self._shape(shape) for shape in scene.shapes]

    def _shape(self, shape: Shape) -> int:
        known = self._shape_number.get(shape)
        if known is None:
            known = self._shape_number[shape] = len(self.shapes)
            self.shapes.append(
                [round(value, 1) if isinstance(value, float) and value > 1 else value for value in shape]
            )
        return known
