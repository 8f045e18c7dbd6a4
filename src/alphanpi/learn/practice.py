"""What is practised: the episodes of an iteration, and where they start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.engine.requests import Request
from alphanpi.learn.curriculum import Curriculum
from alphanpi.learn.starts import Starts, Stream
from alphanpi.learn.thrift import MOST_ACTIONS

_LEAST = 2  # episodes of a program


def episodes(
    starts: Starts, curriculum: Curriculum, interpreter: Interpreter, iteration: int, together: Mapping[str, int]
) -> list[Request]:
    """The episodes to play: starts where validation failed, where calls fail, and fresh ones.

    So many problems of a program as `together` says make one episode, the largest first.
    """
    rng = starts.random(iteration, Stream.PLAY)
    settings, practised = starts.settings, curriculum.practised
    preferences = curriculum.preferences()
    counts = np.maximum(_LEAST, np.rint(preferences * settings.per_iteration)).astype(int)
    calls = called_states(starts, curriculum, interpreter, iteration)
    requests: list[Request] = []
    drawn = 0
    for program, count in zip(practised, counts.tolist(), strict=True):
        states: list[Any] = []
        sizes = starts.sizes(program)
        for _ in range(count):
            errors, called = starts.errors[program.name], calls.get(program.name, [])
            if errors and rng.random() < settings.error_fraction:
                state = starts.state(errors[int(rng.integers(len(errors)))].start)
            elif called and rng.random() < settings.called_fraction:
                state = called[int(rng.integers(len(called)))]
            else:
                size = int(rng.choice(sizes))
                state = starts.state(
                    starts.start(program.name, size, iteration=iteration, stream=Stream.PLAY, number=drawn)
                )
            drawn += 1
            states.append(state)
        for first in range(0, count, together[program.name]):
            seed = (starts.seed, iteration, int(Stream.SEARCH), len(requests))
            some = states[first : first + together[program.name]]
            if len(some) > 1:
                some.sort(key=starts.guard.size, reverse=True)
            requests.append(Request(program.name, some[0], seed, exploring=True, further=tuple(some[1:])))
    return requests


def called_states(
    starts: Starts, curriculum: Curriculum, interpreter: Interpreter, iteration: int
) -> dict[str, list[Any]]:
    """States in which programs are called in fresh runs of the highest ones: those that fail, if any do.

    So do calls in runs from starts that were found by asking for all of them, whatever program they are of.

    Lists that are nearly sorted, say, are rare among random ones but the rule inside of a sort. Where none fails,
    programs of constant depth keep to their own starts: what calls them in training may not be all that will.
    """
    settings, unlocked, library = starts.settings, curriculum.unlocked, starts.library
    highest = [program for program in unlocked if program.level == curriculum.level]
    if settings.called_fraction == 0 or len(highest) == len(unlocked):
        return {}
    rng = starts.random(iteration, Stream.CALLS)
    runs = []
    for number in range(settings.called_runs):
        program = highest[number % len(highest)]
        size = int(rng.choice(starts.sizes(program)))
        runs.append(
            Call(
                program.name,
                starts.state(starts.start(program.name, size, iteration=iteration, stream=Stream.CALLS, number=number)),
            )
        )
    for program in unlocked:
        found = [error.start for error in starts.errors[program.name] if error.start.origin]
        runs += [Call(program.name, starts.state(start)) for start in found]
    failed: defaultdict[str, dict[Any, None]] = defaultdict(dict)  # ordered sets
    called: defaultdict[str, dict[Any, None]] = defaultdict(dict)
    for execution in interpreter.run(runs, record=True, max_actions=MOST_ACTIONS):
        culprit = execution.culprit
        if culprit is not None and starts.trained_on(culprit):
            failed[culprit.program][starts.guard.hashable(culprit.state, f"calling {culprit.program}")] = None
        for step in execution.steps:
            callee = library.called(step.action)
            if callee.growing:
                call = Call(callee.name, starts.guard.enter(step.state, step.action, step.program))
                if starts.trained_on(call):
                    called[callee.name][starts.guard.hashable(call.state, f"calling {callee.name}")] = None
    lower = {program.name for program in unlocked} - {program.name for program in highest}
    return {name: list(states) for name, states in {**called, **failed}.items() if name in lower}
