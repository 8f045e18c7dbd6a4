"""The replay: traces by program and outcome, so that no program crowds out another, and both outcomes are kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine.requests import Trace
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment
from alphanpi.network.evaluator import noted


class StoredTrace(NamedTuple):
    """One trace as the gradient step needs it. T steps."""

    program: int  # index among the programs to be learned
    success: bool
    value: float
    observations: NDArray[np.int32]  # [T] row in the table of observations
    legal: NDArray[np.int32]  # [T] row in the table of legal sets
    previous: NDArray[np.int32]  # [T] action before, as a memory holds it
    policies: NDArray[np.float32]  # [T, A]
    score: float  # share of other problems that an agent solved which decided like this


class WeighedTraces(NamedTuple):
    """Traces, and how much each counts of what is learned from."""

    traces: list[StoredTrace]
    shares: NDArray[np.float64]


class RowTable:
    """Distinct rows of small integers, numbered in the order they came."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._number_of: dict[bytes, int] = {}
        self._rows: list[NDArray[np.int16]] = []
        self._array = np.zeros((0, width), np.int16)

    def number(self, row: NDArray[np.int16]) -> int:
        """The row's number."""
        key = row.tobytes()
        known = self._number_of.get(key)
        if known is None:
            known = self._number_of[key] = len(self._rows)
            self._rows.append(np.array(row, np.int16))
        return known

    def array(self) -> NDArray[np.int16]:
        """All rows: [rows, width]."""
        if len(self._array) < len(self._rows):
            self._array = np.array(self._rows, np.int16)
        return self._array


class _Ring:
    """The newest traces of one program and outcome."""

    def __init__(self) -> None:
        self.traces: list[StoredTrace] = []
        self.next = 0

    def add(self, trace: StoredTrace, capacity: int) -> None:
        if len(self.traces) < capacity:
            self.traces.append(trace)
        else:
            self.traces[self.next] = trace
            self.next = (self.next + 1) % capacity

    def in_order(self) -> list[StoredTrace]:
        return self.traces[self.next :] + self.traces[: self.next]


class Replay:
    """Traces to learn from. Nothing is kept of a program that has never succeeded."""

    def __init__(self, environment: Environment[Any], capacity: int) -> None:
        self.environment = environment
        self.guard = Guard(environment)
        self.library = environment.library
        self.programs = len(environment.library.learned)
        self.capacity = capacity
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.observations = RowTable(len(self.environment.fields))
        self.legal = RowTable(len(self.library))
        self.rings: dict[tuple[int, bool], _Ring] = {}

    def put_back(self, program: int, success: bool, traces: list[StoredTrace], following: int) -> None:
        """Restore the traces of one program and outcome, and which of them is replaced next."""
        ring = self.rings[program, success] = _Ring()
        ring.traces, ring.next = traces, following

    def add(self, trace: Trace, score: float = 1.0) -> None:
        """Store a trace that ended by itself; a discarded one teaches nothing about its own program."""
        program = self.library.index_of(trace.program) - self.library.atomic_count
        if not trace.success and (program, True) not in self.rings:
            return
        masks = [self.guard.legal(trace.program, state) for state in trace.states]
        stored = StoredTrace(
            program=program,
            success=trace.success,
            value=trace.value,
            observations=np.array([self.observations.number(row) for row in trace.observations], np.int32),
            legal=np.array([self.legal.number(np.array(mask, np.int16)) for mask in masks], np.int32),
            previous=np.array([0, *(noted(action) for action in trace.actions[:-1])], np.int32),
            policies=trace.policies.astype(np.float32),
            score=score,
        )
        self.rings.setdefault((program, trace.success), _Ring()).add(stored, self.capacity)

    def forget(self, program: int) -> None:
        """Drop all traces of a program."""
        for success in (True, False):
            self.rings.pop((program, success), None)

    def learnable(self) -> list[int]:
        """Programs that have succeeded at least once."""
        return sorted(program for program, success in self.rings if success)

    def everything(self, positive_fractions: NDArray[np.float64]) -> WeighedTraces:
        """All traces, those of a program and outcome in the order they came, and how much each counts.

        Programs count alike, then outcomes by the program's share of successes, then all traces alike.
        """
        programs = self.learnable()
        traces: list[StoredTrace] = []
        shares: list[float] = []
        for program in programs:
            fraction = positive_fractions[program] if (program, False) in self.rings else 1.0
            for success, part in ((True, fraction), (False, 1 - fraction)):
                if part > 0:
                    found = self.rings[program, success].in_order()
                    traces += found
                    shares += [part / len(programs) / len(found)] * len(found)
        return WeighedTraces(traces, np.array(shares))

    def __len__(self) -> int:
        return sum(len(ring.traces) for ring in self.rings.values())
