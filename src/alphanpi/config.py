"""Configuration: frozen, validated, unknown keys refused. Each field's description is its documentation."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

FailedCall = Literal["discard", "penalise"]


class Config(BaseModel):
    """Base of all configuration sections."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchConfig(Config):
    """The tree search. Defaults are the paper's, for the sorting environments."""

    simulations: int = Field(200, ge=1, description="simulations per action in exploration mode, n_simu")
    simulations_exploitation: int = Field(
        5, ge=1, description="simulations per action in exploitation mode and in all nested searches"
    )
    c_puct: float = Field(0.5, ge=0, description="weight of the exploration term U")
    c_level: float = Field(3.0, ge=0, description="weight of the level term L")
    level_term: Literal["constant", "decaying"] = Field(
        "constant", description="L as in the paper, or divided by 1 + N so that it fades with visits"
    )
    q_temperature: float = Field(1.0, ge=0, description="tau_1, sharpness of the soft maximum in Q")
    policy_temperature: float = Field(1.3, gt=0, description="tau_2, exponent of the visit counts")
    discount: float = Field(0.97, gt=0, le=1, description="gamma; a success is worth gamma^(actions, STOP too)")
    recursion_penalty: float = Field(
        0.9, ge=0, description="subtracted from a success without a recursive call where one was legal"
    )
    recursion_bonus: float = Field(0.0, ge=0, description="added to a success for each recursive call; 0 in the paper")
    noise_fraction: float = Field(0.25, ge=0, le=1, description="epsilon_d, share of Dirichlet noise in priors")
    noise_concentration: float = Field(0.03, gt=0, description="alpha_d of the Dirichlet noise")
    noise_at: Literal["every", "root"] = Field(
        "every", description="noise at every expanded node (paper) or at the root of each search (AlphaZero)"
    )
    failed_call_exploration: FailedCall = Field(
        "discard", description="when a called program fails: end the episode, or forbid that child and go on"
    )
    failed_call_exploitation: FailedCall = Field(
        "penalise", description="the same in exploitation mode and in all nested searches"
    )
    max_call_depth: int = Field(20_000, ge=1, description="deepest chain of calls")
    max_nodes: int = Field(200_000, ge=2, description="nodes of one search tree")
    max_states: int = Field(2_000_000, ge=2, description="states remembered by one engine")
    max_histories: int = Field(300_000, ge=2, description="network evaluations remembered by one engine")


class NetworkConfig(Config):
    """Sizes of the five modules; defaults are the paper's."""

    observation_encoding: int = Field(32, ge=1, description="S, output of the observation encoder")
    encoder_hidden: int = Field(100, ge=1, description="hidden units of the observation encoder")
    program_embedding: int = Field(256, ge=1, description="P, length of a program embedding")
    memory: int = Field(128, ge=1, description="H, units of the LSTM")
    head_hidden: int = Field(64, ge=1, description="hidden units of the actor and of the critic")
