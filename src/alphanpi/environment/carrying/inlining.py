"""Methods of an environment as parts of other methods: their statements, and the expression they return."""

from __future__ import annotations

import ast
import textwrap
from typing import NamedTuple

from alphanpi.environment.carrying.members import Method


class Inlined(NamedTuple):
    """A method that does not use its environment and returns once, at its end."""

    method: Method
    parameter: str
    statements: str  # all but the last
    value: str

    def parts(self, count: int) -> list[str] | None:
        """For each entry of the tuple returned, the statements it needs and its own `return`; None: not as easy."""
        *others, last = _body(self.method.node)
        assert isinstance(last, ast.Return), "it returns at its end"
        if not isinstance(last.value, ast.Tuple) or len(last.value.elts) != count:
            return None
        if any(isinstance(entry, ast.Starred) for entry in last.value.elts):
            return None
        if not all(isinstance(one, ast.Assign) and _plain_targets(one) for one in others):
            return None
        found = []
        for entry in last.value.elts:
            wanted, kept = _names(entry), []
            for statement in reversed(others):
                stored = {part.id for part in ast.walk(statement) if _stores(part) and isinstance(part, ast.Name)}
                if stored & wanted:
                    kept.append(self.method.file.lines_of(statement))
                    wanted |= _names(statement)
            text = self.method.file.segment(entry)
            kept.insert(0, f"return ({text})" if "\n" in text else f"return {text}")
            found.append("\n".join(reversed(kept)))
        return found


def inlined(method: Method) -> Inlined | None:
    """The method in pieces, if it is as simple as that."""
    node, file = method.node, method.file
    body = _body(node)
    arguments = node.args
    plain = not (arguments.vararg or arguments.kwonlyargs or arguments.kwarg or arguments.defaults)
    if not plain or len(method.parameters) != 1 or not body or not isinstance(body[-1], ast.Return):
        return None
    if body[-1].value is None or len(node.decorator_list) > 1 or body[0].lineno <= node.lineno:
        return None
    inside = [part for statement in body for part in ast.walk(statement)]
    if any(isinstance(part, ast.Name) and part.id in (method.own, "self") for part in inside):
        return None
    if sum(isinstance(part, ast.Return) for part in inside) > 1 or any(_unusual(part) for part in inside):
        return None
    starts = [statement.lineno for statement in body]
    ends = [statement.end_lineno or statement.lineno for statement in body]
    if any(start <= end for start, end in zip(starts[1:], ends, strict=False)):
        return None  # two on a line
    lines = file.lines[body[0].lineno - 1 : body[-1].end_lineno]
    numbered = textwrap.dedent("".join(lines)).rstrip("\n").split("\n")
    first = body[-1].lineno - body[0].lineno
    before, returned = numbered[:first], "\n".join(numbered[first:])
    return Inlined(method, method.parameters[0], "\n".join(before).strip("\n"), returned.removeprefix("return").strip())


def _body(node: ast.FunctionDef) -> list[ast.stmt]:
    """The statements without the docstring."""
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def _unusual(node: ast.AST) -> bool:
    """What cannot be moved by its lines: other scopes of statements, and texts over several lines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom)):
        return True
    text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
    return text and getattr(node, "lineno", 0) != getattr(node, "end_lineno", 0)


def _plain_targets(node: ast.Assign) -> bool:
    return all(isinstance(part, (ast.Name, ast.Tuple, ast.Store)) for one in node.targets for part in ast.walk(one))


def _stores(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
