"""Agents that know the action before and what they see, and nothing else: a window of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import alphanpi
from alphanpi import Environment, Origin
from alphanpi.network.evaluator import Evaluation
from tests.helpers.solutions import View, view

Reflex = Callable[[View, str | None], str]


class ReflexEvaluator:
    """Says what a function of observation and action before says."""

    window = 1
    memory_width = 1

    def __init__(self, environment: Environment[Any], reflexes: Mapping[str, Reflex]) -> None:
        self._environment = environment
        self._reflexes = [reflexes[entry.name] for entry in environment.library.learned]

    def evaluate(
        self, programs: NDArray[np.int64], observations: NDArray[np.int16], memory: NDArray[np.float32]
    ) -> Evaluation:
        names = self._environment.library.names
        logits = np.zeros((len(programs), len(names)), np.float32)
        for row, (program, observation) in enumerate(zip(programs, observations, strict=True)):
            before = int(memory[row, -1])
            action = self._reflexes[program](
                view(self._environment, observation), names[before - 1] if before else None
            )
            logits[row, names.index(action)] = 1
        return Evaluation(logits, np.zeros(len(programs), np.float32), np.zeros_like(memory))


def exported_reflex(environment: Environment[Any], reflexes: Mapping[str, Reflex], samples: int = 40, **options: Any):
    """The export of an agent with these reflexes."""
    origin = Origin("reflexes", "0" * 12, "test", {})
    evaluator = ReflexEvaluator(environment, reflexes)
    return alphanpi.export_evaluator(environment, evaluator, origin, samples=samples, **options)
