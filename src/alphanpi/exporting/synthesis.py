"""The search for the shortest structured program that does what a tree says.

A partial program is known by what it leaves to be done. From there, each statement that fits leads to another such
tree, at the price of its length; Dijkstra's algorithm finds the cheapest way to a tree where all that is left is STOP.
The bodies of branches and loops are found in the same way, with less patience.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from alphanpi.exporting.blocks import Block, Do, Entrance, If, Return, Statement, While, acts, complete, loop_head
from alphanpi.exporting.clock import Clock
from alphanpi.exporting.conditions import Comparison, Separator
from alphanpi.exporting.tree import EMPTY, Futures

_PATIENCE = (1500, 40, 14)  # trees looked at, by nesting
_LESS_PATIENCE = (80, 16, 6)  # where trees are large
_LARGE = 100  # letters
_HASTE = 2.0  # where trees are large, what is ahead counts more than what is behind
_MOST_EFFORT = 250_000
_LOOP_EFFORT = 10
_TESTS = 6  # tried where the next action does not tell observations apart
_ELSE = 0.5
LOOP = 2.0
_PLAIN = 3.0  # cost of a condition above which its length counts less: once it is long, structure matters more
_DISCOUNT = 0.25


class Partial(NamedTuple):
    """Code, its cost, and what it leaves to be done."""

    cost: float
    block: Block
    rest: int


class Synthesiser:
    """Finds code for trees of one forest."""

    def __init__(self, forest: Futures, tests: Separator, loops: bool, clock: Clock) -> None:
        self.forest = forest
        self.tests = tests
        self.loops = loops
        self._clock = clock
        large = len(tests.letters) > _LARGE
        self.most_effort: float = _MOST_EFFORT
        self.patience: tuple[int, ...] = _LESS_PATIENCE if large else _PATIENCE
        self.haste = _HASTE if large else 1.0
        self.bound = math.inf  # cost from which on nothing is looked at
        self._effort = 0  # branches of trees looked at
        self._bodies: dict[tuple[int, int, frozenset[str] | None], list[Partial]] = {}
        self._separations: dict[tuple[int, int], float] = {}

    def program(self, tree: int, limit: float = math.inf) -> Block | None:
        """Code that does exactly what the tree says; None if the search finds none that costs less than the limit."""
        found = self.found(tree, limit)
        if found is not None or limit < math.inf:
            return found
        return complete(self.forest, self.tests, self.unfolded(tree), tree).block

    def found(self, tree: int, limit: float) -> Block | None:
        """Code that the search finds, if it does and that costs less than the limit."""
        for found in self._reach(tree, 0):
            if found.cost >= limit:
                break
            if self.forest.ended(found.rest):
                return complete(self.forest, self.tests, found.block, tree).block
        return None

    def unfolded(self, tree: int) -> Block:
        """Code without shared continuations, which always exists but may be long."""
        forest = self.forest
        if forest.ended(tree):
            return (Return(),)
        actions = forest.actions(tree)
        if len(actions) == 1:
            after = forest.after(tree)
            if after is not None:
                return (Do(next(iter(actions))), *self.unfolded(after))
        chooser = min(self._choosers(tree), key=lambda chooser: (self._separation(tree, chooser), str(chooser)))
        yes, no = forest.split(tree, chooser)
        return (If(chooser, self.unfolded(yes), self.unfolded(no)),)

    def _reach(self, tree: int, nesting: int, closing: frozenset[str] | None = None) -> Iterator[Partial]:
        """Partial programs in the order of their cost, the empty one first.

        None goes on where nothing but what closes a loop is left: another round would begin.
        """
        number = count()
        queue = [(0.0, next(number), Partial(0.0, (), tree))]
        settled: set[int] = set()
        while queue and len(settled) < self.patience[nesting] and self._effort < self.most_effort:
            self._clock.check()
            _, _, found = heapq.heappop(queue)
            if found.rest in settled:
                continue
            settled.add(found.rest)
            yield found
            if found.rest == EMPTY:
                continue
            if closing is not None and acts(found.block) and self.forest.kinds(found.rest) <= closing:
                continue
            for step in self._statements(found.rest, nesting, closing):
                if step.rest not in settled:
                    longer = Partial(found.cost + step.cost, found.block + step.block, step.rest)
                    ahead = 0.0 if nesting else self.haste * self._ahead(longer.rest)
                    if closing is not None:
                        ahead = float(len(self.forest.kinds(longer.rest) - closing)) + (not acts(longer.block))
                    if longer.cost >= self.bound:
                        continue
                    heapq.heappush(queue, (longer.cost + ahead, next(number), longer))

    def _ahead(self, tree: int) -> float:
        """The least that the rest of a program can cost: every action in it, and a branch if there is a choice."""
        return len(self.forest.actions_in(tree)) + 1.9 * (len(self.forest.actions(tree)) > 1)

    def _body(self, tree: int, nesting: int, closing: frozenset[str] | None = None) -> list[Partial]:
        key = (tree, nesting, closing)
        if key not in self._bodies:
            self._bodies[key] = [found for found in self._reach(tree, nesting, closing) if found.block]
        return self._bodies[key]

    def _statements(self, tree: int, nesting: int, closing: frozenset[str] | None) -> Iterator[Partial]:
        forest = self.forest
        actions = forest.actions(tree)
        if forest.ended(tree):
            if nesting:
                yield Partial(1.0, (Return(),), EMPTY)
            return
        if len(actions) == 1:
            after = forest.after(tree)
            if after is not None:
                yield Partial(1.0, (Do(next(iter(actions))),), after)
                if self.loops and nesting + 1 < len(self.patience):
                    for body in self._body(tree, nesting + 1):
                        yield from self._loop(tree, Entrance(actions), body)
                return
        if nesting + 1 < len(self.patience):
            for chooser in self._choosers(tree):
                yield from self._branches(tree, chooser, nesting, closing)

    def _choosers(self, tree: int) -> list[Entrance]:
        """Ways to tell observations apart: by the action that follows, or where that does not help, by a test."""
        actions = sorted(self.forest.actions(tree))
        if len(actions) > 1:
            single = [frozenset((action,)) for action in actions]
            return [Entrance(chosen) for chosen in (*single, *(frozenset(actions) - one for one in single))]
        letters = self.forest[tree]
        useful = [test for test in self.tests.all if 0 < sum(map(test.holds, letters)) < len(letters)]
        useful = [test for test in useful if test.operator in (">=", "==") and test.value != 0]
        useful.sort(key=lambda test: self._disorder(tree, test))
        return [Entrance(test=test) for test in useful[:_TESTS]]

    def _disorder(self, tree: int, test: Comparison) -> int:
        """How many branches would still have to be told apart after a test, on the worse side."""
        sides: tuple[set[int], set[int]] = set(), set()
        for letter, move in self.forest[tree].items():
            sides[test.holds(letter)].add(move.following)
        return sum(len(side) for side in sides if self.forest.union(side) is None)

    def _branches(
        self, tree: int, chooser: Entrance, nesting: int, closing: frozenset[str] | None
    ) -> Iterator[Partial]:
        forest = self.forest
        self._clock.check()
        self._effort += self.effort(tree)
        yes, no = forest.split(tree, chooser)
        price = 1.0 + self._separation(tree, chooser)
        inside = self._body(yes, nesting + 1, closing)
        for body in inside:
            joined = forest.merge(body.rest, no)
            if joined is not None:
                yield self._one(price + body.cost, If(chooser, body.block, ()), joined)
            if self.loops:
                yield from self._loop(tree, chooser, body)
        if chooser.actions and min(forest.kinds(no)) < min(chooser.actions):
            return  # the same with `if` and `else` exchanged is another chooser
        for body in inside:
            for other in self._body(no, nesting + 1, closing):
                joined = forest.merge(body.rest, other.rest)
                if joined is not None:
                    total = price + _ELSE + body.cost + other.cost
                    yield self._one(total, If(chooser, body.block, other.block), joined)

    def _loop(self, tree: int, chooser: Entrance, body: Partial) -> Iterator[Partial]:
        if body.rest == EMPTY or not acts(body.block):
            return
        self._effort += _LOOP_EFFORT * self.effort(tree)
        loop = While(chooser, body.block)
        head = loop_head(self.forest, loop, tree)
        if head is not None:
            _, rest = self.forest.split(head, chooser)
            if rest != EMPTY:
                yield self._one(LOOP + self._separation(head, chooser) + body.cost, loop, rest)

    def effort(self, tree: int) -> int:
        """How much work it is to look at a tree."""
        return len(self.forest[tree])

    def _one(self, price: float, statement: Statement, rest: int) -> Partial:
        return Partial(price, (statement,), rest)

    def _separation(self, tree: int, chooser: Entrance) -> float:
        yes, no = self.forest.split(tree, chooser)
        if (yes, no) not in self._separations:
            condition = self.tests.separate(self.forest[yes], self.forest[no])
            excess = max(0.0, condition.cost - _PLAIN)
            self._separations[yes, no] = condition.cost - (1 - _DISCOUNT) * excess
        return self._separations[yes, no]
