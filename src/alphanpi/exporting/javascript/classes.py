"""Python's classes in JavaScript."""

from __future__ import annotations

import ast
import json

from alphanpi.exporting.javascript.builtins import DUNDERS, EXCEPTIONS
from alphanpi.exporting.javascript.expressions import ExpressionTranslator
from alphanpi.exporting.javascript.facts import ClassFacts, decorator_names, is_static, signature, stored
from alphanpi.exporting.javascript.functions import star
from alphanpi.exporting.javascript.layout import Lines, comment, indented
from alphanpi.exporting.javascript.naming import Naming, js_attribute, js_name
from alphanpi.exporting.javascript.refusing import refuse
from alphanpi.exporting.javascript.statements import StatementTranslator

_METHOD_DECORATORS = frozenset(
    ("property", "staticmethod", "classmethod", "override", "typing.override", "abstractmethod")
)


class ClassTranslator:
    """Translates classes: plain ones, data classes and named tuples."""

    def __init__(self, expressions: ExpressionTranslator, statements: StatementTranslator, naming: Naming) -> None:
        self._of = expressions
        self._statements = statements
        self._naming = naming

    def translated(self, node: ast.ClassDef) -> Lines:
        """A class, and what is to be done once it is there."""
        known = self._of.facts.classes[node.name]
        self._naming.class_name = node.name
        members: list[Lines] = []
        before: Lines = []
        after: Lines = []
        if known.kind != "plain" and "__init__" not in known.methods:
            members.append(self._constructor(known))
        if known.kind == "namedtuple":
            members += [
                [f"get {js_attribute(name)}() {{ return this[{place}]; }}"]
                for place, name in enumerate(known.constructor.names)
            ]
        if known.kind != "plain":
            after.append(self._record(node, known))
        for member in node.body:
            match member:
                case ast.FunctionDef():
                    hoisted, lines = self._method(member, known)
                    before += hoisted
                    members.append(lines)
                case ast.AnnAssign(target=ast.Name(id=name), value=value):
                    if value is not None and member not in known.fields:
                        after.append(self._class_attribute(node.name, name, value))
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if name != "__slots__":
                        after.append(self._class_attribute(node.name, name, value))
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case _:
                    refuse(f"`{ast.unparse(member).splitlines()[0][:60]}` in a class", member)
        self._naming.class_name = None
        base = self._base(node, known)
        text = ast.get_docstring(node)
        body = [line for place, member in enumerate(members) for line in [*([""] if place else []), *member]]
        head = f"export class {js_name(node.name)} extends {base} {{"
        written = [head, *indented(body), "}"] if body else [f"{head}}}"]
        return [*before, *(comment(text) if text else []), *written, *after]

    def _base(self, node: ast.ClassDef, known: ClassFacts) -> str:
        if known.base is None:
            return "$Tuple" if known.kind == "namedtuple" else "$Object"
        if known.base in self._of.facts.classes:
            return js_name(known.base)
        if known.base in EXCEPTIONS:
            return f"${known.base}"
        return refuse(f"the class {node.name} with the base {known.base}", node)

    def _class_attribute(self, kind: str, name: str, value: ast.expr) -> str:
        written = json.dumps(self._naming.attribute(name))
        return f"$attribute({js_name(kind)}, {written}, {self._of.value(value)});"

    def _constructor(self, known: ClassFacts) -> Lines:
        parameters, lines = [], []
        for field, name in zip(known.fields, known.constructor.names, strict=True):
            variable, value = js_name(name), js_name(name)
            match field.value:
                case None:
                    parameters.append(variable)
                case ast.Call(func=ast.Name() | ast.Attribute() as called, keywords=[word]) if ast.unparse(
                    called
                ).split(".")[-1] == "field" and word.arg in ("default", "default_factory"):
                    parameters.append(variable)
                    made = self._of.value(word.value)
                    made = made if word.arg == "default" else f"$call({made})"
                    value = f"{variable} === undefined ? {made} : {variable}"
                case ast.Call():
                    refuse(f"the default of the field {name}", field)
                case default:
                    parameters.append(f"{variable} = {self._of.value(default)}")
            lines.append(f"this.{js_attribute(name)} = {value};")
        if known.kind == "namedtuple":
            lines = [f"this.push({', '.join(map(js_name, known.constructor.names))});"]
        if "__post_init__" in known.methods:
            lines.append("this.__post_init__();")
        return [f"__init__({', '.join(parameters)}) {{", *indented(lines), "}"]

    def _record(self, node: ast.ClassDef, known: ClassFacts) -> str:
        options: dict[str, bool] = {}
        for decorator in node.decorator_list:
            for word in decorator.keywords if isinstance(decorator, ast.Call) else ():
                if word.arg is None or not isinstance(word.value, ast.Constant):
                    refuse("an option of @dataclass", node)
                options[word.arg] = bool(word.value.value)
        names = json.dumps([js_attribute(name) for name in known.constructor.names])
        if known.kind == "namedtuple":
            return f"$record({js_name(node.name)}, {names});"
        for option in options:
            if option not in ("frozen", "order", "eq", "slots", "kw_only", "repr"):
                refuse(f"the option {option} of @dataclass", node)
        if options.get("kw_only") or options.get("repr") is False:
            refuse("the options kw_only=True and repr=False of @dataclass", node)
        equal = options.get("eq", True)
        told = {
            "equal": equal,
            "ordered": options.get("order", False),
            "hashed": equal and options.get("frozen", False),
        }
        written = ", ".join(f"{name}: true" for name, on in told.items() if on)
        return f"$record({js_name(node.name)}, {names}, {{ {written} }});"

    def _method(self, node: ast.FunctionDef, known: ClassFacts) -> tuple[Lines, Lines]:
        name = node.name
        if name.startswith("__") and name.endswith("__") and name not in DUNDERS:
            refuse(f"the special method {name}", node)
        decorators = decorator_names(node)
        for decorator in decorators:
            if decorator not in _METHOD_DECORATORS and decorator != f"{name}.setter":
                refuse(f"the decorator @{decorator}", node)
        if known.kind == "namedtuple" and name == "__init__":
            refuse("__init__ of a NamedTuple", node)
        static = is_static(node)
        parameters = signature(node, method=not static)
        hoisted, written, first = self._statements.parameters(node, parameters.names, method=not static)
        head = "get " if "property" in decorators else "set " if f"{name}.setter" in decorators else ""
        if static or "classmethod" in decorators:
            head = "static "
        given = [*node.args.posonlyargs, *node.args.args]
        names = set(parameters.names) | ({node.args.vararg.arg} if node.args.vararg else set())
        if not static:
            subject = given[0].arg
            inside = any(isinstance(part, ast.FunctionDef) for part in ast.walk(node) if part is not node)
            if inside or subject in set(stored(node.body)):
                first = [f"let {js_name(subject)} = this;", *first]
                names.add(subject)
            else:
                self._naming.this = subject
        lines = self._statements.function(
            node, f"{head}{star(node)}{self._naming.attribute(name)}", written, first, names
        )
        self._naming.this = None
        return hoisted, lines
