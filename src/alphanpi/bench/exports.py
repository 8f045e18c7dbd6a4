"""Measuring exported code: the same instances with the module, the greedy interpreter, and planning."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from alphanpi.agent.agent import Agent
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.agent.loading import PRETRAINED, load
from alphanpi.environment.carrying import runtime_of
from alphanpi.environment.standalone import rebuilt_arguments
from alphanpi.errors import UsageError
from alphanpi.exporting import export
from alphanpi.exporting.equality import executed
from alphanpi.exporting.names import function_names

_LONGEST_PLANNING = 10.0  # seconds
_GROWTH = 2  # how much longer the next size may take; it is planned only if that is short enough
_REPETITIONS = 3
_EXPORT_SIZE = 4  # enough for the agents timed here; their export is checked on more elsewhere
_EXPORT_SAMPLES = 200


class ExportCase(NamedTuple):
    """An agent, one of its programs, and the sizes to run it on."""

    agent: str
    program: str
    sizes: tuple[int, ...]


class ExportTiming(NamedTuple):
    """Seconds for one instance, the best of a few runs; the interpreter's and the planner's tables start empty."""

    case: str
    size: int
    exported_seconds: float
    greedy_seconds: float
    planning_seconds: float | None  # None where it would take too long


CASES = (
    ExportCase("pretrained:hanoi", "HANOI", (5, 10, 12)),
    ExportCase("pretrained:recursive-sorting-compare", "BUBBLESORT", (10, 20, 60, 100)),
)


def bench_export(
    cases: Sequence[ExportCase] = CASES, on_result: Callable[[ExportTiming], None] | None = None
) -> list[ExportTiming]:
    """Export each agent, then time all three ways to run it."""
    results = []
    for case in cases:
        agent = load(case.agent)
        exported = _exported_function(agent, case)
        planned = True
        guard = agent.guard
        smallest = agent.environment.library.named(case.program).minimum_size
        warming = guard.initial(case.program, smallest, np.random.default_rng(0))
        agent.executions([Call(case.program, warming)], "planning")  # compiles the search
        for size in sorted(case.sizes):
            call = Call(case.program, guard.initial(case.program, size, np.random.default_rng(size)))
            planning = _best(partial(_plan, load(case.agent), call), repetitions=1) if planned else None
            timing = ExportTiming(
                case=case.agent.removeprefix(PRETRAINED),
                size=size,
                exported_seconds=_best(partial(exported, call.state)),
                greedy_seconds=_best(partial(_greedy, agent, call)),
                planning_seconds=planning,
            )
            planned = planning is not None and planning < _LONGEST_PLANNING / _GROWTH
            results.append(timing)
            if on_result is not None:
                on_result(timing)
    return results


def _exported_function(agent: Agent, case: ExportCase) -> Callable[[Any], None]:
    """The exported program as a function of an environment's state."""
    standalone = runtime_of(agent.guard).standalone
    if standalone is None:
        raise UsageError(f"{case.agent}: its environment has no runtime, so there is nothing to time")
    namespace = executed(export(case.agent, max_size=_EXPORT_SIZE, samples=_EXPORT_SAMPLES).text)

    function = namespace[function_names(agent.environment.library, standalone)[case.program]]

    def run(state: Any) -> None:
        function(namespace[standalone.class_name](*rebuilt_arguments(standalone, namespace, state)))

    return run


def _greedy(agent: Agent, call: Call) -> None:
    if not Interpreter(agent.environment, agent.evaluator).run([call])[0].success:
        raise UsageError(f"{call.program}: the greedy agent fails; there is nothing to compare with")


def _plan(agent: Agent, call: Call) -> None:
    if not agent.executions([call], "planning")[0].success:
        raise UsageError(f"{call.program}: planning fails; there is nothing to compare with")


def _best(action: Callable[[], None], repetitions: int = _REPETITIONS) -> float:
    seconds = []
    for _ in range(repetitions):
        began = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
