"""Cutting requests into chunks by what they are expected to cost. Where they are cut changes no result."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

WORTH = 0.02  # seconds of work that are worth sending: several times what a chunk costs
ROUNDS = 3  # chunks for each worker: who is done early takes another


class Costs:
    """What calls of each program have cost lately."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._actions: dict[str, float] = {}  # per unit of size
        self._seconds = 0.0  # per action; 0 while nothing is known

    def chunks(self, programs: Sequence[str], sizes: Sequence[int]) -> list[list[int]]:
        """Places of requests, in chunks of much the same cost, the dearest first; one chunk where they cost little.

        What is asked for at the same time goes to the least loaded chunk, from the dearest request to the cheapest.
        """
        costs = [self._cost(program, size) for program, size in zip(programs, sizes, strict=True)]
        expected = self._seconds * sum(costs)
        most = int(expected / WORTH) if self._seconds and WORTH else len(costs)
        count = min(ROUNDS * self.workers, len(costs), most)
        if count < 2:
            return [list(range(len(costs)))]
        chunks: list[list[int]] = [[] for _ in range(count)]
        loads = [(0.0, number) for number in range(count)]
        for place in sorted(range(len(costs)), key=lambda place: -costs[place]):
            load, number = heapq.heappop(loads)
            chunks[number].append(place)
            heapq.heappush(loads, (load + costs[place], number))
        loads.sort(reverse=True)
        return [sorted(chunks[number]) for _, number in loads if chunks[number]]

    def learn(self, programs: Sequence[str], sizes: Sequence[int], actions: Sequence[int], seconds: float) -> None:
        """Take note of what was done, and of the seconds it took in all."""
        total: dict[str, list[int]] = {}
        for program, size, count in zip(programs, sizes, actions, strict=True):
            sums = total.setdefault(program, [0, 0])
            sums[0] += max(1, count)
            sums[1] += max(1, size)
        for program, (count, size) in total.items():
            self._actions[program] = count / size
        done = sum(count for count, _ in total.values())
        if done:
            self._seconds = seconds / done

    def _cost(self, program: str, size: int) -> float:
        """In actions."""
        return self._actions.get(program, 1.0) * max(1, size)
