"""Helpers of `alphanpi.symbolic` as exported modules need them: for known values alone."""

from __future__ import annotations

import ast
import copy

_REASONS = "reasons"  # what helpers call who reasons about unknown values


def for_known_values(node: ast.stmt) -> str:
    """The source of a helper without what it does where values are unknown."""
    return ast.unparse(ast.fix_missing_locations(_KnownValues().visit(copy.deepcopy(node))))


class _KnownValues(ast.NodeTransformer):
    """Takes `reasons` for None wherever it is asked for."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        named = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return None if named == [_REASONS] else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if _asks(node.test, ast.IsNot) else self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        found = self.generic_visit(node)
        return node.body if _asks(node.test, ast.Is) else found


def _asks(test: ast.expr, operator: type[ast.cmpop]) -> bool:
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[comparison], comparators=[ast.Constant(value=None)]):
            return name == _REASONS and isinstance(comparison, operator)
    return False
