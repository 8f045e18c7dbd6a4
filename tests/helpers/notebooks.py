"""Executing a notebook's cells without Jupyter, in this process."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any, NamedTuple


class Shown(NamedTuple):
    """What a cell would show below itself: the value of its last line, and that as HTML where there is any."""

    source: str
    value: Any
    html: str


def executed(notebook: Path) -> list[Shown]:
    """Run all code cells one after the other, in one namespace."""
    content = json.loads(notebook.read_text())
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    return [_run("".join(cell["source"]), namespace) for cell in content["cells"] if cell["cell_type"] == "code"]


def _run(source: str, namespace: dict[str, Any]) -> Shown:
    tree = ast.parse(source)
    value: Any = None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    return Shown(source, value, value._repr_html_() if hasattr(value, "_repr_html_") else "")
