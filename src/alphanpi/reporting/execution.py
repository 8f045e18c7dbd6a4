"""Running a program for the player: every step, or an outline where there are too many."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import Any, NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.agent.interpreter import Execution, Recording
from alphanpi.environment.problems import Problem
from alphanpi.environment.specification import STOP
from alphanpi.environment.step import Step

MOST_STEPS = 1500
LARGEST_RUN = 100_000  # steps


class Thought(NamedTuple):
    """What the network saw and said at a step."""

    observation: tuple[int, ...]
    probabilities: tuple[tuple[int, float], ...]  # legal library entries by falling probability


class CallSite(NamedTuple):
    """One call of an execution: where it began and what it did."""

    program: str
    entry: Any
    steps: list[int]  # places in the execution


class Site(NamedTuple):
    """Where a step stands: a call, of several that do the same the first, and the actions of that call before it."""

    call: int
    step: int


class Watched(NamedTuple):
    """An execution with what the network said at every kept step."""

    execution: Execution
    depth: int | None  # deepest steps that were kept, None: all
    thoughts: list[Thought]
    calls: list[CallSite]
    sites: list[Site]  # of each step

    @property
    def left_out(self) -> int:
        """Steps that were not kept."""
        return self.execution.actions - len(self.execution.steps)

    def last_step(self, call: int) -> int:
        """The last kept step of a call or of what it called: its own, unless it was under way when the run ended."""
        steps, own = self.execution.steps, self.calls[call].steps
        if steps[own[-1]].action == STOP:
            return own[-1]
        depth = steps[own[-1]].depth
        inside = takewhile(lambda place: steps[place].depth > depth, range(own[-1] + 1, len(steps)))
        return max(inside, default=own[-1])

    def succeeded(self, call: int) -> bool:
        """Whether a call ended as it should: in a run that fails, the calls that were under way at its end did not."""
        last = self.calls[call].steps[-1]
        ended = self.execution.steps[last].action == STOP and last + 1 < len(self.execution.steps)
        return self.execution.success or ended


def watch(agent: Agent, program: str, instance: str | Problem, most_steps: int = MOST_STEPS) -> Watched:
    """Run a program greedily. More than `most_steps` steps: calls are kept to the depth at which they fit."""
    execution = agent.trace(program, instance, Recording(steps=most_steps, outline=True))
    depth = None
    if execution.actions > len(execution.steps):
        depth = max(step.depth for step in execution.steps)
    calls, call_of = _calls(execution.steps)
    thoughts = _thoughts(agent, execution.steps, call_of)
    return Watched(execution, depth, thoughts, calls, _sites(execution.steps, calls))


def _sites(steps: tuple[Step, ...], calls: list[CallSite]) -> list[Site]:
    first: dict[Any, int] = {}
    site: dict[int, Site] = {}
    for number, call in enumerate(calls):
        done = (call.program, tuple((steps[place].state, steps[place].action) for place in call.steps))
        same = first.setdefault(done, number)
        site |= {place: Site(same, order) for order, place in enumerate(call.steps)}
    return [site[place] for place in range(len(steps))]


def _calls(steps: tuple[Step, ...]) -> tuple[list[CallSite], list[int]]:
    calls: list[CallSite] = []
    call_of: list[int] = []
    stack: list[int] = []
    for place, step in enumerate(steps):
        del stack[step.depth + 1 :]
        if len(stack) == step.depth:
            stack.append(len(calls))
            calls.append(CallSite(step.program, step.state, []))
        calls[stack[-1]].steps.append(place)
        call_of.append(stack[-1])
    return calls, call_of


def _thoughts(agent: Agent, steps: tuple[Step, ...], call_of: list[int]) -> list[Thought]:
    """Look up the network's part of the execution, to learn how sure it was."""
    guard, library, table = agent.guard, agent.environment.library, agent.interpreter.table
    path: dict[int, int] = {}  # per call, the context it is in
    thoughts = []
    for step, call in zip(steps, call_of, strict=True):
        observation = guard.observe(step.state)
        program = library.index_of(step.program) - library.atomic_count
        history = table.after(path.get(call, table.beginning(program)), observation)
        path[call] = table.following(history, library.index_of(step.action))
        legal = guard.legal(step.program, step.state)
        thoughts.append(Thought(observation, _probabilities(table.logits[history], legal)))
    return thoughts


def _probabilities(logits: Any, legal: tuple[bool, ...]) -> tuple[tuple[int, float], ...]:
    allowed = [index for index, yes in enumerate(legal) if yes]
    largest = max(float(logits[index]) for index in allowed)
    weights = {index: math.exp(float(logits[index]) - largest) for index in allowed}
    total = sum(weights.values())
    return tuple(sorted(((index, weight / total) for index, weight in weights.items()), key=lambda item: -item[1]))
