"""An execution as an animated picture: SVG without any dependency, GIF with Pillow."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.environment.scene import Scene, Shape
from alphanpi.errors import UsageError
from alphanpi.reporting.colours import Palette
from alphanpi.reporting.execution import watch

MOST_FRAMES = 2000
SECONDS = 60.0
_SHORTEST = 0.04  # seconds from one picture to the next; browsers show a GIF's no faster
_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Key(NamedTuple):
    """A shape at a moment."""

    time: float
    shape: Shape


class Pace(NamedTuple):
    """Seconds of a move, between two, and at the end."""

    move: float = 0.45
    pause: float = 0.1
    end: float = 1.8

    def lasts(self, pictures: int) -> float:
        """How long so many pictures take."""
        return (pictures - 1) * (self.move + self.pause) + self.pause + self.end


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


def film(agent: Agent, program: str, instance: str, seconds: float = SECONDS) -> Film:
    """Run a program and keep a picture of every state that looks different from the one before.

    A long run is played faster, so that it takes `seconds` at most; where pictures would be too short to be seen, only
    every other one is kept, or every third, and so on.
    """
    if not 0 < seconds < math.inf:
        raise UsageError(f"{seconds:g} seconds: a picture plays for a positive number of seconds")
    watched = watch(agent, program, instance, MOST_FRAMES)
    guard = agent.guard
    scenes: list[Scene] = []
    for state in [*(step.state for step in watched.execution.steps), watched.execution.final]:
        scene = guard.render(state)
        if scene is None:
            name = type(agent.environment).__name__
            raise UsageError(f"{name} has no picture of its states: give it a method render(state)")
        if not scenes or scene != scenes[-1]:
            scenes.append(scene)
    notes = [f"{watched.left_out:,} of {watched.execution.actions:,} steps left out"] if watched.left_out else []
    pace = Pace()
    if pace.lasts(len(scenes)) > seconds:
        stride = math.ceil(len(scenes) * _SHORTEST / seconds)
        if stride > 1:
            notes.append(f"{len(scenes):,} pictures are too many for {seconds:g} s: one of {stride} is shown")
            scenes = [*scenes[:-1:stride], scenes[-1]]
        end = min(pace.end, 0.1 * seconds)
        faster = min(1.0, (seconds - end) / (pace.lasts(len(scenes)) - pace.end))
        pace = Pace(faster * pace.move, faster * pace.pause, end)
    return Film(max(s.width for s in scenes), max(s.height for s in scenes), scenes, pace, "; ".join(notes))


def svg(reel: Film, palette: Palette, title: str) -> str:
    """The film as an SVG that plays by itself, again and again."""
    tracks: dict[str, list[Key]] = {}
    for number, scene in enumerate(reel.scenes):
        for shape in scene.shapes:
            tracks.setdefault(shape.id, []).append(Key(reel.begins(number), shape))
    order = {shape.id: place for scene in reel.scenes for place, shape in enumerate(scene.shapes)}
    body = "\n".join(_element(tracks[name], reel, palette) for name in sorted(tracks, key=lambda name: order[name]))
    margin = 14
    box = f"{-margin} {-margin} {reel.width + 2 * margin:g} {reel.height + 2 * margin:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{reel.width + 2 * margin:g}" '
        f'height="{reel.height + 2 * margin:g}" font-family="{_FONT}" text-anchor="middle">\n'
        f"<title>{_xml(title)}</title>\n"
        f'<rect x="{-margin}" y="{-margin}" width="100%" height="100%" rx="14" fill="{palette.background}"/>\n'
        f"{body}\n</svg>\n"
    )


def _xml(text: str) -> str:
    """Text inside an element; what XML cannot hold is replaced."""
    return html.escape(_NOT_XML.sub("\ufffd", text))


def _element(track: list[Key], reel: Film, palette: Palette) -> str:
    first = track[0].shape
    colours = [palette.fill(key.shape) for key in track]
    writing = [palette.writing(key.shape) for key in track]
    painted = "stroke" if first.kind == "line" else "fill"
    body = ""
    if first.kind == "rectangle":
        body = f'<rect width="{first.width:g}" height="{first.height:g}" rx="{first.radius:g}"'
    elif first.kind == "circle":
        body = f'<circle r="{first.radius:g}"'
    elif first.kind == "line":
        body = f'<line x2="{first.width:g}" y2="{first.height:g}" stroke-width="2" stroke-linecap="round"'
    if body:
        sizes = "".join(_size(name, track, reel) for name in ("width", "height") if first.kind == "rectangle")
        body += (
            f' {painted}="{colours[0]}">{_discrete(painted, colours, track, reel)}{sizes}</{body[1:].split(" ")[0]}>'
        )
    return (
        f'<g transform="translate({first.x:g},{first.y:g})">{_moves(track, reel)}{body}'
        f"{_label(track, writing, reel)}</g>"
    )


def _label(track: list[Key], writing: list[str], reel: Film) -> str:
    first = track[0].shape
    if not first.label:
        return ""
    size = label_size(first)
    x, y = (first.width / 2, first.height / 2) if first.kind == "rectangle" else (0.0, 0.0)
    return (
        f'<text x="{x:g}" y="{y + 0.36 * size:g}" font-size="{size:g}" font-weight="600" fill="{writing[0]}">'
        f"{_xml(first.label)}{_discrete('fill', writing, track, reel)}</text>"
    )


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


def _moves(track: list[Key], reel: Film) -> str:
    """Keyframes of a shape's place; it leaves when its pause ends and arrives when the next begins."""
    times, places = [0.0], [(track[0].shape.x, track[0].shape.y)]
    for before, after in pairwise(track):
        if (before.shape.x, before.shape.y) == (after.shape.x, after.shape.y):
            continue
        for share, x, y in waypoints(before.shape, after.shape):
            times.append(after.time - reel.pace.move * (1 - share))
            places.append((x, y))
    if len(places) == 1:
        return ""
    times.append(reel.seconds)
    places.append(places[-1])
    values = ";".join(f"{x:g},{y:g}" for x, y in places)
    return (
        f'<animateTransform attributeName="transform" type="translate" dur="{reel.seconds:g}s" '
        f'repeatCount="indefinite" values="{values}" keyTimes="{_times(times, reel)}"/>'
    )


def _size(name: str, track: list[Key], reel: Film) -> str:
    values: list[float] = [getattr(key.shape, name) for key in track]
    if len(set(values)) == 1:
        return ""
    times, sizes = [0.0], [values[0]]
    for key, before, after in zip(track[1:], values, values[1:], strict=False):
        if before != after:
            times += [key.time - reel.pace.move, key.time]
            sizes += [before, after]
    written = ";".join(f"{value:g}" for value in [*sizes, sizes[-1]])
    return (
        f'<animate attributeName="{name}" dur="{reel.seconds:g}s" repeatCount="indefinite" values="{written}" '
        f'keyTimes="{_times([*times, reel.seconds], reel)}"/>'
    )


def _discrete(attribute: str, values: list[str], track: list[Key], reel: Film) -> str:
    """An attribute that jumps when the next picture stands."""
    if len(set(values)) == 1:
        return ""
    times, kept = [0.0], [values[0]]
    for key, value in zip(track[1:], values[1:], strict=True):
        if value != kept[-1]:
            times.append(key.time - reel.pace.move / 2)
            kept.append(value)
    return (
        f'<animate attributeName="{attribute}" calcMode="discrete" dur="{reel.seconds:g}s" repeatCount="indefinite" '
        f'values="{";".join(kept)}" keyTimes="{_times(times, reel)}"/>'
    )


def _times(times: list[float], reel: Film) -> str:
    return ";".join(f"{min(1.0, max(0.0, time / reel.seconds)):.5g}" for time in times)


def gif(reel: Film, palette: Palette) -> bytes:
    """The film as an animated GIF."""
    try:
        from alphanpi.reporting.raster import frames_to_gif
    except ImportError:
        raise UsageError(
            "GIF pictures need Pillow: pip install pillow; or write an .svg, which needs nothing"
        ) from None
    return frames_to_gif(_frames(reel), reel.width, reel.height, palette)


def _frames(reel: Film) -> Iterator[tuple[Sequence[Shape], int]]:
    """(shapes, milliseconds) of every picture and of those between them."""
    move, pause, end = reel.pace
    between = max(1, min(5, int(move / _SHORTEST)))
    for number, scene in enumerate(reel.scenes):
        last = number == len(reel.scenes) - 1
        yield scene.shapes, round(1000 * (end if last else pause + move / between))
        if not last:
            for frame in range(1, between):
                yield _between(scene, reel.scenes[number + 1], frame / between), round(1000 * move / between)


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
