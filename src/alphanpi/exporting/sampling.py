"""Random starts: some to learn from, and, once code was found, others that go far beyond them."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from alphanpi.agent.interpreter import Call, Recording
from alphanpi.environment.specification import Program
from alphanpi.errors import AlphaNPIError
from alphanpi.exporting.behaviour import Case, Watcher

_LARGEST_LESSON = 12
_STEPS_OF_A_LESSON = 2_000
_STEPS = 1_000_000  # of all starts of one kind of all programs, about
_STEPS_FOR_EACH = 500
_FARTHER = 4  # times the largest size of a start that was learned from
_STEPS_OF_A_FAR_RUN = 40_000
_FAR_RUNS = 40
_FEWEST_FAR_RUNS = 4
_LARGEST_DEEP = 4096
_DEEP_ENOUGH = 2_000  # calls inside one another
_STEPS_OF_A_DEEP_RUN = 60_000
_SECONDS_OF_A_PROBE = 5.0  # a size at which one run takes longer is the last: states may grow exponentially


class Drawn(NamedTuple):
    """Starts nobody has seen, and if there are none, why."""

    calls: list[Call]
    reason: str
    exhausted: bool  # whether runs at all sizes asked for were short enough


class Deep(NamedTuple):
    """One run at the largest size that is cheap; the agent's actions are counted, not kept."""

    case: Case
    size: int
    nested: int  # most calls inside one another


class _Probe(NamedTuple):
    """A run at some size."""

    size: int
    steps: int


class _Sampler:
    """Draws starts of one program at sizes whose runs are short enough."""

    def __init__(self, watcher: Watcher, entry: Program, smallest: int, seed: tuple[int, ...]) -> None:
        self.watcher = watcher
        self.entry = entry
        self.smallest = smallest
        self.seed = seed
        self.reason = ""
        environment = watcher.environment
        validated = entry.size_to_validate(environment.validation_size)
        trained = entry.sizes_to_train(environment.train_sizes)
        named = (entry.minimum_size, *trained, validated, *environment.test_sizes)
        self._promised = max(size for size in named if isinstance(size, int))

    def probes(self, limit: int, most_steps: int) -> list[_Probe]:
        """Runs at growing sizes up to a limit, as long as they take fewer steps; none if the first takes more."""
        found: list[_Probe] = []
        size = self.smallest
        while size <= max(limit, self.smallest):
            self.watcher.clock.check()
            began = time.monotonic()
            start = self.start(size, np.random.default_rng((*self.seed, size)))
            if start is None:
                break
            steps = self.watcher.run([start], most_steps)[0].actions
            if steps >= most_steps:
                self.reason = f"runs at size {size} take {most_steps:,} actions or more"
                break
            found.append(_Probe(size, steps))
            if time.monotonic() - began > _SECONDS_OF_A_PROBE:
                self.reason = f"runs at size {size} take long"
                break
            size = max(size + 1, min(limit, size * 5 // 4))
        return found

    def start(self, size: int, rng: np.random.Generator) -> Call | None:
        """A start of that size; None where an environment refuses sizes beyond those it names itself."""
        try:
            return Call(self.entry.name, self.watcher.guard.initial(self.entry.name, size, rng))
        except AlphaNPIError as error:
            if size <= self._promised:
                raise
            self.reason = f"there is no start of size {size} ({error})"
            return None

    def draw(self, first: int, last: int, count: int) -> list[Call]:
        """Different unseen starts of random sizes between two."""
        rng = np.random.default_rng((*self.seed, first, last))
        sizes = rng.integers(first, last + 1, size=count) if first <= last else ()
        drawn = [start for start in (self.start(int(size), rng) for size in sizes) if start is not None]
        calls = self.watcher.unseen(drawn)
        if drawn and not calls:
            self.reason = f"every start drawn, up to size {last}, was seen before"
        return calls


def share(samples: int, number: int, programs: int) -> int:
    """How many of all samples belong to a program."""
    return samples // programs + (number < samples % programs)


def lessons(watcher: Watcher, entry: Program, complete_to: int, count: int, seed: tuple[int, ...]) -> list[Call]:
    """Starts to learn from, a little larger than those that were enumerated; where none were, at any price."""
    sampler = _Sampler(watcher, entry, max(entry.minimum_size, complete_to + 1), seed)
    sizes = [probe.size for probe in sampler.probes(_LARGEST_LESSON, _STEPS_OF_A_LESSON)]
    if complete_to < entry.minimum_size:
        sizes.append(sampler.smallest)
    return sampler.draw(sampler.smallest, max(sizes, default=0), count)


def examination(
    watcher: Watcher, entry: Program, complete_to: int, learned_to: int, count: int, seed: tuple[int, ...]
) -> Drawn:
    """Starts to examine code with: many of moderate size, and some several times as large as any learned from."""
    sampler = _Sampler(watcher, entry, max(entry.minimum_size, complete_to + 1), seed)
    budget = min(_STEPS // len(watcher.library.learned), _STEPS_FOR_EACH * count)
    farthest = _FARTHER * max(learned_to, sampler.smallest)
    probes = sampler.probes(farthest, min(_STEPS_OF_A_FAR_RUN, max(_STEPS_OF_A_LESSON, budget // _FEWEST_FAR_RUNS)))
    if not probes:
        return Drawn([], sampler.reason, exhausted=False)
    far = probes[-1]
    cheap = [probe.size for probe in probes if probe.steps * count <= 2 * budget]  # on average half as many steps
    near = max(cheap, default=sampler.smallest - 1)
    calls = sampler.draw(sampler.smallest, near, count)
    affordable = min(count, _FAR_RUNS, max(_FEWEST_FAR_RUNS, budget // max(far.steps, 1)))
    distant = sampler.draw(max(near + 1, (near + far.size) // 2), far.size, affordable)
    calls = list(dict.fromkeys([*calls, *distant]))
    return Drawn(calls, "" if calls else sampler.reason, exhausted=far.size >= farthest)


def deep_run(watcher: Watcher, entry: Program, above: int, seed: tuple[int, ...]) -> Deep | None:
    """A start of a recursive program whose calls nest as deeply as is cheap; None where larger ones are not."""
    sampler = _Sampler(watcher, entry, above, seed)
    found: Deep | None = None
    size = max(2 * above, 2)
    while size <= _LARGEST_DEEP:
        watcher.clock.check()
        began = time.monotonic()
        start = sampler.start(size, np.random.default_rng((*seed, size)))
        if start is None:
            break
        recording = Recording(steps=0)
        (execution,) = watcher.run([start], _STEPS_OF_A_DEEP_RUN, recording)
        if not execution.success or execution.tally is None:
            break
        nested = len(execution.tally.by_depth) - 1
        if found is not None and nested <= found.nested:
            break
        found = Deep(Case(start, None, execution.actions, execution.final), size, nested)
        if nested >= _DEEP_ENOUGH or time.monotonic() - began > _SECONDS_OF_A_PROBE:
            break
        size *= 2
    return found if found is not None and found.nested > above else None
