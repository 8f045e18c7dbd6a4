"""Episodes played side by side: let the kernel run, fill the holes it meets, and read the traces."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine import kernel
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.foresight import FARTHEST, Foresight, Missing
from alphanpi.engine.fused import add_rows, advance_evaluating
from alphanpi.engine.histories import Histories
from alphanpi.engine.pools import Pools
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.tables import EPISODE, NONE, QUESTION, STEP, CrowdedError, Failure, Hole, Records, Tables
from alphanpi.engine.world import World
from alphanpi.environment.guard import shown
from alphanpi.errors import UsageError

# Plain integers: looking members of an enumeration up costs more than most questions.
_ACT, _ENTER, _LEAVE, _POST = int(Hole.ACT), int(Hole.ENTER), int(Hole.LEAVE), int(Hole.POST)
_LEGAL, _DEPTH, _EVALUATE, _NOISE = int(Hole.LEGAL), int(Hole.DEPTH), int(Hole.EVALUATE), int(Hole.NOISE)
_NODES, _FRAMES = int(Hole.NODES), int(Hole.FRAMES)
_CONTEXT = int(Hole.CONTEXT)

_CHOICE_STREAM, _NOISE_STREAM = 0, 1  # of the random numbers of an episode
_NOISE_POOL = 512
_TRACE_BYTES = 1 << 28  # for the traces of all episodes
_STEP_BYTES, _CHOICE_BYTES = STEP.itemsize + 8, 12  # of a step, and of every choice it has
NODES_AT_ONCE = 1 << 21  # passed in compiled code, about a tenth of a second: no signal is heard there


class Shared(NamedTuple):
    """What episodes share, also with those before and after them."""

    config: SearchConfig
    world: World
    histories: Histories
    pools: Pools
    rules: Records  # [1] of RULES
    level: NDArray[np.float64]  # [P, A] the level term L


class Episodes:
    """Episodes under way. See Tables for the shapes of the arrays."""

    def __init__(self, shared: Shared, requests: Sequence[Request]) -> None:
        """Begin one episode for each request."""
        self.shared = shared
        self.requests = requests
        self.environment_seconds = self.evaluation_seconds = 0.0
        world = shared.world
        self._crowded_at = shared.config.max_states // 2  # states
        # Outcomes must not depend on what was there before: only an episode that began with empty tables makes room.
        untouched = not world.states and shared.histories.count == shared.histories.first
        self._makes_room = untouched and len(requests) == 1
        programs = [self._program(request) for request in requests]
        states = [world.intern(request.state) for request in requests]
        most = max(1 + len(request.further) for request in requests)
        self.starts = np.full((len(requests), most), NONE, np.int32)
        depths = np.zeros(len(requests), np.int64)
        for e, (request, state, program) in enumerate(zip(requests, states, programs, strict=True)):
            further = [world.intern(other) for other in request.further]
            for problem, start in enumerate([state, *further]):
                self.starts[e, problem] = start
                world.fill_depth(start, program)
                depths[e] += int(world.calls["depth"][start, program])
        # No trace is longer than a tree, of which it is a path.
        longest = min(int(depths.max()), shared.config.max_nodes + 1)
        fitting = max(1, _TRACE_BYTES // (longest * (_STEP_BYTES + _CHOICE_BYTES * len(world.library))))
        if fitting < len(requests):
            raise CrowdedError(fitting)
        self._allocate(longest)
        shared.pools.reserve(len(requests))
        kernel.start(self.tables(), np.array(programs), np.array(states))

    def play(self) -> list[Trace]:
        """Let all of them come to their ends."""
        while True:
            waiting = self._advance()
            if waiting == 0:
                break
            self.fill(waiting, foresees_evaluations=self.shared.histories.asked_in_advance)
            if self._makes_room and len(self.shared.world.states) > self._crowded_at:
                self._make_room()
        return [self.trace(e) for e in range(len(self.requests))]

    def _make_room(self) -> None:
        """Forget the states that a long episode has left behind; what is needed of them again can be found again."""
        world, pools = self.shared.world, self.shared.pools
        places = (pools.nodes["state"], pools.frames["entry"], self.steps["state"], self.episodes["final"], self.starts)
        for place in places:
            place[(place >= len(world.states)) | (place < NONE)] = 0  # of episodes long past
        renumbered = world.keep(np.concatenate([np.unique(place[place >= 0]) for place in places]))
        for place in places:
            place[place >= 0] = renumbered[place[place >= 0]]
        # Between two times there has to be room for all that is found out at once.
        self._crowded_at = max(self._crowded_at, 2 * len(world.states), len(world.states) + 2 * FARTHEST)

    def _advance(self) -> int:
        self.episodes["hole"] = Hole.NONE
        self.left[0] = NODES_AT_ONCE
        histories, observations = self.shared.histories, self.shared.world.observations
        if histories.weights is not None:
            return advance_evaluating(self.tables(), histories.growth(observations), histories.weights)
        if not histories.answers_in_rows:
            return kernel.advance(self.tables())
        tables, growth = self.tables(), histories.growth(observations)
        while True:
            waiting, first = kernel.advance(tables), histories.count
            if not add_rows(tables, growth, waiting):
                return waiting
            began = time.perf_counter()
            histories.evaluate(first, histories.count, observations)
            self.evaluation_seconds += time.perf_counter() - began
            if self.left[0] <= 0:
                return waiting

    def fill(self, waiting: int, foresees_evaluations: bool = True) -> None:
        """Fill what the first rows of `questions` ask for, and will ask for next; at most one call of the network."""
        began = time.perf_counter()
        world, histories = self.shared.world, self.shared.histories
        missing = Missing({}, foresees_evaluations)
        foresight = Foresight(world, histories, missing)

        def following(history: int, action: int) -> int:
            return histories.following(history, action, world.observations)

        several = self.shared.config.simulations_exploitation > 1  # in a call, which never explores
        for e, hole, first, second, third, entry, history, origin, ahead in self.questions[:waiting].tolist():
            if hole == _ACT:
                after = world.fill_action(first, second)
                if ahead:
                    foresight.look_ahead(first, third, partial(following, history))
                else:
                    foresight.follow(after, third, entry, following(history, second))
            elif hole == _EVALUATE:
                missing.evaluations[first, second] = None
                if ahead and origin != NONE:
                    foresight.look_ahead(origin, third, partial(histories.beside, first))
            elif hole == _POST:
                world.find_post(first, second, third)
            elif hole == _LEGAL:
                if ahead:
                    world.fill_legal(first, second)
                    if origin != NONE:
                        foresight.look_ahead(origin, second, partial(histories.beside, third))
                else:
                    foresight.follow(first, second, entry, third)
            elif hole == _DEPTH:
                world.fill_depth(first, second)
                foresight.begin(first, second, bool(ahead) and several)
            elif hole == _ENTER:
                entered, callee = world.fill_entered(first, second), world.library.callees[world.changes[second].entry]
                world.fill_depth(entered, callee)
                foresight.begin(entered, callee, bool(ahead) and several)
            elif hole == _LEAVE:
                change = world.changes[third]
                after = world.fill_left(first, second, third)
                if ahead:
                    world.fill_legal(after, change.caller)
                else:
                    foresight.follow(after, change.caller, entry, following(history, change.entry))
            elif hole == _CONTEXT:
                following(first, second)
            elif hole == _NOISE:
                self._draw_noise(e)
            elif hole == _NODES:
                self.shared.pools.make_room_for_nodes()
            elif hole == _FRAMES:
                self.shared.pools.make_room_for_frames()
        world.fill_posts()
        ended = time.perf_counter()
        self.environment_seconds += ended - began
        if missing.evaluations:
            histories.extend(list(missing.evaluations), world.observations)
            self.evaluation_seconds += time.perf_counter() - ended

    def trace(self, e: int) -> Trace:
        """What an episode that has ended did."""
        episode, world = self.episodes[e], self.shared.world
        length = int(episode["length"])
        visited = self.steps["state"][e, :length]
        failure = Failure(int(episode["failure"]))
        return Trace(
            program=self.requests[e].program,
            states=tuple(world.states[state] for state in visited),
            final=world.states[episode["final"]],
            actions=self.steps["action"][e, :length].copy(),
            observations=world.observations[world.observation[visited]],
            visits=self.visits[e, :length].copy(),
            policies=self.policies[e, :length].copy(),
            memories=self.shared.histories.memory_of(self.steps["context"][e, :length]),
            success=failure == Failure.NONE,
            failure=failure,
            value=float(episode["value"]),
            simulations=int(episode["simulations"]),
            nested_simulations=int(episode["nested_simulations"]),
            tried=int(episode["work"]),
            values=self.steps["value"][e, :length].copy(),
        )

    def tables(self) -> Tables:
        """All arrays as they are now; some are replaced by larger ones when they are full."""
        world, histories, pools = self.shared.world, self.shared.histories, self.shared.pools
        return Tables(
            observation=world.observation,
            successor=world.successor,
            calls=world.calls,
            callees=world.callees,
            recursive=world.recursive,
            frame_changes=world.frame_changes,
            entered=world.entered,
            legal_count=world.legal_count,
            legal_actions=world.legal_actions,
            post_keys=world.posts.keys,
            post_values=world.posts.values,
            logits=histories.logits,
            values=histories.values,
            history_keys=histories.children.keys,
            history_values=histories.children.values,
            nodes=pools.nodes,
            edges=pools.edges,
            frames=pools.frames,
            free=pools.free,
            episodes=self.episodes,
            starts=self.starts,
            questions=self.questions,
            left=self.left,
            uniform=self.uniform,
            noise=self.noise,
            steps=self.steps,
            visits=self.visits,
            policies=self.policies,
            rules=self.shared.rules,
            level=self.shared.level,
        )

    def _program(self, request: Request) -> int:
        world = self.shared.world
        program = world.library.named(request.program)
        if program.atomic:
            raise UsageError(f"{request.program} is an atomic action; search is for programs")
        parts = request.seed if isinstance(request.seed, tuple) else (request.seed,)
        if not all(isinstance(part, (int, np.integer)) and part >= 0 for part in parts):
            raise UsageError(f"seed {request.seed!r} is no integer from 0 on, nor a tuple of such")
        for state in (request.state, *request.further):
            if not world.guard.pre(request.program, state, None):
                raise UsageError(f"{request.program}: its pre-condition does not hold in {shown(state)}")
        return world.library.callees[world.library.index_of(request.program)]

    def _allocate(self, longest: int) -> None:
        config, requests = self.shared.config, self.requests
        count, entries = len(requests), len(self.shared.world.library)
        exploring = np.array([request.exploring for request in requests])
        noisy = bool(exploring.any()) and config.noise_fraction > 0
        self.episodes: Records = np.zeros(count, EPISODE)
        self.episodes["exploring"] = exploring
        self.episodes["problems"] = [1 + len(request.further) for request in requests]
        self.questions: Records = np.zeros(count, QUESTION)
        self.left = np.full(1, NODES_AT_ONCE, np.int64)
        self.uniform = np.zeros((count, longest))
        for e, request in enumerate(requests):
            if request.exploring:
                self.uniform[e] = _stream(request.seed, _CHOICE_STREAM).random(longest)
        self.noise = np.zeros((count, max(_NOISE_POOL, 2 * entries) if noisy else 0))
        self._noise_streams: list[np.random.Generator | None] = [None] * count  # from when they are first drawn from
        self.steps: Records = np.zeros((count, longest), STEP)
        self.visits = np.zeros((count, longest, entries), np.int32)
        self.policies = np.zeros((count, longest, entries))

    def _draw_noise(self, e: int) -> None:
        episode = self.episodes[e]
        used, filled = int(episode["noise_used"]), int(episode["noise_filled"])
        left, pool = filled - used, self.noise.shape[1]
        stream = self._noise_streams[e] or _stream(self.requests[e].seed, _NOISE_STREAM)
        self._noise_streams[e] = stream
        self.noise[e, :left] = self.noise[e, used:filled]
        self.noise[e, left:] = stream.standard_gamma(self.shared.config.noise_concentration, pool - left)
        episode["noise_used"], episode["noise_filled"] = 0, pool


def _stream(seed: int | tuple[int, ...], number: int) -> np.random.Generator:
    """As `SeedSequence(seed).spawn` gives them, each by itself."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
