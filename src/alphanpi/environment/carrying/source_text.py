"""The text a function or class was written as, found from the object itself."""

from __future__ import annotations
import __future__

import ast
import dis
import linecache
import sys
import textwrap
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any, NamedTuple

Definition = ast.FunctionDef | ast.ClassDef
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


class UncarriableError(Exception):
    """Why a piece of an environment cannot be written into another module."""


class SourceText(NamedTuple):
    """A file as it was read."""

    name: str
    lines: list[str]
    tree: ast.Module

    def lines_of(self, node: ast.stmt) -> str:
        """The whole lines of a statement, with its decorators, not indented."""
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        return textwrap.dedent("".join(self.lines[first - 1 : node.end_lineno])).rstrip("\n")

    def segment(self, node: ast.AST) -> str:
        """The text of an expression."""
        return ast.get_source_segment("".join(self.lines), node) or ast.unparse(node)

    def binding(self, name: str) -> ast.stmt | None:
        """The last statement of the module itself that binds a name."""
        found = [node for node in self.tree.body if name in bound_by(node)]
        return found[-1] if found else None


def source_file(name: str, _known: dict[tuple[str, int], SourceText] = {}) -> SourceText:  # noqa: B006 - a memory
    """A file of source, parsed once for each content."""
    linecache.checkcache(name)
    lines = linecache.getlines(name)
    if not lines:
        raise UncarriableError(f"the source in {name} cannot be read")
    key = name, hash(tuple(lines))
    if key not in _known:
        try:
            _known[key] = SourceText(name, lines, ast.parse("".join(lines)))
        except SyntaxError as error:
            raise UncarriableError(f"the source in {name} has changed, and cannot be read") from error
    return _known[key]


def bound_by(node: ast.stmt) -> list[str]:
    """The names a statement binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.split(".")[0] for alias in names]
        case ast.Assign() | ast.AnnAssign(value=ast.expr()):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            stored = [part for target in targets for part in ast.walk(target)]
            return [part.id for part in stored if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    return []


def file_of(value: FunctionType | type) -> SourceText:
    """The file in which a function or class is written."""
    if isinstance(value, FunctionType):
        return source_file(value.__code__.co_filename)
    module = sys.modules.get(value.__module__)
    name = getattr(module, "__file__", None)
    if name is None:
        codes = [getattr(member, "__code__", None) for member in vars(value).values()]
        names = [code.co_filename for code in codes if code is not None]
        if not names:
            raise UncarriableError(f"the source of {value.__name__} cannot be found")
        name = names[0]
    return source_file(name)


def definition_of(value: FunctionType | type) -> Definition:
    """The statement that defines a function or class."""
    tree = file_of(value).tree
    found: list[Definition] = []
    if isinstance(value, FunctionType):
        code = value.__code__
        found = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == code.co_name and _first(node) == code.co_firstlineno
        ]
    else:
        path = [part for part in value.__qualname__.split(".") if part != "<locals>"]
        found = list(_by_path(tree, path))
    if not found:
        raise UncarriableError(f"the source of {value.__name__} cannot be found")
    return found[-1]


def _first(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _by_path(node: ast.AST, path: list[str]) -> Iterator[ast.ClassDef]:
    for child in ast.walk(node):
        if child is not node and isinstance(child, (ast.FunctionDef, ast.ClassDef)) and child.name == path[0]:
            if len(path) > 1:
                yield from _by_path(child, path[1:])
            elif isinstance(child, ast.ClassDef):
                yield child


def lambda_of(function: FunctionType) -> ast.Lambda:
    """The expression of a lambda; where there are several on its line, the one with the same code."""
    code = function.__code__
    nodes = [
        node
        for node in ast.walk(file_of(function).tree)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    same = [node for node in nodes if _like(_compiled_lambda(node), code)] if len(nodes) > 1 else nodes
    if len({ast.dump(node) for node in same}) != 1:
        raise UncarriableError(f"the source of the lambda in line {code.co_firstlineno} cannot be found")
    return same[0]


def _compiled_lambda(node: ast.Lambda) -> CodeType:
    code = compile(ast.Expression(node), "<lambda>", "eval", dont_inherit=True)
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _like(one: CodeType, other: CodeType) -> bool:
    plain = [[part for part in code.co_consts if not isinstance(part, CodeType)] for code in (one, other)]
    return (one.co_code, one.co_names, one.co_varnames, plain[0]) == (
        other.co_code,
        other.co_names,
        other.co_varnames,
        plain[1],
    )


def scope_of(function: FunctionType) -> Mapping[str, Any]:
    """What the names in a function mean that it does not bind itself."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def global_names(text: str) -> set[str]:
    """The names a piece of source takes from outside of it; those in annotations are not among them."""
    flags = __future__.annotations.compiler_flag
    code = compile(text, "<carried>", "exec", flags=flags, dont_inherit=True)
    return _loaded(code, frozenset())


def _loaded(code: CodeType, bound: frozenset[str]) -> set[str]:
    found: set[str] = set()
    stored: set[str] = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname == "STORE_NAME":
            stored.add(instruction.argval)
        elif instruction.opname in _LOADS and (instruction.opname == "LOAD_GLOBAL" or instruction.argval not in stored):
            found.add(instruction.argval)
    top = frozenset(stored) if code.co_name == "<module>" else bound
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _loaded(constant, top)
    return {name for name in found if name not in top} - {"__name__", "__annotations__"}
