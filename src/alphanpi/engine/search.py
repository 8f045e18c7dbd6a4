"""The search: plays requests in batches that fit into its tables, and hands back traces."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.episodes import Episodes, Shared
from alphanpi.engine.histories import Histories
from alphanpi.engine.pools import Pools
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.scoring import level_terms
from alphanpi.engine.tables import RULES, CrowdedError, Failure, LimitReachedError, Records
from alphanpi.engine.world import World
from alphanpi.environment.specification import Environment
from alphanpi.network.evaluator import Evaluator
from alphanpi.support.limits import MOST_ACTIONS, whole

_FIRST_BATCH = 32  # episodes side by side, before it is known what they need
_FASTEST_GROWTH = 4  # of that number from one batch to the next


class Statistics(NamedTuple):
    """Counters since the engine was created."""

    episodes: int
    simulations: int
    nested_simulations: int
    evaluations: int
    states: int
    histories: int
    seconds: float
    evaluation_seconds: float
    environment_seconds: float
    bytes: int
    peak_bytes: int


class Search:
    """Plays episodes of one environment with one network.

    Results depend on each request alone: not on the batch it is in, nor on what was searched before.
    """

    def __init__(self, environment: Environment[Any], evaluator: Evaluator, config: SearchConfig | None = None) -> None:
        self.config = config or SearchConfig()
        self.environment = environment
        self.library = environment.library
        self.world = World(environment, self.config.max_states)
        self.histories = Histories(evaluator, self.world.programs, len(self.library), self.config.max_histories)
        self.shared = Shared(
            config=self.config,
            world=self.world,
            histories=self.histories,
            pools=Pools(self.world.widest),
            rules=_rules(self.config, self.world, self.histories.window),
            level=level_terms(self.library, self.config.c_level),
        )
        self._affordable = _FIRST_BATCH  # episodes side by side
        self._side_by_side = sys.maxsize  # whose traces fit into memory
        self._episodes = self._simulations = self._nested = 0
        self._seconds = self._evaluation_seconds = self._environment_seconds = 0.0
        self._peak = 0

    def forget(self) -> None:
        """To be called when the network's weights have changed."""
        self.histories.forget()
        self.world.forget_calls()

    def begin_again(self) -> None:
        """Empty all tables: episodes were given up, and an interrupt may have come between two entries."""
        self.shared.pools.reset()
        self.world.forget_everything()
        self.forget()

    def run(self, requests: Sequence[Request], batch: int = 256, max_actions: int | None = None) -> list[Trace]:
        """Play all episodes, at most `batch` side by side; fewer where the last ones needed much of the tables.

        `max_actions` bounds the actions each may try, in place of the configuration's.
        """
        whole("batch", batch)
        if max_actions is not None:
            whole("max_actions", max_actions, most=MOST_ACTIONS)
        rules = self.shared.rules
        rules["max_actions"] = self.config.max_actions if max_actions is None else max_actions
        traces: list[Trace] = []
        try:
            with _no_garbage_collection():
                while len(traces) < len(requests):
                    first, most = len(traces), min(batch, self._affordable, self._side_by_side)
                    traces += self._run_batch(list(requests[first : first + most]))
        finally:
            rules["max_actions"] = self.config.max_actions
        return traces

    @property
    def statistics(self) -> Statistics:
        """Counters since the engine was created."""
        return Statistics(
            episodes=self._episodes,
            simulations=self._simulations,
            nested_simulations=self._nested,
            evaluations=self.histories.evaluations,
            states=len(self.world.states),
            histories=self.histories.count,
            seconds=self._seconds,
            evaluation_seconds=self._evaluation_seconds + self.histories.compiled_seconds,
            environment_seconds=self._environment_seconds,
            bytes=self._bytes(),
            peak_bytes=max(self._peak, self._bytes()),
        )

    def _run_batch(self, requests: list[Request]) -> list[Trace]:
        """Play episodes side by side; none of them where together they need more room than there is."""
        if len(self.world.states) > self.config.max_states // 2:
            self.shared.pools.reset()  # free nodes name states, too
            self.world.forget_everything()
            self.histories.forget()  # its keys are the world's numbers of observations
        if self.histories.count > self.config.max_histories // 2:
            self.forget()
        states, histories = len(self.world.states), self.histories.count
        try:
            traces = self._play(requests)
        except CrowdedError as crowd:
            self._side_by_side = crowd.fitting
            return []
        except LimitReachedError as limit:
            # A full table is an episode's own failure only if it fills the table alone and from the start.
            if len(requests) > 1 or states > 0 or histories > self.histories.first:
                self._affordable = max(1, len(requests) // 4)
                return []
            traces = [self._overflowed(requests[0], limit.failure)]
        else:
            self._affordable = self._next_batch(len(requests), states, histories)
        self._peak = max(self._peak, self._bytes())
        self._episodes += len(traces)
        self._simulations += sum(trace.simulations for trace in traces)
        self._nested += sum(trace.nested_simulations for trace in traces)
        return traces

    def _play(self, requests: list[Request]) -> list[Trace]:
        began = time.perf_counter()
        episodes = None
        try:
            episodes = Episodes(self.shared, requests)
            return episodes.play()
        except CrowdedError:
            raise
        except BaseException:
            self.begin_again()
            raise
        finally:
            self._seconds += time.perf_counter() - began
            if episodes is not None:
                self._environment_seconds += episodes.environment_seconds
                self._evaluation_seconds += episodes.evaluation_seconds

    def _next_batch(self, episodes: int, states: int, histories: int) -> int:
        """How many episodes fit into half of the tables if they need what the last ones did."""
        used_states = (len(self.world.states) - states) / self.config.max_states
        used_histories = (self.histories.count - histories) / self.config.max_histories
        fitting = 0.5 * episodes / max(used_states, used_histories, 1e-9)
        return max(1, min(int(fitting), max(self._affordable, _FASTEST_GROWTH * episodes)))

    def _overflowed(self, request: Request, failure: Failure) -> Trace:
        entries, fields = len(self.library), len(self.environment.fields)
        return Trace(
            program=request.program,
            states=(),
            final=request.state,
            actions=np.zeros(0, np.int32),
            observations=np.zeros((0, fields), np.int16),
            visits=np.zeros((0, entries), np.int32),
            policies=np.zeros((0, entries)),
            memories=np.zeros((0, self.histories.evaluator.memory_width), np.float32),
            success=False,
            failure=failure,
            value=-1.0,
            simulations=0,
            nested_simulations=0,
            tried=0,
        )

    def _bytes(self) -> int:
        return self.world.bytes + self.histories.bytes + self.shared.pools.bytes


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Python's collector looks through all states again and again, a sixth of the time; a search makes no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _rules(config: SearchConfig, world: World, window: int) -> Records:
    rules = np.zeros(1, RULES)
    rules["atomic"] = world.atomic
    rules["entries"] = len(world.library)
    rules["programs"] = world.programs
    rules["window"] = window
    rules["penalise_where_possible"] = config.recursion_penalty_where == "possible"
    rules["discard_failed_calls"] = config.failed_call == "discard"
    for name in RULES.names or ():
        if name in SearchConfig.model_fields:
            rules[name] = getattr(config, name)
    return rules
