"""The search trees of a report: of every call of the execution, and of calls inside them, as far as room allows."""

from __future__ import annotations

import heapq
import math
import time
from collections import deque
from contextlib import suppress
from typing import Any, NamedTuple

from alphanpi.agent import Agent
from alphanpi.engine.inspection import Decision, Inspection, TooLargeError, call_entry, inspect
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.errors import UsageError
from alphanpi.reporting.execution import Watched
from alphanpi.reporting.records import DecisionRecord, SearchesRecord, SearchRecord
from alphanpi.reporting.states import StateTable

SIMULATIONS = 100
MOST_BYTES = 2_200_000
SECONDS = 20.0
_NODE_BYTES, _EDGE_BYTES = 26, 58  # as JSON, measured
NODE_LIMITS = (48, 24, 12, 6)
ONE_TREE_LIMITS = (400, 200, 100, 50, 25)
NODE_COLUMNS = ["state", "visits", "value", "edges"]
EDGE_COLUMNS = ["action", "visits", "prior", "q", "u", "level", "total", "failed", "child", "search"]


def search_of(agent: Agent, simulations: int) -> Search:
    """The agent's training search in exploitation mode, level term included, with that many simulations."""
    if simulations < 1:
        raise UsageError(f"{simulations} simulations search nothing; give at least 1")
    config = agent.card.search.model_copy(update={"simulations_exploitation": simulations})
    return Search(agent.environment, agent.evaluator, config)


class _Wanted(NamedTuple):
    """A call whose search is to be shown."""

    program: str
    entry: Any
    actions: tuple[str, ...]  # that were taken; none: the search's own choices


class Collected(NamedTuple):
    """Searches, and the places of those that belong to calls of an execution."""

    record: SearchesRecord
    place_of_call: dict[int, int]


def kept_nodes(decision: Decision, limit: int) -> list[int]:
    """The most visited nodes of a tree that hang together with its root, parents before children."""
    kept: list[int] = []
    queue: list[tuple[int, int]] = [(0, 0)]  # (-visits of the edge, node)
    while queue and len(kept) < limit:
        _, node = heapq.heappop(queue)
        kept.append(node)
        for edge in decision.nodes[node].edges:
            if edge.child is not None and edge.visits > 0:
                heapq.heappush(queue, (-edge.visits, edge.child))
    return sorted(kept)


class SearchCollector:
    """Searches calls and writes their trees down."""

    def __init__(self, agent: Agent, states: StateTable, simulations: int) -> None:
        self.search = search_of(agent, simulations)
        self.library = agent.environment.library
        self.states = states
        self.simulations = simulations
        self._inspections: dict[_Wanted, Inspection] = {}
        self._deadline = math.inf

    def collect(self, watched: Watched, most_bytes: int = MOST_BYTES, seconds: float = SECONDS) -> Collected:
        """Searches of the execution's calls."""
        steps = watched.execution.steps
        wanted = [
            _Wanted(call.program, call.entry, tuple(steps[place].action for place in call.steps))
            for call in watched.calls
        ]
        return self._collect(wanted, NODE_LIMITS, most_bytes, seconds)

    def collect_one(self, program: str, state: Any) -> SearchesRecord:
        """The search of one call, in its first place, with more of its trees than among many."""
        self._inspected(_Wanted(program, state, ()))
        return self._collect([_Wanted(program, state, ())], ONE_TREE_LIMITS, MOST_BYTES, SECONDS).record

    def _collect(self, wanted: list[_Wanted], limits: tuple[int, ...], most_bytes: int, seconds: float) -> Collected:
        size = self.search.environment.size
        with suppress(TooLargeError):  # the first one compiles, which must not use up the time
            self._inspected(self._own(min(wanted, key=lambda item: size(item.entry))))
        self._deadline = time.monotonic() + seconds
        own = self._searched(wanted)
        order = [item for item in dict.fromkeys(own.get(item) for item in wanted) if item is not None]
        limit, used = self._fitting(order, limits, most_bytes)
        while used > most_bytes:
            used -= self._size(order.pop(), limit)
        nested = self._nested(order, limit, most_bytes - used)
        places = {item: place for place, item in enumerate([*order, *nested])}
        by_call = {(item.program, item.entry): place for item, place in reversed(places.items())}
        found = {number: places[own[item]] for number, item in enumerate(wanted) if own.get(item) in places}
        missing = len(wanted) - len(found)
        note = f"Trees show their {limit} most visited nodes."
        if missing > 0:
            note += f" {missing:,} of {len(wanted):,} calls of the run have no tree here."
        config = self.search.config
        record = SearchesRecord(
            simulations=self.simulations,
            c_puct=config.c_puct,
            c_level=config.c_level,
            node_columns=NODE_COLUMNS,
            edge_columns=EDGE_COLUMNS,
            note=note,
            searches=[self._record(item, limit, by_call) for item in places],
        )
        return Collected(record, found)

    def _searched(self, wanted: list[_Wanted]) -> dict[_Wanted, _Wanted]:
        """Each call as it is shown, small problems first, while there is time."""
        size = self.search.environment.size
        found: dict[_Wanted, _Wanted] = {}
        for item in sorted(dict.fromkeys(wanted), key=lambda item: size(item.entry)):
            try:
                own = self._own(item)
                self._inspected(own)  # what is found is searched now: later there may be no time
                found[item] = own
            except TooLargeError:
                break
        return found

    def _fitting(self, order: list[_Wanted], limits: tuple[int, ...], most_bytes: int) -> tuple[int, int]:
        """How many nodes a tree may have if all are to fit, and the bytes they take then."""
        limit, used = limits[-1], 0
        for limit in limits:
            used = sum(self._size(item, limit) for item in order)
            if used <= most_bytes:
                break
        return limit, used

    def _size(self, wanted: _Wanted, limit: int) -> int:
        """About the bytes of a record."""
        return sum(
            _NODE_BYTES + _EDGE_BYTES * len(decision.nodes[node].edges)
            for decision in self._inspected(wanted).decisions
            for node in kept_nodes(decision, limit)
        )

    def _own(self, wanted: _Wanted) -> _Wanted:
        """The call as the search itself would play it, where it takes the same actions anyway."""
        bare = wanted._replace(actions=())
        names = self.library.names
        if not wanted.actions:
            return wanted
        same = tuple(names[action] for action in self._inspected(bare).trace.actions) == wanted.actions
        return bare if same else wanted

    def _inspected(self, wanted: _Wanted) -> Inspection:
        known = self._inspections.get(wanted)
        if known is None:
            request = Request(wanted.program, wanted.entry)
            left = self._deadline - time.monotonic()
            known = self._inspections[wanted] = inspect(self.search, request, None, wanted.actions, max(0.0, left))
        return known

    def _nested(self, order: list[_Wanted], limit: int, room: int) -> list[_Wanted]:
        """Calls inside the trees that are not calls of the execution, nearest first, while there is room."""
        found: dict[_Wanted, None] = {}
        queue = deque(order)
        while queue:
            caller = queue.popleft()
            for decision in self._inspected(caller).decisions:
                for node in kept_nodes(decision, limit):
                    for callee, entry in self._called(caller.program, decision, node):
                        item = _Wanted(callee, entry, ())
                        if item in found or item in order:
                            continue
                        try:
                            room -= self._size(item, limit)
                        except TooLargeError:
                            return list(found)
                        if room < 0:
                            return list(found)
                        found[item] = None
                        queue.append(item)
        return list(found)

    def _called(self, program: str, decision: Decision, node: int) -> list[tuple[str, Any]]:
        state = decision.nodes[node].state
        return [
            (edge.action, call_entry(self.search, program, state, edge.action))
            for edge in decision.nodes[node].edges
            if edge.visits > 0 and not self.library.named(edge.action).atomic
        ]

    def _record(self, wanted: _Wanted, limit: int, by_call: dict[tuple[str, Any], int]) -> SearchRecord:
        inspection = self._inspected(wanted)
        return SearchRecord(
            program=self.library.index_of(wanted.program),
            state=self.states.number(wanted.entry),
            success=inspection.trace.success,
            decisions=[self._decision(wanted.program, one, limit, by_call) for one in inspection.decisions],
        )

    def _decision(
        self, program: str, decision: Decision, limit: int, by_call: dict[tuple[str, Any], int]
    ) -> DecisionRecord:
        kept = kept_nodes(decision, limit)
        place = {node: row for row, node in enumerate(kept)}
        index = self.library.index_of
        rows: list[list[Any]] = []
        for original in kept:
            node = decision.nodes[original]
            called = dict(self._called(program, decision, original))
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
                    by_call.get((edge.action, called[edge.action])) if edge.action in called else None,
                ]
                for edge in node.edges
            ]
            value = None if node.value is None else round(node.value, 4)
            rows.append([self.states.number(node.state), node.visits, value, edges])
        return DecisionRecord(
            step=decision.step,
            choice=index(decision.choice),
            taken=index(decision.taken),
            left_out=len(decision.nodes) - len(kept),
            nodes=rows,
        )
