"""Calls: of the module's own functions and classes, and of Python's."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

from alphanpi.exporting.javascript.builtins import EXCEPTIONS, FUNCTIONS, METHODS, STREAM, SYS, TYPES, Builtin
from alphanpi.exporting.javascript.facts import Signature
from alphanpi.exporting.javascript.naming import js_name
from alphanpi.exporting.javascript.refusing import refuse

if TYPE_CHECKING:
    from alphanpi.exporting.javascript.expressions import ExpressionTranslator


class CallTranslator:
    """Translates calls."""

    def __init__(self, expressions: ExpressionTranslator) -> None:
        self._of = expressions
        self._facts = expressions.facts
        self._naming = expressions.naming

    def call(self, node: ast.Call) -> str:
        """A call of anything."""
        match node.func:
            case ast.Name(id=name):
                return self._named(name, node)
            case ast.Attribute():
                return self._method(node.func, node)
            case ast.Call(func=ast.Name(id="type"), args=[one]) if not self._naming.is_bound("type"):
                return f"new ($kind({self._of.value(one)}))({self._positional(node)})"
        return f"$call({', '.join([self._of.value(node.func), *self._plain(node)])})"

    def _named(self, name: str, node: ast.Call) -> str:
        if self._naming.is_local(name):
            if name == self._naming.this:
                return f"new this({self._positional(node)})"
            return f"$call({', '.join([self._naming.variable(name), *self._plain(node)])})"
        if name in self._facts.classes:
            return f"new {js_name(name)}({self._resolved(self._facts.classes[name].constructor, name, node)})"
        if name in self._facts.functions:
            return f"{js_name(name)}({self._resolved(self._facts.functions[name], name, node)})"
        if self._naming.is_bound(name):
            return f"$call({', '.join([js_name(name), *self._plain(node)])})"
        if name in EXCEPTIONS:
            return f"new ${name}({self._positional(node)})"
        if self._facts.imported.get(name) == "dataclasses.replace":
            return self._replace(node.args[0], node.args[1:], node)
        return self._builtin(name, node)

    def _builtin(self, name: str, node: ast.Call) -> str:
        arguments, value = node.args, self._of.value
        match name, arguments:
            case "isinstance", [one, kinds]:
                return f"$isinstance({value(one)}, {self._kinds(kinds)})"
            case "getattr", [one, ast.Constant(value=str(attribute)), *other]:
                known = json.dumps(self._naming.attribute(attribute))
                return f"$getattr({', '.join([value(one), known, *map(value, other)])})"
            case "print", _:
                return self._print(node)
            case (("min" | "max"), _) if node.keywords:
                return self._best(name, node)
            case "zip", _ if node.keywords:
                refuse("a keyword of zip", node)
            case "dict", [] if node.keywords:
                pairs = [f"[{json.dumps(word.arg)}, {value(word.value)}]" for word in node.keywords if word.arg]
                return f"new $Dict([{', '.join(pairs)}])"
            case (("set" | "frozenset"), []):
                return "new $Set()"
            case "list", []:
                return "[]"
        if name not in FUNCTIONS:
            refuse(f"the function {name}, which the module does not define,", node)
        builtin = FUNCTIONS[name]
        return f"{builtin.helper}({', '.join(self._own(name, builtin, node))})"

    def _own(self, name: str, builtin: Builtin, node: ast.Call) -> list[str]:
        """The arguments of one of Python's functions or methods."""
        count, starred = len(node.args), any(isinstance(one, ast.Starred) for one in node.args)
        if not starred and (count < builtin.least or (builtin.most is not None and count > builtin.most)):
            refuse(f"{name} with {count} arguments", node)
        if starred and node.keywords:
            refuse(f"{name} with both * and keywords", node)
        written = [self._of.value(one) for one in node.args]
        for word in node.keywords:
            if word.arg not in builtin.names:
                refuse(f"the keyword {word.arg} of {name}", node)
            place = builtin.first_name + builtin.names.index(word.arg)
            if place < len(node.args):
                refuse(f"{word.arg} of {name} twice", node)
            written += ["undefined"] * (place + 1 - len(written))
            written[place] = self._of.value(word.value)
        return written

    def is_own_type(self, node: ast.expr) -> bool:
        """Whether an expression is the name of one of Python's types."""
        return isinstance(node, ast.Name) and node.id in TYPES and not self._naming.is_bound(node.id)

    def _method(self, func: ast.Attribute, node: ast.Call) -> str:
        name, owner = func.attr, func.value
        if self.is_own_type(owner) and name in METHODS:
            return f"{METHODS[name].helper}({self._positional(node)})"
        match owner:
            case ast.Name(id=module) if module in self._facts.modules and not self._naming.is_local(module):
                return self._of_module(module, name, node)
            case ast.Attribute(value=ast.Name(id=module), attr="stdout" | "stderr" as stream) if (
                self._facts.modules.get(module) == "sys" and name in STREAM
            ):
                return f"$sys.{stream}.{name}({self._positional(node)})"
            case ast.Call(func=ast.Name(id="super"), args=[]):
                return self._inherited(name, node)
            case ast.Name(id=kind) if kind in self._facts.classes and not self._naming.is_local(kind):
                return self._of_class(kind, name, node)
        if name == "__class__":
            return f"new ($kind({self._of.value(owner)}))({self._positional(node)})"
        if name == "_replace":
            return self._replace(owner, node.args, node)
        attribute = self._naming.attribute(name)
        found = self._facts.methods.get(name, ())
        if found or (name in self._facts.attributes and name not in METHODS):
            if found and name in METHODS:
                given = self._several(found, name, node) if node.keywords else self._positional(node)
                own = METHODS[name].helper
                return f"$method({self._of.value(owner)}, {json.dumps(attribute)}, {own})({given})"
            if not found:
                return f"$call({', '.join([f'{self._of.tight(owner)}.{attribute}', *self._plain(node)])})"
            return f"{self._of.tight(owner)}.{attribute}({self._several(found, name, node)})"
        if name in METHODS:
            return (
                f"{METHODS[name].helper}({', '.join([self._of.value(owner), *self._own(name, METHODS[name], node)])})"
            )
        return refuse(f"the method .{name}(), which no class of the module has,", node)

    def _of_module(self, module: str, name: str, node: ast.Call) -> str:
        full = f"{self._facts.modules[module]}.{name}"
        if full == "dataclasses.replace":
            return self._replace(node.args[0], node.args[1:], node)
        if not full.startswith("sys.") or name not in SYS:
            refuse(f"{module}.{name}", node)
        return f"$sys.{name}({self._positional(node)})"

    def _inherited(self, name: str, node: ast.Call) -> str:
        known = None if self._naming.class_name is None else self._facts.classes.get(self._naming.class_name)
        base = None if known is None or known.base is None else self._facts.classes.get(known.base)
        if base is None and name == "__init__":
            return "null"  # `object` does nothing, and an exception has its arguments already
        if base is None:
            refuse(f"super().{name} of a class that is not the module's", node)
        parameters = base.constructor if name == "__init__" else base.methods.get(name)
        if name == "__init__" and base.base is None and "__init__" not in base.methods and base.kind == "plain":
            return "null"
        given = self._positional(node) if parameters is None else self._resolved(parameters, name, node)
        return f"super.{self._naming.attribute(name)}({given})"

    def _of_class(self, kind: str, name: str, node: ast.Call) -> str:
        """A static method, or a method with its object as the first argument."""
        holder: str | None = kind
        while holder is not None and name not in self._facts.classes[holder].methods:
            holder = self._facts.classes[holder].base
            holder = holder if holder in self._facts.classes else None
        if holder is None:
            refuse(f"{kind}.{name}(), which the class does not have,", node)
        parameters = self._facts.classes[holder].methods[name]
        given = self._resolved(parameters, name, node) if parameters.detached else self._positional(node)
        return f"$unbound({js_name(kind)}, {json.dumps(self._naming.attribute(name))})({given})"

    def _replace(self, owner: ast.expr, others: list[ast.expr], node: ast.Call) -> str:
        if others or any(word.arg is None for word in node.keywords):
            refuse("replace with anything but keywords", node)
        changes = [
            f"{self._naming.attribute(word.arg)}: {self._of.value(word.value)}" for word in node.keywords if word.arg
        ]
        return f"$replace({self._of.value(owner)}, {{ {', '.join(changes)} }})"

    def _print(self, node: ast.Call) -> str:
        known = {word.arg: self._of.value(word.value) for word in node.keywords}
        if not set(known) <= {"sep", "end", "file", "flush"}:
            refuse("a keyword of print", node)
        options = [known.get(name, "null") for name in ("sep", "end", "file")]
        while options and options[-1] == "null":
            options.pop()
        return f"$print({', '.join([f'[{self._positional(node, True)}]', *options])})"

    def _best(self, name: str, node: ast.Call) -> str:
        if not {word.arg for word in node.keywords} <= {"key", "default"}:
            refuse(f"a keyword of {name}", node)
        options = ", ".join(f"{word.arg}: {self._of.value(word.value)}" for word in node.keywords)
        better = "$lt" if name == "min" else "$gt"
        return f"$best([{self._positional(node, True)}], {better}, {{ {options} }})"

    def _kinds(self, node: ast.expr) -> str:
        match node:
            case ast.Tuple(elts=elements):
                return f"[{', '.join(self._kinds(one) for one in elements)}]"
            case ast.Name(id=name) if name in TYPES and not self._naming.is_bound(name):
                return json.dumps(name)
            case ast.Name(id=name) if name in self._facts.classes:
                return js_name(name)
            case ast.Name(id=name) if name in EXCEPTIONS:
                return f"${name}"
        return refuse(f"isinstance of {ast.unparse(node)}", node)

    def _positional(self, node: ast.Call, keywords: bool = False) -> str:
        """Arguments by their places alone."""
        if node.keywords and not keywords:
            refuse(f"a keyword in {ast.unparse(node)[:60]}, of which nobody knows the parameters,", node)
        return self._of.listed(node.args)

    def _plain(self, node: ast.Call) -> list[str]:
        written = self._positional(node)
        return [written] if written else []

    def _several(self, found: tuple[Signature, ...], name: str, node: ast.Call) -> str:
        """Arguments of a method that more than one class may have."""
        if len(set(found)) > 1 and node.keywords:
            refuse(f"a keyword of .{name}(), which classes have with different parameters,", node)
        return self._resolved(found[0], name, node) if len(set(found)) == 1 else self._positional(node)

    def _resolved(self, parameters: Signature, name: str, node: ast.Call) -> str:
        """Arguments in the order of the parameters; those left out are undefined."""
        places = len(parameters.names) - parameters.keyword_only
        starred = any(isinstance(one, ast.Starred) for one in node.args)
        if not starred and not parameters.variadic and len(node.args) > places:
            refuse(f"{name} with {len(node.args)} arguments", node)
        if not node.keywords:
            if not starred and not parameters.variadic and len(node.args) < sum(parameters.required):
                refuse(f"{name} with too few arguments", node)
            return self._of.listed(node.args)
        if starred:
            refuse(f"{name} with both * and keywords", node)
        given: dict[int, str] = {place: self._of.value(one) for place, one in enumerate(node.args)}
        order = list(given)
        for word in node.keywords:
            if word.arg is None or word.arg not in parameters.names:
                refuse(f"the keyword {word.arg or '**'} of {name}", node)
            place = parameters.names.index(word.arg)
            if place in given:
                refuse(f"{word.arg} of {name} twice", node)
            given[place] = self._of.value(word.value)
            order.append(place)
        missing = [
            one for place, one in enumerate(parameters.names) if parameters.required[place] and place not in given
        ]
        if missing:
            refuse(f"{name} without {missing[0]}", node)
        if order != sorted(order):  # they are evaluated as they are written
            names = {place: self._naming.temporary() for place in order}
            inside = ", ".join(names.get(place, "undefined") for place in range(max(given) + 1))
            outside = ", ".join(names[place] for place in order)
            return f"...(({outside}) => [{inside}])({', '.join(given[place] for place in order)})"
        return ", ".join(given.get(place, "undefined") for place in range(max(given) + 1))
