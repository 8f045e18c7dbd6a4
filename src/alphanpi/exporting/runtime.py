"""An environment's own plain Python in an exported module: whether it can be used, and the part of it that is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NamedTuple, NoReturn

from alphanpi.environment.carrying import CarriedStandalone, Runtime, runtime_of
from alphanpi.environment.carrying.source_text import bound_by
from alphanpi.environment.guard import Guard
from alphanpi.environment.standalone import Standalone
from alphanpi.errors import SpecificationError
from alphanpi.exporting.escaping import is_name
from alphanpi.exporting.names import check_method_names

DEEPEST = 20_000
"""How many calls an exported module can have inside one another: as many as the greedy agent."""


def checked_runtime(guard: Guard) -> Runtime:
    """The environment's runtime, if it has one, with what can be told to be wrong without running it."""
    runtime = runtime_of(guard)
    standalone = runtime.standalone
    if standalone is None or isinstance(standalone, CarriedStandalone):
        return runtime

    def refuse(problem: str) -> NoReturn:
        raise SpecificationError(f"{guard.name}: standalone(): {problem}")

    if not isinstance(standalone, Standalone):
        refuse(f"it returned a {type(standalone).__name__}, not a Standalone")
    for member, name in (("parameter", standalone.parameter), ("class_name", standalone.class_name)):
        if not isinstance(name, str) or not is_name(name):
            refuse(f"{member} is {name!r}, which is no name in Python")
    try:
        ast.parse(standalone.source)
    except (SyntaxError, ValueError, TypeError) as error:
        line = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        refuse(f"source: {line}")
    for field, expression in standalone.fields.items():
        try:
            ast.parse(expression.strip(), mode="eval")
        except (SyntaxError, ValueError) as error:
            refuse(f"fields: {expression!r}, given for {field}, is no expression: {error}")
    for entry in guard.library.framed():
        if entry.name not in standalone.inner:
            refuse(f"inner names no method for {entry.name}; add one")
    for program, method in standalone.inner.items():
        if not isinstance(method, str) or not is_name(method):
            refuse(f"inner: {method!r}, given for {program}, is no name in Python")
    check_method_names(guard.name, guard.library)
    return runtime


class DividedSource(NamedTuple):
    """A runtime's source in two parts."""

    imports: str
    body: str


def divided(source: str) -> DividedSource:
    """The imports at the beginning of a runtime's source, and what follows them."""
    numbered = source.splitlines()
    first: int | None = None
    last = 0
    for node in ast.parse(source).body:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not text and not isinstance(node, (ast.Import, ast.ImportFrom)):
            break
        assert node.end_lineno is not None, "parsed from text"
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":  # every exported module has it already
            numbered[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
        elif not text:
            first = node.lineno - 1 if first is None else first
            last = node.end_lineno
    if first is None:
        return DividedSource("", "\n".join(numbered).strip("\n"))
    imports = [line for line in numbered[first:last] if line]
    return DividedSource("\n".join(imports), "\n".join((*numbered[:first], *numbered[last:])).strip("\n"))


def imports_sys(imports: str) -> bool:
    """Whether these imports bind the name `sys`."""
    return any(
        (alias.asname or alias.name) == "sys"
        for node in ast.walk(ast.parse(imports))
        if isinstance(node, ast.Import)
        for alias in node.names
    )


def pruned(functions: str, body: str, standalone: Standalone[Any]) -> str:
    """A runtime's body without methods and properties that nothing refers to, and without helpers of that kind."""
    helpers = standalone.helpers if isinstance(standalone, CarriedStandalone) else frozenset()
    asked = {*_names(standalone.agrees), *_names(standalone.arguments), *standalone.inner.values()}
    while True:
        tree = ast.parse(body)
        used = asked | _used(ast.parse(functions)) | _used(tree)
        needless: list[ast.stmt] = [member for member in _removable(tree) if member.name not in used]
        needless = needless or _unused_helpers(tree, helpers, asked | _used(ast.parse(functions)))
        if not needless:
            return body
        kept = body.splitlines()
        for member in reversed(needless):
            first = min([member.lineno, *(one.lineno for one in getattr(member, "decorator_list", ()))]) - 1
            last = member.end_lineno or first
            while first > 0 and not kept[first - 1].strip():  # with the blank lines above
                first -= 1
            del kept[first:last]
        body = "\n".join(kept).strip("\n")


def _unused_helpers(tree: ast.Module, helpers: frozenset[str], used: set[str]) -> list[ast.stmt]:
    """Statements that bind nothing but helpers, none of which anything else mentions."""
    found: list[ast.stmt] = []
    for node in tree.body:
        names = set(bound_by(node))
        if names and names <= helpers:
            others = used.union(*(_used(other) for other in tree.body if other is not node))
            if not names & others:
                found.append(node)
    return found


def without_unused(imports: str, used_in: str) -> str:
    """The imports that something uses."""
    used = _used(ast.parse(used_in))
    return "\n".join(line for line in imports.splitlines() if {*bound_by(ast.parse(line).body[0])} & used)


def _used(tree: ast.AST) -> set[str]:
    """Names a piece of source mentions, also as text, which `getattr` may be given."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
                found.add(name)
    return found


def _removable(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Methods nobody else can know of: of classes whose bases are in the source, on lines of their own."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    own = {node.name for node in classes}
    for node in classes:
        if not all(isinstance(base, ast.Name) and base.id in own for base in node.bases) or node.keywords:
            continue
        methods = [member for member in node.body if isinstance(member, ast.FunctionDef)]
        if len(methods) == len(node.body):
            methods = methods[1:]  # a class cannot be empty
        yield from (member for member in methods if not member.name.startswith("__"))


def _names(function: Callable[..., Any]) -> set[str]:
    """Names that a function refers to, and those that functions inside of it do."""
    found: set[str] = set()
    pending = [getattr(function, "__code__", None)]
    while pending:
        code = pending.pop()
        if code is not None:
            found |= set(code.co_names)
            pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return found
