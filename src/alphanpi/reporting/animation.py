"""An execution as a film: its pictures, how fast they follow each other, and what is between two of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.agent.interpreter import Recording
from alphanpi.environment.problems import Problem
from alphanpi.environment.scene import Scene, Shape
from alphanpi.errors import UsageError

MOST_STEPS = 20_000
SECONDS = 60.0
SHORTEST = 0.04  # seconds from one picture to the next; browsers show a GIF's no faster
_FEWEST = 1 / 3  # of the pictures there is time for, that moves alone have to be


class Pace(NamedTuple):
    """Seconds of a move, between two, and at the end."""

    move: float = 0.45
    pause: float = 0.1
    end: float = 1.8

    def lasts(self, pictures: int) -> float:
        """How long so many pictures take."""
        return (pictures - 1) * (self.move + self.pause) + self.pause + self.end


class Frame(NamedTuple):
    """A picture that stands still."""

    shapes: tuple[Shape, ...]
    milliseconds: int


class Film(NamedTuple):
    """The pictures of an execution; each differs from the one before."""

    width: float
    height: float
    scenes: list[Scene]
    pace: Pace
    note: str  # what was left out

    @property
    def seconds(self) -> float:
        """How long it takes to play."""
        return self.pace.lasts(len(self.scenes))

    def begins(self, scene: int) -> float:
        """When a picture stands still for the first time."""
        return scene * (self.pace.move + self.pace.pause)

    def frames(self) -> Iterator[Frame]:
        """Every picture, and those between them."""
        move, pause, end = self.pace
        between = max(1, min(5, int(move / SHORTEST)))
        for number, scene in enumerate(self.scenes):
            last = number == len(self.scenes) - 1
            yield Frame(scene.shapes, round(1000 * (end if last else pause + move / between)))
            if not last:
                for frame in range(1, between):
                    shapes = _between(scene, self.scenes[number + 1], frame / between)
                    yield Frame(shapes, round(1000 * move / between))

    def at(self, moment: float) -> tuple[Shape, ...]:
        """What is seen after so many seconds."""
        period = self.pace.move + self.pace.pause
        number = min(int(moment / period), len(self.scenes) - 1)
        share = (moment - number * period - self.pace.pause) / self.pace.move
        if share <= 0 or number == len(self.scenes) - 1:
            return self.scenes[number].shapes
        return _between(self.scenes[number], self.scenes[number + 1], min(1.0, share))


def film(agent: Agent, program: str, instance: str | Problem, seconds: float = SECONDS) -> Film:
    """Run a program and keep a picture of every state that looks different from the one before.

    A long run is played faster, so that it takes `seconds` at most. Where pictures would be too short to be seen, those
    in which no item moves are left out, and where that is not enough, only every other one is kept, every third, and so
    on.
    """
    if not 0 < seconds < math.inf:
        raise UsageError(f"{seconds:g} seconds: a picture plays for a positive number of seconds")
    execution = agent.trace(program, instance, Recording(steps=MOST_STEPS, outline=True))
    scenes: list[Scene] = []
    for state in [*(step.state for step in execution.steps), execution.final]:
        scene = agent.guard.render(state)
        if scene is None:
            name = type(agent.environment).__name__
            raise UsageError(f"{name} has no picture of its states: give it a method render(state)")
        if not scenes or scene != scenes[-1]:
            scenes.append(scene)
    left_out = execution.actions - len(execution.steps)
    notes = [f"{left_out:,} of {execution.actions:,} steps left out"] if left_out else []
    pace = Pace()
    if pace.lasts(len(scenes)) > seconds:
        scenes, said = _fewer(scenes, seconds)
        notes += said
        end = min(pace.end, 0.1 * seconds)
        faster = min(1.0, (seconds - end) / (pace.lasts(len(scenes)) - pace.end))
        pace = Pace(faster * pace.move, faster * pace.pause, end)
    return Film(max(s.width for s in scenes), max(s.height for s in scenes), scenes, pace, "; ".join(notes))


def _fewer(scenes: list[Scene], seconds: float) -> tuple[list[Scene], list[str]]:
    """The pictures that can be seen in that time, and what was left out, in words."""
    count, room, notes = len(scenes), seconds / SHORTEST, []
    if count > room:
        moving = _where_items_move(scenes)
        if _FEWEST * room <= len(moving) < count:
            notes.append(
                f"{count:,} pictures are too many for {seconds:g} s: the {len(moving):,} with a move are shown"
            )
            scenes, count = moving, len(moving)
    stride = math.ceil(count / room)
    if stride > 1:
        notes.append(f"{count:,} pictures are too many for {seconds:g} s: one of {stride} is shown")
        scenes = [*scenes[:-1:stride], scenes[-1]]
    return scenes, notes


def _where_items_move(scenes: list[Scene]) -> list[Scene]:
    """The pictures in which what the problem is about is elsewhere or has changed; the first and the last are kept."""
    kept, before = [scenes[0]], _items(scenes[0])
    for scene in scenes[1:]:
        items = _items(scene)
        if items != before:
            kept.append(scene)
            before = items
    return [*kept[:-1], scenes[-1]] if len(kept) > 1 else [scenes[0], scenes[-1]]


def _items(scene: Scene) -> list[Shape]:
    return [shape._replace(faded=False) for shape in scene.shapes if shape.style == "item"]


def label_size(shape: Shape) -> float:
    """Size of a shape's writing."""
    return shape.height if shape.kind == "text" else min(18.0, 0.62 * (shape.height or 2 * shape.radius))


def waypoints(before: Shape, after: Shape) -> list[tuple[float, float, float]]:
    """Where a shape goes from one scene to the next: (share of the way, x, y); with a lift: up, across, down."""
    if before.lift is None or abs(before.x - after.x) < 0.5:
        return [(0.0, before.x, before.y), (1.0, after.x, after.y)]
    legs = (abs(before.y - before.lift), abs(after.x - before.x), abs(after.y - before.lift))
    whole = sum(legs) or 1.0
    return [
        (0.0, before.x, before.y),
        (legs[0] / whole, before.x, before.lift),
        ((legs[0] + legs[1]) / whole, after.x, before.lift),
        (1.0, after.x, after.y),
    ]


def _between(before: Scene, after: Scene, share: float) -> tuple[Shape, ...]:
    goals = {shape.id: shape for shape in after.shapes}
    return tuple(_moved(shape, goals[shape.id], share) for shape in before.shapes if shape.id in goals)


def _moved(before: Shape, after: Shape, share: float) -> Shape:
    eased = share * share * (3 - 2 * share)
    points = waypoints(before, after)
    x, y = after.x, after.y
    for (start, x1, y1), (end, x2, y2) in pairwise(points):
        if start <= eased <= end:
            part = (eased - start) / (end - start or 1.0)
            x, y = x1 + part * (x2 - x1), y1 + part * (y2 - y1)
            break
    return after._replace(
        x=x,
        y=y,
        width=before.width + eased * (after.width - before.width),
        height=before.height + eased * (after.height - before.height),
        faded=before.faded if share < 0.5 else after.faded,
    )
