"""Running exported text beside the agent's record: every action of every call must be the same."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

from alphanpi.environment.carrying import CarriedStandalone
from alphanpi.environment.guard import RAISED, shown
from alphanpi.environment.specification import STOP, Environment
from alphanpi.environment.standalone import Standalone, method_name, rebuilt_arguments
from alphanpi.errors import SpecificationError
from alphanpi.exporting.behaviour import Case
from alphanpi.exporting.clock import Clock, ExportFailed
from alphanpi.exporting.machine import Machine
from alphanpi.exporting.render import Renderer
from alphanpi.exporting.runtime import DEEPEST

_NAME = "_alphanpi_exported"
AGAIN = "_alphanpi_again"
"""The function that watched code calls where it begins again."""
_FRAMES = 5 * DEEPEST  # watched calls are several of Python's
_ENDINGS = 8  # final states to tell apart
_USUAL_FRAMES = 1000  # Python's own limit


class Difference(NamedTuple):
    """Where exported code first does something else than the agent."""

    case: Case
    step: int  # among all actions of the run, from 0
    agent: str | None
    exported: str | None

    def __str__(self) -> str:
        did = "ends in another state" if self.exported is None and self.agent is None else f"does {self.exported}"
        agent = "" if self.agent is None else f" where the agent does {self.agent}"
        program, state = self.case.call
        return f"{program} from {shown(state)}: step {self.step + 1}: the exported code {did}{agent}"


class _MismatchError(Exception):
    """Ends a run at its first difference."""


class _Comparison:
    """Compares what exported code does with what it should do, while it runs."""

    def __init__(self) -> None:
        self.case: Case | None = None
        self.step = 0
        self.done: str | None = None
        self.acting = False  # an action may use another one

    def begin(self, case: Case) -> None:
        self.case, self.step, self.done, self.acting = case, 0, None, False

    def expected(self) -> str | None:
        actions = None if self.case is None else self.case.actions
        return None if actions is None or self.step >= len(actions) else actions[self.step]

    def take(self, action: str) -> None:
        assert self.case is not None, "a run has begun"
        known = self.case.actions is not None
        if self.step >= self.case.steps or (known and self.expected() != action):
            self.done = action
            raise _MismatchError
        self.step += 1


class _WatchedMachine(Machine):
    """The machine a user would have, which also tells what is done with it."""

    def __init__(self, environment: Environment[Any], program: str, state: Any, recorder: _Comparison) -> None:
        super().__init__(environment, program, state)
        self._recorder = recorder

    def act(self, action: str) -> None:
        self._recorder.take(action)
        super().act(action)

    def call(self, program: str, function: Callable[[Any], None]) -> None:
        self._recorder.take(program)

        def watched(machine: Any) -> None:
            function(machine)
            self._recorder.take(STOP)

        super().call(program, watched)


class _WatchedMethod:
    """A method of a runtime, of whatever kind, that also tells when it is called for an action."""

    def __init__(self, action: str, method: Any, recorder: _Comparison) -> None:
        self._action = action
        self._method = method
        self._recorder = recorder

    def __get__(self, subject: Any, kind: type) -> Callable[[], Any]:
        method = self._method.__get__(subject, kind) if hasattr(self._method, "__get__") else self._method
        recorder = self._recorder

        def watched(*arguments: Any) -> Any:
            if recorder.acting:
                return method(*arguments)
            recorder.take(self._action)
            recorder.acting = True
            try:
                return method(*arguments)
            finally:
                recorder.acting = False

        return watched


class Exported:
    """An exported module, run as a user runs it, and once more with someone watching.

    A module for `env` objects is watched from outside, through its machine. One with a runtime is executed twice, and
    only the second copy has its functions and actions replaced by ones that tell; the first is left as it is.
    """

    def __init__(self, text: str, environment: Environment[Any], renderer: Renderer) -> None:
        self._environment = environment
        self._name = type(environment).__name__
        self._standalone = renderer.standalone
        self._functions = renderer.names
        self._recorder = _Comparison()
        self._begun: list[int] = []  # of the functions under way, how often each began
        self._given: str | None = None  # the method that has just given another problem
        self.plain = self._executed(text)
        self._watched = (
            self.plain if self._standalone is None else self._executed(telling(ast.parse(text), self._functions))
        )
        if self._standalone is not None:
            self._watch(self._standalone)

    def _executed(self, source: str | ast.Module) -> dict[str, Any]:
        with recursion(_USUAL_FRAMES + _frames()):
            try:
                namespace = executed(source)
            except RAISED as error:
                if self._standalone is None:
                    raise ExportFailed(f"nothing exported: the code found cannot be run: {raised(error)}") from error
                self._refuse(f"its source cannot be run: {raised(error)}")
            self._frames_of_module = sys.getrecursionlimit()  # a module may ask for more
        return namespace

    def _watch(self, standalone: Standalone[Any]) -> None:
        if not isinstance(self._watched.get(standalone.class_name), type):
            self._refuse(f"its source has no class {standalone.class_name}")
        for program, name in self._functions.items():
            self._watched[name] = self._watched_function(program, self._watched[name])
        self._watched[AGAIN] = self._again
        classes = {value for value in self._watched.values() if isinstance(value, type) and value.__module__ == _NAME}
        if isinstance(standalone, CarriedStandalone):
            classes = {self._watched[standalone.class_name]}
        library = self._environment.library
        for kind in classes:  # the smaller problems may be of another class
            for entry in library[1 : library.atomic_count]:
                method = vars(kind).get(method_name(entry.name))
                if method is not None:
                    setattr(kind, method_name(entry.name), _WatchedMethod(entry.name, method, self._recorder))
            for name in {*standalone.inner.values()} & {*vars(kind)}:
                setattr(kind, name, self._noted(name, vars(kind)[name]))

    def _noted(self, name: str, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A method that gives another problem, taken note of: which call it is for is seen by nothing else."""

        def noted(subject: Any) -> Any:
            given = method(subject)
            self._given = name
            return given

        return noted

    def _call(self, program: str) -> str:
        """By which call a function begins."""
        given, self._given = self._given, None
        if given is None or self._standalone is None:
            return program
        library = self._environment.library
        names = [call for call, method in self._standalone.inner.items() if method == given]
        return next((call for call in names if library.called(call).name == program), program)

    def _refuse(self, problem: str) -> NoReturn:
        raise SpecificationError(f"{self._name}: standalone(): {problem}")

    def compare(self, case: Case, plain: bool) -> Difference | None:
        """Run the case watched, and if asked to, as a user would; the first difference, if there is one."""
        recorder = self._recorder
        recorder.begin(case)
        self._begun.clear()
        self._given = None
        program, state = case.call
        with recursion(_FRAMES):
            subject = self._subject(program, state)
            try:
                self._watched[self._functions[program]](subject)
                if self._standalone is None:
                    recorder.take(STOP)
            except _MismatchError:
                return Difference(case, recorder.step, recorder.expected(), recorder.done)
            except RAISED as error:  # whatever goes wrong in generated code is a difference
                return Difference(case, recorder.step, recorder.expected(), f"raise {raised(error)}")
        if recorder.step != case.steps or not self.agrees(case.final, subject):
            return Difference(case, recorder.step, None, None)
        return self._compare_plain(case) if plain else None

    def _compare_plain(self, case: Case) -> Difference | None:
        """The same in the module as it is, with no more of Python's stack than a user has."""
        try:
            subject = self.run(case)
        except SpecificationError:
            raise
        except RAISED as error:
            return Difference(case, case.steps, None, f"raise {raised(error)}")
        return None if self.agrees(case.final, subject) else Difference(case, case.steps, None, None)

    def run(self, case: Case) -> Any:
        """Do what a user does: call the function with a new object, which is returned."""
        program, state = case.call
        with recursion(self._frames_of_module + _frames()):
            subject = self.created(state) if self._standalone else Machine(self._environment, program, state)
            self.plain[self._functions[program]](subject)
        return subject

    def _subject(self, program: str, state: Any) -> Any:
        if self._standalone is None:
            return _WatchedMachine(self._environment, program, state, self._recorder)
        return self._created(state, self._watched)

    def created(self, state: Any) -> Any:
        """An object of the runtime for a start."""
        return self._created(state, self.plain)

    def _created(self, state: Any, namespace: dict[str, Any]) -> Any:
        assert self._standalone is not None, "only runtimes have objects"
        name = self._standalone.class_name
        try:
            arguments = rebuilt_arguments(self._standalone, namespace, state)
        except RAISED as error:
            self._refuse(f"arguments of state {shown(state)}: {raised(error)}")
        try:
            return namespace[name](*arguments)
        except RAISED as error:
            self._refuse(f"{name}{shown(arguments)}, for state {shown(state)}: {raised(error)}")

    def agrees(self, final: Any, subject: Any) -> bool:
        """Whether a machine or a runtime's object is in a final state."""
        if self._standalone is None:
            return bool(subject.state == final)
        try:
            return bool(self._standalone.agrees(final, subject))
        except RAISED as error:
            self._refuse(f"agrees, for the final state {shown(final)}: {raised(error)}")

    def _watched_function(self, program: str, function: Callable[[Any], None]) -> Callable[[Any], None]:
        def watched(subject: Any) -> None:
            call = self._call(program)
            if self._begun:
                self._recorder.take(call)
            self._begun.append(1)
            function(subject)
            for _ in range(self._begun.pop()):
                self._recorder.take(STOP)

        return watched

    def _again(self, program: str) -> None:
        """A function goes on with the smaller problem, which the agent calls its program for."""
        self._recorder.take(self._call(program))
        self._begun[-1] += 1


def telling(tree: ast.Module, functions: Mapping[str, str]) -> ast.Module:
    """The module with functions, given by their programs, that tell when they begin again."""
    programs = {name: program for program, name in functions.items()}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in programs:
            _Beginnings(programs[node.name]).visit(node)
    return tree


class _Beginnings(ast.NodeTransformer):
    """Makes a function tell when it begins again in place of calling itself: the only assignments it has."""

    def __init__(self, program: str) -> None:
        self._program = program

    def visit_Assign(self, node: ast.Assign) -> list[ast.AST]:
        told = ast.Expr(ast.Call(ast.Name(AGAIN, ast.Load()), [ast.Constant(self._program)], []))
        return [node, ast.fix_missing_locations(ast.copy_location(told, node))]


def executed(source: str | ast.Module) -> dict[str, Any]:
    """What an exported module defines, executed as an import would do it."""
    module = types.ModuleType(_NAME)
    sys.modules[_NAME] = module  # dataclasses, for one, look for the module of a class
    try:
        exec(compile(source, "<exported>", "exec", dont_inherit=True), vars(module))
    finally:
        del sys.modules[_NAME]
    return vars(module)


def raised(error: BaseException) -> str:
    """An exception for a message."""
    return f"{type(error).__name__}: {error}"


def _frames() -> int:
    """How many of Python's frames are in use."""
    frame, count = sys._getframe(), 1
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


@contextmanager
def recursion(frames: int) -> Iterator[None]:
    """As many of Python's frames inside of it."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def discerns(exported: Exported, cases: Iterable[Case]) -> bool:
    """Whether a runtime's `agrees` tells some two different final states apart; true where there are no two."""
    ended: dict[Any, Case] = {}
    for case in cases:
        ended.setdefault(case.final, case)
        if len(ended) == _ENDINGS:
            break
    subjects = [(final, exported.run(case)) for final, case in ended.items()]
    pairs = [(final, subject) for final, _ in subjects for other, subject in subjects if final != other]
    return not pairs or not all(exported.agrees(final, subject) for final, subject in pairs)


def differences(
    exported: Exported, cases: Iterable[Case], clock: Clock | None = None, plain: bool = False, most: int = 200
) -> list[Difference]:
    """The first differences between an exported module and the agent; none if they do the same on all cases."""
    found: list[Difference] = []
    for case in cases:
        if clock is not None:
            clock.check()
        difference = exported.compare(case, plain)
        if difference is not None:
            found.append(difference)
            if len(found) >= most:
                break
    return found
