"""What the network said: a trie over observation sequences, shared by all episodes and nested searches.

Inside one call the network's answer depends on the program and the observations so far or, with a window, on the last
ones and the actions between them, and on nothing else, so each such history is evaluated once until the weights change.

A history is a context and the observation made in it. What is carried from a history to the next observation is again a
context: the history itself or, with a window, the history of the last observations and the action taken since. With a
window of one there are as many contexts as programs and actions, and all of them have rows from the beginning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine import hashing
from alphanpi.engine.fused import ROWS_AT_ONCE, Growth
from alphanpi.engine.tables import NONE, Failure, LegalSet, LimitReachedError, extended
from alphanpi.network.compiled import Routed
from alphanpi.network.evaluator import UNBOUNDED, Evaluator, noted, window_of, windows_of
from alphanpi.network.history_table import Context
from alphanpi.network.memories import NO_ROW, HostMemories, memories_of

_FIRST_ROWS = 1 << 15
_FIRST_CAPACITY = 1 << 14
_PERCEIVED = 1 << 14  # observations
_OBSERVATION = 0xFFFFFFFF  # the part of a key that is an observation's number
_NOWHERE = np.zeros((0, 0), np.float32)  # in place of memories that compiled code cannot read
_FLOAT_BYTES = 4


class Histories:
    """Evaluated histories and contexts by row. Rows 0..P-1 are the contexts in which the P programs begin."""

    def __init__(self, evaluator: Evaluator, programs: int, entries: int, max_histories: int) -> None:
        self.evaluator = evaluator
        self.programs = programs
        self.entries = entries
        self.max_histories = max_histories
        self.window = window_of(evaluator)
        self._windows = windows_of(evaluator, programs)
        self.first = programs * (1 + entries) if self.window == 1 else programs
        """Rows there are from the beginning."""
        self._evaluations = 0  # of histories that were forgotten
        rows = max(_FIRST_ROWS, 2 * self.first)
        self._count = np.full(1, self.first, np.int64)
        self._keys = np.zeros(rows, np.int64)  # the pair each history extends, as one key
        self._clock = np.zeros(3, np.int64)  # of compiled code, see Growth
        self._memories = memories_of(evaluator, rows)
        self._program = np.zeros(rows, np.int64)
        self._program[:programs] = np.arange(programs)
        if self.window == 1:
            self._program[programs : self.first] = np.repeat(np.arange(programs), entries)
            for context in range(programs, self.first):
                self._memories.put(context, NO_ROW, noted((context - programs) % entries))
        weights = _weights(evaluator)
        self._fused = weights is not None
        networks, gates = 0 if weights is None else len(weights.fields), 4 * (evaluator.memory_width // 2)
        self._perceived = np.zeros((networks, _PERCEIVED + ROWS_AT_ONCE, gates), np.float32)
        self._is_perceived = np.zeros((networks, _PERCEIVED), np.bool_)
        self.logits = np.zeros((rows, entries), np.float32)
        self.values = np.zeros(rows, np.float32)
        self._contexts: dict[int, Context] = {}
        self._begin()

    def forget(self) -> None:
        """Drop everything: the weights have changed."""
        self._evaluations = self.evaluations
        self._begin()

    def _begin(self) -> None:
        self._count[0] = self._noticed = self.first
        self.children = hashing.empty(_FIRST_CAPACITY)
        self.known_rows: dict[int, int] = {}  # of `known`, by one key for context and observation
        self._is_perceived[:] = False
        self.favourites: dict[tuple[int, int], int] = {}  # of `favourite`, by history and legal set
        self._contexts = {row: Context(row, NONE, NONE) for row in range(self.programs)}
        self._context_rows = {context: row for row, context in self._contexts.items()}
        self._following: dict[tuple[int, int], int] = {}

    @property
    def answers_in_rows(self) -> bool:
        """Whether the evaluator keeps memories itself, and best answers many rows that compiled code has gathered."""
        return not isinstance(self._memories, HostMemories)

    @property
    def asked_in_advance(self) -> bool:
        """Whether Python asks for evaluations, which is slow, so that what is needed next is to be asked for, too."""
        return self.weights is None and not self.answers_in_rows

    @property
    def weights(self) -> Routed | None:
        """The present weights of an evaluator that compiled code can stand in for; None for all others."""
        return _weights(self.evaluator) if self._fused else None

    @property
    def count(self) -> int:
        """Histories in the table."""
        return int(self._count[0])

    @property
    def evaluations(self) -> int:
        """Histories evaluated in all."""
        return self._evaluations + self.count - self.first - (len(self._contexts) - self.programs)

    def known(self, context: int, observation: int) -> int | None:
        """The history that an observation makes of a context, if it has been evaluated and noticed."""
        return self.known_rows.get((context << 32) | observation)

    def following(self, history: int, action: int, observations: NDArray[np.int16]) -> int:
        """The context after a history in which an action was taken."""
        if self.window == UNBOUNDED:
            return history
        if self.window == 1:
            return self.programs + self._program.item(history) * self.entries + action
        key = (history, action)
        if key not in self._following:
            self._following[key] = row = self._row(self._context(history, action, observations))
            self.children = hashing.insert(
                self.children, np.array([hashing.action_key(*key)], np.int64), np.array([row], np.int32)
            )
        return self._following[key]

    def beside(self, context: int, action: int) -> int:
        """The context of another action of the same node; with a window of one, of any action of the same program."""
        if self.window == UNBOUNDED:
            return context
        if self.window == 1:
            return self.programs + self._program.item(context) * self.entries + action
        return self._row(self._contexts[context]._replace(action=action))

    def _context(self, history: int, action: int, observations: NDArray[np.int16]) -> Context:
        program, at = int(self._program[history]), history
        kept: list[tuple[int, int]] = []  # action before, observation
        while at != NONE and len(kept) < self._windows[program] - 1:
            context, observed = divmod(int(self._keys[at]), 1 << 32)
            kept.append((self._contexts[context].action, observed))
            at = self._contexts[context].history
        at = NONE
        for before, observed in reversed(kept):
            pair = (self._row(Context(program, at, before)), observed)
            self.notice()
            if self.known(*pair) is None:
                self.extend([pair], observations)
            found = self.known(*pair)
            assert found is not None, "just evaluated"
            at = found
        return Context(program, at, action)

    def _row(self, context: Context) -> int:
        """The row of a context, made if there is none."""
        row = self._context_rows.get(context)
        if row is None:
            row = self.count
            if row >= self.max_histories:
                raise LimitReachedError(Failure.HISTORIES)
            if row >= len(self._keys):
                self._grow(row + 1)
            self.notice()
            self._context_rows[context], self._contexts[row] = row, context
            self._program[row], self._keys[row] = context.program, NONE
            self._memories.put(row, NO_ROW if context.history == NONE else context.history, noted(context.action))
            self._count[0] = self._noticed = row + 1
        return row

    @property
    def compiled_seconds(self) -> float:
        """Time that evaluations inside of compiled code have taken."""
        return 1e-9 * float(self._clock[0])

    def growth(self, observations: NDArray[np.int16]) -> Growth:
        """The tables, for compiled code that extends them itself."""
        return Growth(
            children=self.children,
            rows=self._count,
            keys=self._keys,
            program=self._program,
            memory=self._memories.array if isinstance(self._memories, HostMemories) else _NOWHERE,
            observations=observations,
            is_perceived=self._is_perceived,
            perceived=self._perceived,
            most=self.max_histories,
            clock=self._clock,
        )

    def notice(self) -> None:
        """Take note of the histories that compiled code added since the last time, for `known`."""
        first, last = self._noticed, self.count
        if first < last:
            self.known_rows.update(zip(self._keys[first:last].tolist(), range(first, last), strict=True))
            self._noticed = last

    def favourite(self, history: int, legal: LegalSet) -> int:
        """The most probable of the legal actions."""
        key = (history, legal.number)
        action = self.favourites.get(key)
        if action is None:
            actions = np.array(legal.actions)
            action = self.favourites[key] = int(actions[self.logits[history, actions].argmax()])
        return action

    def extend(self, pairs: list[tuple[int, int]], observations: NDArray[np.int16]) -> None:
        """Evaluate histories, each a context and the id of the observation made in it."""
        if self.count + len(pairs) > self.max_histories:
            raise LimitReachedError(Failure.HISTORIES)
        parents, observed = np.array(pairs, np.int64).T
        first, last = self.count, self.count + len(pairs)
        if last > len(self._keys):
            self._grow(last)
        self._keys[first:last] = (parents << 32) | observed
        self.evaluate(first, last, observations)
        self.children = hashing.insert(self.children, self._keys[first:last], np.arange(first, last, dtype=np.int32))
        self._count[0] = last
        self.notice()

    def evaluate(self, first: int, last: int, observations: NDArray[np.int16]) -> None:
        """Evaluate the histories of some rows, of which the table has the keys and no more."""
        parents, observed = self._keys[first:last] >> 32, self._keys[first:last] & _OBSERVATION
        programs = self._program[parents]
        self._program[first:last] = programs
        answers = self._memories.extend(first, parents, programs, observations[observed])
        self.logits[first:last] = answers.logits
        self.values[first:last] = answers.values

    def memory_of(self, contexts: NDArray[np.int32]) -> NDArray[np.float32]:
        """What the network carries into each of the contexts: [rows, W]."""
        return self._memories.read(contexts)

    @property
    def bytes(self) -> int:
        """Memory of the tables, of the rows in use."""
        rows = (self.logits, self.values, self._program, self._keys)
        memories = self.count * self.evaluator.memory_width * _FLOAT_BYTES
        networks, _, gates = self._perceived.shape
        perceived = (int(self._is_perceived.sum()) + networks * ROWS_AT_ONCE) * gates * self._perceived.itemsize
        return (
            sum(table[: self.count].nbytes for table in rows)
            + sum(table.nbytes for table in self.children)
            + perceived
            + memories
        )

    def _grow(self, needed: int) -> None:
        rows = len(self._keys)
        while rows < needed:
            rows *= 2
        self._memories.reserve(rows)
        self._program = extended(self._program, rows)
        self._keys = extended(self._keys, rows)
        self.logits = extended(self.logits, rows)
        self.values = extended(self.values, rows)


def _weights(evaluator: Evaluator) -> Routed | None:
    weights = getattr(evaluator, "weights", None)
    return weights if isinstance(weights, Routed) else None
