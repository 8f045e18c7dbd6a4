"""An animated picture of a run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.errors import UsageError
from alphanpi.reporting.animation import SECONDS, film, gif, svg
from alphanpi.reporting.colours import LIGHT
from alphanpi.support.files import require_writable, write_atomically


class Picture(NamedTuple):
    """A picture that was written."""

    file: Path
    note: str  # what was left out, in words; empty where nothing was


def render(
    run: Subject,
    program: str,
    instance: str,
    out: str | Path,
    *,
    seconds: float = SECONDS,
    environment: NamedEnvironment = None,
) -> Picture:
    """Write an animated picture of an execution, .svg or .gif.

    It plays for `seconds` at most: a long run is played faster.
    """
    path = Path(out)
    if path.suffix not in (".svg", ".gif"):
        raise UsageError(f"{path}: pictures are written as .svg or .gif; choose one of these endings")
    require_writable(path)
    reel = film(as_agent(run, environment=environment), program, instance, seconds)
    title = f"{program} on {instance}"
    write_atomically(path, svg(reel, LIGHT, title) if path.suffix == ".svg" else gif(reel, LIGHT))
    return Picture(path, reel.note)
