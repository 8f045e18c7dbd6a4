"""A trained agent whose executions are spread over workers; every verb takes it like any other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alphanpi.agent.agent import MAX_ACTIONS, Agent
from alphanpi.agent.loading import frozen_calls
from alphanpi.cluster.costs import ROUNDS
from alphanpi.cluster.shipping import Shipment, ship, unpacked
from alphanpi.cluster.spreading import Spread, require_workers, spread
from alphanpi.engine.config import planning_config
from alphanpi.engine.search import Search
from alphanpi.environment.given import identify
from alphanpi.environment.narrowing import whole
from alphanpi.environment.registry import IN_MEMORY
from alphanpi.network.model import CompiledEvaluator


class SpreadAgent(Agent):
    """The same agent, run by workers."""

    def __init__(self, agent: Agent, shipment: Shipment, made: Spread) -> None:
        # States go to and fro: their classes have to be in modules of the same name here and there.
        super().__init__(unpacked(shipment), agent.network, agent.card, place=agent.place)
        self.at_once = ROUNDS * made.workers.count
        self._made = made
        self._compiled = CompiledEvaluator(agent.network)
        self.interpreter = made.interpreter(self.environment, self._compiled, self.interpreter.max_call_depth)

    def planner(self, max_actions: int = MAX_ACTIONS) -> Search:
        """The search for a trained agent; see `Agent.planner`."""
        if self._planner is None or self._planner.config.max_actions != max_actions:
            config = planning_config(self.card.search.model_copy(update={"max_actions": max_actions}))
            self._planner = self._made.search(self.environment, self._compiled, config)
        return self._planner


@contextmanager
def spread_agent(agent: Agent, workers: int | None, ray: str | None = None) -> Iterator[Agent]:
    """The agent, run by so many workers for as long as the `with` lasts; as it is, if there are none."""
    if not require_workers(workers, ray):
        yield agent
        return
    card = agent.card
    named = identify(whole(agent.environment), {})
    identifier, options = named.identifier, named.options
    # What an instance was made with it cannot tell; its card can, unless the user has named another environment.
    if identifier.startswith(f"{IN_MEMORY}:") and agent.place is not None and agent.place.model is not None:
        identifier, options = card.environment, card.options
    shipment = ship(identifier, options, frozen_calls(card.frozen))
    with spread(shipment, workers or 0, ray) as made:
        yield SpreadAgent(agent, shipment, made)
