"""The members of an environment that a runtime needs, as a class of their own that needs no base."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from types import FunctionType
from typing import Any, NamedTuple

from alphanpi.environment import declarations
from alphanpi.environment.carrying.carrier import Carrier, is_literal
from alphanpi.environment.carrying.source_text import (
    SourceText,
    UncarriableError,
    definition_of,
    file_of,
    scope_of,
)
from alphanpi.environment.specification import Environment

_FRAMEWORK = "alphanpi.environment."
_INDENT = "    "


class Method(NamedTuple):
    """A method of an environment as it is written."""

    node: ast.FunctionDef
    file: SourceText
    scope: Mapping[str, Any]  # what its names mean

    @property
    def own(self) -> str:
        """What the method calls the environment; empty where it does not take it."""
        names = [argument.arg for argument in (*self.node.args.posonlyargs, *self.node.args.args)]
        return names[0] if names and not self._static else ""

    @property
    def parameters(self) -> list[str]:
        """The other parameters."""
        names = [argument.arg for argument in (*self.node.args.posonlyargs, *self.node.args.args)]
        return names if self._static else names[1:]

    @property
    def _static(self) -> bool:
        return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in self.node.decorator_list)


class Members:
    """Members of one environment, with those they use."""

    def __init__(self, environment: Environment[Any], carrier: Carrier) -> None:
        self._environment = environment
        self._kind = type(environment)
        self.carrier = carrier
        self._texts: dict[str, str] = {}

    def copy(self) -> Members:
        """The same, to try something on."""
        other = Members(self._environment, self.carrier.copy())
        other._texts = dict(self._texts)
        return other

    def source(self, class_name: str) -> str:
        """The class; empty where no member was needed."""
        if not self._texts:
            return ""
        summary = (self._kind.__doc__ or "").strip().split("\n")[0].replace("\\", "").replace('"', "")
        head = [f"class {class_name}:", *([f'{_INDENT}"""{summary}"""'] if summary else [])]
        attributes = [text for text in self._texts.values() if not text.lstrip().startswith(("def ", "@"))]
        methods = [text for text in self._texts.values() if text not in attributes]
        parts = ["\n".join(head), "\n".join(attributes), *methods]
        return "\n\n".join(
            textwrap.indent(part, _INDENT) if place else part for place, part in enumerate(parts) if part
        )

    def overrides(self, member: str) -> bool:
        """Whether the environment has a member of its own."""
        return getattr(self._kind, member) is not getattr(Environment, member)

    def method(self, name: str) -> Method:
        """A method, as it is written; nothing is carried yet."""
        holder = self._holder(name)
        member = vars(holder)[name]
        function = getattr(member, "__func__", getattr(member, "fget", member))
        if not isinstance(function, FunctionType):
            raise UncarriableError(f"{name} is a {type(member).__name__}, not a method with a source")
        node = definition_of(function)
        assert isinstance(node, ast.FunctionDef), "functions are defined by such statements"
        return Method(node, file_of(function), scope_of(function))

    def need(self, name: str) -> None:
        """Carry a member, and whatever it uses."""
        if name in self._texts:
            return
        if name in vars(self._environment):
            self._attribute(name, vars(self._environment)[name])
            return
        member = vars(self._holder(name))[name]
        if isinstance(getattr(member, "__func__", getattr(member, "fget", member)), FunctionType):
            self._method(name)
        else:
            self._attribute(name, member)

    def _attribute(self, name: str, value: Any) -> None:
        if not is_literal(value):
            raise UncarriableError(f"its member {name}, a {type(value).__name__}, cannot be written as source")
        self._texts[name] = f"{name} = {value!r}"

    def _method(self, name: str) -> None:
        method = self.method(name)
        text = self._texts[name] = self._undeclared(method)
        self.uses(method, text)

    def uses(self, method: Method, text: str) -> None:
        """Carry what a piece of a method uses: members of the environment, and names of its file."""
        own, taken = method.own, {self._kind.__name__: self._kind}
        tree = ast.parse(textwrap.dedent(text))
        members = {
            id(node.value): node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        scope = method.scope
        besides = {own}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Name):
                continue
            if node.id == "super":
                raise UncarriableError(f"{method.node.name} uses super()")
            environment = (own and node.id == own) or scope.get(node.id) is taken.get(node.id, self)
            if environment and id(node) not in members:
                raise UncarriableError(f"{method.node.name} changes {node.id}, or hands it on")
            if environment:
                besides.add(node.id)
                self.need(members[id(node)])
        self.carrier.text(textwrap.dedent(text), scope, method.file, frozenset(besides))

    def _undeclared(self, method: Method) -> str:
        """A method's text without the declaration of an action or program."""
        text = method.file.lines_of(method.node)
        numbered = text.split("\n")
        node = ast.parse(text).body[0]
        assert isinstance(node, ast.FunctionDef), "the lines of a method"
        for decorator in reversed(node.decorator_list):
            if isinstance(decorator, ast.Call) and _declares(decorator.func, method.scope):
                del numbered[decorator.lineno - 1 : decorator.end_lineno]
        return "\n".join(numbered)

    def _holder(self, name: str) -> type:
        """The class that has a member; the framework's own are not carried."""
        for kind in self._kind.__mro__:
            if name in vars(kind):
                if kind.__module__.startswith(_FRAMEWORK) and kind in Environment.__mro__:
                    break
                return kind
        raise UncarriableError(f"it uses the member {name} of Environment")


def _declares(function: ast.expr, scope: Mapping[str, Any]) -> bool:
    """Whether a decorator is one of those that declare actions and programs."""
    match function:
        case ast.Name(id=name):
            found = scope.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            found = getattr(scope.get(name), attribute, None)
        case _:
            return False
    return getattr(found, "__module__", "") == declarations.__name__
