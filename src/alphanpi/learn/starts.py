"""Start states of training: drawn from named random streams, and remembered where validation failed."""

from __future__ import annotations

from enum import IntEnum
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment, Program
from alphanpi.learn.config import EpisodesConfig
from alphanpi.verification.exploration import StartOrigin, recreate

MOST_ERRORS = 50  # remembered starts of a program


class Stream(IntEnum):
    """Names of the random streams of an iteration."""

    PLAY = 0
    SEARCH = 1
    LEARN = 2
    VALIDATE = 3
    EXAM = 4
    RENEW = 7
    FAR_EXAM = 8
    TRIAL = 10
    FROZEN = 11


class Start(NamedTuple):
    """A start state, by what it is drawn from: it can be saved for any environment."""

    program: str
    size: int
    seed: tuple[int, ...]
    origin: tuple[int, ...] = ()  # of a counter-example: number and values of its `StartOrigin`; then there is no seed


class Error(NamedTuple):
    """A start where validation failed, and how often in a row it has succeeded since."""

    start: Start
    passes: int = 0


class KnownStart(NamedTuple):
    """A start among all of its size."""

    start: Start
    state: Any


class Starts:
    """Draws start states of one run and remembers errors."""

    def __init__(
        self, environment: Environment[Any], settings: EpisodesConfig, seed: int, validation_size: int = 0
    ) -> None:
        self.environment = environment
        self._validation_size = validation_size  # 0: what program and environment say
        self.library = environment.library
        self.guard = Guard(environment)
        self.settings = settings
        self.seed = seed
        self._every: dict[str, list[KnownStart]] = {}
        self._recreated: dict[Start, Any] = {}  # to find the start of some number, all before it are made
        self.errors: dict[str, list[Error]] = {program.name: [] for program in self.library.learned}

    def sizes(self, program: Program) -> list[int]:
        """Problem sizes a program is trained on."""
        sizes = set(self.settings.train_sizes or program.sizes_to_train(self.environment.train_sizes))
        if program.recursive:
            sizes.add(program.minimum_size)  # where recursion ends: the first calls need something to rely on
        return sorted(size for size in sizes if size >= program.minimum_size)

    def validation_size(self, program: Program) -> int:
        """The problem size that decides whether a program is learned."""
        return self._validation_size or program.size_to_validate(self.environment.validation_size)

    def random(self, iteration: int, stream: Stream) -> np.random.Generator:
        """The random numbers of an iteration for one purpose."""
        return np.random.default_rng((self.seed, iteration, int(stream)))

    def start(self, program: str, size: int, *, iteration: int, stream: Stream, number: int) -> Start:
        """The start of that number in a stream."""
        return Start(program, size, (self.seed, iteration, int(stream), number))

    def state(self, start: Start) -> Any:
        """The state a start stands for."""
        if start.origin:
            if start not in self._recreated:
                origin = StartOrigin(start.origin[0], start.origin[1:])
                self._recreated[start] = recreate(self.environment, start.program, start.size, origin)
            return self._recreated[start]
        return self.guard.initial(start.program, start.size, np.random.default_rng(start.seed))

    def every(self, program: Program, most: int) -> list[KnownStart]:
        """All starts of the smallest sizes a program is trained on, `most` at most; none where they are not known."""
        if program.name not in self._every:
            self._every[program.name] = self._enumerated(program, most)
        return self._every[program.name]

    def _enumerated(self, program: Program, most: int) -> list[KnownStart]:
        found: list[KnownStart] = []
        for size in self.sizes(program):
            try:
                states = list(islice(self.guard.enumerate(program.name, size), most - len(found) + 1))
            except NotImplementedError:
                return []
            if len(found) + len(states) > most:
                break
            found += [
                KnownStart(Start(program.name, size, (), (number,)), state) for number, state in enumerate(states)
            ]
        return found

    def remember(self, name: str, starts: list[Start], kept: list[Error] | None = None) -> None:
        """Add to the error starts of a program, of which `kept` are left; the oldest are dropped."""
        known = {error.start for error in self.errors[name]}
        fresh = [Error(start) for start in starts if start not in known]
        errors = self.errors[name] if kept is None else kept
        self.errors[name] = [*errors, *fresh][-MOST_ERRORS:]
