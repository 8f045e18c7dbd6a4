"""The curriculum: which programs are unlocked, how well they do, and what to practise next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from alphanpi.environment.specification import Library, Program
from alphanpi.learn.config import CurriculumConfig
from alphanpi.support.limits import percent


class Curriculum:
    """Raises the level when all programs up to it succeed; practises what fails."""

    def __init__(self, library: Library, config: CurriculumConfig) -> None:
        self.library = library
        self.config = config
        self.level = 1
        self.streak = 0
        self.failed_exams = 0
        self.completed = False
        self.success: dict[str, float] = {program.name: 0.0 for program in library.learned}

    @property
    def unlocked(self) -> tuple[Program, ...]:
        """Programs up to the current level."""
        return tuple(program for program in self.library.learned if program.level <= self.level)

    @property
    def weakest(self) -> float:
        """Success of the unlocked program that does worst."""
        return min(self.success[program.name] for program in self.unlocked)

    def update(self, outcomes: Mapping[str, Sequence[bool]]) -> None:
        """Take note of a validation."""
        for name, successes in outcomes.items():
            if self.config.estimate == "latest":
                self.success[name] = float(np.mean(successes))
            else:
                for success in successes:
                    beta = self.config.moving_average
                    self.success[name] = beta * self.success[name] + (1 - beta) * success
        mastered = all(self.success[program.name] >= self.config.threshold for program in self.unlocked)
        self.streak = self.streak + 1 if mastered else 0

    @property
    def ready(self) -> bool:
        """Whether all unlocked programs have succeeded often enough in a row."""
        return self.streak >= self.config.patience

    def advance(self) -> None:
        """Unlock the next level, or complete the curriculum."""
        self.streak = 0
        if self.level == self.library.levels:
            self.completed = True
        else:
            self.level += 1

    def begin_again(self) -> None:
        """Not complete after all: start counting again."""
        self.completed = False
        self.streak = 0

    def preferences(self) -> NDArray[np.float64]:
        """Probability of each unlocked program: softmax of tau_3 (1 - R)."""
        scores = np.array([1 - self.success[program.name] for program in self.unlocked])
        weights = np.exp(self.config.temperature * scores)
        normalised: NDArray[np.float64] = weights / weights.sum()
        return normalised

    def explain(self) -> str:
        """Why the level has not been raised yet."""
        if self.completed:
            return "all programs learned"
        weakest = min(self.unlocked, key=lambda program: self.success[program.name])
        success = self.success[weakest.name]
        if success < self.config.threshold:
            return f"{weakest.name} at {percent(success)}, needs {percent(self.config.threshold)}"
        return f"all at {percent(self.config.threshold)}, for {self.streak} of {self.config.patience} validations"
