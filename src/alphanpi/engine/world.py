"""The environment as integers: every state gets an id, and what is known of it goes into tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine import hashing
from alphanpi.engine.tables import CALL, UNKNOWN, extended, unknown
from alphanpi.guard import Guard
from alphanpi.spec import Environment

_FIRST_ROWS = 1024


class TooManyStatesError(Exception):
    """The world is full; the driver turns this into a failure reason."""


class World:
    """Interned states and observations of one environment, and the tables the kernel reads.

    Everything but the results of calls depends on the environment alone and stays when weights change.
    """

    def __init__(self, environment: Environment[Any], max_states: int) -> None:
        self.guard = Guard(environment)
        self.library = environment.library
        self.max_states = max_states
        self.atomic = self.library.atomic_count
        self.programs = len(self.library.learned)
        self.widest = max(sum(self.library.may_call(program.name)) for program in self.library.learned)
        self.forget_everything()

    def forget_everything(self) -> None:
        """Start with no states at all; purely a matter of memory."""
        self._id_of_state: dict[Any, int] = {}
        self.states: list[Any] = []
        self._id_of_observation: dict[tuple[int, ...], int] = {}
        fields = len(self.guard.environment.fields)
        self.observations: NDArray[np.int16] = np.zeros((_FIRST_ROWS, fields), np.int16)
        self._id_of_legal: dict[tuple[int, ...], int] = {}
        self.observation = unknown((_FIRST_ROWS,))
        self.successor = unknown((_FIRST_ROWS, len(self.library) + self.programs))
        self.calls = unknown((_FIRST_ROWS, self.programs), CALL)
        self.legal_count = unknown((_FIRST_ROWS,))
        self.legal_actions = unknown((_FIRST_ROWS, self.widest))
        self.posts = hashing.empty()

    def forget_calls(self) -> None:
        """Drop the results of calls: the weights they came from are no longer the network's."""
        self.successor[:, self.atomic :] = UNKNOWN

    def intern(self, state: Any) -> int:
        """The state's id; a new state is observed at once."""
        identifier = self._id_of_state.setdefault(state, len(self.states))  # one hash: long states are costly
        if identifier < len(self.states):
            return identifier
        if identifier >= self.max_states:
            raise TooManyStatesError
        if identifier >= len(self.observation):
            self.observation = extended(self.observation, 2 * identifier)
            self.successor = extended(self.successor, 2 * identifier)
            self.calls = extended(self.calls, 2 * identifier)
        try:
            self.observation[identifier] = self._intern_observation(self.guard.observe(state))
        except BaseException:
            del self._id_of_state[state]
            raise
        self.states.append(state)
        return identifier

    def fill_action(self, state: int, action: int) -> int:
        """Apply an atomic action; the id of the state after it."""
        after = self.intern(self.guard.act(self.states[state], self.library.names[action]))
        self.successor[state, action] = after
        return after

    def fill_entered(self, state: int, program: int) -> int:
        """Find where a recursive call starts."""
        name = self._name(program)
        entry = self.intern(self.guard.enter(self.states[state], name, name))
        self.calls["entered"][state, program] = entry
        return entry

    def fill_left(self, caller_state: int, callee_state: int, program: int) -> int:
        """Find where a recursive call leads to."""
        name = self._name(program)
        after = self.intern(self.guard.leave(self.states[caller_state], self.states[callee_state], name, name))
        self.successor[caller_state, len(self.library) + program] = after
        return after

    def fill_posts(self, questions: list[tuple[int, int, int]]) -> None:
        """Fill in whether calls may end: (before, after, program) each."""
        if not questions:
            return
        keys = np.empty(len(questions), np.int64)
        holds = np.empty(len(questions), np.int32)
        for row, (before, after, program) in enumerate(questions):
            keys[row] = ((before * self.programs + program) << 32) | after
            holds[row] = self.guard.post(self._name(program), self.states[before], self.states[after])
        self.posts = hashing.insert(self.posts, keys, holds)

    def fill_legal(self, state: int, program: int) -> None:
        """Fill in what a program may do here: exactly the pre-conditions."""
        if self.calls["legal"][state, program] != UNKNOWN:
            return
        legal = self.guard.legal(self._name(program), self.states[state])
        actions = tuple(index for index, allowed in enumerate(legal) if allowed)
        self.calls["legal"][state, program] = self._intern_legal(actions)

    def fill_depth(self, state: int, program: int) -> None:
        """Fill in how many actions a call that starts here may take, and whether it is a base case."""
        if self.calls["depth"][state, program] != UNKNOWN:
            return
        self.calls["base_case"][state, program] = self.guard.base_case(self._name(program), self.states[state])
        self.calls["depth"][state, program] = self.guard.depth(self._name(program), self.states[state])

    @property
    def bytes(self) -> int:
        """Memory of the tables; the states themselves are Python objects and not counted."""
        arrays = (self.observation, self.successor, self.calls, self.legal_actions, self.observations)
        return sum(array.nbytes for array in (*arrays, *self.posts))

    def _name(self, program: int) -> str:
        return self.library.names[self.atomic + program]

    def _intern_observation(self, observation: tuple[int, ...]) -> int:
        identifier = self._id_of_observation.get(observation)
        if identifier is None:
            identifier = len(self._id_of_observation)
            if identifier >= len(self.observations):
                self.observations = np.concatenate([self.observations, np.zeros_like(self.observations)])
            self._id_of_observation[observation] = identifier
            self.observations[identifier] = observation
        return identifier

    def _intern_legal(self, actions: tuple[int, ...]) -> int:
        identifier = self._id_of_legal.get(actions)
        if identifier is None:
            identifier = len(self._id_of_legal)
            if identifier >= len(self.legal_count):
                self.legal_count = extended(self.legal_count, 2 * identifier)
                self.legal_actions = extended(self.legal_actions, 2 * identifier)
            self._id_of_legal[actions] = identifier
            self.legal_count[identifier] = len(actions)
            self.legal_actions[identifier, : len(actions)] = actions
        return identifier
