"""The rules that are checked state by state."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from alphanpi.checking.probe import Probe, global_generators
from alphanpi.checking.report import Collector
from alphanpi.errors import AlphaNPIError
from alphanpi.spec import STOP, Program

_WALK = 6
_CALLEE_ACTIONS = 3


class Start(NamedTuple):
    """A state drawn for a program, and the size that was asked for."""

    size: int
    state: Any


class Examination(NamedTuple):
    """What every rule works with."""

    probe: Probe
    collector: Collector
    program: Program
    samples: int
    seed: tuple[int, ...]

    def rng(self, *stream: int) -> np.random.Generator:
        """A random stream of its own for every purpose."""
        return np.random.default_rng((*self.seed, *stream))


def draw_starts(exam: Examination) -> list[Start]:
    """Draw start states of every size; rules `initial` and `determinism`."""
    name = exam.program.name
    starts: list[Start] = []
    for size in exam.probe.sizes(exam.program):
        for sample in range(exam.samples):
            with exam.collector.catching(name):
                state = _drawn_twice(exam, size, sample)
                starts.append(Start(size, state))
                if not exam.probe.pre(name, state, None):
                    exam.collector.add("initial", name, f"at size {size} the pre-condition does not hold", state)
                found = exam.probe.size(state)
                if found != size:
                    exam.collector.add("initial", name, f"asked for size {size} and got size {found}", state)
    return starts


def _drawn_twice(exam: Examination, size: int, sample: int) -> Any:
    name = exam.program.name
    drawn = []
    for elsewhere in (1, 2):
        random.seed(elsewhere)
        np.random.seed(elsewhere)
        before = global_generators()
        drawn.append(exam.probe.initial(name, size, exam.rng(size, sample)))
        if global_generators() != before:
            exam.collector.add("determinism", name, "initial draws from a global random generator; use rng", drawn[-1])
    if drawn[0] != drawn[1]:
        exam.collector.add(
            "determinism",
            name,
            f"initial gave two different states of size {size} for the same seed",
            drawn[0],
        )
    return drawn[0]


def check_states(exam: Examination, starts: list[Start]) -> None:
    """Walk from every start, and look at the states on the way."""
    name = exam.program.name
    recursive_calls = 0
    for number, start in enumerate(starts):
        with exam.collector.catching(name, start.state):
            _purity(exam, start.state, start.state)
        with exam.collector.catching(name, start.state):
            for state in exam.probe.walk(name, start.state, exam.rng(start.size, number, 1), _WALK):
                with exam.collector.catching(name, state):
                    exam.probe.observe(state)
                    _mask(exam, state)
            _purity(exam, start.state, state)
    if exam.program.recursive:
        for number, start in enumerate(starts):
            with exam.collector.catching(name, start.state):
                recursive_calls += _recursion(exam, start.state, exam.rng(start.size, number, 2))
        if not recursive_calls:
            exam.collector.note(f"{name}: no legal recursive call was met, so none was checked")


def check_not_trivial(exam: Examination, starts: list[Start]) -> None:
    """The post-condition must not hold at every start: rule `trivial`."""
    name = exam.program.name
    with exam.collector.catching(name):
        if starts and all(exam.probe.post(name, state, state) for _, state in starts):
            exam.collector.add(
                "trivial",
                name,
                f"the post-condition holds at all {len(starts)} starts, so there is nothing to learn",
                starts[0].state,
            )


def _mask(exam: Examination, state: Any) -> None:
    probe, collector, name = exam.probe, exam.collector, exam.program.name
    mask = probe.legal(name, state)
    expected = probe.mask(name, state)
    if len(mask) != len(expected):
        collector.add("mask", name, f"legal gives {len(mask)} entries for {len(expected)} programs", state)
        return
    allowed = {entry.name for entry in probe.library.callable_by(name)}
    for entry, says, holds in zip(probe.library, mask, expected, strict=True):
        if entry.name == STOP and not says:
            collector.add("mask", name, "legal refuses STOP, which is always legal", state)
        elif entry.name not in allowed and says:
            collector.add("mask", name, f"legal allows {entry.name}, which {name} cannot call", state)
        elif says != holds:
            verb = "allows" if says else "refuses"
            collector.add("mask", name, f"legal {verb} {entry.name}, but its pre-condition is {holds}", state)
    for action in probe.legal_actions(name, state):
        try:
            probe.act(state, action)
        except AlphaNPIError as error:
            collector.add("mask", name, f"{action} is legal but cannot be applied: {error}", state)


def _purity(exam: Examination, before: Any, state: Any) -> None:
    collector, name = exam.collector, exam.program.name
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
    generators = global_generators()
    for what, given, function in _functions(exam, before, state):
        own = deepcopy(given)
        first = function(own)
        if own != given or hash(own) != hash(given):
            collector.add("purity", name, f"{what} changes the state it is given", given)
        elif first != function(own):
            collector.add("purity", name, f"{what} gives two different results in the same state", state)
    if global_generators() != generators:
        message = "observe, act, pre, post, enter or leave draws from a global random generator"
        collector.add("determinism", name, message, state)


def _functions(exam: Examination, before: Any, state: Any) -> Iterator[tuple[str, Any, Callable[[Any], Any]]]:
    """Name, argument and function of everything that has to be pure in a state."""
    probe, name = exam.probe, exam.program.name
    yield "observe", state, probe.observe
    yield "size", state, probe.size
    yield "measure", state, lambda given: probe.measure(name, given)
    yield "the post-condition", state, lambda given: probe.post(name, before, given)
    if probe.pre(name, state, None):
        yield "the post-condition", state, lambda given: probe.post(name, given, state)
    for entry in probe.library.callable_by(name)[1:]:
        yield f"pre-condition of {entry.name}", state, partial(_pre, probe, entry.name, name)
    for action in probe.legal_actions(name, state):
        yield f"action {action}", state, partial(_act, probe, action)
    if exam.program.recursive and probe.pre(name, state, name):
        entered = probe.enter(deepcopy(state), name, name)
        yield "enter", state, lambda given: probe.enter(given, name, name)
        yield "leave", state, lambda given: probe.leave(given, entered, name, name)
        yield "leave", entered, lambda given: probe.leave(state, given, name, name)


def _pre(probe: Probe, callee: str, caller: str, state: Any) -> bool:
    return probe.pre(callee, state, caller)


def _act(probe: Probe, action: str, state: Any) -> Any:
    return probe.act(state, action)


def _recursion(exam: Examination, start: Any, rng: np.random.Generator) -> bool:
    """Check the first legal recursive call on a walk; rules `frame` and `measure`."""
    probe, collector, name = exam.probe, exam.collector, exam.program.name
    for state in probe.walk(name, start, rng, 2 * _WALK):
        if probe.pre(name, state, name):
            break
    else:
        return False
    entered = probe.enter(state, name, name)
    if not probe.pre(name, entered, None):
        collector.add("frame", name, "a legal recursive call begins where the pre-condition is false", state)
    if probe.leave(state, entered, name, name) != state:
        collector.add("frame", name, "leaving a recursive call at once does not give the caller's state", state)
    outer, inner = probe.measure(name, state), probe.measure(name, entered)
    if not inner < outer:
        collector.add("measure", name, f"a recursive call takes the measure from {outer} to {inner}", state)
    *_, ended = probe.walk(name, entered, rng, _CALLEE_ACTIONS)
    left = probe.leave(state, ended, name, name)
    found, size = probe.size(left), probe.size(state)
    if found != size:
        collector.add("frame", name, f"after a recursive call the size is {found} instead of {size}", state)
    return True
