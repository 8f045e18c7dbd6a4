"""Modules that tests load."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

USERS = "alphanpi_user_"
"""How the names of modules begin that the library loads from files."""


def forget(*prefixes: str, known: set[str] | frozenset[str] = frozenset()) -> None:
    """Remove modules, so that they are loaded anew; those already known stay."""
    for name in set(sys.modules) - known:
        if name.startswith(prefixes):
            del sys.modules[name]


@contextlib.contextmanager
def forgetting(*prefixes: str) -> Iterator[None]:
    """Forget at the end what was loaded in between."""
    before = set(sys.modules)
    yield
    forget(*prefixes, known=before)
