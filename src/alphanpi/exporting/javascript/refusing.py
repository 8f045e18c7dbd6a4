"""What is said where Python has no translation."""

from __future__ import annotations

import ast
from typing import NoReturn

from alphanpi.errors import SpecificationError

_MOST_OF_A_LINE = 80


class UntranslatableError(SpecificationError):
    """Python outside of the subset that can be written as JavaScript."""

    def __init__(self, what: str, line: int | None = None, text: str = "") -> None:
        self.what = what
        self.line = line
        place = "" if line is None else f"line {line} of the exported Python{text and f', `{text}`'}: "
        super().__init__(
            f"no JavaScript written: {place}{what} has no translation; docs/export.md lists what can be translated"
        )

    def quoting(self, source: str) -> UntranslatableError:
        """The same with the line itself, as far as it fits in a message."""
        lines = source.splitlines()
        if self.line is None or self.line > len(lines):
            return self
        return UntranslatableError(self.what, self.line, lines[self.line - 1].strip()[:_MOST_OF_A_LINE])


def refuse(what: str, node: ast.AST | None = None) -> NoReturn:
    """Name a construct and its line."""
    raise UntranslatableError(what, getattr(node, "lineno", None))
