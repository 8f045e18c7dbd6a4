"""The arrays the kernel works on. Records are rows of one array each; the sentinels have names.

Letters: A library entries, P programs to be learned, C frame changes, S states, M legal sets, K most legal actions,
H histories, N nodes, F frames, B episodes, D longest trace, G noise pool.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Records = NDArray[Any]

UNKNOWN = -1  # a hole: not computed yet
FAILED = -2  # a call that failed; also an edge that must not be taken again
NONE = -1  # no node, no frame, no edge
STOP_ACTION = 0


class Failure(IntEnum):
    """Why a call did not succeed."""

    NONE = 0
    POST = 1  # it stopped where the post-condition is false
    DEPTH = 2  # it did not stop within its depth
    CALL = 3  # a program it called failed
    CALL_DEPTH = 4  # too many calls inside each other
    NODES = 5  # the search tree grew too large
    STATES = 6  # too many different states
    HISTORIES = 7  # too many network evaluations
    ACTIONS = 8  # more actions in all than were allowed


class LimitReachedError(Exception):
    """A table is full; the search turns this into a failure reason."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


class CrowdedError(Exception):
    """So many episodes side by side would need too much memory for their traces."""

    def __init__(self, fitting: int) -> None:
        self.fitting = fitting


class Hole(IntEnum):
    """What an episode waits for."""

    NONE = 0
    ACT = 1  # (state, action, program)
    ENTER = 2  # (state, frame change)
    LEAVE = 3  # (caller state, callee state, frame change)
    POST = 4  # (before, after, program)
    LEGAL = 5  # (state, program, context)
    DEPTH = 6  # (state, program)
    EVALUATE = 7  # (context, observation, program)
    NOISE = 8  # ()
    NODES = 9  # ()
    FRAMES = 10  # ()
    PAUSE = 11  # (), for Python to be heard in between
    CONTEXT = 12  # (history, action)


class Status(IntEnum):
    """Where an episode stands."""

    ACTIVE = 0
    DONE = 1


def _record(integers: str = "", booleans: str = "", floats: str = "", longs: str = "") -> np.dtype[Any]:
    kinds = ((integers, np.int32), (booleans, np.bool_), (floats, np.float64), (longs, np.int64))
    return np.dtype([(name, kind) for names, kind in kinds for name in names.split()], align=True)


CALL = _record("height work legal depth base_case")
"""What is known of a program in a state.

height: calls inside each other below a call that starts here; work: actions inside of it; legal: legal set;
depth: most actions of a call that starts here; base_case: whether it should not recurse.
"""

NODE = _record(
    "state context previous history parent parent_slot depth recursions count legal total post link selected "
    "problem begun limit settled",
    "could_recurse",
    "stop_value earned",
)
"""A node of a search tree.

context: what the network carries to the node's observation; with a window of two or more, the history of the parent
until the node is expanded, and previous the action from there, which is NONE otherwise;
history: UNKNOWN until expanded, as is count, the number of legal actions; depth: actions since the program was
called; total: visits over all edges; post: whether STOP here succeeds (UNKNOWN, 0, 1), and stop_value its value then;
link: next node of the same tree, or of the free list; selected: slot of the edge to take next;
recursions: recursive calls on the path; could_recurse: one was legal on it; problem: which of the episode's problems
it belongs to, begun the depth at which that began, limit the one at which it has to end, earned the values of those
before, added up; settled: the slot taken before in a node of the path that looks the same, or NONE.
"""

EDGE = _record("visits child", floats="prior weighted_prior level q weight_sum value_sum")
"""An edge: a node's slot in its legal set.

child: NONE, FAILED or a node; weighted_prior: c_puct times prior; level: the level term;
weight_sum, value_sum: sums of e^(tau_1 v) and v e^(tau_1 v), and q their ratio.
"""

FRAME = _record(
    "program entry caller root cursor budget chosen length call_depth height first_node last_node node_count",
    longs="work",
)
"""A call under way; the frames of an episode form a stack through `caller`.

program: index among those to be learned; entry: state at the call; caller: frame below, NONE for the episode's own
program, or the next free frame; root: node the next action is chosen at; cursor: node the running simulation has
reached; budget: simulations left before the next action; chosen: slot of the action being taken, NONE while
simulating; length: actions taken; height: calls inside each other above, so far; work: actions
searched so far, those of nested calls too.
"""

EPISODE = _record(
    "status frame failure final length hole first second third noise_used noise_filled problems",
    "exploring",
    "value",
    "simulations nested_simulations work",
)
"""One episode of a batch.

hole: what it waits for, with its three arguments; frame: top of the call stack; problems: how many it has to solve.
"""

QUESTION = _record("episode hole first second third entry history origin ahead")
"""What a waiting episode asks for.

entry: state in which the running call began; history: of the node the simulation has reached; origin: state of that
node's parent, or NONE; ahead: 1 where the other actions of the node will be tried soon, too.
"""

STEP = _record("state action context", floats="value")
"""One action of a trace, the context of its observation, and what a STOP was worth."""

RULES = _record(
    "atomic entries programs window simulations simulations_exploitation max_call_depth max_nodes max_actions",
    "penalise_where_possible discard_failed_calls",
    "c_puct q_temperature policy_temperature discount recursion_penalty noise_fraction",
)
"""The search configuration as the kernel reads it; library entries below index `atomic` are atomic."""


class LegalSet(NamedTuple):
    """What may be done in a state: library indices, and the row of `legal_actions` that holds them."""

    number: int
    actions: tuple[int, ...]
    moves: tuple[int, ...]  # those of them that are atomic, without STOP


class Tables(NamedTuple):
    """Everything the kernel reads and writes."""

    observation: Ints  # [S]
    successor: Ints  # [S, A + C] by atomic action or call, then by frame change; UNKNOWN, FAILED or a state
    calls: Records  # [S, P] of CALL
    callees: Ints  # [A] the program that a call runs; NONE for STOP and actions
    recursive: NDArray[np.bool_]  # [P, A] by which calls a program calls itself, or another of its group
    frame_changes: Ints  # [P, A] by caller and call; NONE where the callee works on the caller's own state
    entered: Ints  # [S, C] state in which such a call starts
    legal_count: Ints  # [M]
    legal_actions: Ints  # [M, K]
    post_keys: NDArray[np.int64]  # (before * P + program, after) -> 0 or 1
    post_values: Ints
    logits: NDArray[np.float32]  # [H, A]
    values: NDArray[np.float32]  # [H]
    history_keys: NDArray[np.int64]  # (context, observation) -> history; (history, ~action) -> context
    history_values: Ints
    nodes: Records  # [N] of NODE
    edges: Records  # [N, K] of EDGE
    frames: Records  # [F] of FRAME
    free: Ints  # [2] first free node, first free frame
    episodes: Records  # [B] of EPISODE
    starts: Ints  # [B, most problems of an episode] where each problem begins
    questions: Records  # [B] of QUESTION, the first ones in use
    left: NDArray[np.int64]  # [1] nodes that may be passed before all episodes pause
    uniform: Floats  # [B, D] draws that choose the actions
    noise: Floats  # [B, G] Gamma(alpha_d) draws
    steps: Records  # [B, D] of STEP
    visits: Ints  # [B, D, A]
    policies: Floats  # [B, D, A]
    rules: Records  # [1] of RULES
    level: Floats  # [P, A] the level term L


def extended(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """The array with more rows; new ones are zero, or UNKNOWN in a table of integers."""
    larger = np.zeros((rows, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    if array.dtype in (np.int32, CALL):
        larger[len(array) :].view(np.int32)[...] = UNKNOWN
    return larger


def unknown(shape: tuple[int, ...], dtype: Any = np.int32) -> NDArray[Any]:
    """A table of integers, or of records of integers, in which nothing is known yet."""
    table = np.zeros(shape, dtype)
    table.view(np.int32)[...] = UNKNOWN
    return table


def linked(records: Records, field: str, first: int, head: Ints) -> None:
    """Put the rows from `first` on a free list threaded through `field`, in front of what is there."""
    link = records[field]
    link[first:-1] = np.arange(first + 1, len(link))
    link[-1] = head[0]
    head[0] = first
