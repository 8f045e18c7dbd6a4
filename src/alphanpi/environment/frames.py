"""What a call changes of the state before its program begins, and gives back to the caller afterwards.

Three things may change: the problem becomes a part of it (a sub-problem), fields of the state take the call's
argument, and one field takes the state in which the call begins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from alphanpi.errors import SpecificationError

Argument = bool | int | str
"""A value that a call may hand to a program."""


@dataclasses.dataclass(frozen=True, eq=False)
class SubProblem:
    """A part of a problem that programs may be called on, declared by `subproblem`."""

    enter: Callable[[Any], Any]
    leave: Callable[[Any, Any], Any]
    name: str = ""  # that of the class attribute


class CallFrame(NamedTuple):
    """How a call begins and ends."""

    enter: Callable[[Any], Any]  # the callee's first state, or None where there is no such problem
    leave: Callable[[Any, Any], Any]  # the caller's state afterwards, from the caller's before and the callee's last


class FrameFields(NamedTuple):
    """Fields of the state that belong to the call under way, not to the problem."""

    arguments: tuple[str, ...] = ()
    start: str | None = None

    def entered(self, state: Any, argument: Mapping[str, Any]) -> Any:
        """A state in which a call with that argument begins; fields of other programs' arguments are None there."""
        if self.arguments:
            state = with_fields(state, {name: argument.get(name) for name in self.arguments})
        if self.start is not None:
            begun = with_fields(state, {self.start: None})
            state = with_fields(begun, {self.start: begun})
        return state

    def left(self, caller: Any, callee: Any) -> Any:
        """The callee's state with the caller's values."""
        names = self.arguments if self.start is None else (*self.arguments, self.start)
        return with_fields(callee, {name: getattr(caller, name) for name in names}) if names else callee


NO_FRAME_FIELDS = FrameFields()


def framed(
    enter: Callable[[Any], Any] | None,
    leave: Callable[[Any, Any], Any] | None,
    fields: FrameFields,
    argument: Mapping[str, Argument],
) -> CallFrame | None:
    """How a call on a sub-problem, or on the caller's own state, begins and ends; None where it changes nothing."""
    if fields == NO_FRAME_FIELDS:
        return None if enter is None or leave is None else CallFrame(enter, leave)

    def enters(state: Any) -> Any:
        inner = state if enter is None else enter(state)
        return None if inner is None else fields.entered(inner, argument)

    def leaves(caller: Any, callee: Any) -> Any:
        given_back = fields.left(caller, callee)
        return given_back if leave is None else leave(caller, given_back)

    return CallFrame(enters, leaves)


def with_fields(state: Any, values: Mapping[str, Any]) -> Any:
    """A state with other values in some fields: a named tuple or a dataclass."""
    try:
        if dataclasses.is_dataclass(state) and not isinstance(state, type):
            return dataclasses.replace(state, **values)
        return state._replace(**values)
    except (AttributeError, TypeError, ValueError):
        raise SpecificationError(
            f"a state of the class {type(state).__name__} has no field {' or '.join(values)}: what `arguments` and "
            "`call_start` name must be fields of a named tuple or a dataclass"
        ) from None
