"""Whether the decisions survive other arithmetic: in batches, and in double precision."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Sequence, Set
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from alphanpi.network.decisions import Decisions, Mask, best_legal
from alphanpi.network.evaluator import Evaluator, noted
from alphanpi.network.history_table import NONE
from alphanpi.network.model import NPINetwork

TOLERANCE = 1e-3
"""Smallest margin between the best and the second-best legal logit that counts as a decision."""


Logits = list[NDArray[np.floating]]

Point = tuple[int, Mask]
"""A history and what is legal after it: where a decision is taken."""


class Numerics(NamedTuple):
    """How firm the decisions of a program are."""

    tolerance: float
    smallest_margin: float | None  # in single precision; None where every step had one legal action
    batched_deviation: (
        float  # largest difference of a logit between a batch of one and a batch of many; infinite if not a number
    )
    double_margin: float | None  # smallest margin in double precision; None without a network
    double_deviation: (
        float | None
    )  # largest difference of a logit between single and double precision; infinite if not a number
    same_decisions: bool  # in all of these

    @property
    def firm(self) -> bool:
        """Whether the margins exceed the tolerance and everything that arithmetic changed."""
        margins = [margin for margin in (self.smallest_margin, self.double_margin) if margin is not None]
        noise = 2 * float(np.max([self.batched_deviation, self.double_deviation or 0.0]))
        return (
            self.same_decisions
            and math.isfinite(noise)
            and all(margin > self.tolerance and margin > noise for margin in margins)
        )


def confirm(
    decisions: Decisions, evaluator: Evaluator, network: NPINetwork | None, points: Sequence[Set[Point]]
) -> list[Numerics]:
    """Evaluate all recorded histories again, in batches and, where there is a network, in double precision.

    `points` holds, for each program to be learned, the decisions that count: those of its completed sizes.
    """
    batched = _batched_logits(decisions, evaluator)
    double = None if network is None else _double_logits(decisions, network)
    return [_numerics(decisions, own, batched, double) for own in points]


def _numerics(decisions: Decisions, points: Set[Point], batched: Logits, double: Logits | None) -> Numerics:
    own = sorted({history for history, _ in points})
    decided = {point: decisions.decided[point] for point in points}
    again = [logits for logits in (batched, double) if logits is not None]

    def deviation(logits: Logits) -> float:
        # max() would lose a NaN.
        largest = [np.max(np.abs(decisions.table.logits[number] - logits[number])) for number in own]
        found = float(np.max(largest, initial=0.0))
        return found if math.isfinite(found) else math.inf

    return Numerics(
        tolerance=TOLERANCE,
        smallest_margin=_smallest([decision.margin for decision in decided.values()]),
        batched_deviation=deviation(batched),
        double_margin=None
        if double is None
        else _smallest([best_legal(double[history], mask).margin for history, mask in decided]),
        double_deviation=None if double is None else deviation(double),
        same_decisions=all(
            best_legal(logits[history], mask).action == decision.action
            for logits in again
            for (history, mask), decision in decided.items()
        ),
    )


def _batched_logits(decisions: Decisions, evaluator: Evaluator) -> Logits:
    """All histories of one length in one batch."""
    table = decisions.table
    contexts = [table.contexts[history.before] for history in table.histories]
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    lengths: list[int] = []
    for number, context in enumerate(contexts):
        lengths.append(0 if context.history == NONE else lengths[context.history] + 1)
        by_length[lengths[-1]].append(number)
    memory = np.zeros((len(lengths), evaluator.memory_width), np.float32)
    logits: Logits = [np.zeros(0)] * len(lengths)
    for length in sorted(by_length):
        rows = by_length[length]
        before = np.zeros((len(rows), evaluator.memory_width), np.float32)
        if length:
            before = memory[[contexts[row].history for row in rows]]
        if table.window:
            before[:, -1] = [noted(contexts[row].action) for row in rows]
        answer = evaluator.evaluate(
            np.array([contexts[row].program for row in rows], np.int64),
            np.array([table.histories[row].observation for row in rows], np.int16),
            before,
        )
        memory[rows] = answer.memory
        for row, values in zip(rows, answer.logits, strict=True):
            logits[row] = values.copy()
    return logits


@torch.inference_mode()
def _double_logits(decisions: Decisions, network: NPINetwork) -> Logits:
    """Each history alone, in double precision."""
    double = copy.deepcopy(network).cpu().double().eval()
    zero = torch.zeros(1, network.config.memory, dtype=torch.float64)
    memories: list[tuple[torch.Tensor, torch.Tensor]] = []
    logits: Logits = []
    for history in decisions.table.histories:
        context = decisions.table.contexts[history.before]
        hidden, cell = (zero, zero) if context.history == NONE else memories[context.history]
        observation = torch.tensor([history.observation], dtype=torch.float64)
        previous = torch.tensor([noted(context.action)]) if decisions.table.window else None
        output = double(torch.tensor([context.program]), observation, hidden, cell, previous)
        memories.append((output.hidden, output.cell))
        logits.append(output.logits[0].numpy().copy())
    return logits


def _smallest(margins: list[float]) -> float | None:
    finite = [margin for margin in margins if margin != float("inf")]
    return min(finite) if finite else None
