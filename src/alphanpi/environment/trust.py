"""Whose code is run: an environment that the user named, never one that only a file names.

Naming an environment, on the command line or in a call, is trusting it; the digest of its source is remembered in a
folder of the user's own. A run directory or a weights file may then name it again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.support.files import write_atomically

Approve = Callable[[str, str | None], None]
"""Told which environment is about to be run, by location, and the digest of its source, if that could be found."""


def home() -> Path | None:
    """Where things of the user's own are kept, outside any run; None where there is no such place."""
    own = os.environ.get("ALPHANPI_HOME")
    if own:
        return Path(own)
    state = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):
        return Path(state) / "alphanpi"
    try:
        return Path.home() / ".local" / "state" / "alphanpi"
    except RuntimeError:
        return None


def remember(location: str, digest: str | None) -> None:
    """Note that the user named an environment; where nothing can be written, it has to be named again."""
    folder = _folder()
    if folder is None or digest is None or _is_trusted(digest):
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(folder / digest, f"{location}\n")
    except (OSError, AlphaNPIError, UnicodeEncodeError):
        return


def required(named_in: str, identifier: str) -> Approve:
    """Refuses an environment named in a file, unless its source was trusted before."""

    def approve(location: str, digest: str | None) -> None:
        if digest is not None and _is_trusted(digest):
            return
        changed = ", which has changed since you named it" if _was_named(location) else ""
        raise UsageError(
            f"{named_in}: it names the environment {identifier}{changed}; that would run its code: "
            f"if you trust it, --env {identifier}"
        )

    return approve


def _folder() -> Path | None:
    place = home()
    return None if place is None else place / "trusted"


def _is_trusted(digest: str) -> bool:
    folder = _folder()
    return folder is not None and re.fullmatch("[0-9a-f]{64}", digest) is not None and (folder / digest).is_file()


def _was_named(location: str) -> bool:
    folder = _folder()
    try:
        files = [] if folder is None else list(folder.iterdir())
        return any(file.read_text(errors="replace") == f"{location}\n" for file in files if file.is_file())
    except OSError:
        return False
