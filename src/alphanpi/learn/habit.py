"""What the agent solves its own way is learned its own way.

There is often more than one way: of two pointers either may move first. A search that explores finds all of them, and
each is right, but they do not mix: where one pointer has moved, the one way goes on with the other, and the other way
is done. To an agent with a window these may look the same. So where a program's agent, without search, solved all other
problems it was tried on, and solves an episode's in no more actions than the episode did, its own run is learned
instead. An agent that fails elsewhere keeps learning from the search: its way may be what has to change.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from alphanpi.agent.interpreter import Call, Interpreter, Recording
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Trace
from alphanpi.learn.routes import MOST_ACTIONS, run_as_trace


def own_ways(
    interpreter: Interpreter, traces: Sequence[Trace], search: SearchConfig, confirmed: Container[str]
) -> list[Trace]:
    """The traces, each success of a confirmed program that the agent has no worse way for replaced by it."""
    result = list(traces)
    places = [place for place, trace in enumerate(traces) if trace.success and trace.program in confirmed]
    calls = [Call(traces[place].program, traces[place].states[0]) for place in places]
    runs = interpreter.run(calls, Recording(depth=0), MOST_ACTIONS, remembering=True)
    for place, run in zip(places, runs, strict=True):
        if run.success and len(run.steps) <= len(traces[place].actions):
            result[place] = run_as_trace(interpreter, run, search)
    return result
