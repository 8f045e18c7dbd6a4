"""States of a report: each is written down once, and pictures share their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from alphanpi.environment.guard import Guard
from alphanpi.environment.scene import Scene, Shape
from alphanpi.environment.specification import Environment
from alphanpi.reporting.records import StateRecord

_LONGEST_TEXT = 240
_STATE_BYTES, _PLACE_BYTES = 24, 5  # of a state without its text, and of the place of a shape


class StateTable:
    """Numbers states in the order in which they are asked for."""

    def __init__(self, environment: Environment[Any]) -> None:
        self._guard = Guard(environment)
        self._number: dict[Any, int] = {}
        self._texts: dict[Any, str] = {}
        self._undrawn: set[int] = set()
        self._shape_number: dict[Shape, int] = {}
        self.records: list[StateRecord] = []
        self.shapes: list[list[Any]] = []
        self.size: tuple[float, float] | None = None
        self.bytes = 0  # about, as JSON

    def __contains__(self, state: Any) -> bool:
        return state in self._number

    def number(self, state: Any, drawn: bool = True) -> int:
        """The state's number; a new one is written, and drawn where its picture will be looked at."""
        known = self._number.get(state)
        if known is None:
            known = self._number[state] = len(self.records)
            self.records.append(StateRecord(self.text(state), None))
            self.bytes += _STATE_BYTES + len(self.text(state).encode())
            self._undrawn.add(known)
        if drawn and known in self._undrawn:
            self._undrawn.remove(known)
            self.records[known] = self.records[known]._replace(scene=self._drawn(self._guard.render(state)))
        return known

    def text(self, state: Any) -> str:
        """A state as a user reads it, cut where it is long."""
        text = self._texts.get(state)
        if text is None:
            text = self._texts[state] = self._guard.format(state)
        return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"

    def moves(self, states: Sequence[Any]) -> list[int]:
        """The places after which states look different: as text or as pictures, whichever changes less often."""
        for state in states:
            self.number(state)
        texts = [self._texts[state] for state in states]
        scenes = [self.records[self._number[state]].scene for state in states]
        changes = [[place for place, (a, b) in enumerate(pairwise(seen)) if a != b] for seen in (texts, scenes)]
        return min((places for places in changes if places), key=len, default=[])

    def _drawn(self, scene: Scene | None) -> list[int] | None:
        if scene is None:
            return None
        width, height = self.size or (0.0, 0.0)
        self.size = (max(width, scene.width), max(height, scene.height))
        self.bytes += _PLACE_BYTES * len(scene.shapes)
        return [self._shape(shape) for shape in scene.shapes]

    def _shape(self, shape: Shape) -> int:
        known = self._shape_number.get(shape)
        if known is None:
            known = self._shape_number[shape] = len(self.shapes)
            row = [round(value, 1) if isinstance(value, float) and value > 1 else value for value in shape]
            self.shapes.append(row)
            self.bytes += len(str(row))
        return known
