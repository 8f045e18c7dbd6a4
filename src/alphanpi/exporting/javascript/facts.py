"""What a module defines, as far as its translation depends on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from alphanpi.exporting.javascript.refusing import refuse

IGNORED_MODULES = {"__future__", "typing", "collections.abc", "abc"}
"""Modules of which only names for annotations and bases are used."""
_EMPTY_BASES = ("object", "abc.ABC", "typing.Generic", "typing.Protocol")
_BOOLEAN_METHODS = {"isalpha", "isdecimal", "isdigit", "isspace", "issubset", "startswith", "endswith"}  # Python's own


class Signature(NamedTuple):
    """The parameters of a function, without the object a method belongs to."""

    names: tuple[str, ...]
    required: tuple[bool, ...]
    keyword_only: int  # how many of the last ones
    variadic: bool
    detached: bool = False  # a static method or one of the class: called without an object


class ClassFacts(NamedTuple):
    """A class of the module."""

    name: str
    base: str | None
    kind: str  # "plain", "dataclass" or "namedtuple"
    methods: dict[str, Signature]
    constructor: Signature
    fields: tuple[ast.AnnAssign, ...]  # of dataclasses and named tuples, those of bases included


class Facts(NamedTuple):
    """A module's classes, functions and attributes."""

    classes: dict[str, ClassFacts]
    functions: dict[str, Signature]
    attributes: frozenset[str]  # everything that an object of the module may have
    methods: dict[str, tuple[Signature, ...]]  # by name, of all classes
    answering: frozenset[str]  # functions and methods whose result someone looks at
    boolean: frozenset[str]  # attributes and methods that are always true or false
    modules: dict[str, str]  # by the name it has here
    types: frozenset[str]  # names that only annotations use
    imported: dict[str, str]  # names imported from modules: "dataclasses.dataclass"


def stored(nodes: list[ast.stmt]) -> Iterator[str]:
    """Names that statements bind, each as often as they do; those of functions and comprehensions inside are not."""
    pending: list[ast.AST] = list(nodes)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                inside = [part for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
                pending += [part.target for part in inside]
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
        pending += ast.iter_child_nodes(node)


def signature(node: ast.FunctionDef | ast.Lambda, method: bool = False) -> Signature:
    """A function's parameters; those of a method without the first."""
    given = node.args
    if given.kwarg is not None:
        refuse("a parameter **" + given.kwarg.arg, node)
    if given.vararg is not None and given.kwonlyargs:
        refuse("a parameter that can only be given by name after *" + given.vararg.arg, node)
    positional = [*given.posonlyargs, *given.args]
    required = [place < len(positional) - len(given.defaults) for place in range(len(positional))]
    names = [parameter.arg for parameter in positional] + [parameter.arg for parameter in given.kwonlyargs]
    required += [default is None for default in given.kw_defaults]
    if method:
        if not positional:
            refuse("a method without a first parameter", node)
        names, required = names[1:], required[1:]
    return Signature(tuple(names), tuple(required), len(given.kwonlyargs), given.vararg is not None)


def decorator_names(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    """Decorators as they are written, without arguments."""
    return [
        ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        for decorator in node.decorator_list
    ]


def is_static(node: ast.FunctionDef) -> bool:
    """Whether a method has no first parameter."""
    return "staticmethod" in decorator_names(node)


def is_detached(node: ast.FunctionDef) -> bool:
    """Whether a method is called without an object."""
    return is_static(node) or "classmethod" in decorator_names(node)


def is_property(node: ast.FunctionDef) -> bool:
    """Whether a method is used like an attribute."""
    return any(name == "property" or name.endswith(".setter") for name in decorator_names(node))


class _Gatherer:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.modules: dict[str, str] = {}
        self.imported: dict[str, str] = {}
        self.types: set[str] = set()
        self.classes: dict[str, ClassFacts] = {}

    def facts(self) -> Facts:
        functions = {}
        for node in self.tree.body:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        self.modules[alias.asname or alias.name] = alias.name
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    for alias in names:
                        if module in IGNORED_MODULES:
                            self.types.add(alias.asname or alias.name)
                        self.imported[alias.asname or alias.name] = f"{module}.{alias.name}"
                case ast.FunctionDef(name=name):
                    functions[name] = signature(node)
                case ast.ClassDef():
                    self._class(node)
        methods: dict[str, list[Signature]] = {}
        for one in self.classes.values():
            for name, parameters in one.methods.items():
                methods.setdefault(name, []).append(parameters)
        return Facts(
            self.classes,
            functions,
            frozenset(self._attributes()),
            {name: tuple(found) for name, found in methods.items()},
            frozenset(self._answering()),
            frozenset(self._boolean()),
            self.modules,
            frozenset(self.types),
            self.imported,
        )

    def _class(self, node: ast.ClassDef) -> None:
        bases = [ast.unparse(base) for base in node.bases]
        bases = [base for base in bases if self._named(base.partition("[")[0]) not in _EMPTY_BASES]
        if len(bases) > 1 or node.keywords:
            refuse(f"the class {node.name} with several bases or with keywords", node)
        base = bases[0] if bases else None
        kind = "plain"
        decorators = decorator_names(node)
        if base is not None and self._named(base) == "typing.NamedTuple":
            base, kind = None, "namedtuple"
        for decorator in decorators:
            if self._named(decorator) == "dataclasses.dataclass":
                kind = "dataclass"
            elif self._named(decorator) not in ("typing.final",):
                refuse(f"the decorator @{decorator}", node)
        inherited = self.classes.get(base or "")
        fields = () if kind == "plain" else (inherited.fields if inherited is not None else ()) + self._fields(node)
        methods = {
            member.name: signature(member, method=not is_static(member))._replace(detached=is_detached(member))
            for member in node.body
            if isinstance(member, ast.FunctionDef) and not is_property(member)
        }
        if "__init__" in methods:
            constructor = methods["__init__"]
        elif kind != "plain":
            constructor = _record_signature(fields)
        else:
            constructor = inherited.constructor if inherited is not None else Signature((), (), 0, base is not None)
        self.classes[node.name] = ClassFacts(node.name, base, kind, methods, constructor, fields)

    def _fields(self, node: ast.ClassDef) -> tuple[ast.AnnAssign, ...]:
        return tuple(
            member
            for member in node.body
            if isinstance(member, ast.AnnAssign) and not ast.unparse(member.annotation).startswith("ClassVar")
        )

    def _named(self, name: str) -> str:
        """A name with the module it comes from."""
        first, dot, rest = name.partition(".")
        if dot and first in self.modules:
            return f"{self.modules[first]}.{rest}"
        return self.imported.get(name, name)

    def _attributes(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    yield name
                case ast.ClassDef(body=body):
                    yield from stored(body)
                case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), _]):
                    yield name

    def _answering(self) -> Iterator[str]:
        ignored = {id(node.value) for node in ast.walk(self.tree) if isinstance(node, ast.Expr)}
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call) and id(node) in ignored}
        for node in ast.walk(self.tree):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) if id(node) not in called:
                    yield name
                case ast.Constant(value=str(name)):  # `getattr` may be given it
                    yield name

    def _boolean(self) -> set[str]:
        """Attributes and methods that are true or false in every class that has them."""
        found: dict[str, list[ast.FunctionDef]] = {}
        other: set[str] = set()
        for node in ast.walk(self.tree):
            match node:
                case ast.ClassDef(body=body):
                    functions = [member for member in body if isinstance(member, ast.FunctionDef)]
                    for member in functions:
                        found.setdefault(member.name, []).append(member)
                    other |= {name for part in body if not isinstance(part, ast.FunctionDef) for name in stored([part])}
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    other.add(name)
        candidates = {name for name in found if name not in other}
        own = _BOOLEAN_METHODS - set(found) - other
        while True:
            wrong = {
                name
                for name in candidates
                if not all(_always_boolean(function, candidates | own) for function in found[name])
            }
            if not wrong:
                return candidates | own
            candidates -= wrong


def _record_signature(fields: tuple[ast.AnnAssign, ...]) -> Signature:
    names = tuple(field.target.id for field in fields if isinstance(field.target, ast.Name))
    return Signature(names, tuple(field.value is None for field in fields), 0, variadic=False)


def _always_boolean(function: ast.FunctionDef, known: set[str]) -> bool:
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.FunctionDef, ast.Lambda)) for node in nodes):
        return False
    returns = [node for node in nodes if isinstance(node, ast.Return)]
    ends = bool(function.body) and isinstance(function.body[-1], (ast.Return, ast.Raise))
    return ends and bool(returns) and all(one.value is not None and is_boolean(one.value, known) for one in returns)


def is_boolean(node: ast.expr, known: frozenset[str] | set[str]) -> bool:
    """Whether an expression can be nothing but true or false."""
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(is_boolean(value, known) for value in values)
        case ast.IfExp(body=body, orelse=orelse):
            return is_boolean(body, known) and is_boolean(orelse, known)
        case ast.Attribute(attr=name) | ast.Call(func=ast.Attribute(attr=name)):
            return name in known
        case ast.Call(func=ast.Name(id="any" | "all" | "bool" | "isinstance")):
            return True
    return False


def gathered(tree: ast.Module) -> Facts:
    """The facts of a module."""
    return _Gatherer(tree).facts()
