"""Drawing scenes with Pillow; imported only where a GIF or an array is asked for."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from alphanpi.environment.scene import Scene, Shape
from alphanpi.reporting.animation import label_size
from alphanpi.reporting.colours import LIGHT, Palette

_OVERSAMPLED = 2
_MARGIN = 14


def frames_to_gif(
    frames: Iterable[tuple[Sequence[Shape], int]], width: float, height: float, palette: Palette
) -> bytes:
    """An endless GIF of (shapes, milliseconds)."""
    images, lasting = [], []
    for shapes, milliseconds in frames:
        images.append(_image(shapes, width, height, palette))
        lasting.append(milliseconds)
    file = io.BytesIO()
    images[0].save(
        file,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=lasting,
        loop=0,
        optimize=True,
    )
    return file.getvalue()


def pixels(scene: Scene, palette: Palette = LIGHT) -> NDArray[np.uint8]:
    """A scene as an array: rows, columns, and red, green and blue."""
    return np.asarray(_image(scene.shapes, scene.width, scene.height, palette).convert("RGB"), dtype=np.uint8)


def _image(shapes: Sequence[Shape], width: float, height: float, palette: Palette) -> Image.Image:
    size = round(width) + 2 * _MARGIN, round(height) + 2 * _MARGIN
    image = Image.new("RGB", (size[0] * _OVERSAMPLED, size[1] * _OVERSAMPLED), palette.background)
    draw = ImageDraw.Draw(image)
    for shape in shapes:
        _draw(draw, shape, palette)
    return image.resize(size, Image.Resampling.LANCZOS).quantize(64)


def _draw(draw: ImageDraw.ImageDraw, shape: Shape, palette: Palette) -> None:
    def scaled(x: float, y: float) -> tuple[float, float]:
        return _OVERSAMPLED * (x + _MARGIN), _OVERSAMPLED * (y + _MARGIN)

    colour, radius = palette.fill(shape), shape.radius
    start, end = scaled(shape.x, shape.y), scaled(shape.x + shape.width, shape.y + shape.height)
    middle = start
    if shape.kind == "rectangle":
        draw.rounded_rectangle((*start, *end), radius * _OVERSAMPLED, fill=colour)
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    elif shape.kind == "circle":
        draw.ellipse(
            (*scaled(shape.x - radius, shape.y - radius), *scaled(shape.x + radius, shape.y + radius)), fill=colour
        )
    elif shape.kind == "line":
        draw.line((*start, *end), fill=colour, width=2 * _OVERSAMPLED)
    if shape.label:
        font = ImageFont.load_default(label_size(shape) * _OVERSAMPLED)
        draw.text(middle, shape.label, fill=palette.writing(shape), font=font, anchor="mm")
