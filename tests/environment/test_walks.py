"""Walks: what `examine` of a lemma is made of."""

from __future__ import annotations

import numpy as np

from alphanpi.environment.walks import applied, random_walk, walk_side_by_side
from alphanpi.environments.hanoi import Hanoi, Towers
from tests.helpers.instances import HANOI

ROLES = (0, 1, 2)
SMALL, LARGE = (Towers((0,) * disks, ROLES, disks, ROLES) for disks in (3, 9))
SOLUTION = ("SWAP_A_T", "HANOI", "SWAP_A_T", "MOVE_DISK", "SWAP_S_A", "HANOI", "SWAP_S_A")


class SeesSize(Hanoi):
    """What is seen depends on the size from the first move on."""

    def observe(self, state):
        return (*super().observe(state)[:4], state.disks > 5 and state.position[-1] == 2)


class ForgetsDisks(Hanoi):
    """Games of many disks are never solved."""

    def post(self, program, before, after):
        return before.disks < 5 and super().post(program, before, after)


def test_a_call_is_replaced_by_its_contract():
    state = SMALL
    for action in SOLUTION:
        state = applied(HANOI, "HANOI", state, action)
    assert HANOI.post("HANOI", SMALL, state)


def test_random_walks_do_what_is_legal_and_allowed():
    rng = np.random.default_rng(0)
    lengths = set()
    for _ in range(50):
        walk = random_walk(HANOI, "HANOI", SMALL, rng, 4, allowed=lambda state, action: action != "SWAP_S_A")
        lengths.add(len(walk.actions))
        assert len(walk.states) == len(walk.actions) + 1
        assert "SWAP_S_A" not in walk.actions
        for before, action, after in zip(walk.states, walk.actions, walk.states[1:], strict=False):
            assert HANOI.legal("HANOI", before)[HANOI.library.index_of(action)]
            assert applied(HANOI, "HANOI", before, action) == after
    assert lengths == {4}
    nothing = random_walk(HANOI, "HANOI", SMALL, rng, 4, allowed=lambda state, action: False)
    assert nothing == ((SMALL,), ())


def test_walks_that_look_the_same_are_not_told_apart():
    assert walk_side_by_side(HANOI, "HANOI", (SMALL, LARGE), SOLUTION) is None


def test_what_is_seen_tells_walks_apart():
    told = walk_side_by_side(SeesSize(), "HANOI", (SMALL, LARGE), SOLUTION)
    assert told is not None
    assert told.startswith("HANOI: Towers(")
    assert told.endswith("look different")
    assert walk_side_by_side(SeesSize(), "HANOI", (SMALL, LARGE), SOLUTION[:2]) is None


def test_the_answer_of_the_post_condition_tells_walks_apart():
    told = walk_side_by_side(ForgetsDisks(), "HANOI", (SMALL, LARGE), SOLUTION)
    assert told is not None
    assert "the post-condition differs between Towers(" in told
    assert walk_side_by_side(ForgetsDisks(), "HANOI", (SMALL, LARGE), SOLUTION[:-1]) is None
