"""Built-in environments that are proved by machine: right solutions are, in seconds, and those with a slip are not."""

from __future__ import annotations

import pytest

from alphanpi.environment.registry import make
from alphanpi.environment.specification import STOP
from alphanpi.network.decisions import Decisions
from alphanpi.proof.bodies import show_body
from alphanpi.proof.prover import prove_programs
from tests.environments.test_addition import SOLUTIONS as ADDITION
from tests.environments.test_addition import add_column
from tests.helpers.solutions import ScriptedEvaluator, insert, insertion_sort, merge_sort, quicksort


def decisions(environment, solutions):
    return Decisions(environment.library, ScriptedEvaluator(environment, solutions))


def inserts_one_place_only(see, size):
    if see.last_is_smaller:
        yield "SWAP"
    yield STOP


def does_not_insert(see, size):
    if see.several:
        yield "INSERTION_SORT on front"
    yield STOP


def inserts_first(see, size):
    if see.several:
        yield "INSERT"
        yield "INSERTION_SORT on front"
    yield STOP


def forgets_a_carry(see, size):
    """Only where a nine is added to a nine and a carry."""
    if see.first_9 and see.second_9 and see.carry_in:
        yield "WRITE(9)"
        yield STOP
    yield from add_column(see, size)


INSERTION_SORT = {"INSERT": insert, "INSERTION_SORT": insertion_sort}
RIGHT = {"insertion-sort": INSERTION_SORT, "addition": ADDITION}
SLIPS = [
    ("insertion-sort", {"INSERT": inserts_one_place_only}, "INSERT"),
    ("insertion-sort", {"INSERTION_SORT": does_not_insert}, "INSERTION_SORT"),
    ("insertion-sort", {"INSERTION_SORT": inserts_first}, "INSERTION_SORT"),
    ("addition", {"ADD_COLUMN": forgets_a_carry}, "ADD_COLUMN"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_right_solutions_are_proved(name):
    environment = make(name)
    proofs = prove_programs(environment, decisions(environment, RIGHT[name]))
    assert {name: proof.reasons for name, proof in proofs.items() if not proof.proved} == {}


@pytest.mark.parametrize(("name", "slip", "program"), SLIPS)
def test_solutions_with_a_slip_are_not(name, slip, program):
    environment = make(name)
    shown = show_body(environment, decisions(environment, {**RIGHT[name], **slip}), program, {})
    assert any("post-condition" in shortfall.text for shortfall in shown.shortfalls)


def shortfalls(name, program, solution):
    environment = make(name)
    evaluator = ScriptedEvaluator(environment, {program: solution})
    return show_body(environment, Decisions(environment.library, evaluator), program, {}).shortfalls


def sorts_without_partition(see, size):
    if see.several:
        yield "QUICKSORT on left"
        yield "QUICKSORT on right"
    yield STOP


def test_sorting_both_parts_is_proved_whatever_partitions_and_merges():
    assert not shortfalls("quicksort", "QUICKSORT", quicksort)
    assert not shortfalls("merge-sort", "MERGE_SORT", merge_sort)


def test_sorting_parts_that_are_no_partition_is_not():
    assert shortfalls("quicksort", "QUICKSORT", sorts_without_partition)
