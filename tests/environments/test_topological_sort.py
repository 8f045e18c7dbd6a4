"""Topological sorting: what counts as sorted, how it is done by hand, and how graphs are typed and read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.environment.checking import check
from alphanpi.environment.scene import problems
from alphanpi.environments.topological_sort import Graph, TopologicalSort
from alphanpi.errors import UsageError
from tests.helpers.instances import seeds, some
from tests.helpers.solutions import Steps, View, execute

SORTING = TopologicalSort()
SUCCESSORS = ((1, 4), (3, 4), (4,), (), ())


def visit(see: View, size: int) -> Steps:
    while not see.no_child:
        if not see.child_done:
            yield "VISIT on child"
        see = yield "NEXT"
    yield "PUT"
    yield "STOP"


def sort(see: View, size: int) -> Steps:
    while not see.no_child:
        if not see.child_done:
            yield "VISIT on child"
        see = yield "NEXT"
    yield "STOP"


SOLUTIONS = {"VISIT": visit, "TOPOLOGICAL_SORT": sort}


def test_the_specification_has_no_mistakes():
    report = check(SORTING, samples=10)
    assert (report.findings, report.notes) == ((), ())


@given(seed=seeds, size=st.integers(1, 40))
@settings(max_examples=15, deadline=None)
def test_the_textbook_sorts(seed, size):
    for program in SOLUTIONS:
        graph = SORTING.initial(program, size, np.random.default_rng(seed))
        ended = execute(SORTING, program, graph, SOLUTIONS)
        place = {vertex: index for index, vertex in enumerate(ended.order)}
        assert all(place[vertex] < place[one] for vertex in place for one in graph.successors[vertex])
        assert program == "VISIT" or sorted(ended.order) == list(range(size))


def test_a_long_chain_needs_no_python_recursion():
    chain = Graph((*((vertex + 1,) for vertex in range(1499)), ()), (), None, 0)
    assert execute(SORTING, "TOPOLOGICAL_SORT", chain, SOLUTIONS).order == tuple(range(1500))


def test_an_order_is_right_or_not():
    before = Graph(SUCCESSORS, (4,), 1, 0)
    ended = before._replace(looked_at=2)
    assert [after.order for after in SORTING.outcomes("VISIT", before)] == [(1, 3, 4)]
    assert SORTING.post("VISIT", before, ended._replace(order=(1, 3, 4)))
    for order in ((3, 1, 4), (1, 4, 3), (1, 4), (0, 1, 3, 4), (1, 3), (1, 1, 3, 4)):
        assert not SORTING.post("VISIT", before, ended._replace(order=order))
    assert not SORTING.post("VISIT", before, before._replace(order=(1, 3, 4)))
    assert not SORTING.post("VISIT", before, ended._replace(order=(1, 3, 4), vertex=0))
    whole = Graph(SUCCESSORS, (), None, 0)
    orders = {after.order for after in SORTING.outcomes("TOPOLOGICAL_SORT", whole)}
    assert {(0, 1, 3, 2, 4), (2, 0, 1, 4, 3)} <= orders
    assert (0, 1, 4, 2, 3) not in orders
    assert all(SORTING.post("TOPOLOGICAL_SORT", whole, whole._replace(order=order, looked_at=5)) for order in orders)


def test_a_visit_of_a_child_makes_less_to_do():
    before = Graph(SUCCESSORS, (), 0, 1)
    inner = SORTING.enter(before, "VISIT on child", "VISIT")
    assert inner == Graph(SUCCESSORS, (), 4, 0)
    assert SORTING.measure("VISIT", inner) == 1 < SORTING.measure("VISIT", before) == 4
    assert SORTING.leave(before, inner._replace(order=(4,)), "VISIT on child", "VISIT") == before._replace(order=(4,))
    assert not SORTING.pre("VISIT on child", before._replace(order=(4,)), "VISIT")
    assert not SORTING.pre("VISIT on child", before._replace(looked_at=2), "VISIT")
    assert not SORTING.pre("VISIT on child", before._replace(order=(0,)), "VISIT")


@pytest.mark.parametrize(("size", "orders"), [(0, 1), (1, 1), (2, 3), (3, 19), (4, 219)])
def test_enumeration_knows_all_partial_orders(size, orders):
    graphs = list(SORTING.enumerate("TOPOLOGICAL_SORT", size))
    assert len(set(graphs)) == len(graphs) == orders


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_enumerated_visits_may_begin(size):
    graphs = list(SORTING.enumerate("VISIT", size))
    assert len(set(graphs)) == len(graphs)
    for graph in graphs:
        assert SORTING.pre("VISIT", graph)
        assert SORTING.size(graph) == size
        assert execute(SORTING, "VISIT", graph, SOLUTIONS) in set(SORTING.outcomes("VISIT", graph))


def test_graphs_are_typed_and_read():
    graph = SORTING.parse("TOPOLOGICAL_SORT", "1:2,5 2:4,5 3:5")
    assert graph == Graph(SUCCESSORS, (), None, 0)
    assert SORTING.parse("TOPOLOGICAL_SORT", "1:2 1:5 2:5,4 3:5,5") == graph
    assert SORTING.parse("VISIT", "2:4,5 1:2,5 3:5") == graph._replace(vertex=1)
    assert SORTING.format(graph._replace(vertex=0, looked_at=1, order=(3,))) == "1 -> 2 [5]   done: 4"
    ended = execute(SORTING, "TOPOLOGICAL_SORT", graph, SOLUTIONS)
    assert SORTING.result("TOPOLOGICAL_SORT", ended, ()) == "3 1 2 5 4"


@pytest.mark.parametrize("text", ["", "a:b", "1:", "0:1", "1:2:3", "1:2 2:1", "1:1", "1:-2", "1:9999999"])
def test_graphs_that_cannot_be_read(text):
    if text == "1:":  # a vertex without successors
        assert SORTING.parse("VISIT", text).successors == ((),)
        return
    with pytest.raises(UsageError, match="topological-sort"):
        SORTING.parse("TOPOLOGICAL_SORT", text)


@given(seed=seeds, size=st.integers(1, 30))
@some
def test_every_graph_has_a_picture(seed, size):
    graph = SORTING.initial("VISIT", size, np.random.default_rng(seed))
    scene = SORTING.render(graph)
    assert problems(scene) == []
    assert {f"done-{vertex}" for vertex in graph.order} <= {shape.id for shape in scene.shapes}
