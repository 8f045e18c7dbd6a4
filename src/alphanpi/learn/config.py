"""Settings of a training run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from alphanpi.engine.config import SearchConfig
from alphanpi.network.config import NetworkConfig
from alphanpi.support.config import Config
from alphanpi.support.limits import MOST_EPISODES, MOST_SIZE

MOST_STEPS = 1_000_000  # of the optimiser, in one iteration


def _listed(value: Any) -> Any:
    """`1,2,3` as it is typed on a command line."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    return tuple(int(word) for word in value.split(",") if word.strip()) if isinstance(value, str) else value


Size = Annotated[int, Field(ge=0, le=MOST_SIZE)]
Sizes = Annotated[tuple[Size, ...], BeforeValidator(_listed)]


class EpisodesConfig(Config):
    """Which episodes an iteration plays."""

    per_iteration: int = Field(96, ge=1, le=MOST_EPISODES, description="episodes per iteration, n_ep")
    train_sizes: Sizes = Field(
        (), description="sizes of problems to learn from, for example 1,2,3; empty: those of the environment"
    )
    error_fraction: float = Field(
        0.5, ge=0, le=1, description="share of episodes that start where validation failed, on training sizes"
    )
    together: int = Field(
        8,
        ge=1,
        le=MOST_EPISODES,
        description="most problems that an episode solves with the same decisions",
    )
    trials: int = Field(
        32,
        ge=1,
        le=MOST_EPISODES,
        description="problems per program on which the decisions of episodes are tried before they are learned",
    )


class LearningConfig(Config):
    """The gradient steps."""

    learning_rate: float = Field(1e-3, gt=0, le=1, description="of Adam")
    gradient_steps: int = Field(30, ge=1, le=MOST_STEPS, description="Adam steps per iteration")
    batch: int = Field(256, ge=1, le=MOST_EPISODES, description="situations per batch")


class ReplayConfig(Config):
    """The replay buffer."""

    capacity: int = Field(1500, ge=1, le=10_000_000, description="traces kept per program and outcome")
    positive_fraction: float = Field(
        0.7, ge=0, le=1, description="p_buf, share of successes among the traces drawn of a program"
    )
    positive_fraction_mastered: float = Field(
        0.95,
        ge=0,
        le=1,
        description="the same of a program that always succeeds, in proportion between the two; with the share of a "
        "failing one, values would be learned from failures long past",
    )


class CurriculumConfig(Config):
    """When a program counts as learned, and what is practised."""

    threshold: float = Field(0.95, gt=0, le=1, description="success a program needs, Delta_curr")


class ValidationConfig(Config):
    """How success is measured during training."""

    size: Size = Field(
        0, description="size of problems that decides whether a program is learned; 0: that of the environment"
    )
    episodes: int = Field(24, ge=1, le=MOST_EPISODES, description="episodes per program, n_val")
    called_program_factor: int = Field(
        5,
        ge=1,
        le=1000,
        description="how many more episodes programs get that others call and that do not call themselves: all rests "
        "on them; 1 in the paper",
    )
    exam_episodes: int = Field(
        200, ge=0, le=MOST_EPISODES, description="episodes per program before training is complete; 0: no exam (paper)"
    )
    exam_threshold: float = Field(
        0.995,
        gt=0,
        le=1,
        description="success every program needs in the exam; 1: and on every start of the smallest training sizes, "
        "where they can be enumerated",
    )
    far_exam_factor: int = Field(
        10,
        ge=0,
        le=1000,
        description="size of the problems of a last exam of the highest programs, in validation sizes: the network "
        "alone solves all of them and, of smaller sizes, more; some with search, too; 0: no such exam (paper)",
    )


class TrainConfig(Config):
    """Everything that decides the outcome of a run, beside the environment and the seed."""

    search: SearchConfig = SearchConfig()
    network: NetworkConfig = NetworkConfig()
    episodes: EpisodesConfig = EpisodesConfig()
    learning: LearningConfig = LearningConfig()
    replay: ReplayConfig = ReplayConfig()
    curriculum: CurriculumConfig = CurriculumConfig()
    validation: ValidationConfig = ValidationConfig()
    until: Literal["learned", "verified"] = Field(
        "learned",
        description="when training is complete: after the exam, or when `verify` has proved every program, too",
    )
    max_iterations: int = Field(2000, ge=1, le=1_000_000_000, description="iterations after which training gives up")
