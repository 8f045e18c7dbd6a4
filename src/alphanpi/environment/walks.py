"""Walks: actions of one body, one after the other, calls replaced by their contracts; lemmas are tried with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple

import numpy as np

from alphanpi.environment.facets import State
from alphanpi.environment.library import STOP
from alphanpi.environment.specification import Environment

Look = tuple[tuple[int, ...], tuple[bool, ...]]  # observation and legal actions


class Walk(NamedTuple, Generic[State]):
    """Actions applied one after the other."""

    states: tuple[State, ...]  # one more than actions
    actions: tuple[str, ...]


def look(environment: Environment[State], program: str, state: State) -> Look:
    """What the network is shown."""
    return tuple(int(entry) for entry in environment.observe(state)), environment.legal(program, state)


def applied(environment: Environment[State], program: str, state: State, action: str, choice: int = 0) -> State:
    """The state after an action, or after a call by its contract; `choice` picks one of several outcomes."""
    if environment.library.named(action).atomic:
        return environment.act(state, action)
    entry = environment.enter(state, action, program)
    possible = list(environment.outcomes(action, entry))
    return environment.leave(state, possible[choice], action, program)


def random_walk(
    environment: Environment[State],
    program: str,
    start: State,
    rng: np.random.Generator,
    steps: int,
    allowed: Callable[[State, str], bool] = lambda state, action: True,
) -> Walk[State]:
    """Legal actions at random, as far as there are any; a call of itself is preferred where it is legal."""
    states, actions = [start], []
    for _ in range(steps):
        mask = environment.legal(program, states[-1])
        names = [name for name, legal in zip(environment.library.names, mask, strict=True) if legal and name != STOP]
        names = [name for name in names if allowed(states[-1], name)]
        if not names:
            break
        action = program if program in names and rng.random() < 0.5 else str(rng.choice(names))
        actions.append(action)
        states.append(applied(environment, program, states[-1], action))
    return Walk(tuple(states), tuple(actions))


def walk_side_by_side(
    environment: Environment[State], program: str, starts: tuple[State, State], actions: Iterable[str]
) -> str | None:
    """What tells two walks under the same actions apart, if anything does: a look, or the post-condition's answer.

    Actions need be legal in one of the walks alone; where they are not in the other, the two look different.
    """
    states = starts
    for action in (*actions, None):
        one, other = states
        if look(environment, program, one) != look(environment, program, other):
            return f"{program}: {one} and {other} look different"
        if environment.post(program, starts[0], one) != environment.post(program, starts[1], other):
            return f"{program}: the post-condition differs between {one} and {other}"
        if action is not None:
            states = applied(environment, program, one, action), applied(environment, program, other, action)
    return None
