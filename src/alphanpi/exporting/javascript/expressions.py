"""Python's expressions in JavaScript."""

from __future__ import annotations

import ast
import json

from alphanpi.exporting.javascript.builtins import EXCEPTIONS, FUNCTIONS, METHODS, SYS
from alphanpi.exporting.javascript.calls import CallTranslator
from alphanpi.exporting.javascript.facts import Facts, is_boolean, signature
from alphanpi.exporting.javascript.looping import LoopTranslator
from alphanpi.exporting.javascript.naming import Naming, js_name
from alphanpi.exporting.javascript.refusing import refuse

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "$add",
    ast.Sub: "$sub",
    ast.Mult: "$mul",
    ast.Div: "$div",
    ast.FloorDiv: "$floordiv",
    ast.Mod: "$mod",
    ast.Pow: "$pow",
    ast.BitAnd: "$bitand",
    ast.BitOr: "$bitor",
    ast.BitXor: "$bitxor",
    ast.LShift: "$lshift",
    ast.RShift: "$rshift",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "$eq",
    ast.NotEq: "$ne",
    ast.Lt: "$lt",
    ast.LtE: "$le",
    ast.Gt: "$gt",
    ast.GtE: "$ge",
    ast.In: "$in",
    ast.NotIn: "!$in",
}
_SAFE_INTEGER = 2**53 - 1


def operator_helper(operator: ast.operator, node: ast.AST) -> str:
    """The function for a binary operator."""
    helper = _OPERATORS.get(type(operator))
    return helper if helper is not None else refuse(f"the operator {type(operator).__name__}", node)


def is_simple(node: ast.expr) -> bool:
    """Whether an expression can be written twice: evaluating it does nothing, and costs little."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=value) | ast.UnaryOp(operand=value):
            return is_simple(value)
    return False


class ExpressionTranslator:
    """Translates expressions; `value` gives one that can stand between commas, `tight` one that binds closely."""

    def __init__(self, facts: Facts, naming: Naming) -> None:
        self.facts = facts
        self.naming = naming
        self.calls = CallTranslator(self)
        self.loops = LoopTranslator(self)

    def tight(self, node: ast.expr) -> str:
        """An expression with parentheses around where it needs them."""
        text = self.value(node)
        loose = isinstance(node, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Compare, ast.UnaryOp))
        return f"({text})" if loose and not text.isidentifier() else text

    def test(self, node: ast.expr) -> str:
        """An expression as a condition."""
        match node:
            case ast.BoolOp(op=operator, values=values):
                return (" && " if isinstance(operator, ast.And) else " || ").join(self._operand(one) for one in values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"!{self._operand(operand)}"
        return self.value(node) if is_boolean(node, self.facts.boolean) else f"$truth({self.value(node)})"

    def _operand(self, node: ast.expr) -> str:
        text = self.test(node)
        loose = isinstance(node, (ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Compare)) and not text.startswith("$truth(")
        return f"({text})" if loose and not self._one_call(node) else text

    def _one_call(self, node: ast.expr) -> bool:
        """Whether a comparison is written as one call of a helper."""
        return isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS

    def value(self, node: ast.expr) -> str:
        """An expression."""
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self.calls.call(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp():
                return self._both(node)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return f"{self._operand(test)} ? {self.tight(body)} : {self.tight(orelse)}"
            case ast.Subscript():
                return self._subscript(node)
            case ast.List(elts=elements):
                return f"[{self.listed(elements)}]"
            case ast.Tuple(elts=elements):
                return f"new $Tuple({self.listed(elements)})"
            case ast.Set(elts=elements):
                return f"new $Set([{self.listed(elements)}])"
            case ast.Dict():
                return self._dict(node)
            case ast.JoinedStr():
                return self._formatted(node)
            case ast.Lambda():
                return self._lambda(node)
            case ast.NamedExpr(target=target, value=value):
                return f"({js_name(target.id)} = {self.value(value)})"
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                return self.loops.comprehension(node)
            case ast.Starred(value=value):
                return f"...$iter({self.value(value)})"
        return refuse(f"the expression {ast.unparse(node)[:60]!r} ({type(node).__name__})", node)

    def listed(self, nodes: list[ast.expr]) -> str:
        """Expressions with commas between."""
        return ", ".join(self.value(node) for node in nodes)

    def _constant(self, node: ast.Constant) -> str:
        value = node.value
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, int):
            return str(value) if abs(value) <= _SAFE_INTEGER else f"{value}n"
        if isinstance(value, float):
            return f"new $Float({'Infinity' if value == float('inf') else value!r})"
        if isinstance(value, str):
            return json.dumps(value)
        return refuse(f"the constant {value!r}", node)

    def _name(self, node: ast.Name) -> str:
        name = node.id
        if self.naming.is_bound(name):
            return self.naming.variable(name)
        if name in FUNCTIONS:
            return FUNCTIONS[name].helper
        if name in EXCEPTIONS:
            return f"${name}"
        return refuse(f"the name {name!r}, which the module does not define,", node)

    def _attribute(self, node: ast.Attribute) -> str:
        name = node.attr
        match node.value:
            case ast.Name(id=module) if module in self.facts.modules and not self.naming.is_local(module):
                if self.facts.modules[module] == "sys" and name in SYS:
                    return f"$sys.{name}"
                refuse(f"{module}.{name}", node)
            case ast.Call(func=ast.Name(id="type"), args=[one]) if name == "__name__":
                return f"$typeName({self.value(one)})"
            case ast.Attribute(value=one, attr="__class__") if name == "__name__":
                return f"$typeName({self.value(one)})"
        if self.calls.is_own_type(node.value) and name in METHODS:
            return METHODS[name].helper
        if name == "__class__":
            return f"$kind({self.value(node.value)})"
        if name in self.facts.methods:
            return f"$getattr({self.value(node.value)}, {json.dumps(self.naming.attribute(name))})"
        if name in self.facts.attributes or name == "args":
            return f"{self.tight(node.value)}.{self.naming.attribute(name)}"
        if name in METHODS and is_simple(node.value):
            return f"((...values) => {METHODS[name].helper}({self.value(node.value)}, ...values))"
        return refuse(f"the attribute .{name}, which no class of the module has,", node)

    def _binary(self, node: ast.BinOp) -> str:
        text = isinstance(node.left, ast.JoinedStr) or (
            isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        )
        if isinstance(node.op, ast.Mod) and text:
            refuse("the operator % of a str", node)
        return f"{operator_helper(node.op, node)}({self.value(node.left)}, {self.value(node.right)})"

    def _unary(self, node: ast.UnaryOp) -> str:
        match node.op, node.operand:
            case ast.Not(), operand:
                return f"!{self._operand(operand)}"
            case ast.USub(), ast.Constant(value=int(number)) if not isinstance(number, bool) and number != 0:
                return f"-{self.value(node.operand)}"
        helper = {ast.USub: "$neg", ast.UAdd: "$pos", ast.Invert: "$invert"}[type(node.op)]
        return f"{helper}({self.value(node.operand)})"

    def _both(self, node: ast.BoolOp) -> str:
        """`and` and `or`, whose value is one of the operands'."""
        *others, last = node.values
        text = self.value(last)
        loose = isinstance(last, (ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Compare))
        text = f"({text})" if loose and not self._one_call(last) else text
        for one in reversed(others):
            if is_boolean(one, self.facts.boolean):
                both = f"{self._operand(one)} {'&&' if isinstance(node.op, ast.And) else '||'} {text}"
            else:
                body = f"({text})" if text.startswith("{") else text
                both = f"{'$and' if isinstance(node.op, ast.And) else '$or'}({self.value(one)}, () => {body})"
            text = both
        return text

    def _compare(self, node: ast.Compare) -> str:
        """Comparisons, of which all but the ends of a chain are evaluated once."""
        left, operators, rights = node.left, node.ops, node.comparators
        if len(operators) == 1:
            return self._relation(operators[0], self.value(left), self.value(rights[0]), node)
        if all(is_simple(one) for one in rights[:-1]):
            pairs = zip([left, *rights[:-1]], operators, rights, strict=True)
            return " && ".join(self._relation(one, self.value(a), self.value(b), node) for a, one, b in pairs)
        return self._chain(self.value(left), operators, rights, node)

    def _chain(self, left: str, operators: list[ast.cmpop], rights: list[ast.expr], node: ast.Compare) -> str:
        if len(operators) == 1:
            return self._relation(operators[0], left, self.value(rights[0]), node)
        first, second = self.naming.temporary(), self.naming.temporary()
        rest = self._chain(second, operators[1:], rights[1:], node)
        both = f"({first}, {second}) => {self._relation(operators[0], first, second, node)} && {rest}"
        return f"({both})({left}, {self.value(rights[0])})"

    def _relation(self, operator: ast.cmpop, left: str, right: str, node: ast.Compare) -> str:
        if isinstance(operator, (ast.Is, ast.IsNot)):
            return f"{left} {'===' if isinstance(operator, ast.Is) else '!=='} {right}"
        return f"{_COMPARISONS[type(operator)]}({left}, {right})"

    def _subscript(self, node: ast.Subscript) -> str:
        if isinstance(node.slice, ast.Slice):
            bounds = self.bounds(node.slice)
            while bounds and bounds[-1] == "null":
                bounds.pop()
            return f"$slice({', '.join([self.value(node.value), *bounds])})"
        return f"$get({self.value(node.value)}, {self.value(node.slice)})"

    def bounds(self, node: ast.Slice) -> list[str]:
        """Start, stop and step of a slice."""
        return ["null" if one is None else self.value(one) for one in (node.lower, node.upper, node.step)]

    def _dict(self, node: ast.Dict) -> str:
        pairs = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                pairs.append(f"...$items({self.value(value)})")
            else:
                pairs.append(f"[{self.value(key)}, {self.value(value)}]")
        return f"new $Dict([{', '.join(pairs)}])" if pairs else "new $Dict()"

    def _formatted(self, node: ast.JoinedStr) -> str:
        written = []
        for part in node.values:
            match part:
                case ast.Constant(value=str(text)):
                    inside = json.dumps(text)[1:-1].replace('\\"', '"')
                    written.append(inside.replace("`", "\\`").replace("${", "\\${"))
                case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                    shown = self.value(value)
                    if conversion not in (-1, ord("s"), ord("r")):
                        refuse("the conversion !a", node)
                    if conversion != -1:
                        shown = f"{'$repr' if conversion == ord('r') else '$str'}({shown})"
                    if spec is not None:
                        shown = f"$format({shown}, {self.value(spec)})"
                    elif conversion == -1:
                        shown = f"$str({shown})"
                    written.append(f"${{{shown}}}")
        return f"`{''.join(written)}`"

    def _lambda(self, node: ast.Lambda) -> str:
        parameters = signature(node)
        if parameters.variadic:
            refuse("a lambda with a parameter *", node)
        defaults: list[ast.expr] = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        if not all(isinstance(one, ast.Constant) for one in defaults):
            refuse("a lambda whose parameter has a default that is no constant", node)
        required = sum(parameters.required)
        names = [js_name(name) for name in parameters.names]
        written = names[:required] + [
            f"{name} = {self.value(one)}" for name, one in zip(names[required:], defaults, strict=True)
        ]
        with self.naming.scope(set(parameters.names)):
            return f"(({', '.join(written)}) => {self.tight(node.body)})"
