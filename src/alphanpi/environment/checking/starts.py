"""Start states: drawn until few new ones turn up, and looked at for the size and the pre-condition."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from alphanpi.environment.checking.examination import Examination, ExaminedStart
from alphanpi.environment.checking.probe import global_generators
from alphanpi.errors import AlphaNPIError

_FIXED = 0  # of draws that are the same whatever the seed, so that findings depend on it as little as possible
_THOROUGH_SIZES = 3
_DRAWS, _MOST_DRAWS, _MOST_STARTS = 5, 20, 3  # each times the samples


def draw_starts(exam: Examination) -> None:
    """Draw different start states of every size; rules `initial` and `determinism`.

    Of the smallest sizes there are more draws, until as many as the samples in a row show nothing new.
    """
    sizes = exam.probe.sizes(exam.program)
    for size in sizes:
        thorough = size in sizes[:_THOROUGH_SIZES]
        least, most = (_DRAWS * exam.samples, _MOST_DRAWS * exam.samples) if thorough else (exam.samples,) * 2
        found: dict[Any, None] = {}
        since_new = 0
        for number in range(most):
            if (number >= least and since_new >= exam.samples) or len(found) >= _MOST_STARTS * exam.samples:
                break
            with exam.collector.catching(exam.name):
                state = _drawn(exam, size, number)
                since_new = since_new + 1 if state in found else 0
                if state not in found:
                    found[state] = None
                    _check(exam, size, state)
        exam.starts.extend(ExaminedStart(size, state) for state in found)


def check_minimum_size(exam: Examination) -> None:
    """No call begins below the declared minimum, and nothing starts there unnoticed: rule `minimum_size`."""
    least, name = exam.program.minimum_size, exam.name
    for call in exam.possible.of(name):
        with exam.collector.catching(name, call.state):
            size = exam.probe.size(call.entered)
            if size < least:
                message = f"{call.caller} may call it at size {size}, below its minimum_size {least}"
                exam.collector.add("minimum_size", name, message, call.state)
    verified = False
    with exam.collector.catching(None):
        verified = exam.probe.cutoff() is not None
    for size in range(max(1, least - 2), least):
        try:
            state = exam.probe.initial(name, size, exam.rng(size, 6))
            hidden = exam.probe.size(state) == size and exam.probe.pre(name, state, None)
            exam.probe.observe(state)
        except AlphaNPIError:  # as it should be: there is no such start
            continue
        if hidden:
            message = f"minimum_size is {least}, but initial draws a start of size {size} where the pre-condition holds"
            if verified:
                exam.collector.add("minimum_size", name, f"{message}; the lemma would speak of it unseen", state)
            else:
                exam.collector.note(f"{name}: {message}; it is neither taught nor verified", state)


def _drawn(exam: Examination, size: int, number: int) -> Any:
    """A start; every other one is the same for all seeds, and the first ones are drawn twice."""
    half, fixed = divmod(number, 2)
    seed = (_FIXED, *exam.seed[1:]) if fixed else exam.seed
    if number >= exam.samples:
        return exam.probe.initial(exam.name, size, np.random.default_rng((*seed, size, half, fixed)))
    drawn = []
    for elsewhere in (1, 2):
        random.seed(elsewhere)
        np.random.seed(elsewhere)
        before = global_generators()
        drawn.append(exam.probe.initial(exam.name, size, np.random.default_rng((*seed, size, half, fixed))))
        if global_generators() != before:
            message = "initial draws from a global random generator; use rng"
            exam.collector.add("determinism", exam.name, message, drawn[-1])
    if drawn[0] != drawn[1]:
        message = f"initial gave two different states of size {size} for the same seed"
        exam.collector.add("determinism", exam.name, message, drawn[0])
    return drawn[0]


def _check(exam: Examination, size: int, state: Any) -> None:
    if not exam.probe.pre(exam.name, state, None):
        exam.collector.add("initial", exam.name, f"at size {size} the pre-condition does not hold", state)
    found = exam.probe.size(state)
    if found != size:
        exam.collector.add("initial", exam.name, f"asked for size {size} and got size {found}", state)
