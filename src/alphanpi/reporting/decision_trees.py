"""Search trees: of one decision, or of all decisions of a program on one page."""

from __future__ import annotations

from collections.abc import Mapping

from alphanpi import __version__
from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.engine.inspection import Decision, Inspector
from alphanpi.engine.requests import Request
from alphanpi.environment.guard import NO_FURTHER_SIZES
from alphanpi.environment.instances import Instance
from alphanpi.errors import UsageError
from alphanpi.reporting.collecting import library_entries
from alphanpi.reporting.following import search_of
from alphanpi.reporting.page_file import to_html
from alphanpi.reporting.records import SCHEMA, TreePageRecord
from alphanpi.reporting.searches import SIMULATIONS, SearchCollector, no_such_step
from alphanpi.reporting.states import StateTable


def tree(
    run: Subject,
    program: str | None = None,
    instance: Instance = None,
    *,
    size: int | None = None,
    seed: int | None = None,
    further: Mapping[str, int] = NO_FURTHER_SIZES,
    step: int = 1,
    simulations: int = SIMULATIONS,
    environment: NamedEnvironment = None,
) -> Decision:
    """The search tree behind one action of a program: the `step`-th, counted from 1; the others as for `run`."""
    _require_step(step)
    agent = as_agent(run, environment=environment)
    problem = agent.problem(program, instance, size=size, seed=seed, further=further)
    request = Request(problem.program, problem.state)
    inspector = Inspector(search_of(agent, simulations), request, steps=[step - 1])
    while inspector.step < step and inspector.advance():
        pass
    if inspector.step < step and step > len(inspector.episodes.trace(0).actions):
        raise no_such_step(inspector.episodes.trace(0), step - 1)
    return inspector.taken(step - 1)


def _require_step(step: int) -> None:
    if step < 1:
        raise UsageError(f"step {step}: actions are counted from 1")


def tree_page(
    run: Subject,
    program: str | None = None,
    instance: Instance = None,
    *,
    size: int | None = None,
    seed: int | None = None,
    further: Mapping[str, int] = NO_FURTHER_SIZES,
    step: int = 1,
    simulations: int = SIMULATIONS,
    environment: NamedEnvironment = None,
) -> str:
    """A page with the trees of all actions of a program, and of the programs it calls; `step` comes first."""
    _require_step(step)
    agent = as_agent(run, environment=environment)
    problem = agent.problem(program, instance, size=size, seed=seed, further=further)
    states = StateTable(agent.environment)
    searches = SearchCollector(agent, states, simulations).collect_one(problem.program, problem.state, step - 1)
    record = TreePageRecord(
        schema=SCHEMA,
        version=__version__,
        run=agent.name,
        library=library_entries(agent),
        states=states.records,
        searches=searches,
        step=step - 1,
    )
    return to_html(record, f"{problem.program} on {problem}: how the search decides")
