"""Collecting source: functions, classes and constants of modules, with all that they use, for one other module."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from alphanpi import errors
from alphanpi.environment.carrying.known_values import for_known_values
from alphanpi.environment.carrying.source_text import (
    SourceText,
    UncarriableError,
    bound_by,
    definition_of,
    file_of,
    global_names,
    lambda_of,
    scope_of,
)
from alphanpi.symbolic import helpers

_MISSING = object()


class _Piece(NamedTuple):
    """A statement of some file."""

    file: str
    line: int
    text: str
    names: tuple[str, ...]


class Carrier:
    """Gathers statements; in the order of their files they can be executed as they were there."""

    def __init__(self) -> None:
        self._meanings: dict[str, Any] = {}  # of every name that is carried
        self._imports: dict[str, str] = {}  # statements by the names they bind
        self._pieces: dict[tuple[str, int], _Piece] = {}
        self._uses: dict[str, list[str]] = {}  # by file, the files whose statements it needs
        self.constants: dict[str, Any] = {}
        """What the carried constants are; the copies have to be the same."""

    def copy(self) -> Carrier:
        """The same, to try something on."""
        other = Carrier()
        other._meanings, other._imports = dict(self._meanings), dict(self._imports)
        other._pieces, other.constants = dict(self._pieces), dict(self.constants)
        other._uses = {name: list(used) for name, used in self._uses.items()}
        return other

    def names(self) -> set[str]:
        """All names that are taken."""
        return {*self._meanings}

    def helpers(self) -> frozenset[str]:
        """The names that statements carried here bind."""
        return frozenset(name for piece in self._pieces.values() for name in piece.names)

    def source(self) -> str:
        """Imports, then all statements."""
        order = {name: place for place, name in enumerate(self._file_order())}
        pieces = sorted(self._pieces.values(), key=lambda piece: (order[piece.file], piece.line))
        imports = "\n".join(sorted(set(self._imports.values()), key=lambda line: (line.startswith("from"), line)))
        return _laid_out([imports, *(piece.text for piece in pieces)])

    def _file_order(self) -> list[str]:
        done: dict[str, None] = {}

        def visit(name: str, around: frozenset[str]) -> None:
            for used in self._uses.get(name, ()):
                if used not in around and used not in done:
                    visit(used, around | {name})
            done.setdefault(name)

        for piece in self._pieces.values():
            visit(piece.file, frozenset())
        return list(done)

    def text(self, text: str, scope: Mapping[str, Any], file: SourceText, besides: frozenset[str] = frozenset()) -> str:
        """Carry whatever a piece of source uses, which is written elsewhere; names of `besides` are seen to."""
        for name in sorted(global_names(text) - besides):
            self.name(name, scope, file)
        return text

    def function(self, function: Any, what: str) -> str:
        """An expression for a function: its name, or the lambda."""
        if not isinstance(function, FunctionType):
            raise UncarriableError(f"{what} is a {type(function).__name__}, not a function with a source")
        if function.__name__ != "<lambda>":
            return self.define(function)
        file, scope = file_of(function), scope_of(function)
        return self.text(file.segment(lambda_of(function)), scope, file)

    def name(self, name: str, scope: Mapping[str, Any], file: SourceText) -> None:
        """Carry what a name means in a file."""
        value = scope.get(name, _MISSING)
        if value is _MISSING:
            if hasattr(builtins, name):
                return
            raise UncarriableError(f"{name} is not defined in {file.name}")
        known = self._meanings.get(name, _MISSING)
        if known is not _MISSING:
            if known is not value:
                raise UncarriableError(f"two different things are called {name}; rename one")
            return
        binding = file.binding(name)
        if isinstance(binding, (ast.Import, ast.ImportFrom)):
            if self._import(name, binding):
                self._meanings[name] = value
                return
        elif binding is not None and not isinstance(value, ModuleType):
            self._statement(binding, scope, file)
            return
        if isinstance(value, ModuleType):
            raise UncarriableError(f"it uses {value.__name__}, which is not part of Python's standard library")
        if isinstance(value, (FunctionType, type)) and value.__module__.split(".")[0] not in sys.stdlib_module_names:
            defined = self.define(value)
            own = errors.__name__ if value.__module__ == errors.__name__ else file_of(value).name
            self._uses.setdefault(file.name, []).append(own)
            if defined != name:
                self._meanings[name] = value
                self._pieces[file.name, -len(self._pieces)] = _Piece(file.name, 0, f"{name} = {defined}", (name,))
            return
        if not is_literal(value):
            raise UncarriableError(f"{name}, a {type(value).__name__}, cannot be written as source")
        self._meanings[name] = self.constants[name] = value
        self._pieces[file.name, -len(self._pieces)] = _Piece(file.name, 0, f"{name} = {value!r}", (name,))

    def _import(self, name: str, node: ast.Import | ast.ImportFrom) -> bool:
        """Keep an import of Python's own."""
        (alias,) = (one for one in node.names if (one.asname or one.name.split(".")[0]) == name)
        module = node.module or "" if isinstance(node, ast.ImportFrom) else alias.name
        if module.split(".")[0] not in sys.stdlib_module_names or getattr(node, "level", None):
            return False
        only = ast.ImportFrom(module, [alias], 0) if isinstance(node, ast.ImportFrom) else ast.Import([alias])
        self._imports[name] = ast.unparse(only)
        return True

    def needs_import(self, module: str) -> None:
        """Keep an import of one of Python's own modules, under its own name."""
        meaning = sys.modules[module]
        if self._meanings.setdefault(module, meaning) is not meaning:
            raise UncarriableError(f"two different things are called {module}; rename one")
        self._imports[module] = f"import {module}"

    def define(self, value: FunctionType | type) -> str:
        """Carry a function or class by the statement that defines it; its name."""
        name = value.__name__
        known = self._meanings.get(name, _MISSING)
        if known is not _MISSING and known is not value:
            raise UncarriableError(f"two different things are called {name}; rename one")
        if known is _MISSING:
            if isinstance(value, type) and value.__module__ == errors.__name__:
                return self._error(value)
            file = file_of(value)
            scope = scope_of(value) if isinstance(value, FunctionType) else _class_scope(value)
            self._statement(definition_of(value), {**scope, name: value}, file)
        return name

    def _error(self, kind: type) -> str:
        """An error of the package, which has no need of its base there."""
        text = f'class {kind.__name__}(Exception):\n    """What was given cannot be used."""'
        self._meanings[kind.__name__] = kind
        self._pieces[errors.__name__, len(self._pieces)] = _Piece(errors.__name__, 0, text, (kind.__name__,))
        return kind.__name__

    def _statement(self, node: ast.stmt, scope: Mapping[str, Any], file: SourceText) -> None:
        names = tuple(bound_by(node))
        for one in names:
            self._meanings.setdefault(one, scope.get(one))
            if is_literal(scope.get(one)):
                self.constants[one] = scope[one]
        text = for_known_values(node) if file.name == helpers.__file__ else file.lines_of(node)
        self._pieces[file.name, node.lineno] = _Piece(file.name, node.lineno, text, names)
        self._uses.setdefault(file.name, [])
        self.text(text, scope, file)
        self._annotations(node, scope, file)

    def _annotations(self, node: ast.stmt, scope: Mapping[str, Any], file: SourceText) -> None:
        """What annotations name is carried where that is easy; they are never evaluated."""
        for name in sorted(annotation_names(node)):
            binding = file.binding(name)
            if name in self._meanings or name not in scope or not isinstance(binding, (ast.Import, ast.ImportFrom)):
                continue
            if self._import(name, binding):
                self._meanings[name] = scope[name]


def _laid_out(parts: list[str]) -> str:
    """Statements with blank lines around functions and classes."""
    written = ""
    for before, part in zip(["", *parts], parts, strict=False):
        one_line = "\n" not in part and "\n" not in before and not before.startswith(("import ", "from "))
        written += ("\n" if one_line else "\n\n\n") * bool(written and part) + part
    return written + "\n"


def _class_scope(kind: type) -> Mapping[str, Any]:
    """What names mean where a class is written."""
    scope: dict[str, Any] = dict(vars(sys.modules[kind.__module__])) if kind.__module__ in sys.modules else {}
    for member in vars(kind).values():
        if isinstance(member, FunctionType) and member.__code__.co_filename == file_of(kind).name:
            scope.update(scope_of(member))
    return scope


def annotation_names(node: ast.AST) -> set[str]:
    """The names in annotations."""
    found: set[str] = set()
    for part in ast.walk(node):
        for annotation in (getattr(part, "annotation", None), getattr(part, "returns", None)):
            if isinstance(annotation, ast.expr):
                found |= {one.id for one in ast.walk(annotation) if isinstance(one, ast.Name)}
    return found


def is_literal(value: Any) -> bool:
    """Whether `repr` of a value gives it back."""
    if value is None or type(value) in (bool, int, str, bytes):
        return True
    if type(value) is float:
        return value == value and abs(value) != float("inf")
    if type(value) in (tuple, list, set):
        return all(map(is_literal, value)) and (type(value) is not set or bool(value))
    if type(value) is frozenset:
        return all(map(is_literal, value))
    return type(value) is dict and all(is_literal(part) for pair in value.items() for part in pair)
