"""Packages that are used where they are installed."""

from __future__ import annotations

import importlib
from typing import Any

from alphanpi.errors import UsageError


class MissingPackageError(UsageError, ImportError):
    """Something was asked for that needs a package which is not installed."""


def optional_module(name: str, purpose: str) -> Any:
    """The module, or one line that says what to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingPackageError(f"{purpose} needs {name}, which is not installed: pip install {name}") from error
