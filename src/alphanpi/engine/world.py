"""The environment as integers: every state gets an id, and what is known of it goes into tables."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine import hashing
from alphanpi.engine.tables import (
    CALL,
    STOP_ACTION,
    UNKNOWN,
    Failure,
    LegalSet,
    LimitReachedError,
    extended,
    unknown,
)
from alphanpi.environment.guard import PLAIN, RAISED, Guard
from alphanpi.environment.specification import Environment

_FIRST_ROWS = 1024


class FrameChange(NamedTuple):
    """A call that begins in another state than its caller's: on a part of the problem, or as the environment says."""

    caller: int
    entry: int  # of the library


def _frame_changes(guard: Guard) -> tuple[FrameChange, ...]:
    """All calls that may change the frame, by caller."""
    library = guard.library
    return tuple(
        FrameChange(number, entry)
        for number, caller in enumerate(library.learned)
        for entry, allowed in enumerate(library.may_call(caller.name))
        if allowed
        and not library[entry].atomic
        and (guard.changes_frames or library.frame(caller.name, library.names[entry]) is not None)
    )


class World:
    """Interned states and observations of one environment, and the tables the kernel reads.

    Everything but the results of calls depends on the environment alone and stays when weights change.
    """

    def __init__(self, environment: Environment[Any], max_states: int) -> None:
        self.guard = Guard(environment, hashed_by_caller=True)
        self.library = environment.library
        self.max_states = max_states
        self.atomic = self.library.atomic_count
        self.programs = len(self.library.learned)
        self._row = struct.Struct(f"{len(environment.fields)}h")
        self._tests = [self._tests_of(program.name) for program in self.library.learned]
        plain = type(environment).base_case is Environment.base_case
        self._never_recurses = [plain and not program.recursive for program in self.library.learned]
        self.changes = _frame_changes(self.guard)
        self.frame_changes = unknown((self.programs, len(self.library)))
        for number, change in enumerate(self.changes):
            self.frame_changes[change.caller, change.entry] = number
        self.callees = np.array(self.library.callees, np.int32)
        self.recursive = np.zeros((self.programs, len(self.library)), np.bool_)
        for number, program in enumerate(self.library.learned):
            self.recursive[number, list(self.library.recursions(program.name))] = True
        self.widest = max(sum(self.library.may_call(program.name)) for program in self.library.learned)
        self.forget_everything()

    def forget_everything(self) -> None:
        """Start with no states at all; histories, whose keys are numbers of observations, must be forgotten, too."""
        self._id_of_state: dict[Any, int] = {}
        self.states: list[Any] = []
        self.observed: list[int] = []  # id of each state's observation; the kernel reads the same from an array
        self._id_of_observation: dict[tuple[int, ...], int] = {}
        fields = len(self.guard.environment.fields)
        self.observations: NDArray[np.int16] = np.zeros((_FIRST_ROWS, fields), np.int16)
        self._legal_sets: dict[tuple[bool, ...], LegalSet] = {}
        self._legal_by_tests: list[dict[tuple[Any, ...], LegalSet]] = [{} for _ in range(self.programs)]
        self.observation = unknown((_FIRST_ROWS,))
        self.successor = unknown((_FIRST_ROWS, len(self.library) + len(self.changes)))
        self.calls = unknown((_FIRST_ROWS, self.programs), CALL)
        self.entered = unknown((_FIRST_ROWS, len(self.changes)))
        self.legal_count = unknown((_FIRST_ROWS,))
        self.legal_actions = unknown((_FIRST_ROWS, self.widest))
        self.posts = hashing.empty()
        self._known_posts: dict[int, bool] = {}
        self._new_posts: dict[int, bool] = {}  # those of them that the kernel does not know yet
        self.legal_sets: dict[int, LegalSet] = {}  # by state times P plus program
        self._successors: dict[int, tuple[int, ...]] = {}
        self._view_calls()

    def keep(self, wanted: NDArray[np.int32]) -> NDArray[np.int32]:
        """Forget all states but these and those that calls made in them begin and end in; [S] their new ids, by old.

        What is dropped can be found out again, except how calls ended that are waited for: these are kept.
        """
        atomic, before = self.atomic, len(self.states)
        kept = np.unique(wanted)
        entries = self.entered[kept]
        kept = np.union1d(kept, entries[entries >= 0])
        ends = self.successor[kept, atomic:]
        kept = np.union1d(kept, ends[ends >= 0]).astype(np.int32)
        renumbered = unknown((before,))
        renumbered[kept] = np.arange(len(kept), dtype=np.int32)
        legal_sets, programs = self.legal_sets, range(self.programs)
        self.states = [self.states[state] for state in kept.tolist()]
        self.observed = [self.observed[state] for state in kept.tolist()]
        self._id_of_state = {state: number for number, state in enumerate(self.states)}
        rows = [range(state * self.programs, (state + 1) * self.programs) for state in kept.tolist()]
        self.legal_sets = {
            number * self.programs + program: legal_sets[row[program]]
            for number, row in enumerate(rows)
            for program in programs
            if row[program] in legal_sets
        }
        for name in ("observation", "successor", "calls", "entered"):
            table = getattr(self, name)
            smaller = table[kept]
            if name in ("successor", "entered"):
                smaller = np.where(smaller >= 0, renumbered[smaller], smaller)
            setattr(self, name, extended(smaller, len(table)))
        self.posts, self._known_posts, self._new_posts = hashing.empty(), {}, {}
        self._successors = {}
        self._view_calls()
        return renumbered

    def forget_calls(self) -> None:
        """Drop the results of calls: the weights they came from are no longer the network's."""
        self.successor[:, self.atomic :] = UNKNOWN

    def _view_calls(self) -> None:
        self._legal_set = self.calls["legal"]
        self._depth, self._base_case = self.calls["depth"], self.calls["base_case"]

    def intern(self, state: Any, origin: str = "a start state", name: str = "", before: Any = None) -> int:
        """The state's id; a new state is observed at once. Where it cannot be hashed, what it comes from is said."""
        try:
            identifier = self._id_of_state.setdefault(state, len(self.states))  # one hash: long states are costly
        except RAISED as error:
            self.guard.incomparable(error, state, origin.format(name), before)
        if identifier < len(self.states):
            return identifier
        if identifier >= self.max_states:
            raise LimitReachedError(Failure.STATES)
        if identifier >= len(self.observation):
            self.observation = extended(self.observation, 2 * identifier)
            self.successor = extended(self.successor, 2 * identifier)
            self.calls = extended(self.calls, 2 * identifier)
            self.entered = extended(self.entered, 2 * identifier)
            self._view_calls()
        try:
            observation = self._observe(state)
        except BaseException:
            del self._id_of_state[state]
            raise
        self.observation[identifier] = observation
        self.observed.append(observation)
        self.states.append(state)
        return identifier

    def fill_action(self, state: int, action: int) -> int:
        """Apply an atomic action, once; the id of the state after it."""
        after: int = self.successor.item(state, action)
        if after == UNKNOWN:
            before, name = self.states[state], self.library.names[action]
            after = self.intern(self.guard.act(before, name), "action {}", name, before)
            self.successor[state, action] = after
        return after

    def frame_change(self, caller: int, entry: int) -> int:
        """The number of the change of frame with which a program makes a call; NONE if there is none."""
        number: int = self.frame_changes.item(caller, entry)
        return number

    def fill_entered(self, state: int, number: int) -> int:
        """Find where a call that changes the frame starts, once."""
        entry: int = self.entered.item(state, number)
        if entry == UNKNOWN:
            change, before = self.changes[number], self.states[state]
            caller, callee = self._name(change.caller), self.library.names[change.entry]
            entered = self.guard.enter(before, callee, caller)
            entry = self.intern(entered, f"entering {{}} from {caller}", callee, before)
            self.entered[state, number] = entry
        return entry

    def fill_left(self, caller_state: int, callee_state: int, number: int) -> int:
        """Find where a call that changes the frame leads to."""
        change, ended = self.changes[number], self.states[callee_state]
        caller, callee = self._name(change.caller), self.library.names[change.entry]
        left = self.guard.leave(self.states[caller_state], ended, callee, caller)
        after = self.intern(left, f"leaving {{}} for {caller}", callee, ended)
        self.successor[caller_state, len(self.library) + number] = after
        return after

    def find_post(self, before: int, after: int, program: int) -> bool:
        """Whether a call that began in `before` may end in `after`; the kernel knows after `fill_posts`."""
        key = ((before * self.programs + program) << 32) | after
        holds = self._known_posts.get(key)
        if holds is None:
            holds = self.guard.post(self._name(program), self.states[before], self.states[after])
            self._known_posts[key] = self._new_posts[key] = holds
        return holds

    def fill_posts(self) -> None:
        """Fill in whether calls may end, as found out since the last time."""
        if self._new_posts:
            keys, holds = np.array(list(self._new_posts), np.int64), np.array(list(self._new_posts.values()), np.int32)
            self.posts = hashing.insert(self.posts, keys, holds)
            self._new_posts = {}

    def fill_legal(self, state: int, program: int) -> LegalSet:
        """Fill in what a program may do here: exactly the pre-conditions."""
        key = state * self.programs + program
        found = self.legal_sets.get(key)
        if found is None:
            found = self.legal_sets[key] = self._find_legal(self.states[state], program)
            self._legal_set[state, program] = found.number
        return found

    def _tests_of(self, program: str) -> tuple[Callable[[Any], Any], ...] | None:
        """The tests of a state that decide what the program may do, if nothing else does."""
        conditions = self.guard.conditions(program)
        return None if conditions is None else tuple(test for test in conditions if not isinstance(test, bool))

    def _find_legal(self, state: Any, program: int) -> LegalSet:
        """What the tests of a state say, looked up; all pre-conditions only where they say something new."""
        tests, known = self._tests[program], self._legal_by_tests[program]
        if tests is not None:
            try:
                answers = tuple([test(state) for test in tests])
                found = known.get(answers)
            except RAISED:  # the guard calls the same tests and names the one at fault
                answers, found = None, None
            if found is not None:
                return found
        legal = self.guard.legal(self._name(program), state)
        found = self._legal_sets.get(legal) or self._intern_legal(legal)
        if tests is not None and answers is not None:
            known[answers] = found
        return found

    def successors(self, state: int, program: int) -> tuple[int, ...]:
        """The states after each atomic action a program may take here, with their own legal sets filled in."""
        key = state * self.programs + program
        found = self._successors.get(key)
        if found is None:
            moves = self.fill_legal(state, program).moves
            found = self._successors[key] = tuple([self.fill_action(state, action) for action in moves])
            for after in found:
                self.fill_legal(after, program)
        return found

    def outcome(self, entry: int, program: int) -> int:
        """Where a call that starts here ends, as remembered: a state, FAILED or UNKNOWN."""
        result: int = self.successor.item(entry, self.atomic + program)
        return result

    def fill_depth(self, state: int, program: int) -> None:
        """Fill in how many actions a call that starts here may take, and whether it is a base case."""
        if self._depth.item(state, program) != UNKNOWN:
            return
        name, before = self._name(program), self.states[state]
        self._base_case[state, program] = self._never_recurses[program] or self.guard.base_case(name, before)
        self._depth[state, program] = self.guard.depth(name, before)

    @property
    def bytes(self) -> int:
        """Memory of the tables; the states themselves are Python objects and not counted."""
        arrays = (self.observation, self.successor, self.calls, self.entered, self.legal_actions, self.observations)
        return sum(array.nbytes for array in (*arrays, *self.posts))

    def _name(self, program: int) -> str:
        return self.library.names[self.atomic + program]

    def _observe(self, state: Any) -> int:
        observation = self.guard.look(state)
        try:
            identifier = self._id_of_observation.get(observation)
        except TypeError:
            self.guard.well_formed(observation, state)
            raise
        return self._intern_observation(observation, state) if identifier is None else identifier

    def _intern_observation(self, observation: tuple[int, ...], state: Any) -> int:
        identifier = len(self._id_of_observation)
        if identifier >= len(self.observations):
            self.observations = np.concatenate([self.observations, np.zeros_like(self.observations)])
        if not self._write_plain(identifier, observation):
            self.observations[identifier] = self.guard.well_formed(observation, state)
        self._id_of_observation[observation] = identifier
        return identifier

    def _write_plain(self, identifier: int, observation: tuple[int, ...]) -> bool:
        """Write an observation of small Python integers, as nearly all are; much faster than to look for mistakes."""
        if not PLAIN.issuperset(map(type, observation)):
            return False
        try:
            self._row.pack_into(self.observations.data, identifier * self._row.size, *observation)
        except struct.error:
            return False
        return True

    def _intern_legal(self, legal: tuple[bool, ...]) -> LegalSet:
        number = len(self._legal_sets)
        if number >= len(self.legal_count):
            self.legal_count = extended(self.legal_count, 2 * number)
            self.legal_actions = extended(self.legal_actions, 2 * number)
        actions = tuple(index for index, allowed in enumerate(legal) if allowed)
        self.legal_count[number] = len(actions)
        self.legal_actions[number, : len(actions)] = actions
        moves = tuple(action for action in actions if STOP_ACTION < action < self.atomic)
        entry = self._legal_sets[legal] = LegalSet(number, actions, moves)
        return entry
