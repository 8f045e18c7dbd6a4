"""Workers of one run: orders go to whoever is free, and what a dead one had is played again.

An answer depends on its order alone, so it does not matter who gives it, when, or how often it was begun.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from alphanpi.cluster.orders import Done, Network, Order, checked_done
from alphanpi.cluster.shipping import Shipment
from alphanpi.cluster.worker import Worker, rounding
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.network.compiled import Routed
from alphanpi.network.model import CompiledEvaluator

PATIENCE = 300.0  # seconds in which the first worker has to be there; it may have to wait for a node, or to compile
MOST_LOSSES = 3  # workers that may die over the same order: it may be what kills them
_GOING_ON = "; nothing is lost: `alphanpi resume` goes on from the last checkpoint"


class _Task(NamedTuple):
    """Who is at work, and on which order."""

    actor: Any
    place: int


class Workers:
    """A number of actors that make up for those that die."""

    def __init__(self, ray: Any, count: int, shipment: Shipment) -> None:
        self.count = count
        self._ray = ray
        self._rounding = rounding()
        self._actor = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Worker)
        self._shipment = ray.put(shipment)
        self._starting: dict[Any, Any] = {}  # actors by the reference to their first answer
        self._idle: list[Any] = []
        self._failed_starts = 0
        self._weights: Routed | None = None
        self._network = Network(0, 0, (), ())
        self.lost = 0  # workers that died
        for _ in range(count):
            self._start()

    def network(self, evaluator: CompiledEvaluator) -> Network:
        """The network in an order; its weights go to the object store once."""
        if evaluator.weights is not self._weights:
            reference = self._ray.put(evaluator.weights)
            number = self._network.number + 1
            self._network = Network(number, evaluator.window, tuple(evaluator.windows), (reference,))
            self._weights = evaluator.weights
        return self._network

    def play(self, orders: Sequence[Order]) -> list[Done]:
        """Have all orders followed, the first ones first; answers in the order of the orders."""
        from ray.exceptions import RayError, RayTaskError

        waiting, losses = deque(range(len(orders))), Counter[int]()
        under_way: dict[Any, _Task] = {}
        done: dict[int, Done] = {}
        try:
            while len(done) < len(orders):
                while waiting and self._idle:
                    task = _Task(self._idle.pop(), waiting.popleft())
                    under_way[self._sent(task, orders)] = task
                ended, _ = self._ray.wait([*under_way, *self._starting], timeout=PATIENCE)
                if not ended and not under_way:
                    raise UsageError(f"no worker in {PATIENCE:.0f} s: has the cluster free CPUs?{_GOING_ON}")
                for reference in ended:
                    if reference in self._starting:
                        self._greet(reference)
                        continue
                    task = under_way.pop(reference)
                    try:
                        done[task.place] = checked_done(self._ray.get(reference), orders[task.place])
                        self._idle.append(task.actor)
                    except RayTaskError as error:
                        self._idle.append(task.actor)
                        raise _told(error) from error
                    except RayError as error:  # the worker has died, or what it answered with it
                        self._replace(task.actor)
                        losses[task.place] += 1
                        if losses[task.place] > MOST_LOSSES:
                            raise UsageError(
                                f"{losses[task.place]} workers died one after the other at the same work, "
                                f"perhaps of too little memory: {_line(error)}{_GOING_ON}"
                            ) from error
                        waiting.appendleft(task.place)
        except BaseException:
            for task in under_way.values():  # else it would answer in the middle of something else
                self._replace(task.actor)
            raise
        return [done[place] for place in range(len(orders))]

    def close(self) -> None:
        """Let the workers go."""
        for actor in (*self._idle, *self._starting.values()):
            self._ray.kill(actor)
        self._idle, self._starting = [], {}

    def _sent(self, task: _Task, orders: Sequence[Order]) -> Any:
        try:
            return task.actor.play.remote(orders[task.place])
        except (TypeError, ValueError, AttributeError) as error:  # whatever pickling raises
            self._idle.append(task.actor)
            raise UsageError(f"states of this environment cannot be sent to workers: {_line(error)}") from error

    def _start(self) -> None:
        actor = self._actor.remote(self._shipment)
        self._starting[actor.ready.remote()] = actor

    def _replace(self, actor: Any) -> None:
        self._ray.kill(actor)
        self.lost += 1
        self._start()

    def _greet(self, reference: Any) -> None:
        from ray.exceptions import RayError, RayTaskError

        actor = self._starting.pop(reference)
        try:
            there = self._ray.get(reference)
        except RayTaskError as error:
            raise _told(error) from error
        except RayError as error:
            self._failed_starts += 1
            if self._failed_starts > MOST_LOSSES * self.count:
                raise UsageError(f"workers die as soon as they start: {_line(error)}{_GOING_ON}") from error
            self._replace(actor)
            return
        if there != self._rounding:
            raise UsageError(
                "a worker's processor rounds differently from this one, so results would depend on who plays what; "
                "use nodes with the same kind of processor"
            )
        self._failed_starts = 0
        self._idle.append(actor)


def _told(error: Any) -> AlphaNPIError:
    """What a worker raised: an error of the user's, in its own words, or else the last line of a bug's traceback."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, AlphaNPIError):
        return cause
    return UsageError(f"a worker failed: {_line(error)}{_GOING_ON}")


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
