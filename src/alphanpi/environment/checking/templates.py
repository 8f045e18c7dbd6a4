"""Templates: starts around values of which nothing is known but how they compare."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.checking.enumeration import check_complete, check_well_formed, order_patterns
from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.checking.signatures import Signatures
from alphanpi.environment.guard import Guard
from alphanpi.environment.unknown import Choices, Order
from alphanpi.errors import AlphaNPIError

_SIZES = 3
_MOST_CONCRETE = 600  # starts of a size, made of all templates and all ways in which values compare
_RUNS = 40  # on unknown values, of a size
_STEPS = 4


class _Walk(NamedTuple):
    """What a program sees, may do and would be told along some actions."""

    actions: tuple[str, ...]
    observations: tuple[tuple[int, ...], ...]
    masks: tuple[tuple[bool, ...], ...]
    posts: tuple[bool, ...]


def check_templates(exam: Examination, signatures: Signatures) -> None:
    """Rule `templates`: they need no more than comparisons, and give the starts there are around any values."""
    for size in range(exam.program.minimum_size, exam.program.minimum_size + _SIZES):
        with exam.collector.catching(exam.name):
            concrete: list[Any] = []
            counts = set()
            for values in order_patterns(size):
                states = _concrete(exam, size, values)
                if states is None:
                    return
                counts.add(len(states))
                concrete += states
                if len(concrete) > _MOST_CONCRETE:
                    return
            if len(counts) > 1:
                message = f"their number at size {size} depends on the values: {min(counts)} or {max(counts)}"
                exam.collector.add("templates", exam.name, message)
            check_well_formed(exam, "templates", size, concrete)
            check_complete(exam, "templates", size, concrete, signatures)
            _check_unknown(exam, size, max(counts))


def _concrete(exam: Examination, size: int, values: tuple[int, ...]) -> list[Any] | None:
    what = f"templates of {exam.name} at size {size}"
    return exam.probe.listed(exam.probe.templates(exam.name, size, values), what, _MOST_CONCRETE + 1)


def _check_unknown(exam: Examination, size: int, count: int) -> None:
    """A walk on unknown values, and the same on values that compare as was found on the way, must look alike."""
    guard, rng = Guard(exam.probe.environment, hashed_by_caller=True), exam.rng(size, 8)  # nothing is hashed
    for number in np.resize(rng.permutation(count), min(_RUNS, 4 * count)).tolist():
        order = Order(size)
        order.begin(Choices(tuple(rng.integers(2, size=4 * size).tolist())))
        try:
            unknown = list(guard.templates(exam.name, size, order.values))
            walk = _walk(guard, exam.name, unknown[number], rng, None)
        except AlphaNPIError as error:
            message = f"with unknown values at size {size}, which can be compared and nothing else: {error}"
            exam.collector.add("templates", exam.name, message)
            return
        values = order.example()
        start = list(guard.templates(exam.name, size, values))[number]
        again = _walk(guard, exam.name, start, rng, walk.actions)
        if again != walk:
            message = (
                f"after {' '.join(walk.actions) or 'nothing'} the start around {values} is not seen or judged as that "
                "around unknown values that compare alike; values can be compared, and nothing else"
            )
            exam.collector.add("templates", exam.name, message, start)


def _walk(guard: Guard, program: str, start: Any, rng: np.random.Generator, actions: tuple[str, ...] | None) -> _Walk:
    """Along the actions given as far as they are legal, or else along random ones."""
    library, names = guard.library, guard.library.names
    may_call = library.may_call(program)
    state, taken = start, []
    observations, masks, posts = [], [], []
    for step in range(_STEPS + 1):
        observations.append(guard.observe(state))
        masks.append(
            tuple(
                number == 0 or (allowed and guard.pre(names[number], state, program))
                for number, allowed in enumerate(may_call)
            )
        )
        posts.append(guard.post(program, start, state))
        legal = [names[number] for number in range(1, library.atomic_count) if masks[-1][number]]
        if actions is None:
            chosen = legal[int(rng.integers(len(legal)))] if legal and step < _STEPS else None
        else:
            chosen = actions[step] if step < len(actions) and actions[step] in legal else None
        if chosen is None:
            break
        taken.append(chosen)
        state = guard.act(state, chosen)
    return _Walk(tuple(taken), tuple(observations), tuple(masks), tuple(posts))
