"""A class whose objects hold a state that actions change, written around the environment's own source."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import json
import keyword
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from alphanpi.environment.carrying.carrier import Carrier
from alphanpi.environment.carrying.inlining import inlined
from alphanpi.environment.carrying.members import Members
from alphanpi.environment.carrying.source_text import UncarriableError
from alphanpi.environment.frames import NO_FRAME_FIELDS, Argument
from alphanpi.environment.guard import Guard
from alphanpi.environment.library import Program
from alphanpi.environment.specification import Environment
from alphanpi.environment.standalone import identifier, method_name

_INDENT = "    "
_RESERVED = frozenset(("state", "may", "_state", "_part", "_back", "_inside"))
_REST = "rest"  # what is called so that has no name
_ANEW = "anew"  # the same problem, for another call


class _Change(NamedTuple):
    """What a call changes of the state before its program begins."""

    name: str
    enter: Callable[[Any], Any] | None
    leave: Callable[[Any, Any], Any] | None
    argument: tuple[tuple[str, Argument], ...]


class CarriedSource(NamedTuple):
    """A runtime as text, and how it is used."""

    source: str
    class_name: str
    parameter: str
    inner: Mapping[str, str]
    fields: Mapping[str, str]
    helpers: frozenset[str]
    main: str
    constants: Mapping[str, Any]


class RuntimeWriter:
    """Writes the class for one environment and the class of its states."""

    def __init__(self, guard: Guard, state_class: type) -> None:
        if not (issubclass(state_class, tuple) and hasattr(state_class, "_fields")) and not dataclasses.is_dataclass(
            state_class
        ):
            raise UncarriableError(f"its states are of type {state_class.__name__}; make them a NamedTuple")
        self._guard = guard
        self._environment: Environment[Any] = guard.environment
        self._library = guard.library
        self._members = Members(self._environment, Carrier())
        for member in ("enter", "leave"):
            if self._members.overrides(member):
                raise UncarriableError(f"it has a member {member} of its own")
        self._state = self._members.carrier.define(state_class)
        base = self._state.lstrip("_")
        self._kind = f"Current{base[:1].upper()}{base[1:]}"
        short = _snake(base)
        shadows = hasattr(builtins, short) or keyword.iskeyword(short)
        self._parameter = f"current_{short}" if shadows else short
        self._holder = type(self._environment).__name__
        self._instance = _snake(self._holder).upper()
        self._allowed = "ALLOWED"
        self._changes: dict[str, _Change] = {}
        self._of_tuples = issubclass(state_class, tuple)

    def written(self) -> CarriedSource:
        """The whole source."""
        actions = self._library[1 : self._library.atomic_count]
        taken = {method_name(entry.name): entry.name for entry in actions}
        if len(taken) < len(actions) or taken.keys() & _RESERVED:
            raise UncarriableError("two of its actions would be one method, or one of the runtime's own")
        inner = self._inner_names({*taken})
        properties, fields = self._property_names({*taken, *inner.values()})
        methods = [self._effect(entry) for entry in actions]
        methods += self._observations(properties)
        methods += self._derived_conditions(properties)
        methods += self._parts(inner)
        legality = self._legality()
        text = self._formatting()
        main = self._main()
        carrier = self._members.carrier
        holder = self._members.source(self._holder)
        own = [self._kind, *((self._holder, self._instance) if holder else ())]
        for name in [*own, self._allowed] if legality else own:
            if name in carrier.names():
                raise UncarriableError(f"its source has a {name} already")
        if legality:
            allowed = f"return name not in {self._allowed} or bool({self._allowed}[name](self.state))"
            methods.append(_method("may(self, name)", "Whether an action or call is allowed now.", allowed))
        body = "\n\n".join([_summary(f"A {self._state} that actions change."), *self._head(inner), *text, *methods])
        parts = [carrier.source().strip("\n")]
        if holder:
            parts += [holder, f"{self._instance} = {self._holder}()"]
        parts += [legality, f"class {self._kind}:\n{textwrap.indent(body, _INDENT)}"]
        helpers = carrier.helpers() | {self._holder, self._instance, self._allowed}
        return CarriedSource(
            source="\n\n\n".join(filter(None, parts)) + "\n",
            class_name=self._kind,
            parameter=self._parameter,
            inner=inner,
            fields=fields,
            helpers=helpers,
            main=main,
            constants=carrier.constants,
        )

    def _head(self, inner: Mapping[str, str]) -> list[str]:
        """How the state is kept; with problems inside of one another, how those are left."""
        if not inner:
            return ["def __init__(self, state):\n    self.state = state"]
        return [_NESTED.format(kind=self._kind)]

    def _inner_names(self, taken: set[str]) -> dict[str, str]:
        """For each call on another problem, the method that gives that problem; equal ones are one."""
        names: dict[str, str] = {}
        known: dict[_Change, str] = {}
        for entry in self._library.framed():
            change = self._changes[entry.name] = self._change(entry)
            if change not in known:
                name = change.name
                if name in {*taken, *known.values(), *_RESERVED}:
                    name = f"{_REST}_of_{method_name(entry.runs)}"
                while name in {*taken, *known.values(), *_RESERVED, *self._environment.fields}:
                    name += "_"
                known[change] = name
            names[entry.name] = known[change]
        return names

    def _change(self, entry: Program) -> _Change:
        """What a call changes of the state; the same for all who make it, or there is no such method."""
        library, target = self._library, entry.target
        index = library.index_of(entry.name)
        callers = [caller for caller in library.learned if library.may_call(caller.name)[index]]
        shrinks = target is None or target.subproblem is None
        smaller = [caller for caller in callers if shrinks and caller.name == entry.runs]
        framed = [caller for caller in callers if library.frame(caller.name, entry.name) is not None]
        if smaller and len(framed) > 1:
            raise UncarriableError(f"{entry.name} is called on two different problems; give its smaller one a name")
        argument = () if target is None else tuple(target.argument.items())
        given = "_".join(["with", *(str(value) for _, value in argument)]) if argument else ""
        if smaller:
            own = library.called(entry.name)
            shrink = own.shrink
            spelt = getattr(shrink, "__name__", "<lambda>")
            name = identifier(spelt) if spelt.isidentifier() else _REST
            return _Change(identifier("_".join(filter(None, [name, given]))), shrink, own.restore, argument)
        part = None if target is None else target.subproblem
        if part is None:
            return _Change(identifier(given) if given else _ANEW, None, None, argument)
        name = identifier("_".join(filter(None, [part.name, given])))
        return _Change(name, part.enter, part.leave, argument)

    def _property_names(self, taken: set[str]) -> tuple[dict[str, str], dict[str, str]]:
        """For each field and derived condition its property, and for those of another name an expression."""
        properties: dict[str, str] = {}
        fields: dict[str, str] = {}
        for name in (*self._environment.fields, *self._environment.derived):
            own = identifier(name)
            while own in taken | _RESERVED | {*properties.values()}:
                own += "_"
            properties[name] = own
            if own != name:
                fields[name] = f"{self._parameter}.{own}"
        return properties, fields

    def _call(self, member: str, arguments: str) -> str:
        """A member of the environment, called."""
        self._members.need(member)
        return f"{self._instance}.{member}({arguments})"

    def _effect(self, entry: Program) -> str:
        head = f"{method_name(entry.name)}(self)"
        if self._members.overrides("act"):
            return _method(
                head, entry.summary, f"self.state = {self._call('act', f'self.state, {_quoted(entry.name)}')}"
            )
        found = inlined(self._members.method(entry.name))
        if found is None:
            return _method(head, entry.summary, f"self.state = {self._call(entry.name, 'self.state')}")
        lines = [f"{found.parameter} = self.state", *filter(None, [found.statements]), f"self.state = {found.value}"]
        self._members.uses(found.method, _as_function(found.parameter, f"{found.statements}\nreturn {found.value}"))
        return _method(head, entry.summary, "\n".join(lines))

    def _observations(self, properties: Mapping[str, str]) -> list[str]:
        names = self._environment.fields
        found = inlined(self._members.method("observe"))
        parts = None if found is None else found.parts(len(names))
        if found is None or parts is None:
            whole = self._call("observe", "self.state")
            return [_property(properties[name], f"return {whole}[{place}]") for place, name in enumerate(names)]
        for part in parts:
            self._members.uses(found.method, _as_function(found.parameter, part))
        return [
            _property(properties[name], f"{found.parameter} = self.state\n{part}")
            for name, part in zip(names, parts, strict=True)
        ]

    def _derived_conditions(self, properties: Mapping[str, str]) -> list[str]:
        if not self._environment.derived:
            return []
        whole = self._call("derive", self._call("observe", "self.state"))
        return [
            _property(properties[name], f"return {whole}[{place}]")
            for place, name in enumerate(self._environment.derived)
        ]

    def _parts(self, inner: Mapping[str, str]) -> list[str]:
        """The methods that give the problems of calls."""
        written: dict[str, str] = {}
        for call, name in inner.items():
            change, fields = self._changes[call], self._library.frame_fields
            lines = ["smaller = self.state"]
            if change.enter is not None:
                lines = [self._applied(change.enter, f"how {call} is entered")]
            lines += [f"smaller = {self._framed('smaller', change)}"] if fields.arguments else []
            if fields.start is not None:
                lines.append(f"smaller = {self._replaced('smaller', {fields.start: 'None'})}")
                lines.append(f"smaller = {self._replaced('smaller', {fields.start: 'smaller'})}")
            own = [*fields.arguments, *([] if fields.start is None else [fields.start])]
            callee = self._replaced("callee", {field: f"caller.{field}" for field in own}) if own else ""
            if change.leave is None:
                back = f"lambda caller, callee: {callee}"
            else:
                back = _one_line(self._members.carrier.function(change.leave, f"how {call} is left"))
                back = f"lambda caller, callee: {_callee(back)}(caller, {callee})" if own else back
            users = " and ".join(self._told(other) for other, own_name in inner.items() if own_name == name)
            summary = f"The problem of {users}; what is done there is seen here afterwards."
            lines.append(f"return self._inside(smaller, {back})")
            written[name] = _method(f"{name}(self)", summary, "\n".join(lines))
        return list(written.values())

    def _told(self, call: str) -> str:
        return f"calls of {call} by itself" if self._library.named(call).target is None else call

    def _framed(self, state: str, change: _Change) -> str:
        """The expression for a state with the call's argument."""
        argument = dict(change.argument)
        return self._replaced(state, {name: repr(argument.get(name)) for name in self._library.frame_fields.arguments})

    def _replaced(self, state: str, values: Mapping[str, str]) -> str:
        given = ", ".join(f"{name}={value}" for name, value in values.items())
        if self._of_tuples:
            return f"{state}._replace({given})"
        self._members.carrier.needs_import("dataclasses")
        return f"dataclasses.replace({state}, {given})"

    def _applied(self, function: Any, what: str) -> str:
        """Statements that give what a function makes of the state."""
        text = _one_line(self._members.carrier.function(function, what))
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Lambda):
            return f"smaller = {text}(self.state)"
        names = [argument.arg for argument in node.args.args]
        if len(names) != 1 or names[0] == "self" or node.args.defaults:
            return f"smaller = ({text})(self.state)"
        return f"{names[0]} = self.state\nsmaller = {ast.get_source_segment(text, node.body)}"

    def _legality(self) -> str:
        """A table of what is allowed where; empty where that cannot be written."""
        if self._members.overrides("pre") or self._library.frame_fields.start is not None:
            return ""
        trial = self._members.copy()
        rows = []
        try:
            for entry in self._library[1:]:
                pre = (
                    None if entry.pre is None else _one_line(trial.carrier.function(entry.pre, f"pre of {entry.name}"))
                )
                change = self._changes.get(entry.name)
                if change is not None:
                    pre = self._legal_there(trial, change, pre, entry.name)
                if pre is not None:
                    rows.append(f"{_INDENT}{_quoted(entry.name)}: {pre},")
        except UncarriableError:
            return ""
        self._members = trial
        return "\n".join([f"{self._allowed} = {{", *rows, "}"])

    def _legal_there(self, trial: Members, change: _Change, pre: str | None, call: str) -> str | None:
        """Where a call on another problem is legal."""
        inner = self._framed("inner", change) if self._library.frame_fields.arguments else "inner"
        test = None if pre is None else f"bool({_callee(pre)}({inner}))"
        if change.enter is None:
            return None if test is None else f"lambda inner: {test}"
        enter = _one_line(trial.carrier.function(change.enter, f"how {call} is entered"))
        begins = f"(inner := {_callee(enter)}(state)) is not None"
        return f"lambda state: {begins}" + ("" if test is None else f" and {test}")

    def _formatting(self) -> list[str]:
        """How a state is shown, as the environment writes it."""
        found = self._tried("format", "self.state")
        return [] if found is None else [_method("__str__(self)", "", f"return {found}")]

    def _main(self) -> str:
        """The main part: read an instance as the environment does, run the topmost program, and print."""
        entry = self._library.learned[-1]
        if self._library.frame_fields != NO_FRAME_FIELDS:
            return ""
        found = self._tried("parse", f"{_quoted(entry.name)}, text")
        if found is None:
            return ""
        own = self._parameter
        return _MAIN.format(kind=self._kind, parsed=found, own=own, program="{program}")

    def _tried(self, member: str, arguments: str) -> str | None:
        """The call of a member that the environment may have and that may be carried."""
        if not self._members.overrides(member):
            return None
        before = self._members
        self._members = before.copy()
        try:
            return self._call(member, arguments)
        except UncarriableError:
            self._members = before
            return None


_NESTED = """\
def __init__(self, state):
    self._state = state
    self._part = None  # the problem inside of this one that was given out, until this one is looked at again
    self._back = None  # what makes the state of this problem of its own and of that of its part

@property
def state(self):
    \"""The state, with what was done in parts of it.\"""
    around, inmost = [], self
    while inmost._part is not None:
        around.append(inmost)
        inmost = inmost._part
    for outer in reversed(around):
        outer._state = outer._back(outer._state, outer._part._state)
        outer._part = None
    return self._state

@state.setter
def state(self, state):
    self._state = state

def _inside(self, state, back):
    self._part, self._back = {kind}(state), back
    return self._part"""

_MAIN = """\
if __name__ == "__main__":
    text = " ".join(sys.argv[1:])
    try:
        {own} = {kind}({parsed})
    except Exception as problem:
        sys.exit(str(problem))
    {program}({own})
    print({own})"""


def _callee(function: str) -> str:
    return function if function.isidentifier() else f"({function})"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _summary(text: str) -> str:
    """A docstring."""
    plain = text.isprintable() and not set(text) & {'"', "\\"}
    return f'"""{text}"""' if plain else repr(text)


def _method(head: str, summary: str, body: str) -> str:
    lines = [*([_summary(summary)] if summary else []), body]
    return f"def {head}:\n{textwrap.indent(chr(10).join(lines), _INDENT)}"


def _property(name: str, body: str) -> str:
    return f"@property\n{_method(f'{name}(self)', '', body)}"


def _as_function(parameter: str, body: str) -> str:
    return f"def inlined({parameter}):\n{textwrap.indent(body, _INDENT)}"


def _one_line(text: str) -> str:
    """An expression that may be written over several lines, on one."""
    return " ".join(line.strip() for line in text.split("\n")) if "#" not in text and '"""' not in text else f"({text})"
