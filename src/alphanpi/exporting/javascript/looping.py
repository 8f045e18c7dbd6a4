"""Loops and comprehensions: what they go through, and how values are taken apart."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

from alphanpi.exporting.javascript.naming import js_name
from alphanpi.exporting.javascript.refusing import refuse

if TYPE_CHECKING:
    from alphanpi.exporting.javascript.expressions import ExpressionTranslator

_KNOWN_LENGTH = {"enumerate": 2, "items": 2}  # what gives tuples of that length


class LoopTranslator:
    """Translates targets, and what is assigned to them one after another."""

    def __init__(self, expressions: ExpressionTranslator) -> None:
        self._of = expressions
        self._naming = expressions.naming

    def pattern(self, target: ast.expr) -> str:
        """Names to assign to, as JavaScript takes them apart."""
        match target:
            case ast.Name(id=name):
                return js_name(name)
            case ast.Starred(value=value):
                return self.pattern(value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return f"[{', '.join(self.pattern(one) for one in elements)}]"
        return refuse(f"the target {ast.unparse(target)!r} here", target)

    def shape(self, target: ast.expr) -> str:
        """How many values a target takes, and of what shape."""
        assert isinstance(target, (ast.Tuple, ast.List)), "of several names"
        if all(isinstance(one, (ast.Name, ast.Attribute, ast.Subscript)) for one in target.elts):
            return str(len(target.elts))
        return json.dumps(self._shape(target)).replace(",]", "]")

    def _shape(self, target: ast.expr) -> object:
        match target:
            case ast.Starred():
                return "*"
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return [self._shape(one) for one in elements]
        return 0

    def passed(self, target: ast.expr, values: ast.expr) -> str:
        """What a loop goes through, so that each value fits the target."""
        text = self._of.value(values)
        if isinstance(target, (ast.Tuple, ast.List)):
            match values:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=given):
                    length = len(given) if name == "zip" else _KNOWN_LENGTH.get(name)
                    own = name in self._of.facts.methods or self._naming.is_bound(name)
                    if (
                        not own
                        and self.shape(target) == str(length)
                        and not any(isinstance(a, ast.Starred) for a in given)
                    ):
                        return text
            return f"$unpacked({text}, {self.shape(target)})"
        safe = isinstance(values, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)) or (
            isinstance(values, ast.Call)
            and isinstance(values.func, ast.Name)
            and values.func.id in ("range", "enumerate", "zip", "reversed", "sorted", "list", "map")
            and not self._naming.is_bound(values.func.id)
        )
        return text if safe else f"$iter({text})"

    def comprehension(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp) -> str:
        """A comprehension or generator expression."""
        text = self._generated(node, node.generators)
        match node:
            case ast.ListComp():
                return f"[...{text}]"
            case ast.SetComp():
                return f"new $Set({text})"
            case ast.DictComp():
                return f"new $Dict({text})"
        return text

    def _generated(
        self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp, loops: list[ast.comprehension]
    ) -> str:
        first, *others = loops
        if first.is_async:
            refuse("an asynchronous comprehension", node)
        values = self.passed(first.target, first.iter)
        names = {part.id for part in ast.walk(first.target) if isinstance(part, ast.Name)}
        with self._naming.scope(names):
            target = f"({self.pattern(first.target)}) =>"
            if others:
                helper, made = "$flat", self._generated(node, others)
            elif isinstance(node, ast.DictComp):
                helper, made = "$each", f"[{self._of.value(node.key)}, {self._of.value(node.value)}]"
            else:
                helper, made = "$each", self._of.tight(node.elt)
            parts = [values, f"{target} {made}"]
            if first.ifs:
                test = first.ifs[0] if len(first.ifs) == 1 else ast.BoolOp(ast.And(), first.ifs)
                parts.append(f"{target} {self._of.test(test)}")
        return f"{helper}({', '.join(parts)})"
