"""An exported Python module as JavaScript: its declarations, without what they need."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from alphanpi.exporting.javascript.builtins import TYPES
from alphanpi.exporting.javascript.classes import ClassTranslator
from alphanpi.exporting.javascript.expressions import ExpressionTranslator
from alphanpi.exporting.javascript.facts import IGNORED_MODULES, Signature, gathered, signature, stored
from alphanpi.exporting.javascript.functions import star
from alphanpi.exporting.javascript.layout import Lines, indented
from alphanpi.exporting.javascript.naming import Naming, js_name
from alphanpi.exporting.javascript.refusing import refuse
from alphanpi.exporting.javascript.statements import StatementTranslator

_IMPORTED = frozenset(
    ("dataclasses.dataclass", "dataclasses.field", "dataclasses.replace", "typing.NamedTuple", "abc.ABC")
)
_MODULES = frozenset(("abc", "dataclasses", "sys", "typing"))

_MACHINE: dict[str, tuple[Signature, ...]] = {
    name: (Signature((), (), 0, variadic=True),) for name in ("act", "field", "may", "call")
}
"""Methods of the object that functions without a runtime work on."""


class Translation(NamedTuple):
    """A module in JavaScript."""

    functions: str  # those at its beginning
    rest: str
    main: bool  # whether there is a function `$main`, the main part
    classes: tuple[str, ...]


def translated(tree: ast.Module, given: frozenset[str] = frozenset()) -> Translation:
    """A module in JavaScript; functions with the names `given` are there besides its own."""
    return _ModuleTranslator(tree, given).translation()


class _ModuleTranslator:
    def __init__(self, tree: ast.Module, given: frozenset[str]) -> None:
        self._tree = tree
        self._facts = gathered(tree)
        if not self._facts.classes:  # functions over an object of the caller's
            self._facts = self._facts._replace(methods=_MACHINE)
        naming = Naming()
        self._naming = naming
        self._of = ExpressionTranslator(self._facts, naming)
        self._statements = StatementTranslator(self._of, naming)
        self._statements.outside = True
        self._classes = ClassTranslator(self._of, self._statements, naming)
        self._given = given
        self._statements.definition = self._definition

    def translation(self) -> Translation:
        body = [node for node in self._tree.body if not self._is_dropped(node)]
        main = [node for node in body if _is_main(node)]
        kept = [node for node in body if not _is_main(node)]
        leading = 0
        while leading < len(kept) and _is_plain_function(kept[leading]):
            leading += 1
        names = set(stored(body)) | self._given
        for name in names & {"any", "all", "bool", "isinstance", "super", "type", "print"}:
            refuse(f"a definition of {name}")
        with self._naming.scope(names):
            functions = [self._top(node) for node in kept[:leading] if isinstance(node, ast.FunctionDef)]
            rest = self._rest(kept[leading:], main)
            if main:
                self._statements.outside = False
                inside = [part for node in main if isinstance(node, ast.If) for part in node.body]
                declared = set(stored(body))
                rest.append(["function $main() {", *indented(self._statements.body(inside, declared)), "}"])
        return Translation(
            "\n\n".join("\n".join(lines) for lines in functions),
            re.sub(r"\n{3,}", "\n\n", "\n\n".join("\n".join(lines) for lines in rest if lines)).strip("\n"),
            bool(main),
            tuple(self._facts.classes),
        )

    def _rest(self, kept: list[ast.stmt], main: list[ast.stmt]) -> list[Lines]:
        """What follows the first functions; names that the main part binds are the module's."""
        elsewhere = [name for node in main if isinstance(node, ast.If) for name in stored(node.body)]
        elsewhere += [name for node in ast.walk(self._tree) if isinstance(node, ast.Global) for name in node.names]
        return [self._statements.body(kept, set(), elsewhere)]

    def _definition(self, node: ast.stmt) -> Lines:
        if isinstance(node, ast.ClassDef):
            return ["", *self._classes.translated(node), ""]
        assert isinstance(node, ast.FunctionDef), "nothing else is defined"
        return ["", *self._top(node), ""]

    def _top(self, node: ast.FunctionDef) -> Lines:
        if node.decorator_list:
            refuse(f"a decorator of the function {node.name}", node)
        before, parameters, first = self._statements.parameters(node, signature(node).names)
        names = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        head = f"export function{star(node)} {js_name(node.name)}"
        return [*before, *self._statements.function(node, head, parameters, first, names)]

    def _is_dropped(self, node: ast.stmt) -> bool:
        """Imports, texts, aliases of types, and what is about Python's stack."""
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name not in _MODULES:
                        refuse(f"the import of {alias.name}", node)
                return True
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    if module not in IGNORED_MODULES and f"{module}.{alias.name}" not in _IMPORTED:
                        refuse(f"the import of {module}.{alias.name}", node)
                return True
            case ast.Expr(value=ast.Constant()):
                return True
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="sys"), attr="setrecursionlimit"))):
                return True
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return True
            case ast.Assign(targets=[ast.Name()], value=ast.Subscript(value=ast.Name(id=name))):
                return name in self._facts.types or name in TYPES  # a name for annotations
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id="TypeVar"))):
                return True
        return False


def _is_plain_function(node: ast.stmt) -> bool:
    """Whether a function needs nothing to be there before it."""
    return isinstance(node, ast.FunctionDef) and not node.args.defaults and not any(node.args.kw_defaults)


def _is_main(node: ast.stmt) -> bool:
    """Whether a statement is the main part."""
    match node:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]
            ),
            orelse=[],
        ):
            return True
    return False
