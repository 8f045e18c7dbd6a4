"""The curriculum: which programs are unlocked, how well they do, and what to practise next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np

from alphanpi.environment.specification import Library, Program
from alphanpi.learn.config import CurriculumConfig
from alphanpi.support.limits import percent


class Curriculum:
    """Raises the level when all programs up to it succeed; practises what fails."""

    def __init__(self, library: Library, config: CurriculumConfig, frozen: Set[str] = frozenset()) -> None:
        """Begin with the lowest programs that have to be learned; those that are frozen are known already."""
        self.library = library
        self.config = config
        self.frozen = frozen
        self.given_up = ""  # why there is no use in going on, if there is none
        self.level = self._level_above(0)
        self.ready = False  # whether all unlocked programs have succeeded often enough
        self.failed_exams = 0  # by what is not practised, since what was learned was learned anew
        self.learned_anew = False  # after that many failed exams, ever
        self.completed = False
        self.success: dict[str, float] = {program.name: 0.0 for program in library.learned}

    @property
    def unlocked(self) -> tuple[Program, ...]:
        """Programs up to the current level."""
        return tuple(program for program in self.library.learned if program.level <= self.level)

    @property
    def practised(self) -> tuple[Program, ...]:
        """Those of them that are learned."""
        return tuple(program for program in self.unlocked if program.name not in self.frozen)

    def _level_above(self, level: int) -> int:
        """The next level at which there is something to learn, or else the highest."""
        levels = [entry.level for entry in self.library.learned if entry.name not in self.frozen]
        return min((one for one in levels if one > level), default=self.library.levels)

    @property
    def threshold(self) -> float:
        """Success a program needs."""
        return self.config.threshold

    @property
    def weakest(self) -> float:
        """Success of the unlocked program that does worst."""
        return min(self.success[program.name] for program in self.practised)

    def update(self, outcomes: Mapping[str, Sequence[bool]]) -> None:
        """Take note of a validation."""
        for name, successes in outcomes.items():
            self.success[name] = float(np.mean(successes))
        self.ready = self.weakest >= self.threshold

    def advance(self) -> None:
        """Unlock the next level, or complete the curriculum."""
        self.ready = False
        if self.level == self.library.levels:
            self.completed = True
        else:
            self.level = self._level_above(self.level)

    def begin_again(self) -> None:
        """Not complete after all."""
        self.completed = self.ready = False

    def explain(self) -> str:
        """Why the level has not been raised yet."""
        if self.completed:
            return "all programs learned"
        if self.given_up:
            return self.given_up
        weakest = min(self.practised, key=lambda program: self.success[program.name])
        success = self.success[weakest.name]
        if success < self.threshold:
            return f"{weakest.name} at {percent(success)}, needs {percent(self.threshold)}"
        return f"all at {percent(self.threshold)}"
