"""The trees of an execution's own decisions: what is looked at first is searched first, within a time limit."""

from __future__ import annotations

import time
from typing import NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.engine.inspection import Decision, Inspector, TooLargeError, Turn, prepare
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.errors import UsageError
from alphanpi.reporting.execution import Site, Watched

MOST_SIMULATIONS = 1_000_000
FIRST_STEPS = 12  # that are to have trees, if need be of fewer simulations
_C_PUCT = 5.0
_MOST_STATES, _MOST_HISTORIES, _MOST_TREE_BYTES = 150_000, 100_000, 1 << 30  # bounds on memory
_SHARES = (0.3, 0.7, 1.0)  # of the time, by the end of which one effort after the other gives up


class Effort(NamedTuple):
    """Simulations per action: of the program whose tree is shown, and of programs that are called."""

    simulations: int
    called: int


class Followed(NamedTuple):
    """The trees of a run's decisions, in the order of the run, and why the others are missing."""

    effort: Effort
    search: Search
    trees: dict[Site, Decision]
    reasons: dict[Site, str]


def search_of(agent: Agent, simulations: int, bounded: bool = False) -> Search:
    """The agent's search in exploitation mode, level term included; it explores enough to show what was not done.

    A bounded one has tables that a report has room for.
    """
    if simulations < 1:
        raise UsageError(f"{simulations} simulations search nothing; give at least 1")
    if simulations > MOST_SIMULATIONS:
        raise UsageError(f"{simulations} simulations per action are too many; give at most {MOST_SIMULATIONS:,}")
    config = agent.card.search
    changes = {"simulations_exploitation": simulations, "c_puct": _C_PUCT}
    if bounded:
        changes["max_states"] = min(config.max_states, _MOST_STATES)
        changes["max_histories"] = min(config.max_histories, _MOST_HISTORIES)
    return Search(agent.environment, agent.evaluator, config.model_copy(update=changes))


def efforts(simulations: int) -> list[Effort]:
    """From what is asked for to what is nearly always possible.

    Searches inside of searches multiply; with one simulation in the inner ones, they hardly do.
    """
    whole = Effort(simulations, simulations)
    return list(dict.fromkeys([whole, Effort(simulations, 1), Effort(max(1, simulations // 10), 1)]))


def follow(agent: Agent, watched: Watched, simulations: int, most_nodes: int, seconds: float) -> Followed:
    """Search where the run decided, along the run; with less effort where its first steps would have no trees."""
    runs, first = _runs(watched), set(watched.sites[:FIRST_STEPS])
    ladder = efforts(simulations)
    found = Followed(ladder[0], search_of(agent, simulations, bounded=True), {}, {})
    prepare(found.search, Request(watched.calls[0].program, watched.calls[0].entry))
    began = time.monotonic()
    for effort, share in zip(ladder, _SHARES[-len(ladder) :], strict=True):
        tried = found
        if effort != found.effort:
            tried = Followed(effort, search_of(agent, effort.called, bounded=True), {}, {})
        _follow(tried, watched, runs, most_nodes, _Limit(first, began + share * seconds, began + seconds))
        found = max(found, tried, key=lambda one: len(first & one.trees.keys()))
        if first <= found.trees.keys():
            break
    return found


def _runs(watched: Watched) -> list[tuple[Turn, ...]]:
    """What each call of an execution did."""
    steps = watched.execution.steps
    return [tuple(Turn(steps[place].state, steps[place].action) for place in call.steps) for call in watched.calls]


class _Limit(NamedTuple):
    """Until when to search: to the end only if the first steps have got their trees in good time."""

    first: set[Site]
    soft: float
    hard: float

    def after(self, trees: dict[Site, Decision]) -> float:
        """The time by which the next tree has to be there."""
        return self.hard if self.first <= trees.keys() else self.soft


def _follow(
    found: Followed,
    watched: Watched,
    runs: list[tuple[Turn, ...]],
    most_nodes: int,
    limit: _Limit,
) -> None:
    """Search step by step in the order of the run; a call goes on where the run comes back to it."""
    inspectors: dict[int, Inspector] = {}
    over = ""  # why nothing more is searched
    for site in watched.sites:
        if site in found.trees or site in found.reasons:
            continue
        if over:
            found.reasons[site] = over
            continue
        call = watched.calls[site.call]
        try:
            inspector = inspectors.get(site.call)
            if inspector is None:
                request = Request(call.program, call.entry)
                inspector = inspectors[site.call] = Inspector(
                    found.search,
                    request,
                    runs[site.call],
                    simulations=found.effort.simulations,
                    most_nodes=most_nodes,
                )
            decided = inspector.advance(limit.after(found.trees))
            if found.search.shared.pools.bytes > _MOST_TREE_BYTES:
                over = "the searches take too much memory"
        except TooLargeError as error:
            over = error.reason
            found.reasons[site] = over
        except UsageError:  # of a search that cannot begin
            found.reasons[site] = "its program may not be called here but by its caller"
        else:
            decision = inspector.decisions.get(site.step) if decided else None
            turn = runs[site.call][site.step]
            if decision is None:
                found.reasons[site] = inspector.reason
            elif (decision.root.state, decision.taken) != turn:
                found.reasons[site] = "the search stood elsewhere than the run"
            else:
                found.trees[site] = decision
            if site.step + 1 == len(runs[site.call]):
                del inspectors[site.call]
    found.search.shared.pools.reset()  # episodes that were given up
