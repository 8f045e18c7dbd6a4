"""Insertion sort, merge sort and quicksort: what they say, and that it can be done."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environment.checking import check
from alphanpi.environment.scene import problems
from alphanpi.environments.insertion_sort import InsertionSort, Row
from alphanpi.environments.merge_sort import Halves, MergeSort, begun
from alphanpi.environments.quicksort import Quicksort, Span
from alphanpi.errors import UsageError
from tests.helpers.instances import every, seeds, some
from tests.helpers.solutions import ScriptedEvaluator, execute, solution_for

INSERTION, MERGE, QUICK = InsertionSort(), MergeSort(), Quicksort()
SORTS = {"insertion": INSERTION, "merge": MERGE, "quick": QUICK}


def top(environment):
    return environment.library.learned[-1].name


@every(SORTS)
@given(values=st.lists(st.integers(-50, 50), min_size=1, max_size=50))
@settings(max_examples=25, deadline=None)
def test_the_textbook_sorts_any_integers(environment, values):
    state = environment.parse(top(environment), " ".join(map(str, values)))
    ended = execute(environment, top(environment), state, solution_for(environment))
    assert list(ended.values) == sorted(values)


@every(SORTS)
@given(seed=seeds, size=st.integers(0, 30))
@some
def test_every_program_can_be_done(environment, seed, size):
    for program in environment.library.learned:
        state = environment.initial(program.name, max(size, program.minimum_size), np.random.default_rng(seed))
        assert environment.pre(program.name, state)
        execute(environment, program.name, state, solution_for(environment))


@every(SORTS)
def test_the_engine_follows_the_textbook(environment):
    state = environment.initial(top(environment), 4, np.random.default_rng(3))
    search = Search(environment, ScriptedEvaluator(environment), SearchConfig(c_level=0.0))
    (trace,) = search.run([Request(top(environment), state)])
    assert trace.success
    assert trace.final == execute(environment, trace.program, state, solution_for(environment))


@every(SORTS)
def test_nothing_is_found_by_the_checker(environment):
    report = check(environment, samples=5)
    assert not report.findings


@every(SORTS)
def test_every_outcome_is_accepted_and_none_is_missing(environment):
    for program in environment.library.learned:
        size = max(3, program.minimum_size)
        for before in environment.enumerate(program.name, size):
            outcomes = set(environment.outcomes(program.name, before))
            assert all(environment.post(program.name, before, after) for after in outcomes)
            assert execute(environment, program.name, before, solution_for(environment)) in outcomes


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((1, 2, 4, 3), (1, 2, 3, 4)),
        ((5, 1, 7, 6, 2), (5, 1, 2, 7, 6)),  # only past those that are larger, though 5 is larger, too
        ((1, 3, 3), (1, 3, 3)),
        ((2, 3, 1), (1, 2, 3)),
        ((7,), (7,)),
    ],
)
def test_insert(numbers, expected):
    row = Row((*numbers, 0), len(numbers))
    assert list(INSERTION.outcomes("INSERT", row)) == [Row((*expected, 0), len(numbers))]
    assert not INSERTION.post("INSERT", row, Row((0, *expected), len(numbers)))


def test_insertion_sort_knows_when_nothing_is_left_to_insert():
    assert INSERTION.base_case("INSERT", Row((1, 2), 2))
    assert not INSERTION.base_case("INSERT", Row((2, 1), 2))
    assert INSERTION.base_case("INSERTION_SORT", Row((1, 2), 1))
    assert not INSERTION.base_case("INSERTION_SORT", Row((1, 2), 2))


@pytest.mark.parametrize(
    ("numbers", "expected"), [((3, 1), (1, 3)), ((2, 5, 1, 3, 4), (1, 2, 3, 4, 5)), ((1, 1, 1), (1, 1, 1))]
)
def test_merge_of_halves_that_are_in_order(numbers, expected):
    before = begun((9, *numbers, 0), 1, len(numbers) + 1)
    right = begun((9, *expected, 0), 1, len(numbers) + 1)
    assert list(MERGE.outcomes("MERGE", before)) == [right]
    changed = [right._replace(values=(9, *numbers, 0)), right._replace(values=(0, *expected, 9))]
    wrong = [*changed, right._replace(start=0), right._replace(left_head=2), right._replace(taken=(1,))]
    invented = right._replace(values=(9, *expected[:-1], expected[-1] + 1, 0))
    for after in [*wrong, invented]:
        assert after == right or not MERGE.post("MERGE", before, after), after


def test_merge_of_other_halves_keeps_the_numbers():
    before = begun((5, 1, 4, 2), 0, 4)
    outcomes = list(MERGE.outcomes("MERGE", before))
    assert outcomes[0].values == (4, 2, 5, 1)
    assert {after.values for after in outcomes} == set(permutations((5, 1, 4, 2)))
    assert not MERGE.post("MERGE", before, begun((1, 2, 4, 4), 0, 4))


def test_merge_is_taught_where_it_is_needed_and_where_it_may_be_called():
    rng = np.random.default_rng(0)
    drawn = [MERGE.initial("MERGE", 7, rng) for _ in range(200)]
    in_order = sum(all(list(half) == sorted(half) for half in state.halves()) for state in drawn)
    assert 80 < in_order < 140  # of the others, few are so by chance


def test_merge_takes_from_both_halves_and_puts_back():
    state = begun((3, 1, 2), 0, 3)
    assert MERGE.observe(state) == (True, True, True, True)
    assert not MERGE.pre("PUT_BACK", state)
    state = MERGE.act(MERGE.act(state, "TAKE_RIGHT"), "TAKE_RIGHT")
    assert state == Halves((3, 1, 2), 0, 3, left_head=0, right_head=3, taken=(1, 2))
    assert MERGE.observe(state) == (True, True, False, False)
    assert not MERGE.pre("TAKE_RIGHT", state)
    state = MERGE.act(state, "TAKE_LEFT")
    assert MERGE.observe(state) == (True, False, False, False)
    assert MERGE.act(state, "PUT_BACK") == begun((1, 2, 3), 0, 3)


def test_the_halves_make_the_whole():
    state = begun((4, 3, 2, 1, 0), 0, 5)
    parts = [MERGE.enter(state, f"MERGE_SORT on {side}", "MERGE_SORT") for side in ("left", "right")]
    assert parts == [begun(state.values, 0, 2), begun(state.values, 2, 5)]
    ended = begun((4, 3, 0, 1, 2), 2, 5)
    assert MERGE.leave(state, ended, "MERGE_SORT on right", "MERGE_SORT") == begun(ended.values, 0, 5)
    assert not MERGE.pre("MERGE_SORT on left", begun((4,), 0, 1), "MERGE_SORT")


def test_partition_accepts_whatever_is_a_partition():
    before = Span((9, 3, 1, 4, 2, 0), 1, 5, 1, 1)
    accepted = {
        (inside, border)
        for inside, border in product(permutations((1, 2, 3, 4)), range(1, 5))
        if QUICK.post("PARTITION", before, Span((9, *inside, 0), 1, 5, 4, border))
    }
    assert accepted == {((1, 2, 3, 4), 2), ((1, 2, 4, 3), 2)}
    right = Span((9, 1, 2, 3, 4, 0), 1, 5, 4, 2)
    wrong = [
        right._replace(scan=3),
        right._replace(start=0),
        right._replace(values=(0, 1, 2, 3, 4, 9)),
        right._replace(values=(9, 1, 2, 2, 4, 0)),
    ]
    for after in wrong:
        assert not QUICK.post("PARTITION", before, after), after


def test_equal_numbers_go_to_the_right():
    before = Span((2, 2, 2), 0, 3, 0, 0)
    assert {after.border for after in QUICK.outcomes("PARTITION", before)} == {0}


def test_both_sides_of_the_pivot_are_problems_and_may_be_empty():
    state = Span((1, 2, 3), 0, 3, 2, 0)
    sides = [QUICK.enter(state, f"QUICKSORT on {side}", "QUICKSORT") for side in ("left", "right")]
    assert sides == [Span(state.values, 0, 0, 0, 0), Span(state.values, 1, 3, 1, 1)]
    assert [QUICK.base_case("QUICKSORT", side) for side in sides] == [True, False]
    assert QUICK.leave(state, sides[0], "QUICKSORT on left", "QUICKSORT") == state
    assert not QUICK.pre("QUICKSORT on left", Span((1,), 0, 1, 0, 0), "QUICKSORT")


@every(SORTS)
@given(seed=seeds)
@some
def test_every_state_on_the_way_has_a_picture(environment, seed):
    rng = np.random.default_rng(seed)
    state = environment.initial(top(environment), 5, rng)
    for _ in range(12):
        scene = environment.render(state)
        assert not problems(scene)
        assert all(-1 <= shape.x <= scene.width and 0 <= shape.y <= scene.height for shape in scene.shapes)
        assert sum(shape.id.startswith("value-") for shape in scene.shapes) == 5
        actions = [name for name in environment.library.names[1:4] if environment.library.named(name).atomic]
        legal = [name for name in actions if environment.pre(name, state)]
        if legal:
            state = environment.act(state, legal[rng.integers(len(legal))])


@every(SORTS)
@pytest.mark.parametrize("text", ["", "3 x", "1.5"])
def test_text_that_cannot_be_read(environment, text):
    with pytest.raises(UsageError, match="write for example"):
        environment.parse(top(environment), text)
