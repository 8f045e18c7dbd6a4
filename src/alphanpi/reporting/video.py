"""A film as an MP4, made by ffmpeg."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from alphanpi.errors import UsageError
from alphanpi.reporting.animation import Film
from alphanpi.reporting.layout import Layout
from alphanpi.reporting.raster import Canvas, Told

_PER_SECOND = 30
_SHOWN_CHARACTERS = 200


def mp4(reel: Film, layout: Layout, told: Told) -> bytes:
    """The film as a video that browsers and players show: an even number of pixels, in yuv420p."""
    canvas = Canvas(layout, even=True)
    count = max(1, round(reel.seconds * _PER_SECOND))
    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder) / "film.mp4", Path(folder) / "log"
        command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
        command += ["-s", f"{canvas.size[0]}x{canvas.size[1]}", "-r", str(_PER_SECOND), "-i", "pipe:0"]
        command += ["-an", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(file)]
        with (
            log.open("wb") as errors,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=errors, stderr=errors) as process,
        ):
            assert process.stdin is not None
            before, pixels = None, b""
            try:
                for number in range(count):
                    told(number, count)
                    shapes = reel.at(number / _PER_SECOND)
                    if shapes != before:
                        before, pixels = shapes, canvas.image(shapes).tobytes()
                    process.stdin.write(pixels)
                process.stdin.close()
            except BrokenPipeError:  # it has ended; its log says why
                pass
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0 or not file.is_file():
            said = log.read_text(errors="replace").strip().splitlines() or ["it says nothing"]
            raise UsageError(f"ffmpeg failed ({process.returncode}): {said[-1][:_SHOWN_CHARACTERS]}")
        return file.read_bytes()
