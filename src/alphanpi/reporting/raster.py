"""Drawing scenes with Pillow; imported only where a GIF or a video is asked for."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from alphanpi.environment.scene import Shape
from alphanpi.reporting.animation import Film, label_size
from alphanpi.reporting.layout import CAPTION_LINE, CAPTION_SIZE, MARGIN, Layout

_OVERSAMPLED = 2
_MOST_COLOURS = 64
Told = Callable[[int, int], None]
"""Called with the number of pictures drawn, and of all."""


@cache
def _font(size: float) -> Any:
    return ImageFont.load_default(size)  # reading it takes longer than writing with it


class Canvas:
    """Draws what is seen at a moment of a film."""

    def __init__(self, layout: Layout, even: bool = False) -> None:
        """Of the layout's size in pixels; with `even`, of one that has a half."""
        self.layout = layout
        self.palette = layout.palettes[0]
        width, height = round(layout.scale * layout.width), round(layout.scale * layout.height)
        self.size = (width + width % 2, height + height % 2) if even else (width, height)
        self._fine = layout.scale * _OVERSAMPLED

    def image(self, shapes: Sequence[Shape]) -> Image.Image:
        """A picture of these shapes."""
        large = (self.size[0] * _OVERSAMPLED, self.size[1] * _OVERSAMPLED)
        image = Image.new("RGB", large, self.palette.background)
        draw = ImageDraw.Draw(image)
        for shape in shapes:
            self._draw(draw, shape)
        middle = self.layout.width / 2 - MARGIN
        for number, line in enumerate(self.layout.caption):
            place = self._scaled(middle, self.layout.caption_top + CAPTION_LINE * (number + 0.5))
            draw.text(place, line, fill=self.palette.muted, font=_font(CAPTION_SIZE * self._fine), anchor="mm")
        return image.reduce(_OVERSAMPLED)

    def _scaled(self, x: float, y: float) -> tuple[float, float]:
        return self._fine * (x + MARGIN), self._fine * (y + MARGIN)

    def _draw(self, draw: ImageDraw.ImageDraw, shape: Shape) -> None:
        colour, radius = self.palette.fill(shape), shape.radius
        start, end = self._scaled(shape.x, shape.y), self._scaled(shape.x + shape.width, shape.y + shape.height)
        middle = start
        if shape.kind == "rectangle":
            draw.rounded_rectangle((*start, *end), radius * self._fine, fill=colour)
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        elif shape.kind == "circle":
            upper, lower = (shape.x - radius, shape.y - radius), (shape.x + radius, shape.y + radius)
            draw.ellipse((*self._scaled(*upper), *self._scaled(*lower)), fill=colour)
        elif shape.kind == "line":
            draw.line((*start, *end), fill=colour, width=max(1, round(2 * self._fine)))
        if shape.label:
            font = _font(label_size(shape) * self._fine)
            draw.text(middle, shape.label, fill=self.palette.writing(shape), font=font, anchor="mm")


def gif(reel: Film, layout: Layout, told: Told) -> bytes:
    """The film as an endless GIF."""
    canvas, frames = Canvas(layout), list(reel.frames())
    images = []
    for number, frame in enumerate(frames):
        told(number, len(frames))
        images.append(canvas.image(frame.shapes).quantize(_MOST_COLOURS))
    file = io.BytesIO()
    images[0].save(
        file,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=[frame.milliseconds for frame in frames],
        loop=0,
        optimize=True,
    )
    return file.getvalue()
