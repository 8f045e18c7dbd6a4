"""Looking into a search: the tree behind each decision of an episode, read before its next action is taken."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from alphanpi.engine import kernel
from alphanpi.engine.calls import wait
from alphanpi.engine.compilation import compiled
from alphanpi.engine.episodes import NODES_AT_ONCE, Episodes
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.scoring import upper_confidence
from alphanpi.engine.search import Search
from alphanpi.engine.tables import FAILED, NONE, UNKNOWN, Hole, LimitReachedError, Status, Tables
from alphanpi.errors import UsageError
from alphanpi.guard import shown

_ACTIVE, _NO_HOLE, _PAUSE = int(Status.ACTIVE), int(Hole.NONE), int(Hole.PAUSE)


class TooLargeError(UsageError):
    """The search needs more room or time than it was given."""


class TreeEdge(NamedTuple):
    """A legal action of a node; q + u + level is what the next simulation would compare."""

    action: str
    visits: int
    prior: float
    q: float
    u: float
    level: float
    total: float
    failed: bool  # a call that failed; it is not taken again
    child: int | None  # index of a node of the same tree


class TreeNode(NamedTuple):
    """A state the search has reached."""

    state: Any
    depth: int  # actions since the program was called
    visits: int  # over all edges
    value: float | None  # the network's; None where the node was not evaluated yet
    edges: tuple[TreeEdge, ...]  # in the order of the library; empty where the node was not evaluated yet


class Decision(NamedTuple):
    """The tree when an action was chosen; node 0 is its root, and every child comes after its parent."""

    step: int
    choice: str  # of the search
    taken: str  # the same unless another action was asked for
    nodes: tuple[TreeNode, ...]

    @property
    def root(self) -> TreeNode:
        """Where the action was chosen."""
        return self.nodes[0]


class Inspection(NamedTuple):
    """An episode and its decisions; fewer than asked for where it ended before."""

    trace: Trace
    decisions: tuple[Decision, ...]


def inspect(
    search: Search,
    request: Request,
    steps: Sequence[int] | None = None,
    actions: Sequence[str] = (),
    seconds: float | None = None,
) -> Inspection:
    """Play one episode and keep the trees of its decisions.

    Args:
        search: The engine; what it remembers of calls is used and added to, as in any episode.
        request: The episode.
        steps: The decisions to keep; all if omitted.
        actions: Taken instead of the search's choices, as far as they go. The episode goes on with its own choices
            after an action that is not legal or that fails.
        seconds: Time limit; TooLargeError beyond it, and where the engine's tables are full.
    """
    return _Inspector(search, request, steps, actions, seconds).run()


@compiled
def advance_to_decision(t: Tables) -> bool:
    """Run the only episode until its own program has to choose: True. False where it waits, or is done."""
    t.episodes[0].hole = _NO_HOLE
    while t.episodes[0].status == _ACTIVE and t.episodes[0].hole == _NO_HOLE:
        if t.left[0] <= 0:
            wait(t, 0, _PAUSE, 0, 0, 0)
            break
        f = t.episodes[0].frame
        if t.frames[f].budget > 0:
            kernel.visit(t, 0, f)
        elif t.frames[f].caller == NONE and t.frames[f].chosen == NONE:
            return True
        else:
            kernel.move(t, 0, f)
    if t.episodes[0].status == _ACTIVE:
        kernel.ask(t, 0, 0)
    return False


class _Inspector:
    """Drives the parts of a search that `Search.run` drives, and stops at every decision of the episode."""

    def __init__(
        self,
        search: Search,
        request: Request,
        steps: Sequence[int] | None,
        actions: Sequence[str],
        seconds: float | None,
    ) -> None:
        self.search = search
        self.request = request
        self.steps = None if steps is None else frozenset(steps)
        self.forced = [search.library.index_of(action) for action in actions]
        self.following = True  # whether the actions asked for have been taken so far
        self.decisions: dict[int, Decision] = {}
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds

    def run(self) -> Inspection:
        try:
            return self._run()
        except LimitReachedError as limit:
            self.search.begin_again()
            raise self._too_large(f"too many {limit.failure.name.lower()}") from None
        except BaseException:
            self.search.begin_again()
            raise

    def _too_large(self, reason: str) -> TooLargeError:
        program, state = self.request.program, shown(self.request.state)
        return TooLargeError(f"{program}: the search from {state} is too large: {reason}; use fewer simulations")

    def _run(self) -> Inspection:
        episodes, names = Episodes(self.search.shared, [self.request]), self.search.library.names
        last_step = -1
        while True:
            tables = episodes.tables()
            tables.left[0] = NODES_AT_ONCE
            if advance_to_decision(tables):
                frame = tables.frames[tables.episodes["frame"][0]]
                step = int(frame["length"])
                again = step == last_step  # the call that was chosen has failed; another action is to be found
                self._decide(tables, step, again)
                last_step = step
            elif tables.episodes["status"][0] != Status.ACTIVE:
                break
            else:
                if time.monotonic() > self.deadline:
                    raise self._too_large("the time is up")
                episodes.fill(waiting=1)
        trace = episodes.trace(0)
        kept = [
            decision._replace(taken=names[trace.actions[step]])
            for step, decision in sorted(self.decisions.items())
            if step < len(trace.actions)
        ]
        return Inspection(trace, tuple(kept))

    def _decide(self, t: Tables, step: int, again: bool) -> None:
        f = int(t.episodes["frame"][0])
        root = int(t.frames["root"][f])
        slot = choice = int(kernel.choose(t, 0, f, root))
        legal = t.legal_actions[t.nodes["legal"][root]]
        if step < len(self.forced) and self.following:
            wanted = [
                other
                for other in range(int(t.nodes["count"][root]))
                if legal[other] == self.forced[step] and t.edges["child"][root, other] != FAILED
            ]
            self.following = bool(wanted) and not again
            slot = wanted[0] if self.following else choice
        if self.steps is None or step in self.steps:
            name = self.search.library.names[legal[choice]]
            if again:
                name = self.decisions[step].choice if step in self.decisions else name
            nodes = _frozen(self.search, t, f, root)
            self.decisions[step] = Decision(step, name, name, nodes)
        t.frames["chosen"][f] = slot


def _frozen(search: Search, t: Tables, f: int, root: int) -> tuple[TreeNode, ...]:
    """The tree below a node, breadth first, as values that outlive the pools."""
    order, number = [root], {root: 0}
    for node in order:
        for slot in range(max(0, int(t.nodes["count"][node]))):
            child = int(t.edges["child"][node, slot])
            if child >= 0:
                number[child] = len(order)
                order.append(child)
    return tuple(_node(search, t, f, node, number) for node in order)


def _node(search: Search, t: Tables, f: int, node: int, number: dict[int, int]) -> TreeNode:
    record = t.nodes[node]
    state = search.world.states[record["state"]]
    depth, total = int(record["depth"]), int(record["total"])
    if record["count"] == UNKNOWN:
        return TreeNode(state, depth, total, None, ())
    program, legal = t.frames["program"][f], t.legal_actions[record["legal"]]
    sqrt_total = math.sqrt(max(1, total))
    rules = search.config
    edges = []
    for slot in range(int(record["count"])):
        edge, action = t.edges[node, slot], int(legal[slot])
        visits, prior, q = int(edge["visits"]), float(edge["prior"]), float(edge["q"])
        level = float(t.level[program, action])
        if rules.level_term == "decaying":
            level /= 1.0 + visits
        u = float(upper_confidence(rules.c_puct, prior, sqrt_total, visits))
        child = int(edge["child"])
        edges.append(
            TreeEdge(
                action=search.library.names[action],
                visits=visits,
                prior=prior,
                q=q,
                u=u,
                level=level,
                total=q + u + level,
                failed=child == FAILED,
                child=number.get(child),
            )
        )
    return TreeNode(state, depth, total, float(t.values[record["history"]]), tuple(edges))


def call_entry(search: Search, program: str, state: Any, callee: str) -> Any:
    """The state in which a call begins: the smaller problem where a program calls itself."""
    if search.library.named(callee).atomic:
        raise UsageError(f"{callee} is an atomic action; only programs have a search of their own")
    return search.world.guard.enter(state, callee, program)
