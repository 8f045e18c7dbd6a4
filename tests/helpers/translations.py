"""Python and its translation, run side by side."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from alphanpi.exporting.equality import executed
from alphanpi.exporting.javascript.exchanging import encoded
from alphanpi.exporting.javascript.linking import linked
from alphanpi.exporting.javascript.naming import js_name
from alphanpi.exporting.javascript.translating import translated

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None, reason="node is not installed; `apt-get install nodejs` to run JavaScript"
)

_RUNNER = """
import { writeFileSync } from "node:fs";
const results = $CASES.map((work) => {
  try {
    return ["value", $encoded(work())];
  } catch (error) {
    try {
      return ["raises", $typeName($caught(error))];
    } catch {
      return ["raises", String(error)];
    }
  }
});
writeFileSync(process.argv[2], JSON.stringify(results));
"""


def in_python(source: str, functions: Sequence[str]) -> list[Any]:
    """What each function returns, or what it raises."""
    namespace = executed(source)
    results: list[Any] = []
    for name in functions:
        try:
            results.append(["value", encoded(namespace[name]())])
        except Exception as error:
            results.append(["raises", type(error).__name__])
    return results


def in_javascript(source: str, functions: Sequence[str], folder: Path) -> list[Any]:
    """The same of the translation, in one process."""
    translation = translated(ast.parse(source))
    cases = f"const $CASES = [{', '.join(map(js_name, functions))}];"
    used = linked(translation.functions, translation.rest, _RUNNER)
    file, out = folder / "cases.mjs", folder / "results.json"
    file.write_text("\n\n".join((translation.functions, used, translation.rest, cases, _RUNNER)))
    done = subprocess.run([str(NODE), str(file), str(out)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return list(json.loads(out.read_text()))


def assert_same(source: str, functions: Sequence[str], folder: Path) -> list[Any]:
    """Both do the same."""
    expected, found = in_python(source, functions), in_javascript(source, functions, folder)
    bodies = {node.name: ast.unparse(node) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    wrong = [
        f"{bodies.get(name)}\n# Python: {one}\n# JavaScript: {other}"
        for name, one, other in zip(functions, expected, found, strict=True)
        if one != other
    ]
    assert not wrong, f"{len(wrong)} of {len(functions)} differ:\n" + "\n\n".join(wrong[:5])
    return expected
