"""Versions of the packages a result depends on."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence


def versions(names: Sequence[str]) -> dict[str, str]:
    """The version of each package; `unknown` where it runs from its sources without being installed."""
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
