"""An agent at a glance, for notebooks: what it is, what it can do, and one of its runs as a moving picture."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from alphanpi.agent.agent import Agent
from alphanpi.environment.registration import registration
from alphanpi.errors import AlphaNPIError
from alphanpi.reporting.animation import film, svg
from alphanpi.reporting.colours import LIGHT
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
    directory = agent.run_directory
    outcome = None if directory is None else directory.outcome()
    if outcome is not None:
        ended = "learned every program" if outcome.completed else f"stopped ({outcome.reason})"
        rows.append(("training", f"{ended} after {outcome.elapsed:.0f} s and {outcome.iterations} iterations"))
    return f"<div>{facts(rows)}{_picture(agent)}</div>"


def _picture(agent: Agent) -> str:
    program = agent.environment.library.learned[-1].name
    try:
        instance = _example(agent, program)
        drawn = svg(film(agent, program, instance, _SECONDS), LIGHT, f"{program} at work")
    except AlphaNPIError as fault:  # a card is shown whatever the environment can do
        return f"<div style='opacity: 0.6'>{text(fault)}</div>"
    data = base64.b64encode(drawn.encode()).decode()
    return f"<img alt='{text(program)} at work' style='max-width: {_WIDEST}px' src='data:image/svg+xml;base64,{data}'/>"


def _example(agent: Agent, program: str) -> Any:
    """The environment's example, or a problem of the size that decides whether a program is learned."""
    example = registration(agent.card.environment).example
    if example is not None:
        return example
    size = max(agent.environment.validation_size, agent.environment.library.named(program).minimum_size)
    return agent.guard.initial(program, size, np.random.default_rng((0, size, 0)))
