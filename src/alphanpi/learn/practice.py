"""What is practised: the episodes of an iteration, and where they start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alphanpi.engine.requests import Request
from alphanpi.learn.curriculum import Curriculum
from alphanpi.learn.starts import Starts, Stream

_LEAST = 2  # episodes of a program


def episodes(starts: Starts, curriculum: Curriculum, iteration: int, together: Mapping[str, int]) -> list[Request]:
    """The episodes to play, as many of every program: starts where validation failed, and fresh ones.

    So many problems of a program as `together` says make one episode, the largest first.
    """
    rng = starts.random(iteration, Stream.PLAY)
    settings, practised = starts.settings, curriculum.practised
    count = max(_LEAST, round(settings.per_iteration / len(practised)))
    requests: list[Request] = []
    drawn = 0
    for program in practised:
        states: list[Any] = []
        sizes, errors = starts.sizes(program), starts.errors[program.name]
        for _ in range(count):
            if errors and rng.random() < settings.error_fraction:
                state = starts.state(errors[int(rng.integers(len(errors)))].start)
            else:
                size = int(rng.choice(sizes))
                start = starts.start(program.name, size, iteration=iteration, stream=Stream.PLAY, number=drawn)
                state = starts.state(start)
            drawn += 1
            states.append(state)
        for first in range(0, count, together[program.name]):
            seed = (starts.seed, iteration, int(Stream.SEARCH), len(requests))
            some = states[first : first + together[program.name]]
            if len(some) > 1:
                some.sort(key=starts.guard.size, reverse=True)
            requests.append(Request(program.name, some[0], seed, exploring=True, further=tuple(some[1:])))
    return requests
