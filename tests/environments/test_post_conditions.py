"""Post-conditions of the paper's environments accept the right result only."""

from __future__ import annotations

from itertools import product

import pytest

from alphanpi.environments.flat_sorting import FlatSorting
from alphanpi.environments.hanoi import Towers
from alphanpi.environments.lists import PointedList
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.environments.sorting import Sorting
from tests.helpers.instances import HANOI

BEFORE = PointedList((9, 4, 2, 3, 0), 1, 1, 1, 3)


CASES = {
    # program: (before, right result)
    "RSHIFT": (BEFORE, BEFORE._replace(p1=2, p2=2)),
    "LSHIFT": (BEFORE._replace(p1=3, p2=1), BEFORE._replace(p1=2, p2=1)),
    "COMPSWAP": (BEFORE, BEFORE._replace(values=(9, 2, 4, 3, 0), p2=2)),
    "RESET": (BEFORE._replace(p1=3, p2=2), BEFORE),
    "BUBBLE": (BEFORE, BEFORE._replace(values=(9, 2, 3, 4, 0), p1=3, p2=3)),
    "BUBBLESORT": (BEFORE, BEFORE._replace(values=(9, 2, 3, 4, 0), p1=3, p2=2)),
}


@pytest.mark.parametrize("program", CASES)
def test_list_post_accepts_the_right_result_only(program):
    environment = RecursiveSorting()
    before, right = CASES[program]
    assert environment.post(program, before, right)
    wrong = [
        right._replace(values=(0, *right.values[1:4], 9)),  # the values outside the sub-list, exchanged
        right._replace(values=(right.values[0], 2, 2, 2, right.values[4])),  # not the same values
        right._replace(values=(right.values[0], *reversed(right.values[1:4]), right.values[4])),
        right._replace(start=0),
        right._replace(end=4),
    ]
    if program != "BUBBLESORT":  # its pointers are free
        elsewhere = [(p1, p2) for p1, p2 in product(range(5), repeat=2) if (p1, p2) != (right.p1, right.p2)]
        wrong += [right._replace(p1=p1, p2=p2) for p1, p2 in elsewhere]
    for after in wrong:
        assert not environment.post(program, before, after), after


@pytest.mark.parametrize("kind", [Sorting, FlatSorting])
def test_sorted_by_inventing_values_is_refused(kind):
    before = PointedList((3, 1, 2), 0, 0, 0, 2)
    assert kind().post("BUBBLESORT", before, before._replace(values=(1, 2, 3)))
    assert not kind().post("BUBBLESORT", before, before._replace(values=(1, 1, 3)))
    assert not kind().post("BUBBLESORT", before, before)


def test_hanoi_post_accepts_the_right_result_only():
    before = Towers((0, 0, 0, 1), (0, 1, 2), 3, (0, 1, 2))
    right = before._replace(position=(2, 2, 2, 1))
    assert HANOI.post("HANOI", before, right)
    wrong = [
        before,
        right._replace(position=(2, 2, 2, 2)),  # a disk out of the game has moved
        right._replace(position=(2, 2, 0, 1)),
        right._replace(position=(1, 1, 1, 1)),
        right._replace(roles=(1, 0, 2)),
        right._replace(disks=2),
        right._replace(initial_roles=(1, 0, 2)),
    ]
    for after in wrong:
        assert not HANOI.post("HANOI", before, after), after
