"""The training loop: episodes, replay, gradient steps, validation, curriculum.

An iteration is a function of the trainer's state and the seed: random draws come from streams named by seed, iteration
and purpose. So a run resumed from any checkpoint goes on exactly as if it had never stopped.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from alphanpi.config import TrainConfig, planning_config
from alphanpi.engine.search import Request, Search, Trace
from alphanpi.engine.tables import Failure
from alphanpi.interpreter import Call, Interpreter, Recording
from alphanpi.learn.continuation import Continuations
from alphanpi.learn.curriculum import Curriculum
from alphanpi.learn.order import ordered_traces
from alphanpi.learn.proof import prove, require_lemma
from alphanpi.learn.replay import Replay
from alphanpi.learn.thrift import Route, thrifty_routes, thrifty_traces
from alphanpi.learn.unroll import Blur, Loss, loss, make_batch
from alphanpi.model import create_evaluator, create_network
from alphanpi.spec import Environment, Program
from alphanpi.verification.exploration import Origin, recreate

# Names of the random streams of an iteration.
_PLAY, _SEARCH, _LEARN, _VALIDATE, _EXAM, _PLANNING_EXAM, _CALLS, _RENEW, _FAR_EXAM = range(9)

_ROUTES = 10  # runs per program in which needless recursive calls are looked for
_MOST_ACTIONS = 1_000_000  # of a run in the far exam
_ENDED_BY_ITSELF = (Failure.NONE, Failure.POST, Failure.DEPTH)


class Start(NamedTuple):
    """A start state, by what it is drawn from: it can be saved for any environment."""

    program: str
    size: int
    seed: tuple[int, ...]
    origin: tuple[int, ...] = ()  # of a counter-example: number and values of its template; then there is no seed


class Error(NamedTuple):
    """A start where validation failed, and how often in a row it has succeeded since."""

    start: Start
    passes: int = 0


class Seconds(NamedTuple):
    """Where the time of a run went."""

    search: float = 0.0
    evaluation: float = 0.0
    environment: float = 0.0
    gradients: float = 0.0
    validation: float = 0.0
    other: float = 0.0

    def plus(self, other: Seconds) -> Seconds:
        """Sum, part by part."""
        return Seconds(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Report(NamedTuple):
    """What one iteration did."""

    iteration: int
    level: int  # in which it was played
    advanced: bool  # whether the level was raised, or the curriculum completed
    success: dict[str, float]  # per unlocked program, as the curriculum sees it
    explored: dict[str, float]  # share of successful episodes per program
    explanation: str
    policy_loss: float
    value_loss: float
    gradient_norm: float
    episodes: int
    episode_length: float
    simulations: int
    evaluations: int
    replay_traces: int
    seconds: Seconds
    verdict: str = ""  # of the verification, if there was one

    @property
    def elapsed(self) -> float:
        """Seconds of the whole iteration."""
        return sum(self.seconds)


class Trainer:
    """State of a training run, advanced one iteration at a time."""

    def __init__(self, environment: Environment[Any], config: TrainConfig, seed: int, device: str = "cpu") -> None:
        self.environment = environment
        self.library = environment.library
        self.config = config
        if config.until == "verified":
            require_lemma(environment)
        self.seed = seed
        self.device = device
        self.iteration = 0
        self.network = create_network(environment, seed, config.network).to(device)
        self.acting = create_network(environment, seed, config.network).to(device)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=config.learning.learning_rate, fused=True)
        self.replay = Replay(environment, config.replay.capacity, config.learning.unroll == "stored")
        self.curriculum = Curriculum(self.library, config.curriculum)
        self.errors: dict[str, list[Error]] = {program.name: [] for program in self.library.learned}
        self.evaluator = create_evaluator(self.acting, device)
        self.search = Search(environment, self.evaluator, config.search)
        self.planner = Search(environment, self.evaluator, planning_config(config.search))
        self.interpreter = Interpreter(environment, self.evaluator, config.search.max_call_depth)

    def iterate(self) -> Report:
        """Play, learn, validate once."""
        began = time.perf_counter()
        before = self.search.statistics
        level = self.curriculum.level
        requests = self._requests()
        traces = self.search.run(requests)
        for trace in self._learned_from(traces):
            if trace.failure in _ENDED_BY_ITSELF:
                self.replay.add(trace)
        played = self.search.statistics
        searched = time.perf_counter()
        with _one_thread():
            losses, norm = self._learn()
        self.weights_changed()
        learned = time.perf_counter()
        self.curriculum.update(self._validate(self.config.validation.episodes, _VALIDATE))
        advanced = self.curriculum.ready and self._pass_exam()
        verdict = ""
        if self.curriculum.completed and self.config.until == "verified":
            with _one_thread():
                verdict = self._verify()
            advanced = self.curriculum.completed
        validated = time.perf_counter()
        self.iteration += 1
        evaluation = played.evaluation_seconds - before.evaluation_seconds
        environment = played.environment_seconds - before.environment_seconds
        search = played.seconds - before.seconds
        explored: defaultdict[str, list[bool]] = defaultdict(list)
        for trace in traces:
            explored[trace.program].append(trace.success)
        return Report(
            iteration=self.iteration,
            level=level,
            advanced=advanced,
            success={program.name: self.curriculum.success[program.name] for program in self.curriculum.unlocked},
            explored={name: float(np.mean(successes)) for name, successes in explored.items()},
            explanation=self.curriculum.explain(),
            policy_loss=float(np.mean([item.policy for item in losses])) if losses else 0.0,
            value_loss=float(np.mean([item.value for item in losses])) if losses else 0.0,
            gradient_norm=norm,
            episodes=len(traces),
            episode_length=float(np.mean([len(trace.actions) for trace in traces])),
            simulations=played.simulations + played.nested_simulations - before.simulations - before.nested_simulations,
            evaluations=played.evaluations - before.evaluations,
            replay_traces=len(self.replay),
            seconds=Seconds(
                search=search - evaluation - environment,
                evaluation=evaluation,
                environment=environment,
                gradients=learned - searched,
                validation=validated - learned,
                other=searched - began - search,
            ),
            verdict=verdict,
        )

    def weights_changed(self) -> None:
        """Make search and validation see the acting weights as they are now."""
        self.evaluator.refresh()
        self.search.forget()
        self.planner.forget()
        self.interpreter.forget()

    def sizes(self, program: Program) -> list[int]:
        """Problem sizes a program is trained on."""
        sizes = set(self.environment.train_sizes)
        if self.config.episodes.base_case and program.recursive:
            sizes.add(program.minimum_size)
        return sorted(size for size in sizes if size >= program.minimum_size)

    def start_state(self, start: Start) -> Any:
        """The state a start stands for."""
        if start.origin:
            origin = Origin(start.origin[0], start.origin[1:])
            return recreate(self.environment, start.program, start.size, origin)
        return self.search.world.guard.initial(start.program, start.size, np.random.default_rng(start.seed))

    def _requests(self) -> list[Request]:
        rng = np.random.default_rng((self.seed, self.iteration, _PLAY))
        settings, unlocked = self.config.episodes, self.curriculum.unlocked
        preferences = self.curriculum.preferences()
        if settings.programs == "one":
            chosen = int(rng.choice(len(unlocked), p=preferences))
            counts = np.where(np.arange(len(unlocked)) == chosen, settings.per_iteration, 0)
        else:
            counts = np.maximum(settings.minimum, np.rint(preferences * settings.per_iteration)).astype(int)
        calls = self._calls()
        requests: list[Request] = []
        for program, count in zip(unlocked, counts.tolist(), strict=True):
            sizes = self.sizes(program)
            if settings.sizes == "one":
                sizes = [int(rng.choice(sizes))]
            for _ in range(count):
                errors, called = self.errors[program.name], calls.get(program.name, [])
                if errors and rng.random() < settings.error_fraction:
                    state = self.start_state(errors[int(rng.integers(len(errors)))].start)
                elif called and rng.random() < settings.called_fraction:
                    state = called[int(rng.integers(len(called)))]
                else:
                    seed = (self.seed, self.iteration, _PLAY, len(requests))
                    state = self.start_state(Start(program.name, int(rng.choice(sizes)), seed))
                stream = (self.seed, self.iteration, _SEARCH, len(requests))
                requests.append(Request(program.name, state, stream, exploring=True))
        return requests

    def _calls(self) -> dict[str, list[Any]]:
        """States in which programs are called in fresh runs of the highest ones: those that fail, if any do.

        Lists that are nearly sorted, say, are rare among random ones but the rule inside of a sort. Where none fails,
        programs of constant depth keep to their own starts: what calls them in training may not be all that will.
        """
        settings, unlocked = self.config.episodes, self.curriculum.unlocked
        highest = [program for program in unlocked if program.level == self.curriculum.level]
        if settings.called_fraction == 0 or len(highest) == len(unlocked):
            return {}
        rng = np.random.default_rng((self.seed, self.iteration, _CALLS))
        runs = []
        for number in range(settings.called_runs):
            program = highest[number % len(highest)]
            size = int(rng.choice(self.sizes(program)))
            start = Start(program.name, size, (self.seed, self.iteration, _CALLS, number))
            runs.append(Call(program.name, self.start_state(start)))
        guard = self.search.world.guard
        failed: defaultdict[str, dict[Any, None]] = defaultdict(dict)  # ordered sets
        called: defaultdict[str, dict[Any, None]] = defaultdict(dict)
        for execution in self.interpreter.run(runs, record=True):
            culprit = execution.culprit
            if culprit is not None and self._trained_on(culprit):
                failed[culprit.program][culprit.state] = None
            for step in execution.steps:
                callee = self.library.named(step.action)
                if callee.growing:
                    call = Call(callee.name, guard.enter(step.state, callee.name, step.program))
                    if self._trained_on(call):
                        called[callee.name][call.state] = None
        lower = {program.name for program in unlocked} - {program.name for program in highest}
        return {name: list(states) for name, states in {**called, **failed}.items() if name in lower}

    def _trained_on(self, call: Call) -> bool:
        """Whether a call is of a size its program is trained on."""
        return self.search.world.guard.size(call.state) in self.sizes(self.library.named(call.program))

    def _learned_from(self, traces: Sequence[Trace]) -> Sequence[Trace]:
        """The traces as they are learned: in normal form, and without needless recursive calls."""
        settings, search = self.config.replay, self.config.search
        if self.config.learning.unroll == "stored":
            return traces
        if settings.ordered:
            traces = ordered_traces(self.interpreter.guard, traces)
        if settings.thrifty:
            traces = thrifty_traces(self.interpreter, traces, search.discount, search.recursion_bonus)
        return traces

    def _wasteful_programs(self) -> list[str]:
        """Programs that make recursive calls which they could do without in all of their runs."""
        if not self.config.replay.thrifty:
            return []
        routes: defaultdict[str, list[Route]] = defaultdict(list)
        starts = self._validation_starts(2 * _ROUTES, _EXAM)
        starts = [start for start in starts if self.library.named(start.program).recursive]
        calls = [Call(start.program, self.start_state(start)) for start in starts]
        for start, execution in zip(starts, self.interpreter.run(calls, Recording(depth=0)), strict=True):
            states = tuple(step.state for step in execution.steps)
            actions = tuple(self.library.index_of(step.action) for step in execution.steps)
            route = Route(start.program, states, actions)
            if execution.success and len(route.self_calls(self.library.index_of(start.program))) > 1:
                routes[start.program].append(route)
        wasteful = []
        for name, found in routes.items():
            shorter = thrifty_routes(self.interpreter, found)
            if all(after is not before for before, after in zip(found, shorter, strict=True)):
                wasteful.append(name)
        return wasteful

    def _learn(self) -> tuple[list[Loss], float]:
        settings = self.config.learning
        rng = np.random.default_rng((self.seed, self.iteration, _LEARN))
        if not self.replay.learnable():
            return [], 0.0
        failing = np.array([1 - self.curriculum.success[program.name] for program in self.library.learned])
        weights = 1 + settings.weak_program_weight * failing
        pace = max(settings.slowest, 1 - self.curriculum.weakest)
        for group in self.optimiser.param_groups:
            group["lr"] = settings.learning_rate * pace
        decay = settings.weight_average ** max(pace, 1 / 3)  # as steps get smaller, the average gets longer
        losses, norm = [], 0.0
        unrolled = settings.unroll == "trace"
        mastered, start = self.config.replay.positive_fraction_mastered, self.config.replay.positive_fraction
        positives = start + (mastered - start) * (1 - failing)
        continuations = None
        if unrolled and settings.continued_fraction > 0:
            continuations = Continuations(self.network, self.replay, self.library, rng, self.device)
        for _ in range(settings.gradient_steps):
            if unrolled:
                traces = self.replay.sample(weights, settings.batch, positives, rng)
            else:
                traces = self.replay.sample_steps(settings.batch, self.config.replay.positive_fraction, rng)
            if continuations is not None:
                traces = continuations.applied(traces, settings.continued_fraction, rng)
            batch = make_batch(
                traces,
                self.replay,
                weight_by_value=settings.policy_weight == "value",
                unrolled=unrolled,
                blur=Blur(settings.blurred_fraction, settings.blurred_fields),
                rng=rng,
                device=self.device,
            )
            item = loss(self.network, batch, settings.value_weight, settings.consensus)
            self.optimiser.zero_grad()
            item.total.backward()  # type: ignore[no-untyped-call]
            limit = settings.gradient_clip or float("inf")
            norm = float(torch.nn.utils.clip_grad_norm_(self.network.parameters(), limit))
            self.optimiser.step()
            self._average(decay)
            losses.append(item)
        return losses, norm

    def _renew(self) -> None:
        """Move the weights towards fresh ones: what was learned is soon learned again, and generalises anew.

        Ash and Adams, "On warm-starting neural network training" (2020): shrink and perturb.
        """
        self.curriculum.failed_exams = 0
        stream = np.random.default_rng((self.seed, self.iteration, _RENEW))
        fresh = create_network(self.environment, int(stream.integers(2**31)), self.config.network).to(self.device)
        with torch.no_grad():
            for network in (self.network, self.acting):
                for weights, target in zip(network.parameters(), fresh.parameters(), strict=True):
                    weights.lerp_(target, self.config.learning.renewed_share)
        self.optimiser.state.clear()
        self.weights_changed()

    @torch.no_grad()
    def _average(self, decay: float) -> None:
        acting: list[torch.Tensor] = list(self.acting.parameters())
        current: list[torch.Tensor] = list(self.network.parameters())
        torch._foreach_lerp_(acting, current, 1 - decay)

    def _pass_exam(self) -> bool:
        """Before the last level counts as learned: a larger validation, in which nothing may fail."""
        settings = self.config.validation
        if settings.exam_episodes and self.curriculum.level == self.library.levels:
            passed = _worst(self._validate(settings.exam_episodes, _EXAM)) >= settings.exam_threshold
            wasteful = self._wasteful_programs() if passed else []
            for name in wasteful:
                # Else what was learned before would outweigh the shorter traces for long.
                self.replay.forget(self.library.index_of(name) - self.library.atomic_count)
            if wasteful:
                self.curriculum.begin_again()
                return False
            if not passed or not self._pass_planning_exam():
                self.curriculum.fail_exam()
                if self.curriculum.failed_exams == settings.exam_patience:
                    self._renew()
                return False
            if not self._pass_far_exam():
                self.curriculum.begin_again()
                return False
        self.curriculum.advance()
        return True

    def _pass_far_exam(self) -> bool:
        """The highest programs, if their traces grow with the problem, on much larger ones, with and without search."""
        settings, levels = self.config.validation, self.library.levels
        growing = [program.name for program in self.library.learned if program.growing and program.level == levels]
        size = settings.far_exam_factor * self.environment.validation_size
        for number in range(settings.far_exam_episodes):
            seed = (self.seed, self.iteration, _FAR_EXAM, number)
            calls = [Call(name, self.start_state(Start(name, size, seed))) for name in growing]
            if not all(execution.success for execution in self.interpreter.run(calls, max_actions=_MOST_ACTIONS)):
                return False
            requests = [Request(call.program, call.state) for call in calls]
            planned = number < settings.far_exam_planning_episodes
            if planned and not all(trace.success for trace in self.planner.run(requests)):
                return False
        return True

    def _verify(self) -> str:
        """After the exam: unless all is proved, go on training, with counter-examples among the error starts."""
        proof = prove(self.environment, self.evaluator, self.acting)
        if not proof.proved:
            self.curriculum.begin_again()
        for failing in proof.failing:
            starts = [
                Start(failing.program, failing.size, (), (origin.number, *origin.values)) for origin in failing.origins
            ]
            self._remember(failing.program, starts)
        return proof.verdict

    def _remember(self, name: str, starts: list[Start]) -> None:
        """Add to the error starts of a program; the oldest are dropped."""
        known = {error.start for error in self.errors[name]}
        fresh = [Error(start) for start in starts if start not in known]
        capacity = self.config.episodes.error_capacity
        self.errors[name] = [*self.errors[name], *fresh][-capacity:] if capacity else []

    def _pass_planning_exam(self) -> bool:
        """The same with search, which listens to the values as well as to the policy."""
        settings = self.config.validation
        if settings.exam_planning_episodes == 0:
            return True
        starts = self._validation_starts(settings.exam_planning_episodes, _PLANNING_EXAM)
        requests = [Request(start.program, self.start_state(start)) for start in starts]
        outcomes: defaultdict[str, list[bool]] = defaultdict(list)
        for trace in self.planner.run(requests):
            outcomes[trace.program].append(trace.success)
        return _worst(outcomes) >= settings.exam_threshold

    def _validate(self, episodes: int, stream: int) -> dict[str, list[bool]]:
        """Run every unlocked program; failed starts on training sizes are remembered."""
        starts = self._validation_starts(episodes, stream)
        outcomes: dict[str, list[bool]] = {program.name: [] for program in self.curriculum.unlocked}
        failed: dict[str, list[Start]] = {name: [] for name in outcomes}
        for start, success in zip(starts, self._outcomes(starts), strict=True):
            outcomes[start.program].append(success)
            if not success and start.size in self.sizes(self.library.named(start.program)):
                failed[start.program].append(start)
        for name in outcomes:
            known = {error.start for error in self.errors[name]}
            fresh = [Error(start) for start in failed[name] if start not in known]
            capacity = self.config.episodes.error_capacity
            self.errors[name] = [*self._still_failing(name), *fresh][-capacity:] if capacity else []
        return outcomes

    def _validation_starts(self, episodes: int, stream: int) -> list[Start]:
        settings = self.config.validation
        rng = np.random.default_rng((self.seed, self.iteration, stream))
        starts: list[Start] = []
        for program in self.curriculum.unlocked:
            sizes = self.sizes(program)
            called = program.level < max(2, self.curriculum.level) and not program.recursive
            count = episodes * settings.called_program_factor if called and stream != _PLANNING_EXAM else episodes
            for episode in range(count):
                on_training_size = episode < settings.training_share * count
                size = int(rng.choice(sizes)) if on_training_size else self.environment.validation_size
                starts.append(Start(program.name, size, (self.seed, self.iteration, stream, len(starts))))
        return starts

    def _still_failing(self, name: str) -> list[Error]:
        """Try the remembered starts again; one that has succeeded often enough in a row is forgotten."""
        errors = self.errors[name]
        again = self._outcomes([error.start for error in errors])
        updated = [
            Error(error.start, error.passes + 1 if success else 0) for error, success in zip(errors, again, strict=True)
        ]
        return [error for error in updated if error.passes < self.config.episodes.error_passes]

    def _outcomes(self, starts: list[Start]) -> list[bool]:
        states = [self.start_state(start) for start in starts]
        if self.config.validation.mode == "greedy":
            calls = [Call(start.program, state) for start, state in zip(starts, states, strict=True)]
            return [execution.success for execution in self.interpreter.run(calls)]
        requests = [Request(start.program, state) for start, state in zip(starts, states, strict=True)]
        return [trace.success for trace in self.search.run(requests)]


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread always sums in the same order; for matrices this small it is the fastest, too."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _worst(outcomes: Mapping[str, Sequence[bool]]) -> float:
    """Success of the program that did worst."""
    return min(float(np.mean(successes)) for successes in outcomes.values())
