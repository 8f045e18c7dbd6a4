"""A film as an SVG that plays by itself, without any dependency."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import NamedTuple

from alphanpi.environment.scene import Shape
from alphanpi.reporting.animation import Film, label_size, waypoints
from alphanpi.reporting.colours import Palette
from alphanpi.reporting.layout import CAPTION_LINE, CAPTION_SIZE, MARGIN, Layout

_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BY_SYSTEM = (
    "<style>.dark{display:none}@media (prefers-color-scheme:dark){.light{display:none}.dark{display:inline}}</style>\n"
)


class Key(NamedTuple):
    """A shape in one of the pictures."""

    scene: int
    time: float
    shape: Shape


def svg(reel: Film, layout: Layout, title: str) -> str:
    """The film as an SVG that plays again and again; with two palettes, in the one of the reader's system."""
    tracks: dict[str, list[Key]] = {}
    for number, scene in enumerate(reel.scenes):
        for shape in scene.shapes:
            tracks.setdefault(shape.id, []).append(Key(number, reel.begins(number), shape))
    order = {shape.id: place for scene in reel.scenes for place, shape in enumerate(scene.shapes)}
    sorted_tracks = [tracks[name] for name in sorted(tracks, key=lambda name: order[name])]
    bodies = [_body(sorted_tracks, reel, layout, palette) for palette in layout.palettes]
    if len(bodies) > 1:
        light, dark = bodies
        bodies = [f'{_BY_SYSTEM}<g class="light">\n{light}\n</g>\n<g class="dark">\n{dark}\n</g>']
    box = f"{-MARGIN} {-MARGIN} {layout.width:g} {layout.height:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{layout.scale * layout.width:g}" '
        f'height="{layout.scale * layout.height:g}" font-family="{_FONT}" text-anchor="middle">\n'
        f"<title>{_xml(title)}</title>\n{bodies[0]}\n</svg>\n"
    )


def _body(tracks: list[list[Key]], reel: Film, layout: Layout, palette: Palette) -> str:
    ground = (
        f'<rect x="{-MARGIN}" y="{-MARGIN}" width="{layout.width:g}" height="{layout.height:g}" rx="14" '
        f'fill="{palette.background}"/>'
    )
    caption = [
        f'<text x="{reel.width / 2:g}" y="{layout.caption_top + CAPTION_LINE * number + CAPTION_SIZE:g}" '
        f'font-size="{CAPTION_SIZE}" fill="{palette.muted}">{_xml(line)}</text>'
        for number, line in enumerate(layout.caption)
    ]
    return "\n".join([ground, *(_element(track, reel, palette) for track in tracks), *caption])


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
        f'<g transform="translate({first.x:g},{first.y:g})">{_moves(track, reel)}{_visibility(track, reel)}{body}'
        f"{_labels(track, writing, reel)}</g>"
    )


def _labels(track: list[Key], writing: list[str], reel: Film) -> str:
    """What is written on a shape; where that changes, one text after the other."""
    first = track[0].shape
    size = label_size(first)
    x, y = (first.width / 2, first.height / 2) if first.kind == "rectangle" else (0.0, 0.0)
    colour = _discrete("fill", writing, track, reel)
    labels: dict[str, list[Key]] = {}
    for key in track:
        labels.setdefault(key.shape.label, []).append(key)
    return "".join(
        f'<text x="{x:g}" y="{y + 0.36 * size:g}" font-size="{size:g}" font-weight="600" fill="{writing[0]}">'
        f"{_xml(label)}{colour}{_visibility(keys, reel) if len(labels) > 1 else ''}</text>"
        for label, keys in labels.items()
        if label
    )


def _visibility(keys: list[Key], reel: Film) -> str:
    """Something that is seen in these pictures only."""
    seen = {key.scene for key in keys}
    if len(seen) == len(reel.scenes):
        return ""
    values = ["visible" if number in seen else "hidden" for number in range(len(reel.scenes))]
    return _jumps("visibility", values, [reel.begins(number) for number in range(len(reel.scenes))], reel)


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
    """An attribute that jumps on the way to the next picture."""
    return "" if len(set(values)) == 1 else _jumps(attribute, values, [key.time for key in track], reel)


def _jumps(attribute: str, values: list[str], begins: list[float], reel: Film) -> str:
    times, kept = [0.0], [values[0]]
    for begin, value in zip(begins[1:], values[1:], strict=True):
        if value != kept[-1]:
            times.append(begin - reel.pace.move / 2)
            kept.append(value)
    return (
        f'<animate attributeName="{attribute}" calcMode="discrete" dur="{reel.seconds:g}s" repeatCount="indefinite" '
        f'values="{";".join(kept)}" keyTimes="{_times(times, reel)}"/>'
    )


def _times(times: list[float], reel: Film) -> str:
    return ";".join(f"{min(1.0, max(0.0, time / reel.seconds)):.5g}" for time in times)
