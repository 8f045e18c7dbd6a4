"""Learned programs as Python source."""

from __future__ import annotations

import ast
import builtins
import keyword
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from alphanpi.exporting.blocks import Block, Do, If, Return, Statement, While
from alphanpi.exporting.conditions import Comparison, Condition, Terms
from alphanpi.exporting.minimise import Learned
from alphanpi.spec import Environment
from alphanpi.standalone import Standalone

_WIDTH = 100
_INDENT = "    "


def function_name(program: str) -> str:
    """The exported function of a program."""
    name = program.lower()
    return f"{name}_" if keyword.iskeyword(name) or hasattr(builtins, name) else name


class Renderer:
    """Writes functions over a runtime's objects, or over a generic `env` where there is no runtime."""

    def __init__(self, environment: Environment[Any], standalone: Standalone[Any] | None) -> None:
        self.library = environment.library
        self.standalone = standalone
        self.parameter = "env" if standalone is None else standalone.parameter

    def function(self, learned: Learned) -> str:
        """One program as a function."""
        summary = self.library.named(learned.program).summary
        lines = [f"def {function_name(learned.program)}({self.parameter}):"]
        if summary:
            lines.append(f'{_INDENT}"""{summary}"""')
        body = self._block(learned, learned.block, 1)
        if not body and not summary:
            body = [f"{_INDENT}pass"]
        return "\n".join([*lines, *body])

    def _block(self, learned: Learned, block: Block, level: int) -> list[str]:
        lines: list[str] = []
        for statement in block:
            lines += self._statement(learned, statement, level)
        return lines

    def _statement(self, learned: Learned, statement: Statement, level: int) -> list[str]:
        indent = _INDENT * level
        match statement:
            case Do(action):
                return [f"{indent}{self._call(learned.program, action)}"]
            case Return():
                return [f"{indent}return"]
            case While(_, body, condition):
                return [
                    *self._head("while", learned, condition, indent),
                    *self._block(learned, body, level + 1),
                ]
            case If(_, then, otherwise, condition):
                lines = [*self._head("if", learned, condition, indent), *self._block(learned, then, level + 1)]
                while len(otherwise) == 1 and isinstance(otherwise[0], If):
                    nested = otherwise[0]
                    lines += self._head("elif", learned, nested.condition, indent)
                    lines += self._block(learned, nested.then, level + 1)
                    otherwise = nested.otherwise
                if otherwise:
                    lines += [f"{indent}else:", *self._block(learned, otherwise, level + 1)]
                return lines

    def _call(self, caller: str, action: str) -> str:
        entry = self.library.named(action)
        if entry.atomic:
            return f'env.act("{action}")' if self.standalone is None else f"{self.parameter}.{action.lower()}()"
        name = function_name(action)
        if action != caller:
            return f"{name}({self.parameter})"
        if self.standalone is None:
            return f'env.call("{action}", {name})'
        return f"{name}({self.parameter}.{self.standalone.inner[action]}())"

    def _head(self, word: str, learned: Learned, condition: Condition | None, indent: str) -> list[str]:
        assert condition is not None, "the block is complete"
        line = f"{indent}{word} {self.condition(learned, condition)}:"
        if len(line) <= _WIDTH:
            return [line]
        parts, joint = self._alternatives(learned, condition.terms), "or"
        if len(condition.terms) == 1:
            parts, joint = [self._test(learned, test) for test in condition.terms[0]], "and"
        inside = [f"{indent}{_INDENT}{part if number == 0 else f'{joint} {part}'}" for number, part in enumerate(parts)]
        return [f"{indent}{word} (", *inside, f"{indent}):"]

    def condition(self, learned: Learned, condition: Condition) -> str:
        """A condition as a Python expression."""
        parts = self._alternatives(learned, condition.terms)
        if len(parts) == 1 and parts[0].startswith("("):
            return parts[0][1:-1]
        return " or ".join(parts)

    def _alternatives(self, learned: Learned, terms: Terms) -> list[str]:
        """Expressions joined by `or`, in parentheses where needed; a test that several terms share is written once."""
        if len(terms) > 1 and all(len(term) == 1 and self._is_negation(learned, term[0]) for term in terms):
            inner = " and ".join(self._test(learned, term[0]._replace(value=1)) for term in terms)
            return [f"not ({inner})"]
        counts = Counter(test for term in terms if len(term) > 1 for test in term)
        shared, count = max(counts.items(), key=lambda item: item[1], default=(None, 0))
        if shared is None or count < 2:
            return [self._conjunction(learned, term) for term in terms]
        group = tuple(
            tuple(test for test in term if test != shared) for term in terms if shared in term and len(term) > 1
        )
        others = tuple(term for term in terms if shared not in term or len(term) == 1)
        inner = " or ".join(self._alternatives(learned, group))
        nested = inner if len(self._alternatives(learned, group)) == 1 else f"({inner})"
        return [*self._alternatives(learned, others), f"({self._test(learned, shared)} and {nested})"]

    def _conjunction(self, learned: Learned, term: tuple[Comparison, ...]) -> str:
        text = " and ".join(self._test(learned, test) for test in term) or "True"
        return text if len(term) < 2 else f"({text})"

    @staticmethod
    def _is_negation(learned: Learned, test: Comparison) -> bool:
        return learned.binary[test.feature] and test.value == 0

    def _test(self, learned: Learned, test: Comparison) -> str:
        feature = learned.features[test.feature]
        if feature.kind == "may":
            value = f'{self.parameter}.may("{feature.name}")'
        elif self.standalone is None:
            value = f'env.field("{feature.name}")'
        else:
            value = self.standalone.fields.get(feature.name, f"{self.parameter}.{feature.name}")
        if not learned.binary[test.feature]:
            return f"{value} {test.operator} {test.value}"
        if test.value == 1:
            return value
        return value.replace(" == ", " != ") if " == " in value else f"not {value}"


def needs_legality(programs: Sequence[Learned]) -> bool:
    """Whether some condition asks which actions are legal."""
    return any(feature.kind == "may" for learned in programs for feature in _tested(learned, learned.block))


def _tested(learned: Learned, block: Block) -> set[Any]:
    found = set()
    for statement in block:
        if isinstance(statement, (If, While)):
            assert statement.condition is not None, "the block is complete"
            found |= {learned.features[test.feature] for term in statement.condition.terms for test in term}
            bodies = (statement.then, statement.otherwise) if isinstance(statement, If) else (statement.body,)
            for body in bodies:
                found |= _tested(learned, body)
    return found


def module(
    environment: Environment[Any], standalone: Standalone[Any] | None, programs: Sequence[Learned], header: str
) -> str:
    """The whole module: docstring, learned functions from the top level down, runtime."""
    renderer = Renderer(environment, standalone)
    functions = "\n\n\n".join(renderer.function(learned) for learned in reversed(programs))
    docstring = f'"""{header}\n"""' if "\n" in header else f'"""{header}"""'
    if standalone is None:
        return f"{docstring}\n\n\n{functions}\n"
    imports, _, runtime = standalone.source.partition("\n\n\n")
    rule = f"# {'-' * 30} what the functions work on {'-' * 30}"
    runtime = _pruned(functions, runtime.strip("\n"))
    annotations = "from __future__ import annotations\n\n"
    return f"{docstring}\n\n{annotations}{imports}\n\n\n{functions}\n\n\n{rule}\n\n\n{runtime}\n"


def _pruned(functions: str, runtime: str) -> str:
    """The runtime without methods and properties that nothing refers to."""
    while True:
        used = {
            node.attr if isinstance(node, ast.Attribute) else node.id
            for text in (functions, runtime)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.Attribute, ast.Name))
        }
        needless = [
            member
            for node in ast.parse(runtime).body
            if isinstance(node, ast.ClassDef)
            for member in node.body
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__") and member.name not in used
        ]
        if not needless:
            return runtime
        lines = runtime.splitlines()
        for member in reversed(needless):
            first = min([member.lineno, *(decorator.lineno for decorator in member.decorator_list)])
            assert member.end_lineno is not None
            del lines[first - 2 : member.end_lineno]  # with the blank line above
        runtime = "\n".join(lines)


def wrapped(text: str) -> str:
    """A paragraph of a docstring or comment."""
    return "\n".join(textwrap.wrap(text, _WIDTH - 4, break_long_words=False, break_on_hyphens=False))
