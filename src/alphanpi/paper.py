"""The paper's algorithm in one file: Pierrot et al., "Learning Compositional Neural Programs with Recursive Tree Search
and Planning" (2019).

    for each iteration:
        draw a program from the curriculum                      PaperCurriculum.probabilities
        play n_ep episodes of it, search in exploration mode    PaperTrainer.play; Algorithms 1 and 2 are the engine's
        store their steps (e, i, h, pi_mcts, r)                 ReplayBuffer.add
        take Adam steps on batches of the buffer                PaperTrainer.learn, paper_loss
        play n_val episodes of every program up to the level,   PaperTrainer.validate
            search in exploitation mode, and average rewards    PaperCurriculum.update
        raise the level when all averages reach the threshold

Nothing else is done here; docs/differences.md says what the default training does otherwise. The search is that of
`alphanpi.engine`, which equals `bench/oracle.py`, a transcription of Algorithms 1 and 2. Comments that begin with
"Reading:" say what is done where the paper is silent or contradicts itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Failure
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment, Library, Program
from alphanpi.learn.config import Sizes
from alphanpi.learn.iteration import IterationReport, Seconds, one_thread
from alphanpi.network.config import NetworkConfig
from alphanpi.network.model import NPINetwork, create_evaluator, create_network, masked_log_softmax, usable_device
from alphanpi.support.config import Config
from alphanpi.support.limits import MOST_EPISODES, MOST_SIMULATIONS, MOST_SIZE, percent


class PaperParameters(Config):
    """The table of appendix E, with the sections that use each; then what is said elsewhere."""

    program_embedding: int = Field(256, ge=1, le=8192, description="P, program embedding dimension; A.7")
    memory: int = Field(128, ge=1, le=8192, description="H, LSTM hidden state dimension; A.7")
    observation_encoding: int = Field(32, ge=1, le=8192, description="S, observation encoding dimension; A.7")
    curriculum_threshold: float = Field(0.97, gt=0, le=1, description="Delta_curr, threshold of the curriculum; 3.2")
    discount: float = Field(0.97, gt=0, le=1, description="gamma, discount to penalise long traces; A.4")
    simulations: int = Field(
        200, ge=1, le=MOST_SIMULATIONS, description="n_simu, simulations in exploration mode, 1500 for Hanoi; A.5"
    )
    simulations_exploitation: int = Field(
        5, ge=1, le=MOST_SIMULATIONS, description="n_simu-exploit, simulations in exploitation mode; A.5"
    )
    batches: int = Field(2, ge=1, le=100_000, description="n_batches, batches for each episode that was played; 3.1")
    episodes: int = Field(20, ge=1, le=MOST_EPISODES, description="n_ep, episodes played at each iteration; 3.1")
    validation_episodes: int = Field(
        25, ge=1, le=MOST_EPISODES, description="n_val, episodes played for validation, of each program; 3.1"
    )
    level_coefficient: float = Field(3.0, ge=0, le=1e6, description="c_level, preference for near levels; A.1")
    puct_coefficient: float = Field(0.5, ge=0, le=1e6, description="c_puct, exploration against exploitation; A.1")
    batch_size: int = Field(256, ge=1, le=MOST_EPISODES, description="batch size, in steps; 3.1")
    buffer_size: int = Field(2000, ge=1, le=10_000_000, description="n_buf, steps in the replay buffer; A.6")
    positive_probability: float = Field(
        0.5, ge=0, le=1, description="p_buf, probability to draw an experience with positive reward; A.6"
    )
    learning_rate: float = Field(1e-4, gt=0, le=1, description="lr, of Adam; 3.1")
    recursion_penalty: float = Field(
        0.9, ge=0, le=2, description="r_pen-recur, penalty of a trace without recursion; D.1"
    )
    q_temperature: float = Field(1.0, ge=0, le=100, description="tau_1, temperature of the Q-values; A.4")
    policy_temperature: float = Field(1.3, gt=0, le=30, description="tau_2, temperature of tree policies; A.5")
    curriculum_temperature: float = Field(2.0, ge=0, le=100, description="tau_3, temperature of the curriculum; A.8")
    moving_average: float = Field(0.99, ge=0, lt=1, description="beta, moving average of the curriculum; A.8")
    noise_fraction: float = Field(
        0.25, ge=0, le=1, description="epsilon_d, fraction of Dirichlet noise, 0.5 for Hanoi; A.1"
    )
    noise_concentration: float = Field(
        0.03, gt=0, le=1e6, description="alpha_d, parameter of the Dirichlet distribution, 0.5 for Hanoi; A.1"
    )
    encoder_hidden: int = Field(100, ge=1, le=8192, description="neurons of the encoder's hidden layer; B")
    train_sizes: Sizes = Field((), description="sizes of problems to learn from; empty: the environment's; 4")
    validation_size: int = Field(
        0, ge=0, le=MOST_SIZE, description="size of problems of the validation; 0: the environment's; 4"
    )


class PaperConfig(Config):
    """Everything that decides the outcome of a run of the paper's algorithm, beside the environment and the seed."""

    paper: PaperParameters = PaperParameters()
    max_iterations: int = Field(1_000_000, ge=1, le=1_000_000_000, description="iterations after which it gives up")

    @property
    def search(self) -> SearchConfig:
        """The engine's settings. A failed call ends the search and discards the trace, in both modes (A.2)."""
        table = self.paper
        return SearchConfig(
            simulations=table.simulations,
            simulations_exploitation=table.simulations_exploitation,
            c_puct=table.puct_coefficient,
            c_puct_planning=table.puct_coefficient,
            c_level=table.level_coefficient,
            q_temperature=table.q_temperature,
            policy_temperature=table.policy_temperature,
            discount=table.discount,
            recursion_penalty=table.recursion_penalty,
            # Reading: subtracted where a recursive call was legal on the path; a base case has none to make.
            recursion_penalty_where="legal",
            noise_fraction=table.noise_fraction,
            noise_concentration=table.noise_concentration,
            failed_call="discard",
        )

    @property
    def network(self) -> NetworkConfig:
        """The network's sizes: an LSTM that remembers the whole call; heads with H / 2 neurons (A.7)."""
        table = self.paper
        return NetworkConfig(
            observation_encoding=table.observation_encoding,
            encoder_hidden=table.encoder_hidden,
            program_embedding=table.program_embedding,
            memory=table.memory,
            head_hidden=max(1, table.memory // 2),
            window=0,
        )


class PaperCurriculum:
    """Which programs are unlocked, how well they do, and which is practised next (3.2 and A.8)."""

    def __init__(self, library: Library, parameters: PaperParameters) -> None:
        self.library = library
        self.parameters = parameters
        self.level = min(program.level for program in library.learned)  # l_max
        self.success: dict[str, float] = {program.name: 0.0 for program in library.learned}  # R_i
        self.completed = False

    @property
    def unlocked(self) -> tuple[Program, ...]:
        """Programs up to l_max. Reading: "lower than" includes it, or nothing could be learned at first."""
        return tuple(program for program in self.library.learned if program.level <= self.level)

    @property
    def threshold(self) -> float:
        """Delta_curr."""
        return self.parameters.curriculum_threshold

    def probabilities(self) -> NDArray[np.float64]:
        """p_i = exp(tau_3 c_i) / sum_k exp(tau_3 c_k) over the unlocked programs."""
        # Reading: c_i = 1 - R_i (3.2); 1 / R_i (A.8) is infinite at the beginning.
        scores = np.array([1 - self.success[program.name] for program in self.unlocked])
        weights = np.exp(self.parameters.curriculum_temperature * scores)
        normalised: NDArray[np.float64] = weights / weights.sum()
        return normalised

    def update(self, outcomes: Mapping[str, Sequence[bool]]) -> None:
        """R_i <- beta R_i + (1 - beta) r for every episode of a validation; l_max rises when all R_i are enough."""
        beta = self.parameters.moving_average
        for name, successes in outcomes.items():
            for success in successes:
                # Reading: r is 1 or 0 here, without discount and penalty, or 0.97 could not be reached.
                self.success[name] = beta * self.success[name] + (1 - beta) * success
        if min(self.success[program.name] for program in self.unlocked) >= self.threshold:
            higher = [program.level for program in self.library.learned if program.level > self.level]
            self.completed = not higher
            self.level = min(higher, default=self.level)

    def explain(self) -> str:
        """Why the level has not been raised yet."""
        if self.completed:
            return "all programs learned"
        weakest = min(self.unlocked, key=lambda program: self.success[program.name])
        return f"{weakest.name} at {percent(self.success[weakest.name])}, needs {percent(self.threshold)}"


class Experience(NamedTuple):
    """One step of an episode: (e, i, h, pi_mcts, r), and which actions were legal. A entries of the library."""

    observation: NDArray[np.int16]  # [fields] e
    program: int  # i, index among the programs to be learned
    memory: NDArray[np.float32]  # [2H] h and cell state before the observation
    policy: NDArray[np.float32]  # [A] pi_mcts
    legal: NDArray[np.bool_]  # [A]
    reward: float  # r at the end of the episode. Reading: as the search backs it up, gamma^n or -1 (A.4)
    positive: bool  # Reading: whether the episode succeeded, though the penalty may make its r negative


class ReplayBuffer:
    """The n_buf newest experiences of programs that have succeeded before (A.6)."""

    def __init__(self, size: int, positive_probability: float) -> None:
        self.size = size
        self.positive_probability = positive_probability
        self.experiences: list[Experience] = []
        self.next = 0  # Reading: the oldest is replaced
        self.solved: set[int] = set()  # programs for which a positive reward has been found

    def add(self, experiences: Sequence[Experience]) -> None:
        """Store an episode; of a program that has never succeeded nothing is stored."""
        self.solved |= {one.program for one in experiences if one.positive}
        for one in experiences:
            if one.program not in self.solved:
                continue
            if len(self.experiences) < self.size:
                self.experiences.append(one)
            else:
                self.experiences[self.next] = one
                self.next = (self.next + 1) % self.size

    def sample(self, count: int, rng: np.random.Generator) -> list[Experience]:
        """Draw each with positive reward with probability p_buf, uniformly among those, else among the others."""
        positive = [one for one in self.experiences if one.positive]
        other = [one for one in self.experiences if not one.positive]
        if not positive or not other:
            positive = other = self.experiences
        wished = int(rng.binomial(count, self.positive_probability))
        drawn = [positive[place] for place in rng.integers(len(positive), size=wished)]
        return drawn + [other[place] for place in rng.integers(len(other), size=count - wished)]


class PaperLoss(NamedTuple):
    """The two terms, as means over a batch."""

    policy: Tensor
    value: Tensor


def paper_loss(network: NPINetwork, batch: Sequence[Experience], device: str = "cpu") -> PaperLoss:
    """-pi_mcts^T log pi and (V - r)^2, equation 2; memories are those stored, not unrolled through time (3.1)."""

    def stacked(rows: Sequence[Any], kind: torch.dtype) -> Tensor:
        return torch.as_tensor(np.array(rows)).to(device, kind)

    observations, programs, memories, policies, masks, rewards, _ = zip(*batch, strict=True)
    hidden, cell = stacked(memories, torch.float32).chunk(2, dim=1)  # [B, H] each
    output = network(stacked(programs, torch.int64), stacked(observations, torch.float32), hidden, cell)
    legal = stacked(masks, torch.bool)
    log_policy = masked_log_softmax(output.logits, legal).masked_fill(~legal, 0.0)  # [B, A]
    # Reading: the sum over the batch is a mean, which Adam cannot tell from it.
    policy = -(stacked(policies, torch.float32) * log_policy).sum(dim=1).mean()
    return PaperLoss(policy, (output.value - stacked(rewards, torch.float32)).square().mean())


class Draw(IntEnum):
    """What random numbers of an iteration are for."""

    PROGRAM = 0
    START = 1
    SEARCH = 2
    LEARN = 3
    VALIDATE = 4


class PaperTrainer:
    """A run of the paper's algorithm; one iteration is a function of this state and the seed."""

    def __init__(self, environment: Environment[Any], config: PaperConfig, seed: int, device: str = "cpu") -> None:
        self.device = usable_device(device)
        self.environment = environment
        self.library = environment.library
        self.guard = Guard(environment)
        self.config = config
        self.seed = seed
        self.iteration = 0
        self.network = create_network(environment, seed, config.network).to(self.device)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=config.paper.learning_rate, fused=True)
        self.evaluator = create_evaluator(self.network, self.device)
        self.search = Search(environment, self.evaluator, config.search)
        self.buffer = ReplayBuffer(config.paper.buffer_size, config.paper.positive_probability)
        self.curriculum = PaperCurriculum(self.library, config.paper)

    def iterate(self) -> IterationReport:
        """Play, learn, validate once."""
        began, before, level = time.perf_counter(), self.search.statistics, self.curriculum.level
        traces = self.play()
        for trace in traces:
            if trace.failure in (Failure.NONE, Failure.POST, Failure.DEPTH):  # others are discarded
                self.buffer.add(self.experiences_of(trace))
        played, played_at = self.search.statistics, time.perf_counter()
        with one_thread():
            losses = self.learn()
        learned_at = time.perf_counter()
        self.curriculum.update(self.validate())
        validated_at = time.perf_counter()
        self.iteration += 1
        environment = played.environment_seconds - before.environment_seconds
        evaluation = played.evaluation_seconds - before.evaluation_seconds
        return IterationReport(
            iteration=self.iteration,
            level=level,
            advanced=self.curriculum.completed or self.curriculum.level > level,
            success={program.name: self.curriculum.success[program.name] for program in self.curriculum.unlocked},
            explored={traces[0].program: float(np.mean([trace.success for trace in traces]))},
            explanation=self.curriculum.explain(),
            policy_loss=float(np.mean([loss.policy.item() for loss in losses] or [0.0])),
            value_loss=float(np.mean([loss.value.item() for loss in losses] or [0.0])),
            gradient_norm=self.gradient_norm(),
            episodes=len(traces),
            episode_length=float(np.mean([len(trace.actions) for trace in traces])),
            simulations=played.simulations + played.nested_simulations - before.simulations - before.nested_simulations,
            evaluations=played.evaluations - before.evaluations,
            replay_traces=len(self.buffer.experiences),
            seconds=Seconds(
                search=played.seconds - before.seconds - evaluation - environment,
                evaluation=evaluation,
                environment=environment,
                gradients=learned_at - played_at,
                validation=validated_at - learned_at,
                other=played_at - began - (played.seconds - before.seconds),
            ),
        )

    def play(self) -> list[Trace]:
        """n_ep episodes of one program in exploration mode."""
        chosen = self.random(Draw.PROGRAM).choice(len(self.curriculum.unlocked), p=self.curriculum.probabilities())
        program = self.curriculum.unlocked[chosen]
        # Reading: every episode draws a size of its own.
        known = self.config.paper.train_sizes or program.sizes_to_train(self.environment.train_sizes)
        sizes = [size for size in known if size >= program.minimum_size]
        requests = []
        for episode in range(self.config.paper.episodes):
            rng = self.random(Draw.START, episode)
            state = self.guard.initial(program.name, int(rng.choice(sizes)), rng)
            seed = (self.seed, self.iteration, int(Draw.SEARCH), episode)
            requests.append(Request(program.name, state, seed, exploring=True))
        return self.search.run(requests)

    def experiences_of(self, trace: Trace) -> list[Experience]:
        """The steps of an episode as they are stored."""
        program = self.library.index_of(trace.program) - self.library.atomic_count
        return [
            Experience(
                observation=trace.observations[step],
                program=program,
                memory=trace.memories[step],
                policy=trace.policies[step].astype(np.float32),
                legal=np.array(self.guard.legal(trace.program, state), bool),
                reward=trace.value,
                positive=trace.success,
            )
            for step, state in enumerate(trace.states)
        ]

    def learn(self) -> list[PaperLoss]:
        """Adam steps on batches of the buffer."""
        # Reading: n_batches for each episode; with two per iteration, nothing is learned in the time the paper took.
        if not self.buffer.experiences:
            return []
        rng, table, losses = self.random(Draw.LEARN), self.config.paper, []
        for _ in range(table.batches * table.episodes):
            loss = paper_loss(self.network, self.buffer.sample(table.batch_size, rng), self.device)
            self.optimiser.zero_grad()
            (loss.policy + loss.value).backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            losses.append(PaperLoss(loss.policy.detach(), loss.value.detach()))
        self.weights_changed()
        return losses

    def validate(self) -> dict[str, list[bool]]:
        """n_val episodes of every unlocked program in exploitation mode. Reading: once per iteration."""
        requests = []
        for number, program in enumerate(self.curriculum.unlocked):
            size = self.config.paper.validation_size or program.size_to_validate(self.environment.validation_size)
            for episode in range(self.config.paper.validation_episodes):
                rng = self.random(Draw.VALIDATE, number, episode)
                requests.append(Request(program.name, self.guard.initial(program.name, size, rng)))
        outcomes: dict[str, list[bool]] = {program.name: [] for program in self.curriculum.unlocked}
        for trace in self.search.run(requests):
            outcomes[trace.program].append(trace.success)
        return outcomes

    def weights_changed(self) -> None:
        """Make the search see the weights as they are now."""
        self.evaluator.refresh()
        self.search.forget()

    def gradient_norm(self) -> float:
        """Of the last gradient."""
        gradients = [weights.grad for weights in self.network.parameters() if weights.grad is not None]
        return float(torch.stack([gradient.norm() for gradient in gradients]).norm()) if gradients else 0.0

    def random(self, purpose: Draw, *number: int) -> np.random.Generator:
        """The random numbers of this iteration for one purpose."""
        return np.random.default_rng((self.seed, self.iteration, int(purpose), *number))
