"""Topological sorting: the vertices of a directed graph without cycles, each before all that it leads to.

Depth first, as in textbooks. A visit of a vertex looks at its successors one after the other, visits those that are not
done yet, and then puts the vertex in front of the order. The vertex that is looked at is a part of the problem: visits
are called on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program, subproblem
from alphanpi.environments.graph_picture import layers, picture
from alphanpi.errors import UsageError

_EXAMPLE = "write each vertex with its successors, for example 1:2,5 2:4,5 3:5"
_MOST_VERTICES = 100_000


class Graph(NamedTuple):
    """A graph, the vertices that are done, and the one that is visited.

    The graph as a whole, `vertex` None, leads to all its vertices.
    """

    successors: tuple[tuple[int, ...], ...]  # by vertex
    order: tuple[int, ...]  # those done; each comes before its successors
    vertex: int | None
    looked_at: int  # successors that have been dealt with

    @property
    def ahead(self) -> Sequence[int]:
        """The vertices that the current one leads to."""
        return range(len(self.successors)) if self.vertex is None else self.successors[self.vertex]

    @property
    def child(self) -> int | None:
        """The one of them that is looked at."""
        return self.ahead[self.looked_at] if self.looked_at < len(self.ahead) else None

    def to_do(self) -> set[int]:
        """The vertices that the current one leads to, itself included, and that are not done yet."""
        done = set(self.order)
        found: set[int] = set()
        waiting = [*self.ahead] if self.vertex is None else [self.vertex]
        while waiting:
            vertex = waiting.pop()
            if vertex not in done and vertex not in found:
                found.add(vertex)
                waiting += self.successors[vertex]
        return found


def at_child(graph: Graph) -> Graph | None:
    """The graph as a visit of the vertex that is looked at finds it; a vertex that is done calls for no more."""
    if graph.child is None or graph.vertex in graph.order:
        return None
    return graph._replace(vertex=graph.child, looked_at=0)


def back(caller: Graph, callee: Graph) -> Graph:
    """The caller goes on where it was."""
    return callee._replace(vertex=caller.vertex, looked_at=caller.looked_at)


def sorted_before(before: Graph, after: Graph) -> bool:
    """All vertices to be done, and no others, were put in front of the order, each before its successors."""
    new = after.order[: len(after.order) - len(before.order)]
    place = {vertex: index for index, vertex in enumerate(after.order)}
    return (
        after == before._replace(order=new + before.order, looked_at=len(before.ahead))
        and len(new) == len(set(new))
        and set(new) == before.to_do()
        and all(place[vertex] < place[successor] for vertex in new for successor in before.successors[vertex])
    )


class TopologicalSort(Environment[Graph]):
    """Topological sorting of a directed graph, depth first."""

    fields = ("child_done", "no_child")
    size_unit = ("vertex", "vertices")
    train_sizes: ClassVar = (1, 2, 3, 4)
    validation_size: ClassVar = 6
    test_sizes: ClassVar = (10, 40, 100, 1000)

    child = subproblem(enter=at_child, leave=back)

    @action(pre=lambda graph: graph.child is not None)
    def NEXT(self, graph: Graph) -> Graph:
        """Look at the next vertex."""
        return graph._replace(looked_at=graph.looked_at + 1)

    @action(pre=lambda graph: graph.vertex is not None and graph.vertex not in graph.order)
    def PUT(self, graph: Graph) -> Graph:
        """Put the vertex that is visited in front of the order."""
        assert graph.vertex is not None
        return graph._replace(order=(graph.vertex, *graph.order))

    @program(
        level=1,
        depth=lambda graph: 2 * len(graph.ahead) + 2,
        pre=lambda graph: graph.vertex is not None and graph.looked_at == 0 and graph.vertex not in graph.order,
        recursive=child,
    )
    def VISIT(self, before: Graph, after: Graph) -> bool:
        """Put a vertex and all it leads to in front of the order."""
        return sorted_before(before, after)

    @program(
        level=2,
        depth=lambda graph: 2 * len(graph.ahead) + 1,
        pre=lambda graph: graph.vertex is None and graph.looked_at == 0,
        on={"VISIT": child},
    )
    def TOPOLOGICAL_SORT(self, before: Graph, after: Graph) -> bool:
        """Bring all vertices in an order in which each comes before its successors."""
        return sorted_before(before, after)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Graph:
        """A random graph; before a visit, some vertices with all they lead to are done."""
        position = rng.permutation(size)  # of each vertex, in an order that nobody sees
        share = min(0.5, 3 / size)  # of the pairs that are joined
        successors = tuple(
            tuple(other for other in range(size) if position[vertex] < position[other] and rng.random() < share)
            for vertex in range(size)
        )
        graph = Graph(successors, (), None, 0)
        if program == "TOPOLOGICAL_SORT":
            return graph
        vertex, *others = rng.permutation(size).tolist()
        for other in others[: int(rng.integers(size))]:
            ahead = graph._replace(vertex=other).to_do()
            if vertex not in ahead:
                done = sorted(ahead, key=lambda one: position[one])
                graph = graph._replace(order=(*done, *graph.order))
        return graph._replace(vertex=vertex)

    def enumerate(self, program: str, size: int) -> Iterator[Graph]:
        """All partial orders of the vertices that are looked at; before a visit, each with all that may be done.

        A visit of a vertex does all that it leads to. So what is seen in a call depends on which of the vertices that
        are looked at lead to which others, in whatever way, and on those that are done: an edge may stand for the way.
        """
        if program == "TOPOLOGICAL_SORT":
            for successors in _partial_orders(size):
                yield Graph(successors, (), None, 0)
            return
        for ahead in range(size):  # vertex 0 leads to the next ones, and the others stand alone
            for successors in _partial_orders(ahead):
                later = tuple(tuple(vertex + 1 for vertex in found) for found in successors)
                graph = Graph((tuple(range(1, ahead + 1)), *later, *((),) * (size - ahead - 1)), (), 0, 0)
                for done in product((False, True), repeat=ahead):
                    order = sorted((one + 1 for one in range(ahead) if done[one]), key=lambda one: -len(later[one - 1]))
                    if all(one in order for vertex in order for one in later[vertex - 1]):
                        yield graph._replace(order=tuple(order))

    def outcomes(self, program: str, before: Graph) -> Iterator[Graph]:
        """Every order of the vertices to be done in which each comes before its successors."""
        ended = before._replace(looked_at=len(before.ahead))
        for new in permutations(sorted(before.to_do())):
            place = {vertex: index for index, vertex in enumerate(new)}
            if all(place[vertex] < place.get(one, len(new)) for vertex in new for one in before.successors[vertex]):
                yield ended._replace(order=new + before.order)

    def observe(self, graph: Graph) -> tuple[bool, ...]:
        """Whether the vertex that is looked at is done, and whether there is none left."""
        return graph.child in graph.order, graph.child is None

    def size(self, graph: Graph) -> int:
        """Number of vertices."""
        return len(graph.successors)

    def measure(self, program: str, graph: Graph) -> int:
        """Vertices that are still to be done by a visit."""
        return len(graph.to_do())

    def parse(self, program: str, text: str) -> Graph:
        """Read vertices, numbered from 1, with their successors; a visit begins at the one that is written first."""
        listed: dict[int, set[int]] = {}
        for word in text.split():
            vertex, _, successors = word.partition(":")
            numbers = [vertex, *successors.split(",")] if successors else [vertex]
            if not all(number.isdecimal() and int(number) > 0 for number in numbers):
                raise UsageError(f"topological-sort: cannot read {word!r}; {_EXAMPLE}")
            first, *others = (int(number) - 1 for number in numbers)
            listed.setdefault(first, set()).update(others)
        if not listed:
            raise UsageError(f"topological-sort: no vertex; {_EXAMPLE}")
        count = 1 + max(max(vertex, *others) if others else vertex for vertex, others in listed.items())
        if count > _MOST_VERTICES:
            raise UsageError(f"topological-sort: vertices are numbered from 1 to {_MOST_VERTICES:,} at most")
        found = tuple(tuple(sorted(listed.get(vertex, ()))) for vertex in range(count))
        if layers(found) is None:
            raise UsageError("topological-sort: some edges lead in a circle, so there is no such order")
        return Graph(found, (), None if program == "TOPOLOGICAL_SORT" else next(iter(listed)), 0)

    def format(self, graph: Graph) -> str:
        """The order so far, and where the visit is."""
        vertices = range(len(graph.successors)) if graph.vertex is None else graph.ahead
        looked_at = [f"[{one + 1}]" if place == graph.looked_at else f"{one + 1}" for place, one in enumerate(vertices)]
        here = "" if graph.vertex is None else f"{graph.vertex + 1} "
        return f"{here}-> {' '.join(looked_at) or '-'}   done: {self.result('', graph, ()) or '-'}"

    def result(self, program: str, final: Graph, actions: Sequence[Any]) -> str:
        """The order."""
        return " ".join(str(vertex + 1) for vertex in final.order)

    def render(self, graph: Graph) -> Scene:
        """The graph from left to right, and the order below it."""
        return picture(graph.successors, graph.order, graph.vertex, graph.child)


def _partial_orders(size: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All partial orders of some vertices, given by the later ones of each."""
    if size == 0:
        yield ()
        return
    for smaller in _partial_orders(size - 1):
        for places in product("<>|", repeat=size - 1):  # before the last vertex, after it, or neither
            before = {vertex for vertex, place in enumerate(places) if place == "<"}
            after = {vertex for vertex, place in enumerate(places) if place == ">"}
            if all(
                after.issubset(later) if vertex in before else before.isdisjoint(later)
                for vertex, later in enumerate(smaller)
            ) and all(after.issuperset(smaller[vertex]) for vertex in after):
                with_last = ((*later, size - 1) if vertex in before else later for vertex, later in enumerate(smaller))
                yield (*with_last, tuple(sorted(after)))
