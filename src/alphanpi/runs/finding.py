"""Finding runs: folders that are runs, and folders that hold some."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from alphanpi.errors import UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.records import CHECKPOINTS, META_FILE

MOST_RUNS = 1000


def find_runs(places: Iterable[str | Path]) -> list[RunDirectory]:
    """The runs at these places, in their order and by name inside each, every one once.

    A place is a run's folder, or one that holds runs at any depth; one where there are none is refused.
    """
    found: dict[str, RunDirectory] = {}
    for place in places:
        path = Path(place)
        inside = list(_inside(path))
        if not inside:
            raise UsageError(f"{path}: {_nothing(path)}; give run directories, or folders that hold some")
        for one in inside:
            found.setdefault(os.path.realpath(one), RunDirectory(one))
        if len(found) > MOST_RUNS:
            raise UsageError(f"more than {MOST_RUNS:,} runs; give fewer of them at once")
    return list(found.values())


def _inside(path: Path) -> Iterable[Path]:
    """A run's own folders are not looked through; links are not followed, and so lead nowhere twice."""
    for folder, folders, files in os.walk(path):
        if META_FILE in files:
            folders.clear()
            yield Path(folder)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != CHECKPOINTS)


def _nothing(path: Path) -> str:
    if path.is_dir():
        return f"no run in it: no folder there has a {META_FILE}"
    return "not a folder" if path.exists() else "there is no such folder"
