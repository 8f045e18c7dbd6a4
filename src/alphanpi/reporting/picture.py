"""An animated picture of a run."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.environment.guard import NO_FURTHER_SIZES
from alphanpi.environment.instances import Instance
from alphanpi.errors import UsageError
from alphanpi.reporting.animation import SECONDS, Film, film
from alphanpi.reporting.layout import Appearance
from alphanpi.reporting.vector import svg
from alphanpi.support.files import require_writable, write_atomically

Theme = Literal["light", "dark", "auto"]
ENDINGS = (".svg", ".gif", ".mp4")


class Picture(NamedTuple):
    """A picture that was written."""

    file: Path
    note: str  # what was left out, in words; empty where nothing was
    seconds: float  # how long it plays


def render(
    run: Subject,
    program: str | None = None,
    instance: Instance = None,
    out: str | Path = "render.svg",
    *,
    size: int | None = None,
    seed: int | None = None,
    further: Mapping[str, int] = NO_FURTHER_SIZES,
    seconds: float = SECONDS,
    width: int | None = None,
    theme: Theme = "light",
    caption: str = "",
    environment: NamedEnvironment = None,
    told: Callable[[int, int], None] | None = None,
) -> Picture:
    """Write an animated picture of an execution, .svg, .gif (needs Pillow) or .mp4 (needs Pillow and ffmpeg).

    Args:
        run: An agent, or what `load` takes.
        program: Its name; the last one if omitted.
        instance: As the environment reads it; if omitted, an example, or one that the environment draws.
        out: File to write.
        size: Draw an instance of this size.
        seed: Draw an instance with this seed.
        further: Draw an instance of these further sizes.
        seconds: It plays so long at most; a long run is played faster.
        width: Of the picture in pixels; as large as the environment draws it if omitted.
        theme: Colours: light, dark, or, in an .svg, those of the reader's system.
        caption: Written below it.
        environment: The agent's environment, if `run` names one that is not trusted; see `load`.
        told: Called with the number of pictures drawn, and of all, where drawing takes long.
    """
    path, look = Path(out), Appearance(width, theme, caption)
    _require(path, look)
    agent = as_agent(run, environment=environment)
    problem = agent.problem(program, instance, size=size, seed=seed, further=further)
    reel = film(agent, problem.program, problem, seconds)
    write_atomically(path, _content(path, reel, look, f"{problem.program} on {problem}", told or (lambda *_: None)))
    return Picture(path, reel.note, reel.seconds)


def _require(path: Path, look: Appearance) -> None:
    """Refuse what cannot be written, before anything is run."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"{path}: pictures are written as {', '.join(ENDINGS)}; choose one of these endings")
    look.require()
    require_writable(path)
    if path.suffix == ".svg":
        return
    if look.theme == "auto":
        raise UsageError(f"{path}: only an .svg follows the reader's system; give --theme light or dark")
    if importlib.util.find_spec("PIL") is None:
        raise UsageError(f"a {path.suffix} needs Pillow: pip install pillow; or write an .svg, which needs nothing")
    if path.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise UsageError("an .mp4 needs ffmpeg, which is not on the PATH: install it, or write an .svg or .gif")


def _content(path: Path, reel: Film, look: Appearance, title: str, told: Callable[[int, int], None]) -> str | bytes:
    layout = look.of(reel)
    if path.suffix == ".svg":
        return svg(reel, layout, title)
    from alphanpi.reporting.raster import gif
    from alphanpi.reporting.video import mp4

    return gif(reel, layout, told) if path.suffix == ".gif" else mp4(reel, layout, told)
