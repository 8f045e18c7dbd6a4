"""What the functions of an exported module, and the methods they use, are called."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection
from typing import Any

from alphanpi.environment.specification import Library
from alphanpi.environment.standalone import Standalone, identifier, method_name
from alphanpi.errors import SpecificationError
from alphanpi.exporting.escaping import is_name, literal


def attribute(parameter: str, name: str) -> str:
    """The expression for an attribute of an object, whatever it is called."""
    return f"{parameter}.{name}" if is_name(name) else f"getattr({parameter}, {literal(name)})"


def function_names(library: Library, standalone: Standalone[Any] | None) -> dict[str, str]:
    """The exported function of each program: its name in lower case, if nothing else in the module is called so."""
    taken = {"annotations", "sys"}
    taken |= {"env"} if standalone is None else {standalone.parameter, *_defined(standalone.source)}
    names: dict[str, str] = {}
    for entry in library.learned:
        short = identifier(entry.name.lower())
        candidates = [short, identifier(entry.name), f"{short}_"]
        while not _free(candidates[0], taken):
            candidates = candidates[1:] if len(candidates) > 1 else [f"{candidates[0]}_"]
        names[entry.name] = candidates[0]
        taken.add(candidates[0])
    return names


def _free(name: str, taken: Collection[str]) -> bool:
    return name not in taken and not hasattr(builtins, name)


def _defined(source: str) -> set[str]:
    """Names a module's source binds outside of functions and classes, wherever it does so."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=alias):
                found.add(alias or name.split(".")[0])
        pending += ast.iter_child_nodes(node)
    return found


def check_method_names(environment: str, library: Library) -> None:
    """Refuse a runtime where one method would have to be two actions."""
    methods: dict[str, str] = {}
    for entry in library[1 : library.atomic_count]:
        other = methods.setdefault(method_name(entry.name), entry.name)
        if other != entry.name:
            raise SpecificationError(
                f"{environment}: standalone(): the actions {other} and {entry.name} would both be the method "
                f"{method_name(entry.name)}; rename one"
            )
