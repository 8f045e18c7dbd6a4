"""The far end: a process that makes the environment, keeps engines, and plays what it is ordered to.

It needs no torch: the weights come as the arrays that compiled code reads.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alphanpi.agent.interpreter import Interpreter
from alphanpi.cluster.orders import Done, Led, Network, Order, SearchOrder, Work, checked_order, checked_weights
from alphanpi.cluster.shipping import Shipment, unpacked
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.search import Search
from alphanpi.network.compiled import Routed, Weights, forward
from alphanpi.network.evaluator import Evaluation
from alphanpi.network.history_table import HistoryTable
from alphanpi.support.record import parsed_record

_PROBED_UNITS, _PROBED_ROWS = 19, 8  # odd numbers of units: what is left over of vectors rounds too


class SentEvaluator:
    """A network that is nothing but its weights."""

    def __init__(self, weights: Routed, window: int, windows: list[int]) -> None:
        self.weights = weights
        self.window = window
        self.windows = windows

    @property
    def memory_width(self) -> int:
        """Hidden and cell state side by side and, with a window, the action before."""
        return 2 * int(self.weights.stacked.gates_hidden.shape[1]) + bool(self.window)

    def evaluate(
        self, programs: NDArray[np.int64], observations: NDArray[np.int16], memory: NDArray[np.float32]
    ) -> Evaluation:
        """Extend each history by one observation."""
        return Evaluation(*forward(self.weights, programs, observations.astype(np.float32), memory))


class Worker:
    """An actor: what it answers depends on the order alone, whatever it did before."""

    def __init__(self, shipment: Shipment) -> None:
        self._shipment = shipment
        self._evaluator: SentEvaluator | None = None  # of the network with that number
        self._network = -1
        self._searches: dict[str, Search] = {}
        self._interpreters: dict[int, Interpreter] = {}

    def ready(self) -> str:
        """Make the environment; how this machine rounds."""
        self._environment = unpacked(self._shipment)
        return rounding()

    def play(self, order: Order) -> Done:
        """Follow an order."""
        checked = checked_order(order)
        self._use(checked.network)
        began = time.perf_counter()
        if isinstance(checked, SearchOrder):
            search = self._search(checked.config)
            before = search.statistics
            traces = search.run(checked.requests, max_actions=checked.max_actions)
            after = search.statistics
            return Done(
                tuple(traces),
                Work(
                    after.seconds - before.seconds,
                    after.evaluation_seconds - before.evaluation_seconds,
                    after.environment_seconds - before.environment_seconds,
                    after.evaluations - before.evaluations,
                ),
            )
        interpreter = self._interpreter(checked.max_call_depth)
        decisions = None
        if checked.decisions is not None:
            known = {led: histories_of(interpreter.table, led) for led in set(checked.decisions)}
            decisions = [known[led] for led in checked.decisions]
        executions = interpreter.run(
            checked.calls, checked.recording or False, checked.max_actions, decisions, checked.remembering
        )
        return Done(tuple(executions), Work(seconds=time.perf_counter() - began))

    def _use(self, network: Network) -> None:
        if network.number == self._network:
            return
        weights = checked_weights(self._fetched(network.weights[0]), network, self._environment)
        windows = list(network.windows)
        if self._evaluator is None or (self._evaluator.window, self._evaluator.windows) != (network.window, windows):
            self._evaluator = SentEvaluator(weights, network.window, windows)
            self._searches.clear()
            self._interpreters.clear()
        self._evaluator.weights = weights
        for search in self._searches.values():
            search.forget()
        for interpreter in self._interpreters.values():
            interpreter.forget()
        self._network = network.number

    def _fetched(self, reference: Any) -> Any:
        import ray

        return ray.get(reference)

    def _search(self, config: str) -> Search:
        if config not in self._searches:
            assert self._evaluator is not None, "a network came first"
            settings = parsed_record(config, SearchConfig, "what was sent to a worker")
            self._searches[config] = Search(self._environment, self._evaluator, settings)
        return self._searches[config]

    def _interpreter(self, depth: int) -> Interpreter:
        if depth not in self._interpreters:
            assert self._evaluator is not None, "a network came first"
            self._interpreters[depth] = Interpreter(self._environment, self._evaluator, depth)
        return self._interpreters[depth]


def histories_of(table: HistoryTable, led: tuple[Led, ...]) -> dict[int, int]:
    """Actions by the histories of this process."""
    return {table.history_of(one.program, one.window): one.action for one in led}


def rounding() -> str:
    """SHA-256 of what a fixed network says here: a processor of another kind may add and multiply in other steps."""
    rng = np.random.default_rng(0)

    def some(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    n = _PROBED_UNITS
    weights = Weights(
        *(some(1, n, n), some(1, n), some(1, n, n), some(1, n)),
        *(some(1, n, 4 * n), some(1, n, 4 * n), some(1, 1, 1, 4 * n)),
        *(some(1, n, n), some(1, n), some(1, n, n), some(1, n)),
        *(some(1, n, n), some(1, n), some(1, n, 1), some(1, 1)),
    )
    network = Routed(np.zeros(1, np.int64), np.arange(n)[np.newaxis], weights)
    programs = np.zeros(_PROBED_ROWS, np.int64)
    said = forward(network, programs, some(_PROBED_ROWS, n), some(_PROBED_ROWS, 2 * n))
    return hashlib.sha256(b"".join(array.tobytes() for array in said)).hexdigest()
