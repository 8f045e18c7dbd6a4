"""The rules that are checked state by state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.checking.examination import Examination, ExaminedStart
from alphanpi.environment.checking.ideal import IdealCall
from alphanpi.environment.checking.probe import global_generators
from alphanpi.errors import AlphaNPIError

_WALK = 6
_CALLEE_ACTIONS = 3
_EXHAUSTIVE = 150  # states around the smallest starts, all of them if there are no more
_SHOWN = 60  # states of a program that are written and drawn


class _Visited(NamedTuple):
    start: Any
    steps: int  # from the start


class _Use(NamedTuple):
    """A function of the environment that has to be pure, with the state it is given."""

    what: str
    given: Any
    function: Callable[[Any], Any]


def check_states(exam: Examination) -> None:
    """Look at the states around the starts: all near the smallest ones, and random walks from the others."""
    collector, name = exam.collector, exam.name
    visited = _visited(exam)
    generators = global_generators()
    recursive_calls, rng = 0, exam.rng(2)
    for number, (state, (start, steps)) in enumerate(visited.items()):
        with collector.catching(name, state):
            exam.probe.observe(state)
            exam.probe.legal(name, state)
        with collector.catching(name, state):
            _purity(exam, start, state, shows=number < _SHOWN)
        with collector.catching(name, state):
            in_time = steps + 2 <= exam.probe.depth(name, start)  # the call, and STOP
            for callee in exam.probe.legal_calls(name, state):
                recursive_calls += exam.probe.recursive(name, callee)
                _call(exam, start, state, callee, rng, in_time)
    if global_generators() != generators:
        message = "observe, act, pre, post, enter, leave or a member that shows states draws from a global generator"
        collector.add("determinism", name, message, next(iter(visited), None))
    if exam.program.recursive and not recursive_calls:
        collector.note(f"{name}: no legal recursive call was met, so none was checked")


def check_not_trivial(exam: Examination) -> None:
    """The post-condition must not hold at every start: rule `trivial`."""
    with exam.collector.catching(exam.name):
        if exam.starts and all(exam.probe.post(exam.name, state, state) for _, state in exam.starts):
            exam.collector.add(
                "trivial",
                exam.name,
                f"the post-condition holds at all {len(exam.starts)} starts, so there is nothing to learn",
                exam.starts[0].state,
            )


def _visited(exam: Examination) -> dict[Any, _Visited]:
    """Different states, the starts first, then those near the smallest starts, then those of random walks."""
    visited = {start.state: _Visited(start.state, 0) for start in exam.starts}
    frontier, budget = list(visited), _EXHAUSTIVE
    while frontier and budget > 0:
        following: list[Any] = []
        for state in frontier:
            with exam.collector.catching(exam.name, state):
                for action in exam.probe.legal_actions(exam.name, state):
                    budget -= _visit(visited, following, state, _applied(exam, action, deepcopy(state)))
            if budget <= 0:
                break
        frontier = following
    for size in exam.probe.sizes(exam.program):
        rng = exam.rng(size, 1)
        for start in [start for start in exam.starts if start.size == size][: exam.samples]:
            with exam.collector.catching(exam.name, start.state):
                _walk(exam, visited, start, rng)
    return visited


def _visit(visited: dict[Any, _Visited], following: list[Any], before: Any, after: Any) -> bool:
    if after is None or after in visited:
        return False
    start, steps = visited[before]
    visited[after] = _Visited(start, steps + 1)
    following.append(after)
    return True


def _walk(exam: Examination, visited: dict[Any, _Visited], start: ExaminedStart, rng: np.random.Generator) -> None:
    state = start.state
    for _ in range(_WALK):
        actions = exam.probe.legal_actions(exam.name, state)
        after = _applied(exam, actions[int(rng.integers(len(actions)))], deepcopy(state)) if actions else None
        if after is None:
            return
        _visit(visited, [], state, after)
        state = after


def _purity(exam: Examination, before: Any, state: Any, shows: bool) -> None:
    collector, name = exam.collector, exam.name
    try:
        copy = deepcopy(state)
        by_value = copy == state and hash(copy) == hash(state)
    except Exception as error:
        message = f"a state cannot be copied and compared: {type(error).__name__}: {error}"
        collector.add("purity", name, message, state)
        return
    if not by_value:
        message = "a state differs from its own copy; compare and hash states by value"
        collector.add("purity", name, message, state)
        return
    uses = [*_functions(exam, before, state), *(_members(exam, state) if shows else ())]
    for what, given, function in uses:
        with collector.catching(name, state, what):
            own = copy if given is state else deepcopy(given)
            first = function(own)
            if own != given or hash(own) != hash(given):
                collector.add("purity", name, f"{what} changes the state it is given", given)
                copy = deepcopy(state)
            elif first != function(own):
                collector.add("purity", name, f"{what} gives two different results in the same state", state)


def _functions(exam: Examination, before: Any, state: Any) -> Iterator[_Use]:
    """Everything that a search or a run asks in a state."""
    probe, name = exam.probe, exam.name
    yield _Use("observe", state, probe.observe)
    yield _Use("size", state, probe.size)
    yield _Use("measure", state, partial(probe.measure, name))
    yield _Use("the post-condition", state, partial(probe.post, name, before))
    if probe.pre(name, state, None):
        yield _Use("the post-condition", state, lambda given: probe.post(name, given, state))
        yield _Use("depth", state, partial(probe.depth, name))
        yield _Use("base_case", state, partial(probe.base_case, name))
    for entry in probe.library.callable_by(name)[1:]:
        yield _Use(f"pre-condition of {entry.name}", state, partial(_pre, exam, entry.name))
    for action in probe.legal_actions(name, state):
        yield _Use(f"action {action}", state, partial(_applied, exam, action))
    for callee in _framed(exam, state):
        entered = probe.enter(deepcopy(state), callee, name)
        yield _Use("enter", state, partial(_enter, exam, callee))
        yield _Use("leave", state, partial(_leave_caller, exam, callee, entered))
        yield _Use("leave", entered, partial(_leave_callee, exam, callee, state))


def _members(exam: Examination, state: Any) -> Iterator[_Use]:
    """Optional members that look at a state."""
    probe, name = exam.probe, exam.name
    if probe.gives("format"):
        yield _Use("format", state, probe.format)
    if probe.gives("result"):
        yield _Use("result", state, lambda given: probe.result(name, given, ()))
    if probe.gives("render"):
        yield _Use("render", state, probe.render)
    if probe.gives("relative"):
        yield _Use("relative", state, partial(probe.relative, name))


def _framed(exam: Examination, state: Any) -> list[str]:
    """The calls that may be made here with a frame: as declared; any, if enter or leave says so."""
    every, library = exam.probe.changes_frames, exam.probe.library
    calls = exam.probe.legal_calls(exam.name, state)
    return [call for call in calls if every or library.frame(exam.name, call) is not None]


def _pre(exam: Examination, callee: str, state: Any) -> bool:
    return exam.probe.pre(callee, state, exam.name)


def _applied(exam: Examination, action: str, state: Any) -> Any | None:
    """The state after a legal action; None where it cannot be applied: rule `mask`."""
    try:
        return exam.probe.act(state, action)
    except AlphaNPIError as error:
        exam.collector.add("mask", exam.name, f"{action} is legal but cannot be applied: {error}", state)
        return None


def _enter(exam: Examination, callee: str, state: Any) -> Any:
    return exam.probe.enter(state, callee, exam.name)


def _leave_caller(exam: Examination, callee: str, callee_state: Any, state: Any) -> Any:
    return exam.probe.leave(state, callee_state, callee, exam.name)


def _leave_callee(exam: Examination, callee: str, caller_state: Any, state: Any) -> Any:
    return exam.probe.leave(caller_state, state, callee, exam.name)


def _call(exam: Examination, start: Any, state: Any, call: str, rng: np.random.Generator, in_time: bool) -> None:
    """Check a legal call and remember it; rules `frame` and `measure`."""
    probe, collector, name = exam.probe, exam.collector, exam.name
    entered, callee = probe.enter(state, call, name), probe.library.called(call).name
    if in_time:
        exam.possible.add([IdealCall(name, state, callee, entered)])
    if call not in _framed(exam, state):
        return
    told = "a recursive call" if call == name else f"a call of {call}"
    if not probe.pre(callee, entered, None):
        message = f"{told} that is legal begins where the pre-condition is false"
        collector.add("frame", name, message, state)
    if probe.leave(state, entered, call, name) != state:
        collector.add("frame", name, f"leaving {told} at once does not give the caller's state", state)
    if not probe.recursive(name, call):
        return
    outer, inner = probe.measure(name, start), probe.measure(callee, entered)
    if not inner < outer:
        collector.add("measure", name, f"{told} takes the measure from {outer} to {inner}", state)
    *_, ended = probe.walk(callee, entered, rng, _CALLEE_ACTIONS)
    left = probe.leave(state, ended, call, name)
    found, size = probe.size(left), probe.size(state)
    if found != size:
        collector.add("frame", name, f"after {told} the size is {found} instead of {size}", state)
