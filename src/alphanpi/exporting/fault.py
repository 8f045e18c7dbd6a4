"""What is wrong with a runtime, where code over it differs from the agent and the same over the environment does not.

The agent's run is followed step by step in both, and what the code asks for is compared before every action.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from alphanpi.environment.guard import RAISED, Guard, shown
from alphanpi.environment.specification import STOP
from alphanpi.environment.standalone import method_name
from alphanpi.errors import SpecificationError
from alphanpi.exporting.behaviour import Case
from alphanpi.exporting.conditions import Feature
from alphanpi.exporting.equality import Difference, Exported, raised
from alphanpi.exporting.minimise import Learned
from alphanpi.exporting.render import Renderer, tested


class _OpenFrame(NamedTuple):
    program: str
    state: Any
    subject: Any  # the runtime's object that stands for the state
    call: str = ""  # the entry by which it was called


def runtime_fault(
    exported: Exported, guard: Guard, renderer: Renderer, programs: Sequence[Learned], difference: Difference
) -> SpecificationError:
    """The first thing in which the runtime's objects differ from the environment on the way of a case."""
    found = _first(exported, guard, renderer, {learned.program: learned for learned in programs}, difference.case)
    problem = found or f"its source and the learned functions do not work together: {difference}"
    return SpecificationError(f"{guard.name}: standalone(): {problem}")


def _first(
    exported: Exported, guard: Guard, renderer: Renderer, programs: dict[str, Learned], case: Case
) -> str | None:
    standalone = renderer.standalone
    assert standalone is not None, "there is a runtime to be at fault"
    program, state = case.call
    outermost = exported.created(state)
    frames = [_OpenFrame(program, state, outermost)]
    before = "at the start"
    for action in case.actions or ():
        program, state, subject, _ = frames[-1]
        learned = programs[program]
        for feature in tested(learned):
            binary = learned.binary[learned.features.index(feature)]
            problem = _compared(exported, guard, renderer, feature, binary, frames[-1])
            if problem is not None:
                return f"{problem} {before}, in state {shown(state)}"
        if action == STOP:
            frame = frames.pop()
            if frames:
                caller = frames[-1]
                left = guard.leave(caller.state, state, frame.call, caller.program)
                frames[-1] = caller._replace(state=left)
            before = f"after a call of {program}"
            continue
        entry = guard.library.named(action)
        method = method_name(action) if entry.atomic else standalone.inner.get(action, "")
        result = subject
        if entry.atomic or guard.library.frame(program, action) is not None:
            try:
                result = getattr(subject, method)()
            except RAISED as error:
                what = f"the action {action}" if entry.atomic else f"the problem of {action}"
                return f"{what}, {standalone.class_name}.{method}(): {raised(error)}, in state {shown(state)}"
        if entry.atomic:
            frames[-1] = frames[-1]._replace(state=guard.act(state, action))
            before = f"after the action {action}"
        else:
            frames.append(_OpenFrame(entry.runs, guard.enter(state, action, program), result, action))
            before = f"at the beginning of {action}, called by {program}"
    if case.actions and not exported.agrees(case.final, outermost):
        return (
            f"agrees says that its object is not in the final state {shown(case.final)} after {case.call.program} from "
            f"{shown(case.call.state)}; some action, or agrees itself, is wrong"
        )
    return None


def _compared(
    exported: Exported, guard: Guard, renderer: Renderer, feature: Feature, binary: bool, frame: _OpenFrame
) -> str | None:
    """How the runtime's value of a feature differs from the environment's, if it does."""
    expression = renderer.value(feature)
    environment = guard.environment
    if feature.kind == "may":
        allowed = guard.library.may_call(frame.program)[guard.library.index_of(feature.name)]
        expected = int(allowed and guard.pre(feature.name, frame.state, frame.program))
    else:
        observation = tuple(int(value) for value in guard.observe(frame.state))
        derived = feature.kind == "derived"
        names = tuple(environment.derived if derived else environment.fields)
        expected = (guard.derive(observation) if derived else observation)[names.index(feature.name)]
    try:
        value = eval(expression, dict(exported.plain), {renderer.parameter: frame.subject})
        same = bool(value) == bool(expected) if binary else bool(value == expected)
    except RAISED as error:
        return f"{expression} raises {raised(error)}"
    return None if same else f"{expression} is {value!r} where the environment says {expected}"
