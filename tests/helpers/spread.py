"""Workers without Ray: in this process, one after the other, last order first."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

from alphanpi.cluster.orders import Done, Network, Order, checked_done
from alphanpi.cluster.shipping import Shipment
from alphanpi.cluster.worker import Worker
from alphanpi.network.compiled import Routed
from alphanpi.network.model import CompiledEvaluator


class HereWorker(Worker):
    """Finds weights in the order itself."""

    def _fetched(self, reference):
        return reference


class HereWorkers:
    """As many workers as wanted; what is sent is pickled, as it would be."""

    def __init__(self, count: int, shipment: Shipment) -> None:
        self.count = count
        self.played = 0
        self._workers = [HereWorker(shipment) for _ in range(count)]
        self._weights: Routed | None = None
        self._network = Network(0, 0, (), ())
        for worker in self._workers:
            worker.ready()

    def network(self, evaluator: CompiledEvaluator) -> Network:
        if evaluator.weights is not self._weights:
            number, weights = self._network.number + 1, evaluator.weights
            self._network = Network(number, evaluator.window, tuple(evaluator.windows), (weights,))
            self._weights = weights
        return self._network

    def play(self, orders: Sequence[Order]) -> list[Done]:
        done: dict[int, Done] = {}
        for place in reversed(range(len(orders))):
            self.played += 1
            sent = pickle.loads(pickle.dumps(orders[place]))
            answer = self._workers[place % self.count].play(sent)
            done[place] = checked_done(pickle.loads(pickle.dumps(answer)), orders[place])
        return [done[place] for place in range(len(orders))]
