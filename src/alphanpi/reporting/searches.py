"""The search trees of a report: of the execution's steps, and of calls inside them, as far as room allows."""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import Any, NamedTuple, TypeVar

from alphanpi.agent.agent import Agent
from alphanpi.engine.inspection import (
    Decision,
    Inspection,
    TooLargeError,
    TreeBranch,
    call_entry,
    ending,
    inspect,
    most_visited,
)
from alphanpi.engine.requests import Request, Trace
from alphanpi.errors import UsageError
from alphanpi.reporting.execution import Site, Watched
from alphanpi.reporting.following import Effort, follow, search_of
from alphanpi.reporting.records import DecisionRecord, SearchesRecord, SearchRecord
from alphanpi.reporting.states import StateTable

SIMULATIONS = 100
MOST_BYTES = 2_200_000
SECONDS = 20.0
_NODE_BYTES, _EDGE_BYTES, _STATE_BYTES = 26, 58, 24  # as JSON, measured; a state's text comes on top
NODE_LIMITS = (48, 24, 12)
ONE_TREE_LIMITS = (400, 200, 100, 50, 25)
NODE_COLUMNS = ["state", "visits", "value", "edges"]
EDGE_COLUMNS = ["action", "visits", "prior", "q", "u", "level", "total", "failed", "child", "search"]
NO_ROOM = "the page has no room for more"
Key = TypeVar("Key", Site, int)


class _Call(NamedTuple):
    """A call whose search is shown, as the search itself plays it."""

    program: str
    entry: Any


class Collected(NamedTuple):
    """Searches, and for every step of an execution its search's place, or why there is none."""

    record: SearchesRecord
    place: dict[Site, int]
    reason: dict[Site, int]  # place in the record's `reasons`


class _Shown(NamedTuple):
    """A search as it is shown: some of its decisions."""

    program: str
    entry: Any
    success: bool
    decisions: list[Decision]


def kept_nodes(decision: Decision, limit: int) -> list[int]:
    """The most visited nodes of a tree that hang together with its root, parents before children."""
    return most_visited(
        [
            [TreeBranch(edge.visits, edge.child) for edge in node.edges if edge.child is not None]
            for node in decision.nodes
        ],
        limit,
    )


class SearchCollector:
    """Searches calls and writes their trees down."""

    def __init__(self, agent: Agent, states: StateTable, simulations: int) -> None:
        self.agent = agent
        self.search = search_of(agent, simulations)
        self.effort = Effort(simulations, simulations)
        self.library = agent.environment.library
        self.states = states
        self._weighed: set[Any] = set()  # states whose text is counted

    def collect(self, watched: Watched, most_bytes: int = MOST_BYTES, seconds: float = SECONDS) -> Collected:
        """Searches of the execution's calls."""
        deadline = time.monotonic() + seconds
        asked = self.effort
        followed = follow(self.agent, watched, asked.simulations, NODE_LIMITS[0], seconds)
        self.search, self.effort = followed.search, followed.effort
        limit, room, sites = self._fitting(followed.trees, NODE_LIMITS, most_bytes)
        shown: dict[int, _Shown] = {}
        for site in sites:
            call = watched.calls[site.call]
            one = _Shown(call.program, call.entry, watched.succeeded(site.call), [])
            shown.setdefault(site.call, one).decisions.append(followed.trees[site])
        place_of_call = {call: place for place, call in enumerate(shown)}
        place = {site: place_of_call[site.call] for site in sites}
        missing = {site: followed.reasons.get(site, NO_ROOM) for site in watched.sites if site not in place}
        counted = Counter(missing[site] for site in watched.sites if site in missing)
        note = [f"Trees show their {limit} most visited nodes."]
        if self.effort != asked:
            note.append(self._effort_note(asked))
        if counted:
            why = "; ".join(f"{reason} ({count:,})" for reason, count in counted.most_common())
            note.append(f"{sum(counted.values()):,} of {len(watched.sites):,} steps have no tree: {why}.")
        nested = self._nested(list(shown.values()), limit, room, deadline, NODE_LIMITS[0])
        record = self._record([*shown.values(), *nested], limit, " ".join(note), list(counted))
        numbers = {reason: number for number, reason in enumerate(counted)}
        return Collected(record, place, {site: numbers[reason] for site, reason in missing.items()})

    def collect_one(self, program: str, state: Any, step: int) -> SearchesRecord:
        """The search of one call, in its first place, with more of its trees than among many; one step for certain."""
        found = self._inspect(_Call(program, state), ONE_TREE_LIMITS[0], None)
        trees = {decision.step: decision for decision in found.decisions}
        if step not in trees:
            raise no_such_step(found.trace, step)
        wanted = {step: trees[step]} | trees
        limit, room, kept = self._fitting(wanted, ONE_TREE_LIMITS, MOST_BYTES)
        own = _Shown(program, state, found.trace.success, [trees[one] for one in sorted(kept)])
        nested = self._nested([own], limit, room, time.monotonic() + SECONDS, ONE_TREE_LIMITS[0])
        note = f"Trees show their {limit} most visited nodes."
        if len(kept) < len(trees):
            note += f" {len(trees) - len(kept):,} of {len(trees):,} actions have no tree: {NO_ROOM}."
        return self._record([own, *nested], limit, note, [])

    def _effort_note(self, asked: Effort) -> str:
        """Why fewer simulations were made than asked for."""
        called = f"{self.effort.called} in programs that are called"
        made = called if self.effort.simulations == asked.simulations else f"{self.effort.simulations}, and {called}"
        return f"With {asked.simulations:,} simulations throughout, the first steps take too long; here it is {made}."

    def _fitting(
        self, trees: dict[Key, Decision], limits: tuple[int, ...], most_bytes: int
    ) -> tuple[int, int, list[Key]]:
        """Nodes a tree may have if all are to fit, the bytes left then, and the trees that fit, the first ones."""
        for limit in limits:
            self._weighed.clear()
            left, kept = most_bytes, []
            for key, decision in trees.items():
                left -= self._bytes(decision, limit)
                if left < 0:
                    break
                kept.append(key)
            if left >= 0:
                break
        return limit, max(0, left), kept

    def _bytes(self, decision: Decision, limit: int) -> int:
        """About the bytes of a record."""
        used = 0
        for number in kept_nodes(decision, limit):
            node = decision.nodes[number]
            used += _NODE_BYTES + _EDGE_BYTES * len(node.edges)
            if node.state not in self._weighed:
                self._weighed.add(node.state)
                used += 0 if node.state in self.states else _STATE_BYTES + len(self.states.text(node.state).encode())
        return used

    def _inspect(self, call: _Call, most_nodes: int, seconds: float | None) -> Inspection:
        request = Request(call.program, call.entry)
        simulations = self.effort.simulations
        return inspect(self.search, request, simulations=simulations, most_nodes=most_nodes, seconds=seconds)

    def _nested(self, own: list[_Shown], limit: int, room: int, deadline: float, most_nodes: int) -> list[_Shown]:
        """Calls inside the trees that are not calls of the execution, nearest first, while there is room and time."""
        known = {_Call(one.program, one.entry) for one in own}
        found: list[_Shown] = []
        queue = deque(own)
        while queue:
            caller = queue.popleft()
            for decision in caller.decisions:
                for node in kept_nodes(decision, limit):
                    for call in self._called(caller.program, decision, node).values():
                        if call in known:
                            continue
                        known.add(call)
                        try:
                            inspection = self._inspect(call, most_nodes, max(0.0, deadline - time.monotonic()))
                        except TooLargeError:
                            return found
                        except UsageError:  # it may not be called but by its caller
                            continue
                        room -= sum(self._bytes(one, limit) for one in inspection.decisions)
                        if room < 0:
                            return found
                        one = _Shown(*call, inspection.trace.success, list(inspection.decisions))
                        found.append(one)
                        queue.append(one)
        return found

    def _called(self, program: str, decision: Decision, node: int) -> dict[str, _Call]:
        """By the entries that were tried in a node, the calls they make."""
        state, library = decision.nodes[node].state, self.library
        return {
            edge.action: _Call(library.called(edge.action).name, call_entry(self.search, program, state, edge.action))
            for edge in decision.nodes[node].edges
            if edge.visits > 0 and not library.named(edge.action).atomic
        }

    def _record(self, shown: list[_Shown], limit: int, note: str, reasons: list[str]) -> SearchesRecord:
        places = {_Call(one.program, one.entry): place for place, one in reversed(list(enumerate(shown)))}
        config = self.search.config
        return SearchesRecord(
            simulations=self.effort.simulations,
            called_simulations=self.effort.called,
            c_puct=config.c_puct,
            c_level=config.c_level,
            node_columns=NODE_COLUMNS,
            edge_columns=EDGE_COLUMNS,
            note=note,
            reasons=reasons,
            searches=[
                SearchRecord(
                    program=self.library.index_of(one.program),
                    state=self.states.number(one.entry, drawn=False),
                    success=one.success,
                    decisions=[self._decision(one.program, decision, limit, places) for decision in one.decisions],
                )
                for one in shown
            ],
        )

    def _decision(self, program: str, decision: Decision, limit: int, places: dict[_Call, int]) -> DecisionRecord:
        kept = kept_nodes(decision, limit)
        place = {node: row for row, node in enumerate(kept)}
        index = self.library.index_of
        rows: list[list[Any]] = []
        for original in kept:
            node = decision.nodes[original]
            called = self._called(program, decision, original)
            searches = {action: places.get(call) for action, call in called.items()}
            edges = [
                [
                    index(edge.action),
                    edge.visits,
                    round(edge.prior, 4),
                    round(edge.q, 4),
                    round(edge.u, 4),
                    round(edge.level, 4),
                    round(edge.total, 4),
                    int(edge.failed),
                    place.get(-1 if edge.child is None else edge.child),
                    searches.get(edge.action),
                ]
                for edge in node.edges
            ]
            value = None if node.value is None else round(node.value, 4)
            rows.append([self.states.number(node.state, drawn=False), node.visits, value, edges])
        return DecisionRecord(
            step=decision.step,
            choice=index(decision.choice),
            taken=index(decision.taken),
            left_out=decision.size - len(kept),
            nodes=rows,
        )


def no_such_step(trace: Trace, step: int) -> UsageError:
    """What to say where a search did not come to a step, counted from 0."""
    taken = len(trace.actions)
    if taken == 0:
        return UsageError(f"{trace.program}: the search ended before its first action: {ending(trace.failure)}")
    return UsageError(f"{trace.program} takes {taken} actions with search; --step {step + 1} is not one of them")
