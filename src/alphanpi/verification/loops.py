"""Loops: an invariant of a body whose agent has a finite memory, and a ranking that keeps it within its depth.

An agent with a window acts on a context, of which there are finitely many, and on what it is shown. The environment's
`Loop` gives finitely many views of (start, state) and situations that show all that can follow from each. So the pairs
(context, view) that a call can meet at any size are the least set that holds those of all starts and is closed under
the agent's steps, and that set can be computed.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sized
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.cutoff import Loop, Situation
from alphanpi.environment.guard import shown
from alphanpi.environment.specification import STOP, Program
from alphanpi.errors import AlphaNPIError, SpecificationError
from alphanpi.network.decisions import Decisions, Mask
from alphanpi.network.history_table import Observation
from alphanpi.verification.contracts import Contracts
from alphanpi.verification.exploration import MOST_HISTORIES, TIME_MET, LimitError, histories_met
from alphanpi.verification.lemma import situations_of
from alphanpi.verification.numerics import Point

MOST_LEFT = 1_000
"""Actions, beyond what a ranking counts, after which a body counts as one that does not stop."""
MOST_POINTS = 50_000
"""Points of an invariant, after which there is said to be none; with a window of one, sorting has 4,300."""
MOST_SUSPECTS = 200
"""Situations in which something seems to be wrong and whose calls are made for real."""
_NEAR, _FAR = 8, 40  # how far above the smallest size instances are drawn

Decreases = tuple[int | None, ...]
"""For each ranking, by how much at least a step makes it smaller; None where it does not speak of the action."""


class Sight(NamedTuple):
    """All that can be told of a situation: its view, and what the agent is shown and may do."""

    view: Hashable
    observation: Observation
    mask: Mask


class LoopPoint(NamedTuple):
    """A place in a body: what the agent carries, and the view of the situation."""

    context: int
    view: Hashable


class LoopShown(NamedTuple):
    """An invariant of a body, or why there is none."""

    situations: int
    points: frozenset[LoopPoint]
    decided: frozenset[Point]  # what it rests on
    called: frozenset[str]
    spare: int  # actions that are left in any case when a call ends
    fault: str  # empty where the invariant holds
    suspects: tuple[int, ...]  # else numbers of situations whose calls may go wrong


class _Edges(NamedTuple):
    """Where a step from a point may lead."""

    action: str
    following: Mapping[Hashable, Decreases]
    context: int


class LoopTable:
    """What the situations of one program show."""

    def __init__(self, contracts: Contracts, program: Program, loop: Loop, deadline: float = float("inf")) -> None:
        self.contracts = contracts
        self.guard = contracts.guard
        self.program = program
        self.loop = loop
        self.deadline = deadline
        self.actions = frozenset(action for ranking in loop.rankings for action in ranking.actions)
        self._view_of, self._remaining_of = f"view of {program.name}", f"remaining of {program.name}"
        self.situations = 0
        self.starts: dict[Hashable, list[int]] = {}
        """Of every view of a start, how many actions the depth leaves at least beyond each ranking."""
        self.examples: dict[Hashable, Any] = {}
        self._groups: defaultdict[Sight, list[int]] = defaultdict(list)
        self._sights: defaultdict[Hashable, list[Sight]] = defaultdict(list)
        self._following: dict[tuple[Sight, str], dict[Hashable, Decreases]] = {}
        self._stops: dict[Sight, int | None] = {}
        self.numbered = situations_of(self.guard, program.name, loop)
        for number, situation in enumerate(self.numbered):
            self._take(number, *situation)

    def view(self, start: Any, state: Any) -> Hashable | None:
        """The view of a situation."""
        loop = self.loop
        found: Hashable | None = self.guard.attempt(lambda: _hashed(loop.view(start, state)), self._view_of, state)
        return found

    def sight(self, view: Hashable, state: Any) -> Sight:
        """All that can be told of a situation with that view."""
        return Sight(view, self.guard.observe(state), self.guard.legal(self.program.name, state))

    def sights(self, view: Hashable) -> list[Sight]:
        """What situations with that view look like."""
        return self._sights[view]

    def known(self, sight: Sight) -> bool:
        """Whether some situation looks like that."""
        return sight in self._groups

    def spare(self, start: Any) -> list[int]:
        """How many actions the depth of a call leaves beyond each ranking."""
        depth = self.guard.depth(self.program.name, start)
        return [depth - left for left in self._remaining(start, start)]

    def after(self, state: Any, action: str) -> list[Any]:
        """The states in which an action or a call may end; none where the call may not begin."""
        guard, name = self.guard, self.program.name
        callee = guard.library.called(action)
        if callee.atomic:
            return [guard.act(state, action)]
        entry = guard.enter(state, action, name)
        if guard.size(entry) < callee.minimum_size or not guard.pre(callee.name, entry, None):
            return []
        return [guard.leave(state, end, action, name) for end in self.contracts.allowed(callee.name, entry)]

    def steps(self, situation: Situation, action: str) -> Iterator[tuple[Any, Hashable | None, Decreases]]:
        """What an action leads to: the states, their views, and what becomes of the rankings."""
        start, state = situation
        left = self._remaining(start, state)
        states = self.after(state, action)
        if not states:
            yield state, None, ()
        for after in states:
            view = self.view(start, after)
            following = self._remaining(start, after) if view is not None else []
            yield (
                after,
                view,
                tuple(
                    one - other if action in ranking.actions else None
                    for ranking, one, other in zip(self.loop.rankings, left, following, strict=False)
                ),
            )

    def following(self, sight: Sight, action: str) -> Mapping[Hashable, Decreases]:
        """The views that may follow, None among them where a call is lost sight of, with the least decreases."""
        key = (sight, action)
        if key not in self._following:
            if time.monotonic() > self.deadline:
                raise LimitError(TIME_MET)
            found: dict[Hashable, Decreases] = {}
            for number in self._groups[sight]:
                for _, view, decreases in self.steps(self.numbered[number], action):
                    found[view] = _least(found.get(view, decreases), decreases)
            self._following[key] = found
        return self._following[key]

    def wrong_stop(self, sight: Sight) -> int | None:
        """A situation that looks like that and in which a call must not end, if there is one."""
        if sight not in self._stops:
            name, wrong = self.program.name, None
            for number in self._groups[sight]:
                start, state = self.numbered[number]
                if not self.guard.post(name, start, state):
                    wrong = number
                    break
                self.contracts.require_listed(name, start, state)
            self._stops[sight] = wrong
        return self._stops[sight]

    def example(self, sight: Sight) -> int:
        """A situation that looks like that."""
        return self._groups[sight][0]

    def _take(self, number: int, start: Any, state: Any) -> None:
        name = self.program.name
        if not self.guard.pre(name, start, None) or self.guard.size(start) < self.program.minimum_size:
            raise SpecificationError(
                f"{self.guard.name}: the situations of {name} hold a call begun in {shown(start)}, where none may begin"
            )
        if time.monotonic() > self.deadline:
            raise LimitError(TIME_MET)
        view = self.view(start, state)
        if view is None:
            return
        self.situations += 1
        self._remaining(start, state)
        sight = self.sight(view, state)
        if sight not in self._groups:
            self._sights[view].append(sight)
        self._groups[sight].append(number)
        if start == state:
            spare = self.spare(start)
            self.starts[view] = [min(pair) for pair in zip(self.starts.get(view, spare), spare, strict=True)]
            self.examples.setdefault(view, start)

    def _remaining(self, start: Any, state: Any) -> list[int]:
        rankings, what = self.loop.rankings, self._remaining_of
        found: list[int] = self.guard.attempt(lambda: [one.remaining(start, state) for one in rankings], what, state)
        for left in found:
            if type(left) is not int or left < 0:
                raise SpecificationError(
                    f"{self.guard.name}: {what} is {shown(left)} in {shown(state)}; give a whole number from 0 on"
                )
        return found


def invariant_of(table: LoopTable, decisions: Decisions) -> LoopShown:
    """The least set of points that holds those of all starts and is closed under the agent's steps."""
    library = decisions.table.library
    beginning = decisions.table.beginning(library.index_of(table.program.name) - library.atomic_count)
    edges: dict[LoopPoint, list[_Edges]] = {LoopPoint(beginning, view): [] for view in table.starts}
    decided: set[Point] = set()
    called: set[str] = set()
    faults: dict[int, str] = {}
    too_many = ""
    pending = list(edges)
    while pending and not (too_many := _too_many(edges, decisions)):
        if time.monotonic() > table.deadline:
            raise LimitError(TIME_MET)
        point = pending.pop()
        for sight in table.sights(point.view):
            history = decisions.table.after(point.context, sight.observation)
            chosen = decisions.decide(history, sight.mask).action
            action = library.names[chosen]
            decided.add((history, sight.mask))
            if action == STOP:
                wrong = table.wrong_stop(sight)
                if wrong is not None:
                    faults[wrong] = "it stops, where its post-condition is false"
                continue
            if action not in table.actions:
                faults[table.example(sight)] = f"it takes {action}, which the lemma does not follow"
                continue
            if not library.named(action).atomic:
                called.add(library.called(action).name)
            step = _Edges(action, table.following(sight, action), decisions.table.following(history, chosen))
            edges[point].append(step)
            for view in step.following:
                following = LoopPoint(step.context, view)
                if view is None:
                    faults[table.example(sight)] = f"it takes {action}, after which the lemma says nothing of it"
                elif following not in edges:
                    edges[following] = []
                    pending.append(following)
    spare, fault = 0, ""
    if not edges:
        fault = "the lemma gives no situation in which a call of it begins"
    elif too_many:
        fault = f"no invariant was found: {too_many}; with a smaller network.window there are fewer"
    elif faults:
        (start, state), what = table.numbered[min(faults)], faults[min(faults)]
        fault = f"no invariant was found: in {shown(state)}, in a call begun in {shown(start)}, {what}"
    else:
        spare, fault = _within_depth(table, beginning, edges)
    suspects = tuple(sorted(faults)[:MOST_SUSPECTS])
    return LoopShown(table.situations, frozenset(edges), frozenset(decided), frozenset(called), spare, fault, suspects)


def _too_many(points: Sized, decisions: Decisions) -> str:
    """The limit on memory that was met, if any."""
    if len(points) > MOST_POINTS:
        return f"more than {MOST_POINTS:,} points were met"
    return histories_met() if len(decisions.table.histories) > MOST_HISTORIES else ""


def _within_depth(table: LoopTable, beginning: int, edges: Mapping[LoopPoint, list[_Edges]]) -> tuple[int, str]:
    """How many actions are spared at least; a fault where a call may not stop within its depth."""
    bounds = [_bounds(edges, number) for number in range(len(table.loop.rankings))]
    least = math.inf
    for view, spare in table.starts.items():
        left = [more - bound[LoopPoint(beginning, view)] for more, bound in zip(spare, bounds, strict=True)]
        if max(left) < 0:
            example = shown(table.examples[view])
            return 0, f"no ranking of the lemma shows that calls like the one begun in {example} stop in time"
        least = min(least, max(left))
    return int(least), ""


def _bounds(edges: Mapping[LoopPoint, list[_Edges]], number: int) -> dict[LoopPoint, float]:
    """How many actions a call takes at most from each point on, STOP included, beyond what a ranking says.

    The least solution of bound(p) >= 1 and bound(p) >= 1 - decrease + bound(q) for all steps from p to q; infinite
    where there is none, or a large one.
    """
    before: defaultdict[LoopPoint, list[tuple[LoopPoint, float]]] = defaultdict(list)
    for point, steps in edges.items():
        costs: dict[LoopPoint, float] = {}
        for step in steps:
            for view, decreases in step.following.items():
                decrease, after = decreases[number], LoopPoint(step.context, view)
                costs[after] = max(costs.get(after, -math.inf), math.inf if decrease is None else 1 - decrease)
        for after, cost in costs.items():
            before[after].append((point, cost))
    bound: dict[LoopPoint, float] = dict.fromkeys(edges, 1)
    pending = list(edges)
    while pending:
        after = pending.pop()
        for point, cost in before[after]:
            most = cost + bound[after]
            if most > bound[point]:
                bound[point] = most if most <= MOST_LEFT else math.inf
                pending.append(point)
    return bound


def contradiction(tables: Mapping[str, LoopTable], name: str, rng: np.random.Generator) -> str | None:
    """What the situations of a lemma do not show, in one call of random size and all that it leads to."""
    table = tables[name]
    size = table.program.minimum_size + int(rng.integers(_FAR if rng.random() < 0.3 else _NEAR))
    try:
        start = table.guard.initial(name, size, rng)
    except AlphaNPIError:  # real runs tell up to which size problems can be made
        return None
    return unlike(tables, name, start, rng)


def unlike(tables: Mapping[str, LoopTable], name: str, start: Any, rng: np.random.Generator) -> str | None:
    """The same for a call begun in that state: a walk at random, all steps from each of its states looked at."""
    table, guard = tables[name], tables[name].guard

    def found(what: str, state: Any) -> str:
        return f"{name} begun in {shown(start)}: no situation of the lemma {what} {shown(state)}"

    view = table.view(start, start)
    if view not in table.starts:
        return found("begins like", start)
    if any(more < least for more, least in zip(table.spare(start), table.starts[view], strict=True)):
        return found("leaves as few actions as", start)
    state = start
    entries: list[tuple[str, Any]] = []
    for _ in range(guard.depth(name, start)):
        sight = table.sight(table.view(start, state), state)
        if not table.known(sight):
            return found("looks like", state)
        if table.wrong_stop(sight) is None and not guard.post(name, start, state):
            return found("forbids to stop in", state)
        ways: list[Any] = []
        for action in sorted(table.actions):
            if not sight.mask[guard.library.index_of(action)]:
                continue
            known = table.following(sight, action)
            for after, view, decreases in table.steps(Situation(start, state), action):
                if view not in known:
                    return found(f"is led by {action} where it leads in", state)
                if _least(decreases, known[view]) != known[view]:
                    return found(f"comes by {action} no nearer to its end than", state)
                if view is not None:
                    ways.append(after)
                    callee = guard.library.called(action).name
                    if callee in tables:
                        entries.append((callee, guard.enter(state, action, name)))
        if not ways:
            break
        state = ways[int(rng.integers(len(ways)))]
    if not entries:
        return None
    callee, entry = entries[int(rng.integers(len(entries)))]
    return unlike(tables, callee, entry, rng)


def _least(one: Decreases, other: Decreases) -> Decreases:
    return tuple(None if a is None or b is None else min(a, b) for a, b in zip(one, other, strict=True))


def _hashed(view: Hashable) -> Hashable:
    hash(view)
    return view
