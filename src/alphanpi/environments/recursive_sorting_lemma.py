"""Why recursive sorting with the observation `compare` can be verified for every length.

The proof is in docs/lemmas.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from alphanpi.environment.cutoff import Condition, Cutoff
from alphanpi.environment.specification import Environment
from alphanpi.environment.walks import Walk, applied, look, random_walk, walk_side_by_side
from alphanpi.environments.lists import PointedList, starting_pointers
from alphanpi.symbolic import is_sorted

DEPTH = 5  # of every program, STOP included
SORTED_FROM = 5  # size from which all runs of BUBBLESORT look alike
NEAR_START = 6  # BUBBLE, before it calls itself, stays in this many first cells
NEAR_END = 4  # and afterwards in this many last ones

_VERBS = {"P": "BUBBLE", "Z": "RESET", "S": "BUBBLESORT", "L": "LSHIFT", "R": "RSHIFT"}
# All words of at most four calls that sort every list of five and keep the pointers together.
SORTING_WORDS = ("PZS", "SPZS", "PLZS", "PZSS", "PZSP", "PZSZ", "PZSL", "PZSR")


def together(state: PointedList) -> bool:
    """Both pointers on one cell."""
    return state.p1 == state.p2


def deletable_cells(program: str, walk: Walk[PointedList]) -> list[int]:
    """Cells whose deletion the lemma says goes unnoticed; the walk begins in a whole list."""
    size = len(walk.states[0].values)
    if program == "BUBBLE":
        return _deletable_for_bubble(walk, size)
    kept = {0, size - 1}
    for state in walk.states:
        kept |= {state.p1, state.p1 + 1, state.p2}
    return [cell for cell in range(size) if cell not in kept]


def _deletable_for_bubble(walk: Walk[PointedList], size: int) -> list[int]:
    if "BUBBLE" not in walk.actions:
        return list(range(NEAR_START, size - 1))
    called_in = walk.states[walk.actions.index("BUBBLE")].values
    middle = range(NEAR_START, size - NEAR_END + 1)
    carried = called_in[1 : size - NEAR_END + 1]  # the pass brings the largest of these to the last cells
    return [cell for cell in middle if max([*carried[: cell - 1], *carried[cell:]]) == max(carried)]


def without_cell(state: PointedList, cell: int) -> PointedList:
    """A whole list with one cell deleted, on which no pointer stands."""
    return PointedList(
        values=(*state.values[:cell], *state.values[cell + 1 :]),
        p1=state.p1 - (state.p1 > cell),
        p2=state.p2 - (state.p2 > cell),
        start=0,
        end=len(state.values) - 2,
    )


def unlike(environment: Environment[PointedList], program: str, walk: Walk[PointedList], cell: int) -> str | None:
    """What tells a walk from the same walk with one cell deleted, if anything does."""
    starts = walk.states[0], without_cell(walk.states[0], cell)
    return walk_side_by_side(environment, program, starts, walk.actions)


def _examine_deletion(environment: Environment[PointedList], program: str, rng: np.random.Generator) -> str | None:
    size = CUTOFF.sizes[program] + int(rng.integers(1, 13))
    values = tuple(int(value) for value in rng.integers(int(rng.choice([2, 4, size])), size=size))
    pairs = starting_pointers(program, size)
    start = PointedList(values, *pairs(int(rng.integers(pairs.number_of_pairs))), 0, size - 1)
    walk = random_walk(environment, program, start, rng, int(rng.integers(environment.depth(program, start))))
    cells = deletable_cells(program, walk)
    if not cells:
        return f"{program}: no cell can be deleted from {walk.states[0]} under {' '.join(walk.actions)}"
    return unlike(environment, program, walk, int(rng.choice(cells)))


def _examine_words(environment: Environment[PointedList], rng: np.random.Generator) -> str | None:
    """The sorting words look the same on five elements and on more, and sort both."""
    word, place = str(rng.choice(SORTING_WORDS)), str(rng.choice(["start", "second", "inside", "end"]))
    states = []
    for size in (SORTED_FROM, int(rng.integers(SORTED_FROM + 1, 17))):
        values = tuple(int(value) for value in rng.integers(size, size=size))
        states.append(PointedList(values, 0, 0, 0, size - 1))
    for letter in (*word, ""):
        small, large = (look(environment, "BUBBLESORT", state) for state in states)
        if small != large:
            return f"BUBBLESORT: {states[0]} and {states[1]} look different"
        if not letter:
            continue
        action = _VERBS[letter]
        if not small[1][environment.library.index_of(action)]:
            return None
        following = []
        for state in states:
            inner = environment.size(state) - 1  # elements of the inner call; its outcomes are numbered p1 * inner + p2
            inside = int(rng.integers(2, inner - 1))
            cell = {"start": 0, "second": 1, "inside": inside, "end": inner - 1}[place]
            choice = cell * inner + cell if letter == "S" else 0
            following.append(applied(environment, "BUBBLESORT", state, action, choice))
        states = following
    unsorted = [state for state in states if not is_sorted(state.values)]
    return f"BUBBLESORT: {word} leaves {unsorted[0]} unsorted" if unsorted else None


def _examine(environment: Environment[PointedList], rng: np.random.Generator) -> str | None:
    programs: Sequence[Any] = environment.library.learned
    program = programs[int(rng.integers(len(programs)))].name
    if environment.library.named(program).depth != DEPTH:
        return f"{program}: the proof is for programs of at most {DEPTH} actions"
    if program == "BUBBLESORT":
        return _examine_words(environment, rng)
    return _examine_deletion(environment, program, rng)


CUTOFF = Cutoff(
    text=(
        "(1) RSHIFT, LSHIFT, COMPSWAP, RESET: a body takes at most 4 actions before STOP. Each moves a pointer by at "
        "most one cell, or both to the start. Keep the first and the last cell, every cell a pointer stands on, and "
        "the right neighbour of every cell pointer 1 stands on: at most 9 cells for a program of level 1, where an "
        "action moves one pointer, and 13 for RESET. If the list is longer, deleting any other cell changes no "
        "observation, no legal action and no verdict on the post-condition under the same actions, so every run has a "
        "counterpart on a list that is shorter by one. "
        "(2) BUBBLE: before it calls itself, a body stays in the first 6 cells, afterwards in the last 4. The last 4 "
        "values after the inner pass depend on the last 3 before it and on the largest of the others in its list. So "
        "from 11 elements on, a cell between these regions can be deleted unnoticed; the verdict is the same because "
        "the pass over the whole list and the inner pass carry the same value through the middle, or else the first "
        "value is wrong on both lists. Without a call of itself a body does not reach the end of a list of 7 or more. "
        "(3) BUBBLESORT: while the pointers stay together, nothing seen depends on the values, and only BUBBLE and the "
        "inner call change any. Four actions that sort every list of 5 contain BUBBLE, RESET and BUBBLESORT in this "
        "order and at most one more action, and all such sequences look alike on 5 and on more elements. They sort: "
        "the pass brings the largest value to the end, the inner call sorts the others, and nothing undoes it. "
        "The proof is in docs/lemmas.md."
    ),
    sizes={"RSHIFT": 9, "LSHIFT": 9, "COMPSWAP": 9, "RESET": 13, "BUBBLE": 10, "BUBBLESORT": SORTED_FROM + 1},
    conditions=(
        Condition(
            program="BUBBLESORT",
            text=f"on {SORTED_FROM} or more elements, the pointers are on the same cell at every step",
            from_size=SORTED_FROM,
            where="steps",
            holds=together,
        ),
        Condition(
            program="BUBBLESORT",
            text="on 2 or more elements, it ends with the pointers on the same cell",
            from_size=2,
            where="ends",
            holds=together,
        ),
    ),
    examine=_examine,
)
