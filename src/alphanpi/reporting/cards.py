"""Agents and reports in notebooks."""

from __future__ import annotations

import base64
from typing import Any

from alphanpi.agent.agent import Agent
from alphanpi.errors import AlphaNPIError
from alphanpi.reporting.animation import film
from alphanpi.reporting.layout import Appearance
from alphanpi.reporting.page_file import to_html
from alphanpi.reporting.records import ReportRecord
from alphanpi.reporting.vector import svg
from alphanpi.support.markup import facts, text

_SECONDS = 15.0
_WIDEST = 480


def agent_card(agent: Agent) -> str:
    """HTML with a table of facts and, where the environment draws its states, an animated picture of an example."""
    library, card = agent.environment.library, agent.card
    programs = ", ".join(f"{entry.name}{' (recursive)' if entry.recursive else ''}" for entry in library.learned)
    options = "".join(f", {name} = {value}" for name, value in card.options.items())
    rows: list[tuple[str, Any]] = [
        ("agent", agent.name),
        ("environment", f"{card.environment}{options}"),
        ("programs", programs),
        ("actions", ", ".join(entry.name for entry in library if entry.atomic)),
        ("seed", card.seed),
        ("weights", agent.weights_hash[:12]),
    ]
    if card.origin is not None:
        kept = ", ".join(name for record in card.frozen for name in record.programs)
        frozen = f"; {kept} frozen" if kept else ""
        rows.append(("began from", f"weights {card.origin.weights[:12]} of {card.origin.environment}{frozen}"))
    directory = agent.run_directory
    outcome = None if directory is None else directory.outcome()
    if outcome is not None:
        ended = "learned every program" if outcome.completed else f"stopped ({outcome.reason})"
        rows.append(("training", f"{ended} after {outcome.elapsed:.0f} s and {outcome.iterations} iterations"))
    return f"<div>{facts(rows)}{_picture(agent)}</div>"


def embedded(record: ReportRecord) -> str:
    """A report as a frame inside a notebook, of which it sees nothing."""
    page = text(to_html(record, f"{record.agent.environment.rpartition(':')[2]}: what was learned"))
    return f'<iframe sandbox="allow-scripts" width="100%" height="720" style="border: 0" srcdoc="{page}"></iframe>'


def _picture(agent: Agent) -> str:
    try:
        problem = agent.problem()
        reel = film(agent, problem.program, problem, _SECONDS)
    except AlphaNPIError as fault:  # a card is shown whatever the environment can do
        return f"<div style='opacity: 0.6'>{text(fault)}</div>"
    title = f"{problem.program} on {problem}"
    data = base64.b64encode(svg(reel, Appearance(None, "auto", "").of(reel), title).encode()).decode()
    return f"<img alt='{text(title)}' style='max-width: {_WIDEST}px' src='data:image/svg+xml;base64,{data}'/>"
