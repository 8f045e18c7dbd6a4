"""Why iterative sorting with the observation `paper` can be verified for every length.

For every program: what an invariant of its body can speak of, and lists that show all that can follow. The proof is in
docs/lemmas.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import product

from alphanpi.environment.cutoff import Cutoff, Loop, Ranking, Situation
from alphanpi.environments.lists import DIGITS, PointedList, compared_and_swapped
from alphanpi.symbolic import exchanged, is_sorted

Values = tuple[int, ...]

LARGEST = DIGITS - 1
NOTICED = 2  # distances above this one count as equal
LONGEST = 6  # cells that show every place of two pointers, with two cells side by side on which there is none
_LOOKED_AT = 3  # size up to which every list is looked at


def _pointed(values: Iterable[int], p1: int, p2: int) -> PointedList:
    whole = tuple(values)
    return PointedList(whole, p1, p2, 0, len(whole) - 1)


def completed(size: int, given: Mapping[int, int]) -> Iterator[Values]:
    """Lists with some values given: one that is sorted and one that is not, where there are any."""
    filled, last = [], given[min(given)]
    for cell in range(size):
        last = given.get(cell, last)
        filled.append(last)
    if is_sorted(tuple(filled)):
        yield tuple(filled)
    # Wherever there is a way to break the order, there is one with the smallest and the largest digit.
    for values in product(*([given[cell]] if cell in given else [LARGEST, 0] for cell in range(size))):
        if not is_sorted(values):
            yield values
            return


def _with_digits(size: int, p1: int, p2: int) -> Iterator[PointedList]:
    """All digits under two pointers, on lists that are sorted and lists that are not."""
    for first, second in product(range(DIGITS), repeat=2):
        if p1 != p2 or first == second:
            for values in completed(size, {p1: first, p2: second}):
                yield _pointed(values, p1, p2)


# ---------------------------------------------------------------------------- RSHIFT and LSHIFT


def _place(state: PointedList, direction: int) -> tuple[bool, int, bool, int, int]:
    """Of each pointer, whether it is at the boundary behind it and how far from the one ahead; and their distance."""
    behind, ahead = (state.start, state.end) if direction > 0 else (state.end, state.start)
    apart = max(-NOTICED, min(NOTICED, state.p2 - state.p1))
    return (
        state.p1 == behind,
        min(NOTICED, abs(ahead - state.p1)),
        state.p2 == behind,
        min(NOTICED, abs(ahead - state.p2)),
        apart,
    )


def _shift(direction: int) -> Loop:
    def view(start: PointedList, state: PointedList) -> Hashable | None:
        moved1, moved2 = (state.p1 - start.p1) * direction, (state.p2 - start.p2) * direction
        if state.values != start.values or not (0 <= moved1 <= 1 and 0 <= moved2 <= 1):
            return None
        seen1 = None if moved1 else state.values[state.p1]
        seen2 = None if moved2 else state.values[state.p2]
        return _place(start, direction), moved1, moved2, seen1, seen2, is_sorted(state.values)

    def situations() -> Iterator[Situation]:
        places: dict[Hashable, tuple[int, int, int]] = {}  # of each, the last one: as long as may be
        for size in range(2, LONGEST + 1):
            for p1, p2 in product(range(size), repeat=2):
                places[_place(_pointed(range(size), p1, p2), direction)] = size, p1, p2
        for size, p1, p2 in places.values():
            behind = 0 if direction > 0 else size - 1
            for now1, now2 in product((p1, p1 + direction), (p2, p2 + direction)):
                if 0 <= now1 < size and 0 <= now2 < size and not p1 == p2 == size - 1 - behind:
                    for state in _with_digits(size, now1, now2):
                        yield Situation(state._replace(p1=p1, p2=p2), state)

    actions = ("PTR_1_R", "PTR_2_R") if direction > 0 else ("PTR_1_L", "PTR_2_L")
    return Loop(view, (Ranking(actions, _nothing),), situations)


def _nothing(start: PointedList, state: PointedList) -> int:
    return 0


# ---------------------------------------------------------------------------- COMPSWAP


def _pair_view(start: PointedList, state: PointedList) -> Hashable | None:
    """Where the pointers are among the two cells, what is in these, and whether the others are in order."""
    left, values = start.p1, state.values
    right = left + 1
    swapped = values != start.values
    if not {state.p1, state.p2} <= {left, right} or (swapped and values != exchanged(start.values, left, right)):
        return None
    others = is_sorted((*values[:left], *sorted(values[left : right + 1]), *values[right + 1 :]))
    first_cell, last_cell = left == state.start, right == state.end
    return first_cell, last_cell, state.p1 - left, state.p2 - left, values[left], values[right], swapped, others


def _pairs() -> Iterator[Situation]:
    around: tuple[tuple[Values, Values], ...] = (
        ((), ()),
        ((), (LARGEST,)),
        ((), (LARGEST, 0)),
        ((0,), ()),
        ((LARGEST, 0), ()),
        ((0,), (LARGEST,)),
        ((0,), (LARGEST, 0)),
    )
    for (before, after), one, other in product(around, range(DIGITS), range(DIGITS)):
        values, left = (*before, one, other, *after), len(before)
        for changed in (values, exchanged(values, left, left + 1)):
            for p1, p2 in product((left, left + 1), repeat=2):
                state = _pointed(changed, p1, p2)
                yield Situation(_pointed(values, left, p2), state)


# ---------------------------------------------------------------------------- RESET


def _reset_view(start: PointedList, state: PointedList) -> Hashable | None:
    """The flags that are seen."""
    values, p1, p2, first, last = state
    if values != start.values:
        return None
    return p1 == first, p1 == last, p2 == first, p2 == last, p1 == p2, is_sorted(values)


def _cells_left(start: PointedList, state: PointedList) -> int:
    return state.p1 + state.p2 - 2 * state.start


def _all_places() -> Iterator[Situation]:
    for size in range(2, LONGEST + 1):
        for p1, p2 in product(range(size), repeat=2):
            for state in _with_digits(size, p1, p2):
                yield Situation(state if p1 or p2 else state._replace(p1=size - 1, p2=size - 1), state)


# ---------------------------------------------------------------------------- BUBBLE


def partly_bubbled(values: Values, steps: int) -> Values:
    """The values after the first steps of a pass."""
    copy = list(values)
    for cell in range(steps):
        if copy[cell] > copy[cell + 1]:
            copy[cell], copy[cell + 1] = copy[cell + 1], copy[cell]
    return tuple(copy)


def _pass_view(start: PointedList, state: PointedList) -> Hashable | None:
    """How far the pass has come, as seen from pointer 1, and where that is."""
    values, p1, p2, first, last = state
    if p2 - p1 not in (0, 1):
        return None
    before = values == partly_bubbled(start.values, p1)
    after = p1 < last and values == partly_bubbled(start.values, p1 + 1)
    if not before and not after:
        return None
    return p1 == first, p1 == last - 1, p1 == last, p2 - p1, before, after, is_sorted(values)


def _twice_the_way(start: PointedList, state: PointedList) -> int:
    return 2 * (state.end - state.p1)


def _passes_under_way() -> Iterator[Situation]:
    """The largest value so far under pointer 1, with few cells before it and behind it."""
    behind: tuple[Values, ...] = ((), (LARGEST,), (LARGEST, LARGEST), (LARGEST, 0), (0,), (0, LARGEST))
    for largest in range(DIGITS):
        for before in {(): 0, (0,): 0, (largest,): 0, (largest, 0): 0}:
            start = _pointed((largest, *before), 0, 0)
            if before:  # the end of the list
                cell = len(before)
                yield Situation(start, _pointed((*before, largest), cell, cell))
            for following, rest, apart in product(range(DIGITS), behind, (0, 1)):
                begun = _pointed((largest, *before, following, *rest), 0, apart)
                cell = len(before)
                now = _pointed((*before, largest, following, *rest), cell, cell + apart)
                yield Situation(begun, now)
                if largest > following:
                    yield Situation(begun, compared_and_swapped(now)._replace(p2=now.p2))


# ---------------------------------------------------------------------------- BUBBLESORT


def _sort_view(start: PointedList, state: PointedList) -> Hashable | None:
    """Whether the list is sorted and where the pointers are, both on one cell; at the end of a pass, at the end."""
    values, p1, p2, first, last = state
    done = is_sorted(values)
    reached = p1 == first or (p1 == last and values[last] == max(values))
    if p1 != p2 or sorted(values) != sorted(start.values) or not (done or reached):
        return None
    return p1 == first, p1 == last, done


def passes_left(values: Values) -> int:
    """Passes until the list is sorted: each brings one larger value past every cell that has any before it."""
    return max(sum(other > value for other in values[:cell]) for cell, value in enumerate(values))


def _twice_the_passes(start: PointedList, state: PointedList) -> int:
    return 2 * passes_left(state.values)


def _short_lists() -> Iterator[Situation]:
    lists: list[Values] = [*product(range(DIGITS), repeat=2), *product(range(DIGITS), repeat=3)]
    for digit in range(DIGITS):
        lists += [(digit,) * 4, (digit, 2, 1, 0)]
    for values in lists:
        for cell in range(len(values)):
            yield Situation(_pointed(values, 0, 0), _pointed(values, cell, cell))


LOOPS: Mapping[str, Loop] = {
    "RSHIFT": _shift(1),
    "LSHIFT": _shift(-1),
    "COMPSWAP": Loop(_pair_view, (Ranking(("PTR_1_L", "PTR_2_L", "PTR_1_R", "PTR_2_R", "SWAP"), _nothing),), _pairs),
    "RESET": Loop(_reset_view, (Ranking(("LSHIFT", "PTR_1_L", "PTR_2_L"), _cells_left),), _all_places),
    "BUBBLE": Loop(
        _pass_view,
        (Ranking(("COMPSWAP", "RSHIFT", "SWAP", "PTR_1_R", "PTR_2_R", "PTR_2_L"), _twice_the_way),),
        _passes_under_way,
    ),
    "BUBBLESORT": Loop(
        _sort_view,
        (
            Ranking(("BUBBLE", "RESET", "RSHIFT"), _twice_the_passes),
            Ranking(("BUBBLE", "RSHIFT"), _twice_the_way),
        ),
        _short_lists,
    ),
}

CUTOFF = Cutoff(
    text=(
        "All that can be told of a moment in a call, and all that an action can make of it, is shown on one of the "
        "lists given, of at most 6 elements. "
        "(1) RSHIFT, LSHIFT: while each pointer has moved by one cell or none, what is seen and legal depends on the "
        "places of the pointers at the start, on which of them have moved, on the digits under them and on whether "
        "the list is sorted. Distances above 2 make no difference, and on 6 cells two that are side by side are free "
        "to put the list out of order. "
        "(2) COMPSWAP: while both pointers are on the two cells, everything follows from these, their digits, whether "
        "they are the first or the last cells, and whether the other cells are in order. "
        "(3) RESET: pointers go left, nothing else changes; what is left to go is p1 + p2, at most 2 n - 2, and a call "
        "may take 2 n + 3 actions. "
        "(4) BUBBLE: as long as the list is what the first steps of the pass make of it, up to pointer 1 or one cell "
        "further, whether the list is sorted, now and after the next step, depends on few cells: the largest value so "
        "far, the next, one or two before and behind them. Twice the cells ahead of pointer 1 are 2 n - 2 at first. "
        "(5) BUBBLESORT: every pass takes one larger value past each cell that has any before it, so an unsorted list "
        "needs at most n - 1 passes, and one less after each. Whether it is sorted, and one digit, are all that is "
        "seen of it. "
        "The proof is in docs/lemmas.md."
    ),
    sizes=dict.fromkeys(LOOPS, _LOOKED_AT),
    loops=LOOPS,
)
