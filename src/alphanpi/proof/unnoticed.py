"""What an environment's source may not hold, since unknown values would not notice it, and a proof would be wrong.

`is` tells an unknown truth value from both True and False. Where C code is handed an unknown value, it raises a
TypeError, as it would not for a known one; if that is caught, a way is gone that known values do not go.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi.environment.provenance import class_sources
from alphanpi.environment.specification import Environment

_COVERING = ("TypeError", "Exception", "BaseException")
_NEVER_PROVED = ("parse", "format", "render", "result", "initial", "enumerate", "templates", "outcomes", "standalone")
"""Members that no proof runs."""


class Unnoticed(NamedTuple):
    """A place in the source."""

    file: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"not expressible: {self.text} ({self.file.name}:{self.line})"


def unnoticed(environment: type[Any]) -> list[Unnoticed]:
    """All such places in the files of an environment's class."""
    found = []
    for file in class_sources(environment):
        tree = ast.parse(file.read_bytes())
        others = _other_environments(environment, file)
        tree.body = [node for node in tree.body if not (isinstance(node, ast.ClassDef) and node.name in others)]
        found += [Unnoticed(file, line, text) for line, text in _found(tree)]
    return found


def _other_environments(environment: type[Any], file: Path) -> set[str]:
    """Environments of a file that this one does not inherit from."""
    waiting: list[type[Any]] = [Environment]
    names = set[str]()
    for one in waiting:
        waiting += one.__subclasses__()
        own = getattr(sys.modules.get(one.__module__), "__file__", None)
        if one not in environment.__mro__ and own is not None and Path(own).resolve() == file.resolve():
            names.add(one.__qualname__)
    return names


def _found(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for number, operator in enumerate(node.ops):
                if isinstance(operator, ast.Is | ast.IsNot) and any(map(_value, sides[number : number + 2])):
                    yield node.lineno, "is, which takes no unknown value for a known one; write == or !="
        elif isinstance(node, ast.MatchSingleton) and node.value is not None:
            yield node.lineno, f"case {node.value}, which takes no unknown value for a known one; write if"
        elif isinstance(node, ast.ExceptHandler) and _covers(node.type):
            yield node.lineno, "catching TypeError, which C code raises for unknown values; catch other errors"
        if not _is_left_out(node, tree):
            yield from _found(node)


def _is_left_out(node: ast.AST, inside: ast.AST) -> bool:
    """Members that no proof runs, and what is done where the file is a program."""
    if isinstance(node, ast.FunctionDef):
        return isinstance(inside, ast.ClassDef) and node.name in _NEVER_PROVED
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _value(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is not None and node.value is not ...


def _covers(caught: ast.expr | None) -> bool:
    """Whether a handler catches a TypeError."""
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(one is None or ast.unparse(one).rpartition(".")[2] in _COVERING for one in names)
