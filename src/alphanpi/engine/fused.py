"""The search and the network in one: histories that episodes wait for are evaluated without leaving compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from alphanpi.compiled import Weights, perceive, remember
from alphanpi.engine.compilation import allocating, compiled
from alphanpi.engine.hashing import ABSENT, HashMap, get, pair_key, put, slot_of
from alphanpi.engine.kernel import advance
from alphanpi.engine.tables import NONE, UNKNOWN, Hole, Tables

_EVALUATE, _NO_HOLE = int(Hole.EVALUATE), int(Hole.NONE)
_TIMED = 8  # one batch of so many is timed: looking at the clock takes about as long as a quarter of a row
_clock: Any = types.ExternalFunction("clock", types.int64())  # of the C library: processor time in microseconds


class Growth(NamedTuple):
    """The tables of histories with what is needed to extend them; those after `rows` are free."""

    children: HashMap  # the same arrays as in Tables
    rows: NDArray[np.int64]  # [1] in use
    keys: NDArray[np.int64]  # [H] the pair of history and observation that each history extends
    program: NDArray[np.int64]  # [H]
    memory: NDArray[np.float32]  # [H, W]
    observations: NDArray[np.int16]  # [O, fields]
    perceived_keys: NDArray[np.int64]  # [C] a pair of program and observation, and in the same row
    perceived: NDArray[np.float32]  # [C, 4H] what they contribute to the network; nothing for other evaluators
    most: int  # histories allowed in all
    work: NDArray[np.int64]  # [2] batches evaluated, and microseconds they took, estimated


@allocating
def advance_evaluating(t: Tables, g: Growth, weights: Weights) -> int:
    """As `advance`, and goes on while the network alone can answer; the number of episodes that wait.

    Where the tables have no room for more, episodes wait for evaluations, too.
    """
    while True:
        waiting = advance(t)
        first = g.rows[0]
        if not _add_rows(t, g, waiting):
            return waiting
        timed = g.work[0] % _TIMED == 0
        began = _clock() if timed else 0
        _evaluate(t, g, weights, first, g.rows[0])
        g.work[0] += 1
        if timed:
            g.work[1] += _TIMED * (_clock() - began)


@compiled
def _add_rows(t: Tables, g: Growth, waiting: int) -> bool:
    """Give each history that is asked for a row, once, and those that will be asked for soon; whether there are any."""
    room, most = min(g.most, g.keys.shape[0]), waiting * (1 + t.legal_actions.shape[1])
    if g.rows[0] + most > room or 2 * (g.children.used[0] + most) > g.children.keys.shape[0]:
        return False
    found = False
    for row in range(waiting):
        question = t.questions[row]
        if question.hole != _EVALUATE:
            continue
        found = True
        t.episodes[question.episode].hole = _NO_HOLE
        _add_row(t, g, question.first, question.second)
        if question.ahead and question.origin != NONE:
            _add_siblings(t, g, question.first, question.origin, question.third)
    return found


@compiled
def _add_siblings(t: Tables, g: Growth, history: int, origin: int, program: int) -> None:
    """Rows for the other actions of a node, too: an exploring search tries them soon, and large batches are faster."""
    legal = t.calls[origin, program].legal
    for slot in range(t.legal_count[legal]):
        action = t.legal_actions[legal, slot]
        after = t.successor[origin, action] if action < t.rules[0].atomic else UNKNOWN
        if after != UNKNOWN:
            _add_row(t, g, history, t.observation[after])


@compiled
def _add_row(t: Tables, g: Growth, history: int, observation: int) -> None:
    key = pair_key(history, observation)
    if get(t.history_keys, t.history_values, key) == ABSENT:
        put(g.children, key, g.rows[0])
        g.keys[g.rows[0]] = key
        g.rows[0] += 1


@allocating
def _evaluate(t: Tables, g: Growth, weights: Weights, first: int, last: int) -> None:
    memory = np.empty((last - first, g.memory.shape[1]), np.float32)
    observed = np.empty(last - first, np.int64)
    for row in range(first, last):
        parent = g.keys[row] >> np.int64(32)
        observed[row - first] = g.keys[row] & np.int64(0xFFFFFFFF)
        g.program[row] = g.program[parent]
        memory[row - first] = g.memory[parent]
    gates = _perceived(g, weights, g.program[first:last], observed)
    t.logits[first:last], t.values[first:last], g.memory[first:last] = remember(weights, gates, memory)


@allocating
def _perceived(
    g: Growth, weights: Weights, programs: NDArray[np.int64], observed: NDArray[np.int64]
) -> NDArray[np.float32]:
    """As `perceive`, remembered: far fewer pairs of program and observation occur than histories."""
    rows, mask, fields = programs.shape[0], g.perceived_keys.shape[0] - 1, g.observations.shape[1]
    gates = np.empty((rows, g.perceived.shape[1]), np.float32)
    new = np.empty(rows, np.int64)
    count = 0
    for row in range(rows):
        key = pair_key(programs[row], observed[row])
        slot = slot_of(key, mask)
        if g.perceived_keys[slot] == key:
            gates[row] = g.perceived[slot]
        else:
            new[count] = row
            count += 1
    if count > 0:
        observations = np.empty((count, fields), np.float32)
        for i in range(count):
            for field in range(fields):
                observations[i, field] = g.observations[observed[new[i]], field]
        fresh = perceive(weights, programs[new[:count]], observations)
        for i in range(count):
            key = pair_key(programs[new[i]], observed[new[i]])
            slot = slot_of(key, mask)
            g.perceived_keys[slot] = key
            g.perceived[slot] = fresh[i]
            gates[new[i]] = fresh[i]
    return gates
