"""Settings of the tree search."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from alphanpi.support.config import Config
from alphanpi.support.limits import MOST_ACTIONS, MOST_NODES, MOST_SIMULATIONS


class SearchConfig(Config):
    """The tree search. Formulas and most numbers are the paper's."""

    simulations: int = Field(
        200, ge=1, le=MOST_SIMULATIONS, description="simulations per action in exploration mode, n_simu"
    )
    simulations_exploitation: int = Field(
        5,
        ge=1,
        le=MOST_SIMULATIONS,
        description="simulations per action in exploitation mode and in all nested searches, n_simu-exploit",
    )
    c_puct: float = Field(0.5, ge=0, le=1e6, description="weight of the exploration term U")
    c_puct_planning: float = Field(
        5.0,
        ge=0,
        le=1e6,
        description="the same when a trained agent plans: more, since in long traces visits pile up and small "
        "differences of values would decide",
    )
    c_level: float = Field(3.0, ge=0, le=1e6, description="weight of the level term L")
    q_temperature: float = Field(1.0, ge=0, le=100, description="tau_1, sharpness of the soft maximum in Q")
    policy_temperature: float = Field(1.3, gt=0, le=30, description="tau_2, exponent of the visit counts")
    discount: float = Field(0.97, gt=0, le=1, description="gamma; a success is worth gamma^(actions, STOP too)")
    recursion_penalty: float = Field(
        0.9, ge=0, le=2, description="subtracted from a success without a recursive call where one was legal"
    )
    recursion_penalty_where: Literal["legal", "possible"] = Field(
        "possible",
        description="penalise a success without recursion wherever it is no base case, or if it was legal on the path",
    )
    noise_fraction: float = Field(0.25, ge=0, le=1, description="epsilon_d, share of Dirichlet noise in priors")
    noise_concentration: float = Field(0.03, gt=0, le=1e6, description="alpha_d of the Dirichlet noise")
    failed_call: Literal["discard", "penalise"] = Field(
        "penalise", description="when a called program fails: forbid that child and go on, or end the search (paper)"
    )
    max_call_depth: int = Field(20_000, ge=1, le=10_000_000, description="deepest chain of calls")
    max_actions: int = Field(
        20_000_000, ge=1, le=MOST_ACTIONS, description="actions tried in one episode, those of nested calls too"
    )
    max_nodes: int = Field(200_000, ge=2, le=MOST_NODES, description="nodes of one search tree")
    max_states: int = Field(2_000_000, ge=2, le=100_000_000, description="states remembered by one engine")
    max_histories: int = Field(
        300_000, ge=2, le=100_000_000, description="network evaluations remembered by one engine"
    )


PLANNING_SIMULATIONS = 5


def planning_config(search: SearchConfig) -> SearchConfig:
    """The search of a trained agent: exploitation mode with the paper's five simulations.

    Without the level term: it steers exploration, and with five simulations it would decide instead of the network.
    """
    changes = {
        "simulations_exploitation": PLANNING_SIMULATIONS,
        "c_level": 0.0,
        "c_puct": search.c_puct_planning,
    }
    return search.model_copy(update=changes)
