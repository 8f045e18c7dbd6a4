"""The search and the network in one: histories that episodes wait for are evaluated without leaving compiled code."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from alphanpi.engine.calls import context_after
from alphanpi.engine.compilation import allocating, compiled
from alphanpi.engine.hashing import ABSENT, HashMap, get, pair_key, put
from alphanpi.engine.kernel import advance
from alphanpi.engine.tables import NONE, UNKNOWN, Hole, Tables
from alphanpi.network.compiled import Routed, Weights, of_network, perceive, remember

_EVALUATE, _NO_HOLE = int(Hole.EVALUATE), int(Hole.NONE)
ROWS_AT_ONCE = 256  # evaluated; more are not faster
_PRODUCTS_PER_NODE = 256  # of an evaluation, in the time that a search needs to pass a node
_NANOSECONDS = 1_000_000_000
_clock_gettime: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uintp))  # of the C library
_MONOTONIC = time.CLOCK_MONOTONIC


class Growth(NamedTuple):
    """The tables of histories with what is needed to extend them; those after `rows` are free."""

    children: HashMap  # the same arrays as in Tables
    rows: NDArray[np.int64]  # [1] in use
    keys: NDArray[np.int64]  # [H] the pair of context and observation that each history is
    program: NDArray[np.int64]  # [H]
    memory: NDArray[np.float32]  # [H, W]
    observations: NDArray[np.int16]  # [O, fields]
    is_perceived: NDArray[np.bool_]  # [G, C] whether the observation of that number is in, by network
    perceived: NDArray[np.float32]  # [G, C + ROWS_AT_ONCE, 4H] what observations contribute; above C not for long
    most: int  # histories allowed in all
    clock: NDArray[np.int64]  # [3] nanoseconds that evaluations took, and room for what a clock shows


@allocating
def advance_evaluating(t: Tables, g: Growth, weights: Routed) -> int:
    """As `advance`, and goes on while the network alone can answer; the number of episodes that wait, or have waited.

    Where the tables have no room for more, episodes wait for evaluations, too.
    """
    while True:
        waiting = advance(t)
        first = g.rows[0]
        if not add_rows(t, g, waiting):
            return waiting
        began = _now(g)
        row, products = first, weights.stacked.gates_hidden[0].size
        while row < g.rows[0]:
            row = _evaluate_some(t, g, weights, row)
        g.clock[0] += _now(g) - began
        t.left[0] -= (g.rows[0] - first) * (1 + products // _PRODUCTS_PER_NODE)
        if t.left[0] <= 0:
            return waiting


@allocating
def _now(g: Growth) -> int:
    shown = g.clock[1:]  # seconds, nanoseconds
    _clock_gettime(_MONOTONIC, shown.ctypes.data)
    now: int = shown[0] * _NANOSECONDS + shown[1]
    return now


@compiled
def add_rows(t: Tables, g: Growth, waiting: int) -> bool:
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
        t.episodes[question.episode].hole = question.hole = _NO_HOLE
        _add_row(t, g, question.first, question.second)
        if question.ahead and question.origin != NONE and t.rules[0].window <= 1:
            _add_siblings(t, g, question.first, question.origin, question.third)
    return found


@compiled
def _add_siblings(t: Tables, g: Growth, context: int, origin: int, program: int) -> None:
    """Rows for the other actions of a node, too: an exploring search tries them soon, and large batches are faster."""
    legal = t.calls[origin, program].legal
    for slot in range(t.legal_count[legal]):
        action = t.legal_actions[legal, slot]
        after = t.successor[origin, action] if action < t.rules[0].atomic else UNKNOWN
        if after != UNKNOWN:
            _add_row(
                t, g, context if t.rules[0].window == 0 else context_after(t, program, action), t.observation[after]
            )


@compiled
def _add_row(t: Tables, g: Growth, context: int, observation: int) -> None:
    key = pair_key(context, observation)
    if get(t.history_keys, t.history_values, key) == ABSENT:
        put(g.children, key, g.rows[0])
        g.keys[g.rows[0]] = key
        g.rows[0] += 1


@allocating
def _evaluate_some(t: Tables, g: Growth, weights: Routed, first: int) -> int:
    """Evaluate the next rows for which the same network decides; the row after them."""
    most = min(first + ROWS_AT_ONCE, g.rows[0])
    network = _network(g, weights, first)
    last = first + 1
    while last < most and _network(g, weights, last) == network:
        last += 1
    _evaluate(t, g, of_network(weights, network), weights.fields[network], network, first, last)
    return last


@compiled
def _network(g: Growth, weights: Routed, row: int) -> int:
    """Which network decides for the program of a new row, noted with it."""
    g.program[row] = g.program[g.keys[row] >> np.int64(32)]
    network: int = weights.network[g.program[row]]
    return network


@allocating
def _evaluate(
    t: Tables, g: Growth, weights: Weights, fields: NDArray[np.int64], network: int, first: int, last: int
) -> None:
    """Evaluate new rows; those that extend the same history and follow each other share what they recall."""
    rows = last - first
    memory = np.empty((rows, g.memory.shape[1]), np.float32)
    parents, observed = np.empty(rows, np.int64), np.empty(rows, np.int64)
    count, previous = 0, np.int64(NONE)
    for row in range(rows):
        key = g.keys[first + row]
        parent = key >> np.int64(32)
        observed[row] = key & np.int64(0xFFFFFFFF)
        if parent != previous:
            memory[count] = g.memory[parent]
            count, previous = count + 1, parent
        parents[row] = count - 1
    remember(
        weights,
        g.program[first:last],
        g.perceived[network],
        _seen(g, weights, fields, network, observed),
        memory[:count],
        parents,
        t.logits[first:last],
        t.values[first:last],
        g.memory[first:last],
    )


@allocating
def _seen(
    g: Growth, weights: Weights, fields: NDArray[np.int64], network: int, observed: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where each observation's share is kept, computed if it is not there: there are far fewer than histories."""
    rows, kept, is_perceived = observed.shape[0], g.is_perceived.shape[1], g.is_perceived[network]
    seen, new = np.empty(rows, np.int64), np.empty(rows, np.int64)
    count, spare = 0, kept
    for row in range(rows):
        seen[row] = observed[row]
        if observed[row] >= kept:
            seen[row], spare = spare, spare + 1
        elif is_perceived[observed[row]]:
            continue
        else:
            is_perceived[observed[row]] = True
        new[count] = row
        count += 1
    if count > 0:
        observations = np.empty((count, fields.shape[0]), np.float32)
        for i in range(count):
            for place in range(fields.shape[0]):
                observations[i, place] = g.observations[observed[new[i]], fields[place]]
        fresh = perceive(weights, observations)
        for i in range(count):
            g.perceived[network, seen[new[i]]] = fresh[i]
    return seen
