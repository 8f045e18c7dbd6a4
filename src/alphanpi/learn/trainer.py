"""The training loop: episodes, replay, gradient steps, validation, curriculum.

An iteration is a function of the trainer's state and the seed: random draws come from streams named by seed, iteration
and purpose. So a run resumed from any checkpoint goes on exactly as if it had never stopped.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from alphanpi.agent.beginning import Beginning
from alphanpi.agent.interpreter import Interpreter
from alphanpi.cluster.spreading import Spread
from alphanpi.engine.config import planning_config
from alphanpi.engine.requests import Trace
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Failure
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.learn import practice
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.curriculum import Curriculum
from alphanpi.learn.iteration import IterationReport, Seconds, one_thread
from alphanpi.learn.recorded_step import RecordedStep
from alphanpi.learn.replay import Replay
from alphanpi.learn.situation_table import SituationTable
from alphanpi.learn.stagnation import Stagnation
from alphanpi.learn.starts import Start, Starts, Stream
from alphanpi.learn.trials import Lesson, Trials
from alphanpi.learn.validation import Exam, ExamResult, Validation
from alphanpi.network.model import CompiledEvaluator, create_evaluator, create_network, usable_device
from alphanpi.network.torch_evaluator import RefreshableEvaluator
from alphanpi.support.limits import percent
from alphanpi.verification.during_training import Proof, prove, require_lemma

_RENEWED = 0.5  # how far weights move towards fresh ones
_TELLING = 4  # episodes of a program that say how it goes
_MORE, _FEWER = 0.75, 0.4  # shares of them that succeed, for more or fewer problems at a time
_FAILED_EXAMS = 5  # by what is not practised; then what was learned is learned anew
_SLACK = 0.05  # of a score, which other problems would have made larger or smaller
_ENDED_BY_ITSELF = (Failure.NONE, Failure.POST, Failure.DEPTH)


class StepLosses(NamedTuple):
    """What the gradient steps of an iteration came to."""

    policy_losses: Sequence[float] = (0.0,)
    value_losses: Sequence[float] = (0.0,)
    norm: float = 0.0  # of the last gradient


class Trainer:
    """State of a training run, advanced one iteration at a time."""

    def __init__(
        self,
        environment: Environment[Any],
        config: TrainConfig,
        seed: int,
        device: str = "cpu",
        beginning: Beginning | None = None,
        spread: Spread | None = None,  # over workers, episodes and runs; else this process plays them
    ) -> None:
        device = usable_device(device)
        self.spread = spread
        if beginning is not None:
            environment = beginning.environment(environment)
        self.environment = environment
        self.beginning = beginning
        self.library = environment.library
        self.config = config
        if config.until == "verified":
            require_lemma(environment, config.network.window)
        self.seed = seed
        self.device = device
        self.iteration = 0
        self.proof: Proof | None = None  # with which training ended, if it was to go on until verified
        make = create_network if beginning is None else beginning.network
        self.network = make(environment, seed, config.network).to(device)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=config.learning.learning_rate, fused=True)
        self.replay = Replay(environment, config.replay.capacity)
        frozen = frozenset() if beginning is None else beginning.frozen_programs
        self.curriculum = Curriculum(self.library, config.curriculum, frozen)
        self.starts = Starts(environment, config.episodes, seed, config.validation.size)
        self.together = {program.name: 1 for program in self.library.learned}
        self.stagnation = Stagnation(self.library)
        self.use_window(config.network.window)

    @property
    def window(self) -> int:
        """How many observations of a call the network sees now."""
        return self.network.config.window

    def use_window(self, window: int) -> None:
        """Let the network see so many observations; its weights fit any number."""
        config = self.config
        self.network.config = self.network.config.model_copy(update={"window": window})
        self.recorded = RecordedStep(self.network)
        if self.spread is None:
            self.evaluator: RefreshableEvaluator = create_evaluator(self.network, self.device)
            self.search: Search = Search(self.environment, self.evaluator, config.search)
            self.planner: Search = Search(self.environment, self.evaluator, planning_config(config.search))
            self.interpreter: Interpreter = Interpreter(self.environment, self.evaluator, config.search.max_call_depth)
        else:
            compiled = CompiledEvaluator(self.network)  # as the workers compute, wherever gradient steps are taken
            self.evaluator = compiled
            self.search = self.spread.search(self.environment, compiled, config.search)
            self.planner = self.spread.search(self.environment, compiled, planning_config(config.search))
            self.interpreter = self.spread.interpreter(self.environment, compiled, config.search.max_call_depth)
        self.trials = Trials(self.interpreter, self.starts, config.search, config.episodes.trials)
        self.validation = Validation(
            self.starts,
            self.curriculum,
            config,
            interpreter=self.interpreter,
            planner=self.planner,
        )

    def measure_frozen(self) -> None:
        """Before the first iteration: refuse frozen programs that fail here, since they will stay as they are."""
        settings, kind = self.config.validation, type(self.environment).__name__
        for name, share in self.validation.frozen_shares(settings.exam_episodes or settings.episodes).items():
            if share < settings.exam_threshold:
                raise UsageError(
                    f"--freeze: {name} solves {percent(share)} of its problems in {kind}, and needs "
                    f"{percent(settings.exam_threshold)}; leave --freeze out, so that it can be learned anew"
                )
            self.curriculum.success[name] = share

    @property
    def may_verify(self) -> bool:
        """Whether the next iteration may end with a verification."""
        return self.config.until == "verified" and self.curriculum.level == self.library.levels

    def iterate(self, deadline: float = float("inf")) -> IterationReport:
        """Play, learn, validate once.

        A verification that is not done by the deadline, a moment of `time.perf_counter`, ends in an OutOfTimeError,
        and the trainer is of no further use: what comes next must not depend on a clock.
        """
        began = time.perf_counter()
        before = self.search.statistics
        level = self.curriculum.level
        requests = practice.episodes(self.starts, self.curriculum, self.iteration, self.together)
        episodes = self.search.run(requests)
        played = self.search.statistics
        traces = [part for episode in episodes for part in episode.parts()]
        for trace, score in self._learned_from(episodes):
            if trace.failure in _ENDED_BY_ITSELF:
                self.replay.add(trace, score)
        searched = time.perf_counter()
        with one_thread():
            result = self._learn()
        self.weights_changed()
        learned = time.perf_counter()
        self.curriculum.update(self.validation.run(self.iteration, self.config.validation.episodes))
        exam = self._rise() if self.curriculum.ready else ExamResult(Exam.NOT_HELD)
        memory = self._grow()
        verdict = ""
        if self.curriculum.completed and self.config.until == "verified":
            with one_thread():
                verdict = self._verify(deadline)
        validated = time.perf_counter()
        self.iteration += 1
        search = played.seconds - before.seconds
        environment = played.environment_seconds - before.environment_seconds
        evaluation = played.evaluation_seconds - before.evaluation_seconds
        explored: defaultdict[str, list[bool]] = defaultdict(list)
        for trace in traces:
            explored[trace.program].append(trace.success)
        return IterationReport(
            iteration=self.iteration,
            level=level,
            advanced=self.curriculum.completed or self.curriculum.level > level,
            success={program.name: self.curriculum.success[program.name] for program in self.curriculum.unlocked},
            explored={name: float(np.mean(successes)) for name, successes in explored.items()},
            explanation=self.curriculum.explain(),
            policy_loss=float(np.mean(result.policy_losses)),
            value_loss=float(np.mean(result.value_losses)),
            gradient_norm=result.norm,
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
            exam=str(exam),
            verdict=verdict,
            memory=memory,
        )

    def weights_changed(self) -> None:
        """Make search and validation see the acting weights as they are now."""
        self.evaluator.refresh()
        self.search.forget()
        self.planner.forget()
        self.interpreter.forget()

    def _learned_from(self, episodes: Sequence[Trace]) -> Sequence[Lesson]:
        """The traces as they are learned, with how far other problems confirm them."""
        self._adapt(episodes)
        return self.trials.lessons(self.curriculum.practised, episodes, self.iteration)

    def _adapt(self, episodes: Sequence[Trace]) -> None:
        """Solve more problems at a time where that goes well, and fewer where it does not."""
        for program in self.curriculum.practised:
            won = [episode.success for episode in episodes if episode.program == program.name]
            if len(won) < _TELLING:
                continue
            share, now = sum(won) / len(won), self.together[program.name]
            if share > _MORE:
                self.together[program.name] = min(self.config.episodes.together, now + 1)
            elif share < _FEWER:
                self.together[program.name] = max(1, now - 1)

    def _learn(self) -> StepLosses:
        settings = self.config.learning
        rng = self.starts.random(self.iteration, Stream.LEARN)
        if not self.replay.learnable():
            return StepLosses()
        failing = np.array([1 - self.curriculum.success[program.name] for program in self.library.learned])
        least, most = self.config.replay.positive_fraction, self.config.replay.positive_fraction_mastered
        positives = least + (most - least) * (1 - failing)
        bars = np.array([self.trials.bars.get(program.name, 0.0) for program in self.library.learned]) - _SLACK
        traces, shares = self.replay.everything(positives)
        situations = SituationTable.of(
            traces, self.replay, window=self.window, shares=shares, bars=bars, device=self.device
        )
        numbers = []
        for _ in range(settings.gradient_steps):
            numbers.append(torch.stack(self.recorded.gradient(situations.draw(settings.batch, rng))))
            self.optimiser.step()
        policies, values, norms = torch.stack(numbers).T.cpu().tolist()  # a device is waited for here alone
        for norm in norms:
            self._require_finite(norm)
        return StepLosses(policies, values, norms[-1])

    def _require_finite(self, norm: float) -> None:
        if not math.isfinite(norm):
            raise UsageError(
                f"iteration {self.iteration + 1}: the gradient is not finite; lower learning.learning_rate"
            )

    def _grow(self) -> str:
        """Where a program does not get better any more, let the network see more; why, in words."""
        stuck = self.stagnation.of(self.curriculum)
        if stuck is None or self.window >= self.config.network.largest_window:
            return ""
        window = self.window
        self.use_window(window + 1)
        self.replay.forget(self.library.index_of(stuck) - self.library.atomic_count)
        self._renew()
        success = percent(self.curriculum.success[stuck])
        return f"{stuck} stays at {success}: the window grows from {window} to {window + 1}"

    def _renew(self) -> None:
        """Move the weights towards fresh ones: what was learned is soon learned again, and generalises anew.

        Ash and Adams, "On warm-starting neural network training" (2020): shrink and perturb.
        """
        stream = self.starts.random(self.iteration, Stream.RENEW)
        fresh = create_network(self.environment, int(stream.integers(2**31)), self.config.network).to(self.device)
        with torch.no_grad():
            for weights, target in zip(self.network.parameters(), fresh.parameters(), strict=True):
                weights.lerp_(target, _RENEWED)
        self.optimiser.state.clear()
        self.weights_changed()

    def _rise(self) -> ExamResult:
        """Raise the level; from the last one only if the exam says that all is learned."""
        settings = self.config.validation
        if not settings.exam_episodes or self.curriculum.level < self.library.levels:
            self.curriculum.advance()
            return ExamResult(Exam.NOT_HELD)
        result = self.validation.exam(self.iteration)
        if result.program in self.curriculum.frozen:
            self.curriculum.given_up = f"{result.program} is frozen, and the exam {result}; train without --freeze"
        if result.outcome == Exam.PASSED:
            self.curriculum.advance()
        else:
            self.curriculum.begin_again()
            self.curriculum.failed_exams += not result.practised
            if self.curriculum.failed_exams >= _FAILED_EXAMS:
                self.curriculum.failed_exams = 0
                self.curriculum.learned_anew = True
                self.stagnation = Stagnation(self.library)
                self.replay.clear()
                self._renew()
                return result._replace(failing=f"{result.failing}; what was learned is learned anew")
        return result

    def _verify(self, deadline: float = float("inf")) -> str:
        """After the exam: unless all is proved, go on training, with counter-examples among the error starts."""
        seconds = None if deadline == float("inf") else deadline - time.perf_counter()
        proof = prove(self.environment, self.evaluator, self.network, seconds)
        self.proof = proof if proof.proved else None
        verdict = proof.verdict
        if not proof.proved:
            self.curriculum.begin_again()
        if not proof.proved and not proof.failing:
            # Nothing fails, so there is nothing to practise: what cannot be proved has to be learned in another way.
            for name in proof.weak:
                self.replay.forget(self.library.index_of(name) - self.library.atomic_count)
            self._renew()
            verdict += "; weights moved towards fresh ones"
        if frozen := [name for name in proof.weak if name in self.curriculum.frozen]:
            self.curriculum.given_up = (
                f"{frozen[0]} is frozen, and not proved here: {proof.verdict}; train without --freeze"
            )
        for failing in proof.failing:
            starts = [
                Start(failing.program, failing.size, (), (origin.number, *origin.values)) for origin in failing.origins
            ]
            self.starts.remember(failing.program, starts)
        return verdict
