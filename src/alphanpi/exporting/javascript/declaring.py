"""Where variables are declared: by the statement that assigns them first, or at the beginning of the function."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from alphanpi.exporting.javascript.facts import stored


def mentioned(nodes: Sequence[ast.AST]) -> set[str]:
    """All names in some code."""
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def target_names(target: ast.expr) -> list[str] | None:
    """The names of a target that is made of nothing else."""
    match target:
        case ast.Name(id=name):
            return [name]
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            parts = [target_names(one) for one in elements]
            return None if any(part is None for part in parts) else [name for part in parts for name in part or ()]
        case ast.Starred(value=value):
            return target_names(value)
    return None


def loops_in(body: Sequence[ast.stmt]) -> list[ast.For]:
    """The `for` loops of a body, without those of functions inside of it."""
    found: list[ast.For] = []
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.For):
            found.append(node)
        pending += ast.iter_child_nodes(node)
    return found


class FunctionBody:
    """What is known of the function whose statements are being translated."""

    def __init__(self, body: Sequence[ast.stmt], declared: set[str], elsewhere: Sequence[str]) -> None:
        self.body = body
        self.stores = Counter([*stored(list(body)), *elsewhere, *elsewhere])
        for node in (part for statement in body for part in ast.walk(statement)):
            if isinstance(node, ast.Nonlocal):
                self.stores.update(name for name in node.names if name in self.stores)  # assigned elsewhere too
        self.inline: dict[int, bool] = {}  # statements that declare what they assign; whether it stays as it is
        self.loops: set[int] = set()  # loops that declare their variables
        self._declared = declared
        self._plan(declared)

    def hoisted(self) -> list[str]:
        """Names that no statement declares."""
        first = {name for place in self.inline for name in self._targets(place)}
        loops = {
            name for node in loops_in(self.body) if id(node) in self.loops for name in target_names(node.target) or ()
        }
        functions = {node.name for node in self.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        return sorted(set(self.stores) - self._declared - first - loops - functions)

    def declaring(self, node: ast.stmt) -> str:
        """The word with which a statement declares what it assigns; empty if it does not."""
        place = next((place for place in self.inline if self.body[place] is node), None)
        return "" if place is None else "const " if self.inline[place] else "let "

    def _targets(self, place: int) -> list[str]:
        node = self.body[place]
        assert isinstance(node, (ast.Assign, ast.AnnAssign)), "only these declare"
        return target_names(node.targets[0] if isinstance(node, ast.Assign) else node.target) or []

    def _plan(self, declared: set[str]) -> None:
        """Which statements can declare what they assign: the first to mention it, outside of loops and branches."""
        seen = set(declared)
        for place, node in enumerate(self.body):
            names: list[str] | None = None
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                names = target_names(node.targets[0])
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                names = target_names(node.target)
            value = getattr(node, "value", None)
            if names and not set(names) & (seen | (mentioned([value]) if value else set())):
                self.inline[place] = all(self.stores[name] == 1 for name in names)
            seen |= mentioned([node]) | {one.name for one in ast.walk(node) if isinstance(one, ast.FunctionDef)}
        everywhere = Counter(
            part.id for statement in self.body for part in ast.walk(statement) if isinstance(part, ast.Name)
        )
        for loop in loops_in(self.body):
            names = target_names(loop.target)
            inside = Counter(part.id for part in ast.walk(loop) if isinstance(part, ast.Name))
            functions = [
                part
                for statement in loop.body
                for part in ast.walk(statement)
                if isinstance(part, (ast.Lambda, ast.FunctionDef, ast.GeneratorExp))
            ]
            if (
                names
                and not set(names) & (declared | mentioned([loop.iter, *loop.orelse]) | mentioned(functions))
                and all(self.stores[name] == 1 and inside[name] == everywhere[name] for name in names)
            ):
                self.loops.add(id(loop))
