"""The part of `support` that a piece of JavaScript uses."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_FILES = (
    "values.mjs",
    "arithmetic.mjs",
    "comparing.mjs",
    "containers.mjs",
    "builtins.mjs",
    "methods.mjs",
    "text.mjs",
    "running.mjs",
    "exchanging.mjs",
)
_DECLARED = re.compile(r"^(?:function\*? |class |const )(\$\w+)", re.MULTILINE)
_MENTIONED = re.compile(r"\$[A-Za-z]\w*")


@cache
def _declarations() -> dict[str, str]:
    """Every declaration with the comment above it, by name."""
    folder = resources.files("alphanpi.exporting.javascript") / "support"
    found = {}
    for file in _FILES:
        for piece in re.split(r"\n\n(?=\S)", (folder / file).read_text(encoding="utf-8")):
            declared = _DECLARED.search(piece)
            if declared is not None:
                found[declared[1]] = piece.strip()
    return found


def linked(*texts: str, without: str = "") -> str:
    """Everything these texts refer to, and what that refers to in turn, in an order in which it can be declared.

    What a text `without` declares is there already.
    """
    there = set(_DECLARED.findall(without))
    declarations = {name: text for name, text in _declarations().items() if name not in there}
    needed: set[str] = set()
    pending = [name for text in texts for name in _MENTIONED.findall(text)]
    while pending:
        name = pending.pop()
        if name in declarations and name not in needed:
            needed.add(name)
            pending += _MENTIONED.findall(declarations[name])
    return "\n\n".join(text for name, text in declarations.items() if name in needed)
