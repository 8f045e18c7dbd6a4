"""An environment as generic exported functions use it: `act`, `field`, `may` and `call` on a current state."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from alphanpi.environment.guard import Guard, shown
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.exporting.runtime import DEEPEST

_FRAMES = 2 * DEEPEST + 1000  # each call is two of Python's: the function's, and `Machine.call`


class Machine:
    """A current state, changed by actions; what a module exported without a runtime works on.

    The program is the one whose function is called with the machine.
    """

    def __init__(self, environment: Environment[Any], program: str, state: Any) -> None:
        self.state = state
        self.program = program  # whose call is under way
        self._guard = Guard(environment)
        self._library = environment.library
        self._fields = {name: place for place, name in enumerate(environment.fields)}
        self._derived = {name: place for place, name in enumerate(environment.derived)}
        self._depth = 0  # calls around the one under way
        if self._library.named(program).atomic:
            raise UsageError(f"{program} is an atomic action; give a program")

    def act(self, action: str) -> None:
        """Take an atomic action."""
        self._require(action)
        self.state = self._guard.act(self.state, action)

    def field(self, name: str) -> int:
        """The value of an observation field or derived condition."""
        observation = tuple(int(value) for value in self._guard.observe(self.state))
        if name in self._fields:
            return observation[self._fields[name]]
        if name not in self._derived:
            raise UsageError(f"{self._guard.name} has no field {name!r}; there are {', '.join(self._fields)}")
        return self._guard.derive(observation)[self._derived[name]]

    def may(self, name: str) -> bool:
        """Whether the program under way may take this action now."""
        index = self._library.index_of(name)
        return self._library.may_call(self.program)[index] and self._guard.pre(name, self.state, self.program)

    def call(self, program: str, function: Callable[[Any], None]) -> None:
        """Call a program as the one under way does: it sees what `enter` gives, and the caller what `leave` gives."""
        self._require(program)
        if self._depth >= DEEPEST:
            raise UsageError(f"{program}: more than {DEEPEST:,} calls inside one another, in {shown(self.state)}")
        limit = sys.getrecursionlimit()
        if self._depth == 0:
            sys.setrecursionlimit(max(limit, _FRAMES))
        caller, before = self.program, self.state
        self.state = self._guard.enter(before, program, caller)
        self.program = self._library.called(program).name
        self._depth += 1
        try:
            function(self)
        finally:
            self._depth -= 1
            self.program = caller
            if self._depth == 0:
                sys.setrecursionlimit(limit)
        self.state = self._guard.leave(before, self.state, program, caller)

    def _require(self, name: str) -> None:
        """The agent does nothing illegal; code that does so has left what it was checked on, or was called wrongly."""
        if not self.may(name):
            raise UsageError(f"{self.program} may not do {name} in {shown(self.state)}")
