"""Lines of JavaScript."""

from __future__ import annotations

from alphanpi.exporting.escaping import one_line

INDENT = "  "

Lines = list[str]


def indented(lines: Lines) -> Lines:
    """One level deeper."""
    return [f"{INDENT}{line}" if line else line for line in lines]


def comment(text: str) -> Lines:
    """A docstring as a comment."""
    lines = [one_line(line.strip()) for line in text.strip().replace("*/", "* /").splitlines()]
    if len(lines) == 1:
        return [f"/** {lines[0]} */"]
    return ["/**", *(f" * {line}".rstrip() for line in lines), " */"]
