"""Noticing that a program does not get better any more."""

from __future__ import annotations

from typing import NamedTuple

from alphanpi.environment.specification import Library
from alphanpi.learn.curriculum import Curriculum

PATIENCE = 20  # iterations without a better validation


class Best(NamedTuple):
    """The best validation of a program since it was unlocked or began anew, and how many have come after it."""

    success: float = 0.0
    since: int = 0


class Stagnation:
    """The best validation of every program."""

    def __init__(self, library: Library) -> None:
        self.best = {program.name: Best() for program in library.learned}

    def of(self, curriculum: Curriculum) -> str | None:
        """Take note of a validation; the first program that has not become better for long, which then begins anew."""
        stuck = None
        for program in curriculum.practised:
            success, before = curriculum.success[program.name], self.best[program.name]
            mastered = success >= curriculum.config.threshold
            better = mastered or success > before.success
            self.best[program.name] = Best(success, 0) if better else Best(before.success, before.since + 1)
            if stuck is None and self.best[program.name].since >= PATIENCE:
                stuck = program.name
                self.best[program.name] = Best()
        return stuck
