"""What is asked of the engine, and what comes back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine.tables import Failure


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
