"""Learned programs as Python source."""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from alphanpi.environment.carrying import CarriedStandalone
from alphanpi.environment.specification import Library
from alphanpi.environment.standalone import Standalone, method_name
from alphanpi.exporting.blocks import Block, Do, If, Return, Statement, While, tidy
from alphanpi.exporting.conditions import OPPOSITE, BranchCondition, Comparison, Feature, Terms
from alphanpi.exporting.escaping import docstring, is_name, literal
from alphanpi.exporting.expressions import Atom, Expression, flat, joined, lines, negated
from alphanpi.exporting.minimise import Learned
from alphanpi.exporting.names import attribute, function_names
from alphanpi.exporting.runtime import DEEPEST, divided, imports_sys, pruned, without_unused
from alphanpi.exporting.tail import calls, folded, loops, nests

_WIDTH = 100
_INDENT = "    "
_FRAMES = DEEPEST + 1000  # leaves room for what the functions use, and for who calls them


class Renderer:
    """Writes functions over a runtime's objects, or over a generic `env` where there is no runtime."""

    def __init__(self, library: Library, standalone: Standalone[Any] | None) -> None:
        self.library = library
        self.standalone = standalone
        self.parameter = "env" if standalone is None else standalone.parameter
        self.names = function_names(library, standalone)

    def function(self, learned: Learned) -> str:
        """One program as a function."""
        summary = self.library.named(learned.program).summary
        written = [f"def {self.names[learned.program]}({self.parameter}):"]
        if summary:
            written.append(f"{_INDENT}{docstring(summary)}")
        body = self._body(learned)
        if not body and not summary:
            body = [f"{_INDENT}pass"]
        return "\n".join([*written, *body])

    def _body(self, learned: Learned) -> list[str]:
        """The statements of a function; where it can begin again instead of calling itself, it does."""
        block = folded(learned.block)
        if self.standalone is None or not loops(learned.program, block):
            return self._block(learned, learned.block, 1)
        match block:
            case (If(_, then, otherwise, condition),) if loops(learned.program, then) != loops(
                learned.program, otherwise
            ):
                repeats = loops(learned.program, then)
                body, after = (then, otherwise) if repeats else (otherwise, then)
                return [
                    *self._head("while", learned, condition, _INDENT, holds=repeats),
                    *self._repeated(learned, body, 2),
                    *self._block(learned, tidy(after), 1),
                ]
        return [f"{_INDENT}while True:", *self._repeated(learned, block, 2)]

    def _repeated(self, learned: Learned, block: Block, level: int) -> list[str]:
        """A folded block inside of a loop that begins the program again."""
        indent = _INDENT * level
        if not loops(learned.program, block):
            return [*self._block(learned, tidy(block), level), f"{indent}return"]
        *others, last = block
        written = self._block(learned, tuple(others), level)
        if not isinstance(last, If):
            return [*written, f"{indent}{self.parameter} = {self._inner(learned.program)}"]
        then, otherwise, condition = last.then, last.otherwise, last.condition
        again = loops(learned.program, then), loops(learned.program, otherwise)
        if all(again):
            return [
                *written,
                *self._head("if", learned, condition, indent),
                *self._repeated(learned, then, level + 1),
                f"{indent}else:",
                *self._repeated(learned, otherwise, level + 1),
            ]
        first, second = (otherwise, then) if again[0] else (then, otherwise)
        return [
            *written,
            *self._head("if", learned, condition, indent, holds=not again[0]),
            *self._repeated(learned, first, level + 1),
            *self._repeated(learned, second, level),
        ]

    def _block(self, learned: Learned, block: Block, level: int) -> list[str]:
        written: list[str] = []
        for statement in block:
            written += self._statement(learned, statement, level)
        return written

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
                written = [*self._head("if", learned, condition, indent), *self._block(learned, then, level + 1)]
                while len(otherwise) == 1 and isinstance(otherwise[0], If):
                    nested = otherwise[0]
                    written += self._head("elif", learned, nested.condition, indent)
                    written += self._block(learned, nested.then, level + 1)
                    otherwise = nested.otherwise
                if otherwise:
                    written += [f"{indent}else:", *self._block(learned, otherwise, level + 1)]
                return written

    def _call(self, caller: str, action: str) -> str:
        entry = self.library.named(action)
        if entry.atomic:
            return (
                f"env.act({literal(action)})"
                if self.standalone is None
                else f"{self.parameter}.{method_name(action)}()"
            )
        name = self.names[entry.runs]
        if self.standalone is None:
            return f"env.call({literal(action)}, {name})"
        if self.library.frame(caller, action) is None:
            return f"{name}({self.parameter})"
        return f"{name}({self._inner(action)})"

    def _inner(self, program: str) -> str:
        assert self.standalone is not None, "only runtimes have objects inside one another"
        return f"{self.parameter}.{self.standalone.inner[program]}()"

    def _head(
        self, word: str, learned: Learned, condition: BranchCondition | None, indent: str, holds: bool = True
    ) -> list[str]:
        assert condition is not None, "the block is complete"
        ways = [self.expression(learned, condition, factored) for factored in (True, False)]
        if not holds:
            ways = [negated(way) for way in ways]
        line = f"{indent}{word} {flat(ways[0])}:"
        if len(line) <= _WIDTH:
            return [line]
        inside = min((lines(way, _WIDTH - len(indent) - len(_INDENT)) for way in ways), key=len)
        return [f"{indent}{word} (", *(f"{indent}{_INDENT}{line}" for line in inside), f"{indent}):"]

    def expression(self, learned: Learned, condition: BranchCondition, factored: bool = True) -> Expression:
        """A condition as a Python expression, in which a test that several terms share is written once or as often."""
        if factored:
            return self._any_of(learned, condition.terms)
        return joined("or", [self._all_of(learned, term) for term in condition.terms])

    def _any_of(self, learned: Learned, terms: Terms) -> Expression:
        """The terms joined by `or`, with shared tests in front."""
        counts = Counter(test for term in terms if len(term) > 1 for test in term)
        shared, count = max(counts.items(), key=lambda item: item[1], default=(None, 0))
        if shared is None or count < 2:
            return joined("or", [self._all_of(learned, term) for term in terms])
        group = tuple(
            tuple(test for test in term if test != shared) for term in terms if shared in term and len(term) > 1
        )
        others = tuple(term for term in terms if shared not in term or len(term) == 1)
        both = joined("and", [self._test(learned, shared), self._any_of(learned, group)])
        return joined("or", [self._any_of(learned, others), both]) if others else both

    def _all_of(self, learned: Learned, term: tuple[Comparison, ...]) -> Expression:
        if not term:
            return Atom("True", "False", negative=False)
        return joined("and", [self._test(learned, test) for test in term])

    def _test(self, learned: Learned, test: Comparison) -> Atom:
        if test.others:
            return self._joint_test(learned, test)
        feature = learned.features[test.feature]
        value = self.value(feature)
        if not learned.binary[test.feature]:
            operand = value if _is_simple(value) else f"({value})"
            opposite = f"{operand} {OPPOSITE[test.operator]} {test.value}"
            return Atom(f"{operand} {test.operator} {test.value}", opposite, negative=False)
        yes, no = _truth(value)
        return Atom(yes, no, negative=False) if test.value == 1 else Atom(no, yes, negative=True)

    def _joint_test(self, learned: Learned, test: Comparison) -> Atom:
        """Two features that are equal, or more whose sum is odd."""
        values = [self.value(learned.features[index]) for index in test.features]
        operands = [value if _is_operand(value) else f"({value})" for value in values]
        if len(operands) == 2:
            same, differ = (f" {sign} ".join(operands) for sign in ("==", "!="))
            equal = test.holds((0,) * len(learned.features))
            return Atom(same, differ, negative=False) if equal else Atom(differ, same, negative=False)
        odd = " ^ ".join(operands)
        return Atom(odd, f"not ({odd})", False) if test.value == 1 else Atom(f"not ({odd})", odd, True)

    def value(self, feature: Feature) -> str:
        """The expression that gives a feature's value."""
        if feature.kind == "may":
            return f"{self.parameter}.may({literal(feature.name)})"
        if self.standalone is None:
            return f"env.field({literal(feature.name)})"
        if feature.name in self.standalone.fields:
            # Written anew: a comment or a line's end in it would reach beyond the expression.
            return ast.unparse(ast.parse(self.standalone.fields[feature.name].strip(), mode="eval"))
        return attribute(self.parameter, feature.name)


class Labels(Renderer):
    """Writes conditions for people: fields by their bare names."""

    def value(self, feature: Feature) -> str:
        """The feature's name where that is a name; otherwise as in the module."""
        if not is_name(feature.name):
            return super().value(feature)
        return f"may({feature.name})" if feature.kind == "may" else feature.name


def _is_simple(value: str) -> bool:
    """Whether an expression can stand on one side of a comparison as it is."""
    node = ast.parse(value, mode="eval").body
    return isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.BinOp))


def _is_operand(value: str) -> bool:
    """Whether an expression keeps its meaning between operators."""
    node = ast.parse(value, mode="eval").body
    return isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))


def _truth(value: str) -> tuple[str, str]:
    """An expression as a test, and its opposite."""
    node = ast.parse(value, mode="eval").body
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        other = ast.NotEq() if isinstance(node.ops[0], ast.Eq) else ast.Eq()
        return value, ast.unparse(ast.Compare(node.left, [other], node.comparators))
    if isinstance(node, ast.Compare) or _is_simple(value):
        return value, f"not {value}"
    return f"({value})", f"not ({value})"


def tested(learned: Learned) -> tuple[Feature, ...]:
    """The features that a program's conditions ask for."""
    return tuple(dict.fromkeys(_tested(learned, learned.block)))


def _tested(learned: Learned, block: Block) -> list[Feature]:
    found: list[Feature] = []
    for statement in block:
        if isinstance(statement, (If, While)):
            assert statement.condition is not None, "the block is complete"
            tests = [test for term in statement.condition.terms for test in term]
            found += [learned.features[index] for test in tests for index in test.features]
            bodies = (statement.then, statement.otherwise) if isinstance(statement, If) else (statement.body,)
            for body in bodies:
                found += _tested(learned, body)
    return found


def actions_of(block: Block) -> set[str]:
    """Every action and call in a block."""
    found: set[str] = set()
    for statement in block:
        match statement:
            case Do(action):
                found.add(action)
            case If(_, then, otherwise):
                found |= actions_of(then) | actions_of(otherwise)
            case While(_, body):
                found |= actions_of(body)
    return found


def functions(renderer: Renderer, programs: Sequence[Learned]) -> str:
    """The learned functions from the top level down."""
    return "\n\n\n".join(renderer.function(learned) for learned in reversed(programs))


def module(renderer: Renderer, programs: Sequence[Learned], header: str, prune: bool = True, main: bool = True) -> str:
    """The whole module: docstring, learned functions, runtime; its main part only if that is wanted."""
    written = functions(renderer, programs)
    head = docstring(f"{header}\n" if "\n" in header else header)
    standalone = renderer.standalone
    if standalone is None:
        return f"{head}\n\n\n{written}\n"
    imports, body = divided(standalone.source)
    script = main_part(renderer) if main else ""
    if prune:
        body = pruned(f"{written}\n{script}", body, standalone)
    if isinstance(standalone, CarriedStandalone):
        imports = without_unused(imports, f"{body}\n{script}")
    rule = f"# {'-' * 30} what the functions work on {'-' * 30}"
    parts = [rule, body, *filter(None, [script])]
    if script:
        imports = _with_sys(imports)
    if any(_nests(renderer.library, learned) for learned in programs):
        parts.insert(1, _DEPTH)
        imports = _with_sys(imports)
    above = [head, "from __future__ import annotations", imports]
    return "\n\n".join(filter(None, above)) + "\n\n\n" + "\n\n\n".join([written, *parts]) + "\n"


def _nests(library: Library, learned: Learned) -> bool:
    """Whether calls of a function may nest: by the program itself other than at its end, or by those of its group."""
    named = [library.names[call] for call in library.recursions(learned.program)]
    others = (call for call in named if call != learned.program)
    return nests(learned.program, folded(learned.block)) or any(calls(call, learned.block) for call in others)


def main_part(renderer: Renderer) -> str:
    """What makes a module a script, if its runtime was made of the environment's source; empty if it has none."""
    if not isinstance(renderer.standalone, CarriedStandalone):
        return ""
    return renderer.standalone.main.replace("{program}", renderer.names[renderer.library.learned[-1].name])


def _with_sys(imports: str) -> str:
    return imports if imports_sys(imports) else "\n".join(filter(None, ("import sys", imports)))


_DEPTH = f"""\
# The agent nests up to {DEEPEST:,} calls. Python before 3.11 keeps them on the machine's stack, which is small.
sys.setrecursionlimit(max(sys.getrecursionlimit(), {_FRAMES:_} if sys.version_info >= (3, 11) else 5_000))"""


def wrapped(text: str, bullet: str = "") -> str:
    """A paragraph of a docstring or comment."""
    paragraph = textwrap.TextWrapper(
        _WIDTH - 4,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return paragraph.fill(text)
