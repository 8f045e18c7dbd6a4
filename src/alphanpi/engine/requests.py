"""What is asked of the engine, and what comes back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine.tables import STOP_ACTION, Failure


class Request(NamedTuple):
    """One episode to play: a program, a state that satisfies its pre-condition, and its own random stream."""

    program: str
    state: Any
    seed: int | tuple[int, ...] = 0
    exploring: bool = False
    further: tuple[Any, ...] = ()  # states of more problems, to be solved by the same decisions


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
    values: NDArray[np.float64] | None = None  # [T] of each STOP, 0 for other actions; None if not searched

    def parts(self) -> list[Trace]:
        """The problems of an episode, each as a trace of its own; all but the last were solved."""
        ends = [step + 1 for step, action in enumerate(self.actions.tolist()[:-1]) if action == STOP_ACTION]
        if not ends:
            return [self]
        assert self.values is not None
        parts = []
        for first, last in zip([0, *ends], [*ends, len(self.actions)], strict=True):
            ended = last < len(self.actions)
            parts.append(
                self._replace(
                    states=self.states[first:last],
                    final=self.states[last - 1] if ended else self.final,
                    actions=self.actions[first:last],
                    observations=self.observations[first:last],
                    visits=self.visits[first:last],
                    policies=self.policies[first:last],
                    memories=self.memories[first:last],
                    success=ended or self.success,
                    failure=Failure.NONE if ended else self.failure,
                    value=float(self.values[last - 1]) if ended or self.success else self.value,
                    values=self.values[first:last],
                )
            )
        return parts
