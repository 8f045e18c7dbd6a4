"""Showing what an agent learned: a report page, search trees, pictures."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from alphanpi import __version__
from alphanpi.agent.loading import load
from alphanpi.engine.inspection import Decision, Inspector
from alphanpi.engine.requests import Request
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.reporting.animation import SECONDS as PLAYING_SECONDS
from alphanpi.reporting.animation import film, gif, svg
from alphanpi.reporting.certificates import VERIFY_SECONDS
from alphanpi.reporting.collecting import collect, library_entries
from alphanpi.reporting.colours import LIGHT
from alphanpi.reporting.execution import LARGEST_RUN, MOST_STEPS
from alphanpi.reporting.following import search_of
from alphanpi.reporting.measuring import SECONDS
from alphanpi.reporting.page_file import to_html, to_json
from alphanpi.reporting.records import SCHEMA, ReportRecord, TreePageRecord
from alphanpi.reporting.searches import SIMULATIONS, SearchCollector, no_such_step
from alphanpi.reporting.states import StateTable
from alphanpi.support.files import require_writable, write_atomically

Named = str | type[Environment[Any]] | None

__all__ = ["ReportRecord", "render", "report", "report_record", "tree", "tree_page"]


def report_record(
    run: str | Path,
    *,
    program: str | None = None,
    instance: str | None = None,
    simulations: int = SIMULATIONS,
    seconds: float = SECONDS,
    most_steps: int = MOST_STEPS,
    source: str | None = None,
    export: bool = True,
    certificate: str | Path | None = None,
    verify_seconds: float = VERIFY_SECONDS,
    environment: Named = None,
    progress: Callable[[str], None] | None = None,
) -> ReportRecord:
    """What a report shows, as records; see docs/report.md.

    Args:
        run: Run directory, weights file, or `pretrained:NAME`.
        program: Program to watch; the last one if omitted.
        instance: What to run it on, as a user types it.
        simulations: Per action, in the search trees.
        seconds: Time for measuring scores where none are stored beside the weights.
        most_steps: Longest execution that is kept whole; of a longer one, the outer calls are.
        source: The learned programs' source code. If omitted, they are exported where the verdict is PROVED or
            SATURATED: then their behaviour is finite and an export is quick.
        export: Whether to do that.
        certificate: File with the agent's certificate; `certificate.json` in the run's folder if omitted and there.
            It is not computed again, but it has to be whole and about this agent.
        verify_seconds: Time for computing a certificate, or for checking the one there is; 0 leaves it out, and then
            the page says so. An environment that cannot be verified is no error: `certificate_note` says why.
        environment: The agent's environment, if `run` names one that is not trusted; see `alphanpi.load`.
        progress: Told what is being done.
    """
    if not 1 <= most_steps <= LARGEST_RUN:
        shows = "show nothing" if most_steps < 1 else "are more than a page can hold"
        raise UsageError(f"{most_steps} steps {shows}; give a number from 1 to {LARGEST_RUN:,}")
    if not 0 <= seconds < math.inf:
        raise UsageError(f"{seconds:g} seconds for measuring: give a positive number, or 0 to leave it out")
    if not 0 <= verify_seconds < math.inf:
        raise UsageError(f"{verify_seconds:g} seconds for verification: give a positive number, or 0 to leave it out")
    return collect(
        load(run, environment=environment),
        str(run),
        program,
        instance,
        simulations=simulations,
        seconds=seconds,
        most_steps=most_steps,
        source=source,
        export=export,
        certificate_file=None if certificate is None else Path(certificate),
        verify_seconds=verify_seconds,
        progress=progress or (lambda _: None),
    )


def report(
    run: str | Path,
    out: str | Path = "report.html",
    *,
    program: str | None = None,
    instance: str | None = None,
    simulations: int = SIMULATIONS,
    seconds: float = SECONDS,
    most_steps: int = MOST_STEPS,
    source: str | None = None,
    export: bool = True,
    certificate: str | Path | None = None,
    verify_seconds: float = VERIFY_SECONDS,
    environment: Named = None,
    progress: Callable[[str], None] | None = None,
) -> ReportRecord:
    """Write a self-contained page, or its JSON object if `out` ends in .json; arguments as for `report_record`."""
    path = Path(out)
    require_writable(path)
    record = report_record(
        run,
        program=program,
        instance=instance,
        simulations=simulations,
        seconds=seconds,
        most_steps=most_steps,
        source=source,
        export=export,
        certificate=certificate,
        verify_seconds=verify_seconds,
        environment=environment,
        progress=progress,
    )
    title = f"{_short(record.agent.environment)}: what was learned"
    write_atomically(path, to_json(record) + "\n" if path.suffix == ".json" else to_html(record, title))
    return record


def _short(environment: str) -> str:
    """An environment's id, or what is left of a path or module without its folders."""
    return environment.rpartition("/")[2].removesuffix(".py").rpartition(":")[2]


def tree(
    run: str | Path,
    program: str,
    instance: str,
    *,
    step: int = 1,
    simulations: int = SIMULATIONS,
    environment: Named = None,
) -> Decision:
    """The search tree behind one action of a program: the `step`-th, counted from 1."""
    _require_step(step)
    agent = load(run, environment=environment)
    request = Request(program, agent.parse(program, instance))
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
    run: str | Path,
    program: str,
    instance: str,
    *,
    step: int = 1,
    simulations: int = SIMULATIONS,
    environment: Named = None,
) -> str:
    """A page with the trees of all actions of a program, and of the programs it calls; `step` comes first."""
    _require_step(step)
    agent = load(run, environment=environment)
    states = StateTable(agent.environment)
    searches = SearchCollector(agent, states, simulations).collect_one(
        program, agent.parse(program, instance), step - 1
    )
    record = TreePageRecord(
        schema=SCHEMA,
        version=__version__,
        run=str(run),
        library=library_entries(agent),
        states=states.records,
        searches=searches,
        step=step - 1,
    )
    return to_html(record, f"{program} on {instance}: how the search decides")


def render(
    run: str | Path,
    program: str,
    instance: str,
    out: str | Path,
    *,
    seconds: float = PLAYING_SECONDS,
    environment: Named = None,
) -> str:
    """Write an animated picture of an execution, .svg or .gif; returns what was left out, in words.

    It plays for `seconds` at most: a long run is played faster.
    """
    path = Path(out)
    if path.suffix not in (".svg", ".gif"):
        raise UsageError(f"{path}: pictures are written as .svg or .gif; choose one of these endings")
    require_writable(path)
    reel = film(load(run, environment=environment), program, instance, seconds)
    title = f"{program} on {instance}"
    write_atomically(path, svg(reel, LIGHT, title) if path.suffix == ".svg" else gif(reel, LIGHT))
    return reel.note
