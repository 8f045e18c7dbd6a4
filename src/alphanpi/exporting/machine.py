"""An environment as generic exported functions use it: `act`, `field`, `may` and `call` on a current state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alphanpi.guard import Guard
from alphanpi.spec import Environment


class Machine:
    """A current state, changed by actions; what a module exported without a runtime works on."""

    def __init__(self, environment: Environment[Any], program: str, state: Any) -> None:
        self.state = state
        self.program = program  # whose call is under way
        self._guard = Guard(environment)
        self._environment = environment

    def act(self, action: str) -> None:
        """Take an atomic action."""
        self.state = self._guard.act(self.state, action)

    def field(self, name: str) -> int:
        """The value of an observation field or derived condition."""
        observation = self._guard.observe(self.state)
        if name in self._environment.fields:
            return int(observation[self._environment.fields.index(name)])
        derived = self._guard.derive(tuple(int(value) for value in observation))
        return derived[self._environment.derived.index(name)]

    def may(self, name: str) -> bool:
        """Whether the program under way may take this action now."""
        return self._guard.pre(name, self.state, self.program)

    def call(self, program: str, function: Callable[[Machine], None]) -> None:
        """Call a program, with the smaller problem if it is the one under way."""
        caller, before = self.program, self.state
        self.state = self._guard.enter(before, program, caller)
        self.program = program
        function(self)
        self.program = caller
        self.state = self._guard.leave(before, self.state, program, caller)
