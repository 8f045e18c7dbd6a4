"""The driver: starts episodes, lets the kernel run, fills the holes it meets, and hands back traces."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.config import SearchConfig
from alphanpi.engine import kernel
from alphanpi.engine.foresight import Foresight, Missing
from alphanpi.engine.fused import advance_evaluating
from alphanpi.engine.histories import Evaluator, Histories, TooManyHistoriesError
from alphanpi.engine.scoring import level_terms
from alphanpi.engine.tables import (
    EDGE,
    EPISODE,
    FRAME,
    NODE,
    NONE,
    QUESTION,
    RULES,
    STEP,
    Failure,
    Hole,
    Records,
    Tables,
    extended,
    linked,
)
from alphanpi.engine.world import TooManyStatesError, World
from alphanpi.errors import UsageError
from alphanpi.guard import shown
from alphanpi.spec import Environment

# Plain integers: looking members of an enumeration up costs more than most questions.
_ACT, _ENTER, _LEAVE, _POST = int(Hole.ACT), int(Hole.ENTER), int(Hole.LEAVE), int(Hole.POST)
_LEGAL, _DEPTH, _EVALUATE, _NOISE = int(Hole.LEGAL), int(Hole.DEPTH), int(Hole.EVALUATE), int(Hole.NOISE)

_CHOICE_STREAM, _NOISE_STREAM = 0, 1  # of the random numbers of an episode
_NOISE_POOL = 512
_FIRST_BATCH = 32  # episodes side by side, before it is known what they need
_FASTEST_GROWTH = 4  # of that number from one batch to the next
_FIRST_NODES = 1 << 14
_FIRST_FRAMES = 256
_LARGEST_POOL = 1 << 24


class Request(NamedTuple):
    """One episode to play: a program, a state that satisfies its pre-condition, and its own random stream."""

    program: str
    state: Any
    seed: int | tuple[int, ...] = 0
    exploring: bool = False


class Trace(NamedTuple):
    """What an episode did. T actions, the last one STOP unless it failed before."""

    program: str
    states: tuple[Any, ...]  # [T] in which each action was chosen
    final: Any  # state at the end
    actions: NDArray[np.int32]  # [T] library indices
    observations: NDArray[np.int16]  # [T, fields]
    visits: NDArray[np.int32]  # [T, A]
    policies: NDArray[np.float64]  # [T, A] pi_mcts
    memories: NDArray[np.float32]  # [T, W] of the network before each observation
    success: bool
    failure: Failure
    value: float  # what simulations would score: discounted and penalised, -1 for a failure
    simulations: int
    nested_simulations: int  # without those of remembered calls
    tried: int  # actions tried, those of nested calls too, remembered or not


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


class _Batch(NamedTuple):
    """Arrays of the episodes that run side by side; see Tables for the shapes."""

    episodes: Records
    questions: Records
    uniform: NDArray[np.float64]
    noise: NDArray[np.float64]
    steps: Records
    visits: NDArray[np.int32]
    policies: NDArray[np.float64]
    streams: list[np.random.Generator | None]  # of the noise, from when it is first drawn
    seeds: list[int | tuple[int, ...]]


class _LimitReachedError(Exception):
    def __init__(self, failure: Failure) -> None:
        self.failure = failure


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
        self._rules = _rules(self.config, self.world)
        self._level = level_terms(self.library, self.config.c_level)
        self._nodes: Records
        self._edges: Records
        self._frames: Records
        self._free: NDArray[np.int32]  # [2] first free node, first free frame
        self._reset_pools()
        self._affordable = _FIRST_BATCH  # episodes side by side
        self._episodes = self._simulations = self._nested = 0
        self._seconds = self._evaluation_seconds = self._environment_seconds = 0.0
        self._peak = 0

    def forget(self) -> None:
        """To be called when the network's weights have changed."""
        self.histories.forget()
        self.world.forget_calls()

    def run(self, requests: Sequence[Request], batch: int = 256, max_actions: int | None = None) -> list[Trace]:
        """Play all episodes, at most `batch` side by side; fewer where the last ones needed much of the tables.

        `max_actions` bounds the actions each may try, in place of the configuration's.
        """
        self._rules["max_actions"] = self.config.max_actions if max_actions is None else max_actions
        traces: list[Trace] = []
        try:
            with _no_garbage_collection():
                while len(traces) < len(requests):
                    first = len(traces)
                    traces += self._run_batch(list(requests[first : first + min(batch, self._affordable)]))
        finally:
            self._rules["max_actions"] = self.config.max_actions
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
            self.world.forget_everything()
            self.histories.forget()  # its keys are the world's numbers of observations
        if self.histories.count > self.config.max_histories // 2:
            self.forget()
        states, histories = len(self.world.states), self.histories.count
        began = time.perf_counter()
        try:
            traces = self._play(requests)
        except _LimitReachedError as limit:
            self._seconds += time.perf_counter() - began
            self._reset_pools()
            self.world.forget_everything()
            self.forget()
            # A full table is an episode's own failure only if it fills the table alone and from the start.
            if len(requests) > 1 or states > 0 or histories > self.histories.programs:
                self._affordable = max(1, len(requests) // 4)
                return []
            traces = [self._overflowed(requests[0], limit.failure)]
        else:
            self._seconds += time.perf_counter() - began
            self._affordable = self._next_batch(len(requests), states, histories)
        self._peak = max(self._peak, self._bytes())
        self._episodes += len(traces)
        self._simulations += sum(trace.simulations for trace in traces)
        self._nested += sum(trace.nested_simulations for trace in traces)
        return traces

    def _next_batch(self, episodes: int, states: int, histories: int) -> int:
        """How many episodes fit into half of the tables if they need what the last ones did."""
        used_states = (len(self.world.states) - states) / self.config.max_states
        used_histories = (self.histories.count - histories) / self.config.max_histories
        fitting = 0.5 * episodes / max(used_states, used_histories, 1e-9)
        return max(1, min(int(fitting), max(self._affordable, _FASTEST_GROWTH * episodes)))

    def _play(self, requests: list[Request]) -> list[Trace]:
        programs = [self._program(request) for request in requests]
        try:
            states = [self.world.intern(request.state) for request in requests]
        except TooManyStatesError:
            raise _LimitReachedError(Failure.STATES) from None
        for state, program in zip(states, programs, strict=True):
            self.world.fill_depth(state, program)
        batch = self._batch(requests, int(self.world.calls["depth"][states, programs].max()))
        while len(self._frames) < 2 * len(requests):
            self._grow_frames()
        while len(self._nodes) < 2 * len(requests):
            self._grow_nodes()
        kernel.start(self._tables(batch), np.array(programs), np.array(states))
        while True:
            waiting = self._advance(batch)
            if waiting == 0:
                break
            self._fill(batch, batch.questions[:waiting].tolist(), self.histories.weights is None)
        return [self._trace(batch, e, request) for e, request in enumerate(requests)]

    def _advance(self, batch: _Batch) -> int:
        batch.episodes["hole"] = Hole.NONE
        if self.histories.weights is None:
            return kernel.advance(self._tables(batch))
        growth = self.histories.growth(self.world.observations)
        return advance_evaluating(self._tables(batch), growth, self.histories.weights)

    def _fill(self, batch: _Batch, questions: list[tuple[int, ...]], foresees_evaluations: bool = True) -> None:
        """Fill what every episode waits for, and what it will ask for next; one batched network call."""
        began = time.perf_counter()
        world = self.world
        missing = Missing({}, {}, foresees_evaluations)
        foresight = Foresight(world, self.histories, missing)
        several = self.config.simulations_exploitation > 1  # in a call, which never explores
        try:
            for e, hole, first, second, third, entry, history, origin, ahead in questions:
                if hole == _ACT:
                    after = world.fill_action(first, second)
                    if ahead:
                        foresight.look_ahead(first, third, history)
                    else:
                        foresight.follow(after, third, entry, history)
                elif hole == _EVALUATE:
                    missing.evaluations[first, second] = None
                    if ahead and origin != NONE:
                        foresight.look_ahead(origin, third, first)
                elif hole == _POST:
                    missing.posts[world.post_key(first, second, third)] = None
                elif hole == _LEGAL:
                    if ahead:
                        world.fill_legal(first, second)
                        if origin != NONE:
                            foresight.look_ahead(origin, second, third)
                    else:
                        foresight.follow(first, second, entry, third)
                elif hole == _DEPTH:
                    world.fill_depth(first, second)
                    foresight.begin(first, second, bool(ahead) and several)
                elif hole == _ENTER:
                    entered = world.fill_entered(first, second)
                    world.fill_depth(entered, second)
                    foresight.begin(entered, second, bool(ahead) and several)
                elif hole == _LEAVE:
                    after = world.fill_left(first, second, third)
                    if ahead:
                        world.fill_legal(after, third)
                    else:
                        foresight.follow(after, third, entry, history)
                elif hole == _NOISE:
                    self._draw_noise(batch, e)
                else:
                    self._make_room(Hole(hole))
        except TooManyStatesError:
            raise _LimitReachedError(Failure.STATES) from None
        world.fill_posts(list(missing.posts))
        ended = time.perf_counter()
        self._environment_seconds += ended - began
        if missing.evaluations:
            try:
                self.histories.extend(list(missing.evaluations), world.observations)
            except TooManyHistoriesError:
                raise _LimitReachedError(Failure.HISTORIES) from None
            self._evaluation_seconds += time.perf_counter() - ended

    def _draw_noise(self, batch: _Batch, e: int) -> None:
        episode = batch.episodes[e]
        used, filled = int(episode["noise_used"]), int(episode["noise_filled"])
        left, pool = filled - used, batch.noise.shape[1]
        batch.noise[e, :left] = batch.noise[e, used:filled]
        stream = batch.streams[e] or _stream(batch.seeds[e], _NOISE_STREAM)
        batch.streams[e] = stream
        batch.noise[e, left:] = stream.standard_gamma(self.config.noise_concentration, pool - left)
        episode["noise_used"], episode["noise_filled"] = 0, pool

    def _make_room(self, hole: Hole) -> None:
        # Several episodes may wait for the same; the first has it made for all.
        if hole == Hole.NODES and self._free[0] == NONE:
            self._grow_nodes()
        elif hole == Hole.FRAMES and self._free[1] == NONE:
            self._grow_frames()

    def _grow_nodes(self) -> None:
        rows = len(self._nodes)
        if 2 * rows > _LARGEST_POOL:
            raise _LimitReachedError(Failure.NODES)
        self._nodes, self._edges = extended(self._nodes, 2 * rows), extended(self._edges, 2 * rows)
        linked(self._nodes, "link", rows, self._free[:1])

    def _grow_frames(self) -> None:
        rows = len(self._frames)
        self._frames = extended(self._frames, 2 * rows)
        linked(self._frames, "caller", rows, self._free[1:])

    def _tables(self, batch: _Batch) -> Tables:
        world, histories = self.world, self.histories
        return Tables(
            observation=world.observation,
            successor=world.successor,
            calls=world.calls,
            legal_count=world.legal_count,
            legal_actions=world.legal_actions,
            post_keys=world.posts.keys,
            post_values=world.posts.values,
            logits=histories.logits,
            values=histories.values,
            history_keys=histories.children.keys,
            history_values=histories.children.values,
            nodes=self._nodes,
            edges=self._edges,
            frames=self._frames,
            free=self._free,
            episodes=batch.episodes,
            questions=batch.questions,
            uniform=batch.uniform,
            noise=batch.noise,
            steps=batch.steps,
            visits=batch.visits,
            policies=batch.policies,
            rules=self._rules,
            level=self._level,
        )

    def _program(self, request: Request) -> int:
        index = self.library.index_of(request.program)
        if index < self.world.atomic:
            raise UsageError(f"{request.program} is an atomic action; search is for programs")
        parts = request.seed if isinstance(request.seed, tuple) else (request.seed,)
        if not all(isinstance(part, (int, np.integer)) and part >= 0 for part in parts):
            raise UsageError(f"seed {request.seed!r} is no integer from 0 on, nor a tuple of such")
        if not self.world.guard.pre(request.program, request.state, None):
            raise UsageError(f"{request.program}: its pre-condition does not hold in {shown(request.state)}")
        return index - self.world.atomic

    def _batch(self, requests: list[Request], longest: int) -> _Batch:
        count, entries = len(requests), len(self.library)
        exploring = np.array([request.exploring for request in requests])
        noisy = bool(exploring.any()) and self.config.noise_fraction > 0
        episodes = np.zeros(count, EPISODE)
        episodes["exploring"] = exploring
        uniform = np.zeros((count, longest))
        for e, request in enumerate(requests):
            if request.exploring:
                uniform[e] = _stream(request.seed, _CHOICE_STREAM).random(longest)
        return _Batch(
            episodes=episodes,
            questions=np.zeros(count, QUESTION),
            uniform=uniform,
            noise=np.zeros((count, max(_NOISE_POOL, 2 * entries) if noisy else 0)),
            steps=np.zeros((count, longest), STEP),
            visits=np.zeros((count, longest, entries), np.int32),
            policies=np.zeros((count, longest, entries)),
            streams=[None] * count,
            seeds=[request.seed for request in requests],
        )

    def _reset_pools(self) -> None:
        self._nodes = np.zeros(_FIRST_NODES, NODE)
        self._edges = np.zeros((_FIRST_NODES, self.world.widest), EDGE)
        self._frames = np.zeros(_FIRST_FRAMES, FRAME)
        self._free = np.full(2, NONE, np.int32)
        linked(self._nodes, "link", 0, self._free[:1])
        linked(self._frames, "caller", 0, self._free[1:])

    def _trace(self, batch: _Batch, e: int, request: Request) -> Trace:
        episode = batch.episodes[e]
        length = int(episode["length"])
        visited = batch.steps["state"][e, :length]
        failure = Failure(int(episode["failure"]))
        return Trace(
            program=request.program,
            states=tuple(self.world.states[state] for state in visited),
            final=self.world.states[episode["final"]],
            actions=batch.steps["action"][e, :length].copy(),
            observations=self.world.observations[self.world.observation[visited]],
            visits=batch.visits[e, :length].copy(),
            policies=batch.policies[e, :length].copy(),
            memories=self.histories.memory_of(batch.steps["history"][e, :length]),
            success=failure == Failure.NONE,
            failure=failure,
            value=float(episode["value"]),
            simulations=int(episode["simulations"]),
            nested_simulations=int(episode["nested_simulations"]),
            tried=int(episode["work"]),
        )

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
        pools = self._nodes.nbytes + self._edges.nbytes + self._frames.nbytes
        return self.world.bytes + self.histories.bytes + pools


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


def _stream(seed: int | tuple[int, ...], number: int) -> np.random.Generator:
    """As `SeedSequence(seed).spawn` gives them, each by itself."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def _rules(config: SearchConfig, world: World) -> Records:
    rules = np.zeros(1, RULES)
    rules["atomic"] = world.atomic
    rules["entries"] = len(world.library)
    rules["decaying_level"] = config.level_term == "decaying"
    rules["penalise_where_possible"] = config.recursion_penalty_where == "possible"
    rules["noise_everywhere"] = config.noise_at == "every"
    rules["discard_exploring"] = config.failed_call_exploration == "discard"
    rules["discard_exploiting"] = config.failed_call_exploitation == "discard"
    for name in RULES.names or ():
        if name in SearchConfig.model_fields:
            rules[name] = getattr(config, name)
    return rules
