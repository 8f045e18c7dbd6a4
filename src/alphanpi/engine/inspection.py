"""Looking into a search: the tree behind each decision of an episode, read before its next action is taken."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from alphanpi.engine import kernel
from alphanpi.engine.calls import attach, release
from alphanpi.engine.compilation import compiled
from alphanpi.engine.episodes import Episodes
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.scoring import upper_confidence
from alphanpi.engine.search import Search
from alphanpi.engine.tables import FAILED, NONE, UNKNOWN, Failure, Hole, LimitReachedError, Status, Tables
from alphanpi.environment.guard import shown
from alphanpi.errors import UsageError

_ACTIVE, _NO_HOLE = int(Status.ACTIVE), int(Hole.NONE)
_TURNS = 4096  # of the kernel, before it comes back to look at the clock
_ENDINGS = {
    Failure.POST: "it stopped where the post-condition is false",
    Failure.DEPTH: "it did not stop within its depth",
    Failure.CALL: "a program it called failed",
    Failure.CALL_DEPTH: "too many calls inside each other",
    Failure.NODES: "a tree of too many nodes",
    Failure.ACTIONS: "too many actions in all",
}


class TooLargeError(UsageError):
    """The search needs more room or time than it was given."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


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
    child: int | None  # index of a node of the same tree; None, too, where it was not kept


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
    taken: str  # the same unless the search was led another way
    nodes: tuple[TreeNode, ...]
    size: int  # nodes of the tree, those that were not kept included

    @property
    def root(self) -> TreeNode:
        """Where the action was chosen."""
        return self.nodes[0]


class Inspection(NamedTuple):
    """An episode and its decisions; fewer than asked for where it ended before."""

    trace: Trace
    decisions: tuple[Decision, ...]


class Turn(NamedTuple):
    """One action of a run, and the state in which it was chosen."""

    state: Any
    action: str


def inspect(
    search: Search,
    request: Request,
    steps: Sequence[int] | None = None,
    *,
    simulations: int | None = None,
    most_nodes: int | None = None,
    seconds: float | None = None,
) -> Inspection:
    """Play one episode and keep the trees of its decisions.

    Args:
        search: The engine; what it remembers of calls is used and added to, as in any episode.
        request: The episode.
        steps: The decisions to keep; all if omitted.
        simulations: Per action of the program itself, where they are to be more than those of programs it calls.
        most_nodes: How many nodes of a tree to keep, the most visited ones; all if omitted.
        seconds: Time limit; TooLargeError beyond it, and where the engine's tables are full.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    try:
        inspector = Inspector(search, request, steps=steps, simulations=simulations, most_nodes=most_nodes)
        while inspector.advance(deadline):
            pass
    except BaseException:
        search.begin_again()
        raise
    trace = inspector.episodes.trace(0)
    kept = [step for step in sorted(inspector.decisions) if step < len(trace.actions)]
    return Inspection(trace, tuple(inspector.taken(step) for step in kept))


def ending(failure: Failure) -> str:
    """Why an episode ended, in words."""
    return _ENDINGS.get(failure, failure.name.lower())


def prepare(search: Search, request: Request) -> None:
    """Compile what an inspection needs without searching anything, so that it does not count as time of a search."""
    episodes = Episodes(search.shared, [request])
    t = episodes.tables()
    f = int(t.episodes["frame"][0])
    root = int(t.frames["root"][f])
    advance_to_decision(t, 0, 0)
    kernel.choose(t, 0, f, root)
    attach(t, f, root, 0, 0, int(t.nodes["state"][root]))
    release(t, f)


@compiled
def advance_to_decision(t: Tables, e: int, turns: int) -> bool:
    """Run the only episode, 0, until its own program has to choose: True. False where it waits, is done, or pauses.

    It pauses, with no hole to fill, after so many turns. The episode's number is an argument because numba would
    compile everything called here anew for a constant.
    """
    t.episodes[e].hole = _NO_HOLE
    while t.episodes[e].status == _ACTIVE and t.episodes[e].hole == _NO_HOLE:
        f = t.episodes[e].frame
        if t.frames[f].caller == NONE and t.frames[f].budget == 0 and t.frames[f].chosen == NONE:
            return True
        if turns == 0:
            return False
        turns -= 1
        if t.frames[f].budget > 0:
            kernel.visit(t, e, f)
        else:
            kernel.move(t, e, f)
    if t.episodes[e].status == _ACTIVE:
        kernel.ask(t, e, e)
    return False


class Inspector:
    """An episode that stops at every decision of its own program, where the tree is read.

    It drives the parts of a search that `Search.run` drives. Several of one search may be under way at a time, until
    one of them raises anything but the time limit's error.

    Led along a run, the search thinks at every state of the run, and the run's action is taken from there to the
    run's next state: also where a call that the run made leads the search elsewhere, or fails.
    """

    def __init__(
        self,
        search: Search,
        request: Request,
        run: Sequence[Turn] = (),
        *,
        steps: Sequence[int] | None = None,
        simulations: int | None = None,
        most_nodes: int | None = None,
    ) -> None:
        self.search = search
        self.request = request
        self.decisions: dict[int, Decision] = {}
        self.reason = ""  # why it ended, where it ended by itself or before its run
        self._steps = None if steps is None else frozenset(steps)
        self._most_nodes = most_nodes
        few = search.config.simulations_exploitation
        self._further = 0 if simulations is None else max(0, simulations - few)  # simulations before a decision
        self.step = -1  # of the present decision
        self._thought_through = -1
        self._ended = False
        try:
            self.episodes = Episodes(search.shared, [request])
            self._run = [(search.world.intern(turn.state), search.library.index_of(turn.action)) for turn in run]
        except LimitReachedError as limit:
            raise self._too_many(limit) from None

    def advance(self, deadline: float = math.inf) -> bool:
        """Play to the next decision, and keep its tree; False where there is none."""
        try:
            return not self._ended and self._advance(deadline)
        except LimitReachedError as limit:
            raise self._too_many(limit) from None

    def taken(self, step: int) -> Decision:
        """A decision that was kept, with the action that was taken in the end: where a call fails, another one is."""
        action = int(self.episodes.steps["action"][0, step])
        return self.decisions[step]._replace(taken=self.search.library.names[action])

    def _advance(self, deadline: float) -> bool:
        while True:
            tables = self.episodes.tables()
            if advance_to_decision(tables, 0, _TURNS):
                f = int(tables.episodes["frame"][0])
                step = int(tables.frames["length"][f])
                if self._thought_through < step and self._further > 0:
                    tables.frames["budget"][f] = self._further
                    self._thought_through = step
                    continue
                return self._lead(tables, f, step) if self._run else self._decide(tables, f, step)
            if tables.episodes["status"][0] != _ACTIVE:
                self._ended = True
                self.reason = f"the search ended before: {ending(Failure(int(tables.episodes['failure'][0])))}"
                return False
            if time.monotonic() > deadline:
                raise self._too_large("the time is up")
            if tables.episodes["hole"][0] != _NO_HOLE:
                self.episodes.fill(waiting=1)

    def _decide(self, t: Tables, f: int, step: int) -> bool:
        """Let the search choose; again, where the call it chose has failed."""
        root = int(t.frames["root"][f])
        slot = int(kernel.choose(t, 0, f, root))
        if self._steps is None or step in self._steps:
            name = self._name(t, root, slot)
            if step == self.step and step in self.decisions:
                name = self.decisions[step].choice
            self._keep(t, f, step, name, name)
        t.frames["chosen"][f] = slot
        self.step = step
        return True

    def _lead(self, t: Tables, f: int, step: int) -> bool:
        """Take the run's action to the run's next state."""
        root = int(t.frames["root"][f])
        state, action = self._run[step]
        legal = t.legal_actions[t.nodes["legal"][root], : t.nodes["count"][root]].tolist()
        if t.nodes["state"][root] != state or action not in legal:
            return self._end(t, f, f"the search may not do {self.search.library.names[action]} where the run did")
        slot = legal.index(action)
        choice = self._name(t, root, int(kernel.choose(t, 0, f, root)))
        self._keep(t, f, step, choice, self.search.library.names[action])
        if step + 1 == len(self._run):
            self._end(t, f, "")
            return True
        after, child = self._run[step + 1][0], int(t.edges["child"][root, slot])
        if child < 0 or t.nodes["state"][child] != after:
            self.search.shared.pools.make_room_for_nodes()
            t = self.episodes.tables()
            attach(t, f, root, slot, action, after)
        t.frames["chosen"][f] = slot
        return True

    def _end(self, t: Tables, f: int, reason: str) -> bool:
        """Give the episode up between two of its actions, when its own frame is its only one."""
        release(t, f)
        self._ended, self.reason = True, reason
        return False

    def _keep(self, t: Tables, f: int, step: int, choice: str, taken: str) -> None:
        self.decisions[step] = _frozen(self.search, t, f, self._most_nodes, Decision(step, choice, taken, (), 0))

    def _name(self, t: Tables, node: int, slot: int) -> str:
        return self.search.library.names[int(t.legal_actions[t.nodes["legal"][node], slot])]

    def _too_many(self, limit: LimitReachedError) -> TooLargeError:
        return self._too_large(f"too many {limit.failure.name.lower()}")

    def _too_large(self, reason: str) -> TooLargeError:
        program, state = self.request.program, shown(self.request.state)
        message = f"{program}: the search from {state} is too large: {reason}; use fewer simulations"
        return TooLargeError(message, reason)


class TreeBranch(NamedTuple):
    """A visited edge that leads to another node."""

    visits: int
    child: int


def most_visited(branches: Sequence[Sequence[TreeBranch]], limit: int) -> list[int]:
    """The most visited nodes of a tree that hang together with its root, node 0, in order."""
    kept: list[int] = []
    queue: list[tuple[int, int]] = [(0, 0)]  # (-visits, node)
    while queue and len(kept) < limit:
        _, node = heapq.heappop(queue)
        kept.append(node)
        for visits, child in branches[node]:
            if visits > 0:
                heapq.heappush(queue, (-visits, child))
    return sorted(kept)


def _frozen(search: Search, t: Tables, f: int, most: int | None, decision: Decision) -> Decision:
    """The decision with the tree below a frame's root, breadth first, as values that outlive the pools."""
    order, branches = [int(t.frames["root"][f])], []
    for node in order:
        count = max(0, int(t.nodes["count"][node]))
        edges = zip(t.edges["visits"][node, :count].tolist(), t.edges["child"][node, :count].tolist(), strict=True)
        inner = [TreeBranch(visits, child) for visits, child in edges if child >= 0]
        branches.append([branch._replace(child=len(order) + place) for place, branch in enumerate(inner)])
        order += [branch.child for branch in inner]
    kept = [order[node] for node in most_visited(branches, most)] if most is not None else order
    number = {node: place for place, node in enumerate(kept)}
    return decision._replace(nodes=tuple(_node(search, t, f, node, number) for node in kept), size=len(order))


def _node(search: Search, t: Tables, f: int, node: int, number: dict[int, int]) -> TreeNode:
    record = t.nodes[node]
    state = search.world.states[record["state"]]
    depth, total = int(record["depth"]), int(record["total"])
    if record["count"] == UNKNOWN:
        return TreeNode(state, depth, total, None, ())
    program, actions = int(t.frames["program"][f]), t.legal_actions[record["legal"], : record["count"]].tolist()
    sqrt_total = math.sqrt(max(1, total))
    rules, rows = search.config, t.edges[node, : record["count"]]
    edges = []
    for action, visits, prior, q, child in zip(
        actions, *(rows[name].tolist() for name in ("visits", "prior", "q", "child")), strict=True
    ):
        level = float(t.level[program, action])
        u = float(upper_confidence(rules.c_puct, prior, sqrt_total, visits))
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
