"""What kind of function a definition is."""

from __future__ import annotations

import ast

from alphanpi.exporting.javascript.refusing import refuse


def is_literal(node: ast.expr) -> bool:
    """Whether an expression has the same value whenever it is evaluated, and that value cannot change."""
    match node:
        case ast.Constant():
            return True
        case ast.Tuple(elts=elements):
            return all(is_literal(one) for one in elements)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_literal(operand)
    return False


def star(node: ast.FunctionDef) -> str:
    """An asterisk where the function is a generator."""
    pending: list[ast.AST] = list(node.body)
    while pending:
        part = pending.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            return "*"
        if not isinstance(part, (ast.FunctionDef, ast.Lambda)):
            pending += ast.iter_child_nodes(part)
    return ""


def _own(node: ast.FunctionDef, kind: type[ast.Global] | type[ast.Nonlocal]) -> set[str]:
    return {name for part in ast.walk(node) if isinstance(part, kind) for name in part.names}


def global_names(node: ast.FunctionDef) -> set[str]:
    """Names of the module that a function, or one inside of it, assigns."""
    return _own(node, ast.Global)


def nonlocal_names(node: ast.FunctionDef) -> set[str]:
    """Names of functions around that this one assigns; those that a function inside shares with it are its own."""
    return {name for part in node.body if isinstance(part, ast.Nonlocal) for name in part.names}


def check_inside(node: ast.FunctionDef) -> None:
    """Refuse what a function may not hold."""
    for part in ast.walk(node):
        if isinstance(part, (ast.AsyncFunctionDef, ast.ClassDef)):
            refuse(f"{part.name} inside of a function", part)
