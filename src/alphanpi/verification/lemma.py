"""A lemma as the verifier uses it: its members checked, its functions guarded."""

from __future__ import annotations

from typing import Any

import numpy as np

from alphanpi.environment.cutoff import Condition, Cutoff, Loop, Ranking, Situation
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import STOP, Library
from alphanpi.errors import SpecificationError
from alphanpi.verification.records import LARGEST_SIZE

SAMPLES = 500
"""Random larger instances on which a lemma is tried."""


def checked_cutoff(guard: Guard) -> Cutoff | None:
    """The environment's lemma; a SpecificationError where it speaks of what there is not."""
    cutoff = guard.cutoff()
    if cutoff is None:
        return None

    def refuse(what: str) -> SpecificationError:
        return SpecificationError(f"{guard.name}: cutoff: {what}")

    if not isinstance(cutoff, Cutoff):
        raise refuse(f"it returned a {type(cutoff).__name__}, not a Cutoff")
    if not isinstance(cutoff.text, str) or not cutoff.text.strip():
        raise refuse("text is empty; say what is claimed and why")
    learned = {program.name: program for program in guard.library.learned}
    for name, size in cutoff.sizes.items():
        if name not in learned:
            raise refuse(f"sizes names {name!r}; the programs to be learned are {', '.join(learned)}")
        least = learned[name].minimum_size
        if type(size) is not int or not least <= size <= LARGEST_SIZE:
            raise refuse(f"sizes of {name} is {size!r}; give a whole number from {least} to {LARGEST_SIZE:,}")
    for condition in cutoff.conditions:
        if not isinstance(condition, Condition):
            raise refuse(f"conditions holds a {type(condition).__name__}, not a Condition")
        if condition.program not in learned:
            raise refuse(f"a condition is about {condition.program!r}; there are {', '.join(learned)}")
        if condition.where not in ("steps", "ends"):
            raise refuse(f"a condition's where is {condition.where!r}; write 'steps' or 'ends'")
        if type(condition.from_size) is not int:
            raise refuse(f"a condition's from_size is {condition.from_size!r}; give a whole number")
    for name, loop in cutoff.loops.items():
        wrong = _wrong_loop(guard.library, cutoff, name, loop)
        if wrong:
            raise refuse(f"loops: {name}: {wrong}")
    return cutoff


def _wrong_loop(library: Library, cutoff: Cutoff, name: str, loop: Any) -> str:
    """What the terms of an invariant cannot be like."""
    if name not in cutoff.sizes:
        return "sizes does not name it; say up to which size its starts are looked at"
    if not isinstance(loop, Loop) or not all(isinstance(ranking, Ranking) for ranking in loop.rankings):
        return "give a Loop, whose rankings are a tuple of Ranking"
    if not loop.rankings:
        return "it has no ranking, so nothing tells that a call ends"
    recursive = library.recursions(name)
    callable_here = {
        entry.name: entry
        for entry in library.callable_by(name)
        if entry.name != STOP and library.index_of(entry.name) not in recursive
    }
    for action in (action for ranking in loop.rankings for action in ranking.actions):
        if action not in callable_here:
            return f"a ranking names {action!r}; what it may do is {', '.join(callable_here)}, and no call of itself"
        least = callable_here[action].minimum_size
        if not callable_here[action].atomic and least > library.named(name).minimum_size:
            return f"a ranking names {action}, which cannot start below size {least}, though its caller can"
    return ""


def holds(guard: Guard, condition: Condition, state: Any) -> bool:
    """Whether a condition of a lemma holds in a state."""
    what = f"condition {condition.text!r} of the lemma"
    return bool(guard.attempt(lambda: condition.holds(state), what, state))


def situations_of(guard: Guard, program: str, loop: Loop) -> list[Situation]:
    """The situations a lemma gives, in their order."""
    found: list[Situation] = guard.attempt(
        lambda: [Situation(*one) for one in loop.situations()], f"situations of {program}"
    )
    return found


def contradicted(guard: Guard, cutoff: Cutoff, seed: int) -> str | None:
    """What does not fit the lemma in one random larger instance, if anything."""
    examine = cutoff.examine
    if examine is None:
        return None
    rng = np.random.default_rng(seed)
    fault = guard.attempt(lambda: examine(guard.environment, rng), f"examine of the lemma with seed {seed}")
    return None if fault is None else str(fault)
