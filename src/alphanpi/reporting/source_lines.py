"""Which line of the source code each step of a run stands at.

The functions are read, not run: what they ask is answered from what the run observed, and what they do is compared with
what the run did. So a file that somebody else wrote is no danger, and a line is either right or missing.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import STOP
from alphanpi.environment.standalone import Standalone, method_name
from alphanpi.errors import SpecificationError
from alphanpi.exporting.conditions import Feature
from alphanpi.exporting.render import Renderer
from alphanpi.exporting.runtime import checked_runtime
from alphanpi.reporting.execution import CallSite, Watched
from alphanpi.reporting.records import FunctionRecord

_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class FollowedSource(NamedTuple):
    """Where the functions are, and the line of every step; None where there is none, which the note explains."""

    functions: list[FunctionRecord]
    lines: list[int | None]
    note: str


class _UnreadableError(Exception):
    """A line that is not as exported ones are."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line} is not as an export writes it")


class _DifferentError(Exception):
    """The source does something else than the run."""


class _EndOfCall(Exception):  # noqa: N818 - no error
    """A call has nothing left to do, or nothing more of it was kept."""


def follow_source(guard: Guard, text: str, watched: Watched) -> FollowedSource:
    """Go through the source along a run, call by call."""
    lines: list[int | None] = [None] * len(watched.execution.steps)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return FollowedSource([], lines, "The source is not Python, so no line is marked.")
    reader = _reader(guard, tree, watched)
    functions = [
        FunctionRecord(guard.library.index_of(program), node.lineno, node.end_lineno or node.lineno)
        for program, node in reader.functions.items()
    ]
    functions.sort(key=lambda function: function.first)
    missing = {call.program for call in watched.calls} - reader.functions.keys()
    if missing:
        return FollowedSource(functions, lines, f"The source has no function for {min(missing)}, so no line is marked.")
    problems: dict[int, str] = {}
    for call in watched.calls:
        walk = _FollowedCall(reader, call, lines)
        try:
            walk.through()
        except (_UnreadableError, _DifferentError) as problem:
            problems[walk.place] = str(problem)
    if not problems:
        return FollowedSource(functions, lines, "")
    first = min(problems)
    return FollowedSource(functions, lines, f"From step {first + 1:,} on, lines may be missing: {problems[first]}.")


def _reader(guard: Guard, tree: ast.Module, watched: Watched) -> _Reader:
    """For a module with the environment's runtime, or for one without."""
    try:
        standalone = checked_runtime(guard).standalone
    except SpecificationError:
        standalone = None
    if standalone is not None:
        reader = _Reader(guard, tree, standalone, watched)
        if reader.functions:
            return reader
    return _Reader(guard, tree, None, watched)


class _Reader:
    """Understands the functions of one module: what a line does, and whether a condition holds at a step."""

    def __init__(self, guard: Guard, tree: ast.Module, standalone: Standalone[Any] | None, watched: Watched) -> None:
        self._guard = guard
        self.library = guard.library
        self.watched = watched
        renderer = Renderer(self.library, standalone)
        self._programs = {name: program for program, name in renderer.names.items()}
        self.parameter = renderer.parameter
        self.functions = {
            self._programs[node.name]: node
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and node.name in self._programs
            and [argument.arg for argument in node.args.args] == [renderer.parameter]
        }
        self._generic = standalone is None
        self._inner = {} if standalone is None else dict(standalone.inner)
        self._methods: dict[str, str] = {
            method_name(entry.name): entry.name for entry in self.library[1 : self.library.atomic_count]
        }
        self._features = self._expressions(renderer)

    def _expressions(self, renderer: Renderer) -> dict[str, tuple[Feature, bool]]:
        """How what a condition may ask for is written; and whether it says the opposite."""
        environment = self._guard.environment
        features = [Feature(name, "may") for name in self.library.names]
        features += [Feature(name, "derived") for name in environment.derived]
        features += [Feature(name, "field") for name in environment.fields]
        found: dict[str, tuple[Feature, bool]] = {}
        for feature in features:
            node = ast.parse(renderer.value(feature).strip(), mode="eval").body
            found[ast.dump(node)] = (feature, False)
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
                other = ast.NotEq() if isinstance(node.ops[0], ast.Eq) else ast.Eq()
                found[ast.dump(ast.Compare(node.left, [other], node.comparators))] = (feature, True)
        return found

    def value(self, node: ast.expr, place: int) -> int:
        """What an expression is at a step of the run."""
        known = self._features.get(ast.dump(node))
        if known is not None:
            feature, opposite = known
            found = self._seen(feature, place)
            return not found if opposite else found
        match node:
            case ast.Constant(value=bool() | int() as constant):
                return constant
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand, place)
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.value(one, place) for one in values)
            case ast.BoolOp(values=values):
                return any(self.value(one, place) for one in values)
            case ast.Compare(left=left, ops=[comparison], comparators=[right]) if type(comparison) in _COMPARISONS:
                return _COMPARISONS[type(comparison)](self.value(left, place), self.value(right, place))
            case ast.BinOp(left=left, op=ast.BitXor(), right=right):
                return self.value(left, place) ^ self.value(right, place)
        raise _UnreadableError(node.lineno)

    def _seen(self, feature: Feature, place: int) -> int:
        environment, guard = self._guard.environment, self._guard
        observation = self.watched.thoughts[place].observation
        if feature.kind == "field":
            return observation[environment.fields.index(feature.name)]
        if feature.kind == "derived":
            return guard.derive(observation)[environment.derived.index(feature.name)]
        step = self.watched.execution.steps[place]
        return guard.legal(step.program, step.state)[self.library.index_of(feature.name)]

    def action(self, call: ast.Call) -> str:
        """What a line that calls something does, by its name in the library."""
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="act" | "call"),
                args=[ast.Constant(value=str(action)), *_],
            ):
                if self._generic and name == self.parameter and action in self.library.names:
                    return action
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=str(method)), args=[]):
                if not self._generic and name == self.parameter and method in self._methods:
                    return self._methods[method]
            case ast.Call(func=ast.Name(id=str(function)), args=[given]) if not self._generic:
                if function in self._programs:
                    return self._called(self._programs[function], given)
        raise _UnreadableError(call.lineno)

    def _called(self, program: str, given: ast.expr) -> str:
        """The call that a function's argument says: of the program itself, or on another problem."""
        match given:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name == self.parameter:
                for call, inner in self._inner.items():
                    if inner == method and self.library.called(call).name == program:
                        return call
        return program

    def begins_again(self, node: ast.Assign, program: str) -> bool:
        """Whether a line goes on with the smaller problem in place of calling its program."""
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=source), attr=method), args=[]),
            ):
                return target == source == self.parameter and self._inner.get(program) == method
        return False


class _FollowedCall:
    """One call on its way through its function."""

    def __init__(self, reader: _Reader, call: CallSite, lines: list[int | None]) -> None:
        self._reader = reader
        self._call = call
        self._lines = lines  # of the whole run
        self._taken = 0
        self._here = reader.functions[call.program].lineno  # the last line that was come to

    @property
    def place(self) -> int:
        """The step at which it stands."""
        return self._call.steps[min(self._taken, len(self._call.steps) - 1)]

    def through(self) -> None:
        """Mark the line of every step of the call."""
        try:
            self._block(self._reader.functions[self._call.program].body)
            self._take(STOP, self._here)  # where Python returns, too
        except _EndOfCall:
            pass

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case ast.Expr(value=ast.Call() as call):
                self._here = node.lineno
                self._take(self._reader.action(call), node.lineno)
            case ast.If(test=test, body=body, orelse=otherwise):
                self._block(body if self._holds(test, node.lineno) else otherwise)
            case ast.While(test=test, body=body, orelse=[]):
                while self._holds(test, node.lineno):
                    before = self._taken
                    self._block(body)
                    if self._taken == before:  # it would go on for ever
                        raise _UnreadableError(node.lineno)
            case ast.Return(value=None):
                self._take(STOP, node.lineno)
            case ast.Assign() if self._reader.begins_again(node, self._call.program):
                # The callee is a call of its own in the run, and after it there is nothing left to do.
                self._take(self._call.program, node.lineno)
                self._take(STOP, node.lineno)
            case _:
                raise _UnreadableError(node.lineno)

    def _holds(self, test: ast.expr, line: int) -> bool:
        self._here = line
        if self._taken == len(self._call.steps):
            raise _EndOfCall
        return bool(self._reader.value(test, self.place))

    def _take(self, action: str, line: int) -> None:
        if self._taken == len(self._call.steps):
            raise _EndOfCall
        place = self.place
        done = self._reader.watched.execution.steps[place].action
        if done != action:
            raise _DifferentError(f"in line {line} the source does {action}, where the agent does {done}")
        self._lines[place] = line
        self._taken += 1
        if action == STOP:
            raise _EndOfCall
