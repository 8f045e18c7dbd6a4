"""Python's statements and functions in JavaScript."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from alphanpi.exporting.javascript.builtins import EXCEPTIONS
from alphanpi.exporting.javascript.declaring import FunctionBody, target_names
from alphanpi.exporting.javascript.expressions import ExpressionTranslator, is_simple, operator_helper
from alphanpi.exporting.javascript.facts import signature, stored
from alphanpi.exporting.javascript.functions import check_inside, global_names, is_literal, nonlocal_names, star
from alphanpi.exporting.javascript.layout import INDENT, Lines, comment, indented
from alphanpi.exporting.javascript.naming import Naming, js_name
from alphanpi.exporting.javascript.refusing import refuse

_SHADOWING = frozenset(("any", "all", "bool", "isinstance", "super", "type"))
_CALLING = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)


def refuse_definition(node: ast.stmt) -> Lines:
    """Where nothing can be defined."""
    return refuse("a definition here", node)


class StatementTranslator:
    """Translates statements; the module's own are translated as if they were a function's."""

    def __init__(self, expressions: ExpressionTranslator, naming: Naming) -> None:
        self._of = expressions
        self._naming = naming
        self._frames: list[FunctionBody] = []
        self._labels: list[str | None] = []  # of the loops around: those with an `else` are left by name
        self._caught = False
        self._answers = False  # whether someone looks at the function's result
        self.outside = False  # whether statements are the module's own
        self.definition: Callable[[ast.stmt], Lines] = refuse_definition

    def function(self, node: ast.FunctionDef, head: str, parameters: str, before: Lines, names: set[str]) -> Lines:
        """A function with its body; `head` is all that stands before the parameters."""
        for name in names | set(stored(node.body)):
            if name in _SHADOWING:
                refuse(f"a variable called {name}", node)
        check_inside(node)
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        around = self._labels, self._caught, self.outside, self._answers
        self._labels, self._caught, self.outside = [], False, False
        self._answers = node.name in self._of.facts.answering and not star(node) and node.name != "__init__"
        with self._naming.scope(names | (set(stored(node.body)) - global_names(node))):
            written = [*before, *self.body(body, names | global_names(node) | nonlocal_names(node))]
        if self._answers and not (body and isinstance(body[-1], (ast.Return, ast.Raise))):
            written.append("return null;")
        self._labels, self._caught, self.outside, self._answers = around
        text = ast.get_docstring(node)
        return [*(comment(text) if text else []), f"{head}({parameters}) {{", *indented(written), "}"]

    def body(self, body: Sequence[ast.stmt], declared: set[str], elsewhere: Sequence[str] = ()) -> Lines:
        """Statements with what they assign declared, and names that are assigned elsewhere."""
        frame = FunctionBody(body, declared, elsewhere)
        self._frames.append(frame)
        written = [line for statement in body for line in self.statement(statement)]
        self._frames.pop()
        hoisted = [js_name(name) for name in frame.hoisted()]
        return [*([f"let {', '.join(hoisted)};"] if hoisted else []), *written]

    def block(self, body: Sequence[ast.stmt]) -> Lines:
        """Statements inside of braces."""
        return indented([line for statement in body for line in self.statement(statement)])

    def statement(self, node: ast.stmt) -> Lines:
        """A statement."""
        value, test = self._of.value, self._of.test
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Global() | ast.Nonlocal():
                return []
            case ast.Expr(value=ast.Yield(value=one)):
                return [f"yield {'null' if one is None else value(one)};"]
            case ast.Expr(value=ast.YieldFrom(value=one)):
                return [f"yield* $iter({value(one)});"]
            case ast.Expr(value=one):
                return [f"{value(one)};"]
            case ast.Return(value=one):
                nothing = "return null;" if self._answers else "return;"
                return [nothing if one is None else f"return {value(one)};"]
            case ast.If(test=condition, body=body, orelse=orelse):
                return self._if(test(condition), body, orelse)
            case ast.While(test=condition):
                return self._loop(node, f"while ({test(condition)}) {{")
            case ast.For(target=target, iter=values):
                return self._loop(node, *self._for(node, target, values))
            case ast.Break():
                label = self._labels[-1]
                return [f"break{f' {label}' if label else ''};"]
            case ast.Continue():
                return ["continue;"]
            case ast.Assign(targets=targets, value=one):
                return self._assign(node, targets, one)
            case ast.AnnAssign(target=target, value=one):
                return [] if one is None else self._assign(node, [target], one)
            case ast.AugAssign():
                return self._augmented(node)
            case ast.Delete(targets=targets):
                return [line for target in targets for line in self._delete(target)]
            case ast.Assert(test=condition, msg=message):
                words = "" if message is None else value(message)
                return [f"if (!({test(condition)})) throw new $AssertionError({words});"]
            case ast.Raise():
                return self._raise(node)
            case ast.Try():
                return self._try(node)
            case ast.FunctionDef() | ast.ClassDef() if self.outside and len(self._frames) == 1:
                return self.definition(node)
            case ast.FunctionDef():
                return self._inner_function(node)
        return refuse(f"the statement `{ast.unparse(node).splitlines()[0][:60]}` ({type(node).__name__})", node)

    def _if(self, condition: str, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> Lines:
        written = [f"if ({condition}) {{", *self.block(body)]
        while len(orelse) == 1 and isinstance(orelse[0], ast.If):
            nested = orelse[0]
            written += [f"}} else if ({self._of.test(nested.test)}) {{", *self.block(nested.body)]
            orelse = nested.orelse
        if orelse:
            written += ["} else {", *self.block(orelse)]
        return [*written, "}"]

    def _loop(self, node: ast.While | ast.For, head: str, first: str | None = None) -> Lines:
        label = self._naming.temporary().replace("$", "$loop") if node.orelse else None
        self._labels.append(label)
        body = self.block(node.body)
        self._labels.pop()
        written = [head, *([f"{INDENT}{first}"] if first else []), *body, "}"]
        if label is None:
            return written
        return [f"{label}: {{", *indented(written), *self.block(node.orelse), "}"]

    def _for(self, node: ast.For, target: ast.expr, values: ast.expr) -> tuple[str, str | None]:
        passed = self._of.loops.passed(target, values)
        if target_names(target) is None:
            one = self._naming.temporary()
            return f"for (const {one} of $iter({self._of.value(values)})) {{", " ".join(self._give(target, one))
        const = "const " if id(node) in self._frames[-1].loops else ""
        return f"for ({const}{self._of.loops.pattern(target)} of {passed}) {{", None

    def _assign(self, node: ast.stmt, targets: Sequence[ast.expr], value: ast.expr) -> Lines:
        word = self._frames[-1].declaring(node)
        if (
            word
            and self.outside
            and word == "const "
            and not any(n.startswith("_") for n in target_names(targets[0]) or ())
        ):
            word = f"export {word}"
        if len(targets) > 1:
            one = self._naming.temporary()
            given = [line for target in targets for line in self._give(target, one)]
            return ["{", f"{INDENT}const {one} = {self._of.value(value)};", *indented(given), "}"]
        target = targets[0]
        if isinstance(target, (ast.Tuple, ast.List)):
            return self._unpack(target, value, word)
        if word:
            return [f"{word}{self._of.loops.pattern(target)} = {self._of.value(value)};"]
        if isinstance(target, ast.Subscript) and any(isinstance(part, _CALLING) for part in ast.walk(value)):
            one = self._naming.temporary()  # the value comes first
            return ["{", f"{INDENT}const {one} = {self._of.value(value)};", *indented(self._give(target, one)), "}"]
        return self._give(target, self._of.value(value))

    def _unpack(self, target: ast.Tuple | ast.List, value: ast.expr, word: str) -> Lines:
        elements = target.elts
        plain = isinstance(value, (ast.Tuple, ast.List)) and not any(
            isinstance(one, ast.Starred) for one in (*elements, *value.elts)
        )
        flat = all(not isinstance(one, (ast.Tuple, ast.List)) for one in elements)
        if plain and flat and isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(elements):
            given = f"[{self._of.listed(value.elts)}]"
        else:
            given = f"$unpack({self._of.value(value)}, {self._of.loops.shape(target)})"
        if target_names(target) is not None:
            return [f"{word}{self._of.loops.pattern(target)} = {given};"]
        if not flat:
            refuse(f"the target {ast.unparse(target)!r}", target)
        names = [self._naming.temporary() for _ in elements]
        parts = [one.value if isinstance(one, ast.Starred) else one for one in elements]
        lines = [line for one, name in zip(parts, names, strict=True) for line in self._give(one, name)]
        return ["{", f"{INDENT}const [{', '.join(names)}] = {given};", *indented(lines), "}"]

    def _give(self, target: ast.expr, value: str) -> Lines:
        """Assign a value that is there already."""
        match target:
            case ast.Name(id=name):
                return [f"{self._naming.variable(name)} = {value};"]
            case ast.Attribute(value=owner, attr=name):
                return [f"{self._of.tight(owner)}.{self._naming.attribute(name)} = {value};"]
            case ast.Subscript(value=owner, slice=ast.Slice() as bounds):
                return [f"$setslice({self._of.value(owner)}, {', '.join(self._of.bounds(bounds))}, {value});"]
            case ast.Subscript(value=owner, slice=index):
                return [f"$set({self._of.value(owner)}, {self._of.value(index)}, {value});"]
            case ast.Tuple() | ast.List() if target_names(target) is not None:
                return [f"{self._of.loops.pattern(target)} = $unpack({value}, {self._of.loops.shape(target)});"]
        return refuse(f"the target {ast.unparse(target)!r}", target)

    def _augmented(self, node: ast.AugAssign) -> Lines:
        target = node.target
        once: Lines = []

        def kept(one: ast.expr) -> ast.expr:
            """An expression that can be written twice."""
            if is_simple(one):
                return one
            name = self._naming.temporary()
            once.append(f"const {name} = {self._of.value(one)};")
            return ast.Name(name, ast.Load())

        if isinstance(target, ast.Subscript):
            if isinstance(target.slice, ast.Slice):
                refuse("an augmented assignment to a slice", node)
            target = ast.Subscript(kept(target.value), kept(target.slice), ast.Store())
        elif isinstance(target, ast.Attribute):
            target = ast.Attribute(kept(target.value), target.attr, ast.Store())
        temporaries = {part.id for part in ast.walk(target) if isinstance(part, ast.Name) and part.id.startswith("$")}
        with self._naming.scope(temporaries):
            before = self._of.value(target)
            result = f"{operator_helper(node.op, node)}({before}, {self._of.value(node.value)})"
            if isinstance(node.op, ast.Add):
                result = f"$iadd({before}, {self._of.value(node.value)})"
            elif isinstance(node.op, (ast.Mult, ast.Sub, ast.BitOr, ast.BitAnd, ast.BitXor)):
                number = isinstance(node.value, ast.Constant) and not isinstance(node.op, ast.Mult)
                result = result if number else f"$inplace({before}, {result})"
            lines = self._give(target, result)
        return ["{", *indented([*once, *lines]), "}"] if once else lines

    def _delete(self, target: ast.expr) -> Lines:
        match target:
            case ast.Subscript(value=owner, slice=ast.Slice() as bounds):
                return [f"$delslice({self._of.value(owner)}, {', '.join(self._of.bounds(bounds))});"]
            case ast.Subscript(value=owner, slice=index):
                return [f"$delete({self._of.value(owner)}, {self._of.value(index)});"]
        return refuse(f"`del {ast.unparse(target)}`", target)

    def _raise(self, node: ast.Raise) -> Lines:
        match node.exc:
            case None:
                if not self._caught:
                    refuse("`raise` outside of `except`", node)
                return ["throw $error;"]
            case ast.Name(id=name) if self._is_exception(name):
                return [f"throw new {self._exception(name, node)}();"]
            case raised:
                return [f"throw {self._of.value(raised)};"]

    def _is_exception(self, name: str) -> bool:
        return not self._naming.is_local(name) and (name in EXCEPTIONS or name in self._of.facts.classes)

    def _exception(self, name: str, node: ast.AST) -> str:
        if not self._is_exception(name):
            refuse(f"the exception {name}", node)
        return js_name(name) if name in self._of.facts.classes else f"${name}"

    def _try(self, node: ast.Try) -> Lines:
        done = self._naming.temporary() if node.orelse else None
        body = [*self.block(node.body), *([f"{INDENT}{done} = true;"] if done else [])]
        written = [*([f"let {done} = false;"] if done else [])]
        if node.handlers:
            written += ["try {", *body, *self._handlers(node.handlers)]
            if done:
                written += [f"if ({done}) {{", *self.block(node.orelse), "}"]
        else:
            written += body if done is None and not node.finalbody else [line.removeprefix(INDENT) for line in body]
        if node.finalbody:
            written = ["try {", *indented(written), "} finally {", *self.block(node.finalbody), "}"]
        return ["{", *indented(written), "}"] if done else written

    def _handlers(self, handlers: Sequence[ast.ExceptHandler]) -> Lines:
        written = ["} catch ($thrown) {", f"{INDENT}const $error = $caught($thrown);"]
        around, self._caught = self._caught, True
        for number, handler in enumerate(handlers):
            kinds: list[str] = ["$BaseException"]
            match handler.type:
                case ast.Name(id=name):
                    kinds = [self._exception(name, handler)]
                case ast.Tuple(elts=elements):
                    kinds = [
                        self._exception(one.id, handler)
                        if isinstance(one, ast.Name)
                        else refuse("this except", handler)
                        for one in elements
                    ]
                case ast.expr():
                    refuse(f"except {ast.unparse(handler.type)}", handler)
            test = " || ".join(f"$error instanceof {kind}" for kind in kinds)
            with self._naming.scope(set() if handler.name is None else {handler.name}):
                body = self.block(handler.body)
            named = [] if handler.name is None else [f"{INDENT}const {js_name(handler.name)} = $error;"]
            written += [f"{INDENT}{'' if number == 0 else '} else '}if ({test}) {{", *indented([*named, *body])]
        self._caught = around
        return [*written, f"{INDENT}}} else throw $error;", "}"]

    def _inner_function(self, node: ast.FunctionDef) -> Lines:
        if node not in self._frames[-1].body:
            refuse(f"the function {node.name} inside of a branch or loop", node)
        if node.decorator_list:
            refuse(f"a decorator of the function {node.name}", node)
        before, parameters, first = self.parameters(node, signature(node).names)
        names = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        return [*before, *self.function(node, f"function{star(node)} {js_name(node.name)}", parameters, first, names)]

    def parameters(self, node: ast.FunctionDef, names: Sequence[str], method: bool = False) -> tuple[Lines, str, Lines]:
        """What stands before a function, its parameters, and how its body begins."""
        given = node.args
        positional = [*given.posonlyargs, *given.args][1 if method else 0 :]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
        defaults += given.defaults[max(0, len(given.defaults) - len(positional)) :]
        defaults += given.kw_defaults
        before, written = [], []
        for name, default in zip(names, defaults, strict=True):
            if default is None:
                written.append(js_name(name))
                continue
            text = self._of.value(default)
            if not is_literal(default):
                constant = self._naming.temporary().replace("$", f"${name}$")
                before.append(f"const {constant} = {text};")
                text = constant
            written.append(f"{js_name(name)} = {text}")
        first = []
        if given.vararg is not None:
            written.append(f"...{js_name(given.vararg.arg)}")
            first.append(f"{js_name(given.vararg.arg)} = $tuple({js_name(given.vararg.arg)});")
        return before, ", ".join(written), first
