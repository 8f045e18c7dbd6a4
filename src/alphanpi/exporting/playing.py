"""Running an automaton as it was written, in JSON or as a graph, beside the agent's record."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, NamedTuple

from alphanpi.environment.guard import RAISED, Guard
from alphanpi.environment.specification import STOP
from alphanpi.exporting.behaviour import Case
from alphanpi.exporting.clock import Clock, ExportFailed
from alphanpi.exporting.conditions import OPERATORS

_EDGE = re.compile(r'^ +p(\d+)_(\d+) -> p\d+_(\w+) \[label="((?:[^"\\]|\\.)*)"\];$', re.MULTILINE)
_CLUSTER = re.compile(r'subgraph cluster_(\d+) \{\n +label="((?:[^"\\]|\\.)*)";')


class Glance:
    """What a call sees where it stands: fields, derived conditions and what is legal, by their names."""

    def __init__(self, guard: Guard, program: str, state: Any) -> None:
        self._guard, self._program, self._state = guard, program, state
        self._observation = tuple(int(value) for value in guard.observe(state))

    def field(self, name: str) -> int:
        """The value of a field or derived condition."""
        environment = self._guard.environment
        if name in environment.fields:
            return self._observation[tuple(environment.fields).index(name)]
        return self._guard.derive(self._observation)[tuple(environment.derived).index(name)]

    def may(self, name: str) -> bool:
        """Whether an action or call is legal."""
        library = self._guard.library
        allowed = library.may_call(self._program)[library.index_of(name)]
        return allowed and self._guard.pre(name, self._state, self._program)


class _Edge(NamedTuple):
    """A transition: where it applies, what is done, and the state afterwards."""

    applies: Callable[[Glance], bool]
    action: str
    following: int | None


Automata = Mapping[str, Mapping[int, list[_Edge]]]  # by program and state


def play(format_: str, text: str, guard: Guard, cases: list[Case], clock: Clock) -> None:
    """Run the written automata on all cases; `ExportFailed` if anything is done otherwise than by the agent."""
    clock.doing(f"running the automata on {len(cases):,} starts")
    automata = _from_json(text) if format_ == "json" else _from_dot(text, guard)
    for case in cases:
        clock.check()
        problem = _problem(automata, guard, case)
        if problem:
            raise ExportFailed(f"nothing exported: {case.call.program}: the {format_} as it is written {problem}")


class _CallPlayed(NamedTuple):
    program: str
    state: Any
    node: int
    call: str  # as the caller names it


def _problem(automata: Automata, guard: Guard, case: Case) -> str:
    """What the automata do otherwise than the agent; empty for nothing."""
    program, state = case.call
    calls = [_CallPlayed(program, state, 0, program)]
    for step in range(case.steps):
        program, state, node, call = calls[-1]
        glance = Glance(guard, program, state)
        try:
            fitting = [edge for edge in automata[program][node] if edge.applies(glance)]
        except RAISED as error:
            return f"cannot be read at step {step + 1}: {type(error).__name__}: {error}"
        if len(fitting) != 1:
            return f"has {len(fitting)} transitions that apply at step {step + 1}"
        action, following = fitting[0].action, fitting[0].following
        if case.actions is not None and case.actions[step] != action:
            return f"does {action} where the agent does {case.actions[step]}, at step {step + 1}"
        if (following is None) != (action == STOP):
            return f"goes on after STOP, or nowhere after {action}, at step {step + 1}"
        if following is None:
            calls.pop()
            if calls:
                caller = calls[-1]
                calls[-1] = caller._replace(state=guard.leave(caller.state, state, call, caller.program))
                continue
            return "" if step + 1 == case.steps and state == case.final else "ends early, or in another state"
        entry = guard.library.named(action)
        if entry.atomic:
            calls[-1] = calls[-1]._replace(state=guard.act(state, action), node=following)
        else:
            calls[-1] = calls[-1]._replace(node=following)
            calls.append(_CallPlayed(entry.runs, guard.enter(state, action, program), 0, action))
    return "does not end"


def _from_json(text: str) -> Automata:
    return {
        program["name"]: {
            state["id"]: [_Edge(_condition(one["when"]), one["action"], one["next"]) for one in state["transitions"]]
            for state in program["states"]
        }
        for program in json.loads(text)["programs"]
    }


def _condition(when: list[dict[str, Any]]) -> Callable[[Glance], bool]:
    def value(glance: Glance, test: dict[str, Any]) -> bool:
        found = int(glance.may(test["feature"])) if test["kind"] == "may" else glance.field(test["feature"])
        for other in test.get("xor", ()):
            found ^= int(glance.may(other["feature"])) if other["kind"] == "may" else glance.field(other["feature"])
        return OPERATORS[test["operator"]](found, test["value"])

    def applies(glance: Glance) -> bool:
        return all(
            any(all(value(glance, test) for test in term) for term in branch["any_of"]) == branch["holds"]
            for branch in when
        )

    return applies


def _from_dot(text: str, guard: Guard) -> Automata:
    names = {int(number): _unescaped(label) for number, label in _CLUSTER.findall(text)}
    automata: dict[str, dict[int, list[_Edge]]] = {name: {} for name in names.values()}
    for number, state, target, label in _EDGE.findall(text):
        *tests, action = [_unescaped(line) for line in re.split(r"\\[nl]", label.removesuffix("\\l"))]
        applies = _written_condition(" ".join(tests), guard)
        following = None if target == "stop" else int(target)
        automata[names[int(number)]].setdefault(int(state), []).append(_Edge(applies, action.strip(), following))
    return automata


def _unescaped(text: str) -> str:
    return html.unescape(re.sub(r"\\(.)", r"\1", text))


class _Scope(dict[str, Any]):
    """Names in a label: fields by their values, entries of the library as themselves."""

    def __init__(self, glance: Glance, guard: Guard) -> None:
        super().__init__(env=glance, may=glance.may)
        self._glance, self._guard = glance, guard

    def __missing__(self, name: str) -> Any:
        environment = self._guard.environment
        return self._glance.field(name) if name in (*environment.fields, *environment.derived) else name


def _written_condition(text: str, guard: Guard) -> Callable[[Glance], bool]:
    code: CodeType = compile(text.strip() or "True", "<label>", "eval")
    return lambda glance: bool(eval(code, {"__builtins__": {}}, _Scope(glance, guard)))
