"""Search and interpreter whose episodes and runs are spread over workers; with the same answers, bit for bit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from alphanpi.agent.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.cluster.connection import connected
from alphanpi.cluster.costs import Costs
from alphanpi.cluster.orders import Led, RunOrder, SearchOrder, Work, checked_execution, checked_trace
from alphanpi.cluster.shipping import Shipment
from alphanpi.cluster.workers import Workers
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.search import Search, Statistics
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.model import CompiledEvaluator
from alphanpi.support.limits import MOST_ACTIONS, whole

MOST_WORKERS = 10_000


class SpreadSearch(Search):
    """A search whose episodes are played by workers, unless they are so few that sending them would take longer."""

    def __init__(
        self, environment: Environment[Any], evaluator: CompiledEvaluator, config: SearchConfig, workers: Workers
    ) -> None:
        super().__init__(environment, evaluator, config)
        self._workers = workers
        self._evaluator = evaluator
        self._costs = Costs(workers.count)
        self._guard = Guard(environment)
        self._work = Work()

    def run(self, requests: Sequence[Request], batch: int = 256, max_actions: int | None = None) -> list[Trace]:
        """Play all episodes; see `Search.run`."""
        if max_actions is not None:
            whole("max_actions", max_actions, most=MOST_ACTIONS)
        programs = [request.program for request in requests]
        sizes = [self._size(request) for request in requests]
        began = time.perf_counter()
        chunks = self._costs.chunks(programs, sizes)
        if len(chunks) < 2:
            traces = super().run(requests, batch, max_actions)
            self._costs.learn(programs, sizes, [_tried(trace) for trace in traces], time.perf_counter() - began)
            return traces
        network = self._workers.network(self._evaluator)
        config = self.config.model_dump_json()
        orders = [SearchOrder(network, config, tuple(requests[i] for i in chunk), max_actions) for chunk in chunks]
        answers = self._workers.play(orders)
        fields, width = len(self.environment.fields), self._evaluator.memory_width
        found: dict[int, Trace] = {}
        for chunk, done in zip(chunks, answers, strict=True):
            for i, trace in zip(chunk, done.answers, strict=True):
                found[i] = checked_trace(trace, requests[i], self.library, fields, width)
        traces = [found[i] for i in range(len(requests))]
        took = Work()
        for done in answers:
            took = took.plus(done.work)
        self._costs.learn(programs, sizes, [_tried(trace) for trace in traces], took.seconds)
        self._count(traces, took, time.perf_counter() - began)
        return traces

    @property
    def statistics(self) -> Statistics:
        """Counters since the engine was created; times are this process's, shared out as they were among workers."""
        own, more = super().statistics, self._work
        return own._replace(
            evaluations=own.evaluations + more.evaluations,
            seconds=own.seconds + more.seconds,
            evaluation_seconds=own.evaluation_seconds + more.evaluation_seconds,
            environment_seconds=own.environment_seconds + more.environment_seconds,
        )

    def _size(self, request: Request) -> int:
        return sum(self._guard.size(state) for state in (request.state, *request.further))

    def _count(self, traces: Sequence[Trace], took: Work, waited: float) -> None:
        self._episodes += len(traces)
        self._simulations += sum(trace.simulations for trace in traces)
        self._nested += sum(trace.nested_simulations for trace in traces)
        share = waited / took.seconds if took.seconds else 0.0
        self._work = self._work.plus(
            Work(waited, share * took.evaluation_seconds, share * took.environment_seconds, took.evaluations)
        )


class SpreadInterpreter(Interpreter):
    """An interpreter whose runs are taken over by workers, unless they are so few that sending them would take longer.

    Its table holds what this process has asked the network itself.
    """

    def __init__(
        self, environment: Environment[Any], evaluator: CompiledEvaluator, max_call_depth: int, workers: Workers
    ) -> None:
        super().__init__(environment, evaluator, max_call_depth)
        self._workers = workers
        self._evaluator = evaluator
        self._costs = Costs(workers.count)

    def run(
        self,
        calls: Sequence[Call],
        record: bool | Recording = False,
        max_actions: int | None = None,
        decisions: Sequence[Mapping[int, int]] | None = None,
        remembering: bool = False,
    ) -> list[Execution]:
        """Execute all calls; see `Interpreter.run`."""
        programs = [call.program for call in calls]
        sizes = [self.guard.size(call.state) for call in calls]
        began = time.perf_counter()
        chunks = self._costs.chunks(programs, sizes)
        if len(chunks) < 2:
            executions = super().run(calls, record, max_actions, decisions, remembering)
            took = time.perf_counter() - began
        else:
            network = self._workers.network(self._evaluator)
            recording = Recording() if record is True else record or None
            led = None if decisions is None else self._sent(decisions)
            orders = [
                RunOrder(
                    network=network,
                    max_call_depth=self.max_call_depth,
                    calls=tuple(calls[i] for i in chunk),
                    recording=recording,
                    max_actions=max_actions,
                    decisions=None if led is None else tuple(led[i] for i in chunk),
                    remembering=remembering,
                )
                for chunk in chunks
            ]
            found: dict[int, Execution] = {}
            took = 0.0
            for chunk, done in zip(chunks, self._workers.play(orders), strict=True):
                took += done.work.seconds
                for i, execution in zip(chunk, done.answers, strict=True):
                    found[i] = checked_execution(execution, self.library)
            executions = [found[i] for i in range(len(calls))]
        self._costs.learn(programs, sizes, [execution.actions for execution in executions], took)
        return executions

    def _sent(self, decisions: Sequence[Mapping[int, int]]) -> list[tuple[Led, ...]]:
        """Decisions in words that other processes understand; those that are the same object stay one."""
        known: dict[int, tuple[Led, ...]] = {}
        for own in decisions:
            if id(own) not in known:
                known[id(own)] = tuple(
                    Led(self.table.program(at), self.table.window_before(at), action) for at, action in own.items()
                )
        return [known[id(own)] for own in decisions]


class Spread:
    """Makes engines whose work goes to the same workers."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers

    def search(self, environment: Environment[Any], evaluator: CompiledEvaluator, config: SearchConfig) -> SpreadSearch:
        """A search."""
        return SpreadSearch(environment, evaluator, config, self.workers)

    def interpreter(
        self, environment: Environment[Any], evaluator: CompiledEvaluator, max_call_depth: int
    ) -> SpreadInterpreter:
        """An interpreter."""
        return SpreadInterpreter(environment, evaluator, max_call_depth, self.workers)


def require_workers(workers: int | None, ray: str | None) -> bool:
    """Whether there are to be workers; a cluster alone does not say how many."""
    if workers is None:
        if ray is not None:
            raise UsageError("a cluster is used by workers; say how many: --workers N, or workers=N")
        return False
    whole("workers", workers, most=MOST_WORKERS)
    return True


@contextmanager
def spread(shipment: Shipment, workers: int, ray: str | None = None) -> Iterator[Spread]:
    """So many workers, for as long as the `with` lasts, in the cluster at an address or on this machine."""
    with connected(ray, cpus=workers) as connection:
        made = Workers(connection, workers, shipment)
        try:
            yield Spread(made)
        finally:
            made.close()


def _tried(trace: Trace) -> int:
    return trace.tried + len(trace.actions)
