"""The search for code over situations, where a loop is a way back to them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from alphanpi.environment.specification import STOP
from alphanpi.exporting.blocks import Block, Do, Entrance, Return, While, acts, loop_head
from alphanpi.exporting.clock import Clock
from alphanpi.exporting.conditions import Separator
from alphanpi.exporting.situations import Situations
from alphanpi.exporting.synthesis import LOOP, Partial, Synthesiser
from alphanpi.exporting.tree import EMPTY

_PATIENCES = ((400, 100, 8), (400, 40, 14, 8))  # by nesting; what is not nested deeply is found with less
_MOST_EFFORT = 100_000
_FIRST_BOUND = 8.0
_BOUND_GROWTH = 2.5
_LAST_BOUND = 100.0
_HEADS = 6  # sets of situations tried as what a loop's test may meet
_MANY_ACTIONS = 4  # all sets of so many actions are tried as what leads into a loop or branch


class LoopSynthesiser(Synthesiser):
    """Finds code for situations, with loops wherever they make it shorter."""

    def __init__(self, situations: Situations, tests: Separator, clock: Clock) -> None:
        super().__init__(situations, tests, False, clock)
        self.most_effort = _MOST_EFFORT

    def effort(self, tree: int) -> int:
        """The same for all sets of situations: what is known of one is remembered, however many letters it has."""
        return 1

    def found(self, tree: int, limit: float) -> Block | None:
        """Code that costs less than the limit; what is short and hardly nested is looked for first."""
        for self.patience in _PATIENCES:
            self._effort = 0
            bound = _FIRST_BOUND
            while True:
                self.bound = min(bound, limit)
                self._bodies.clear()
                block = super().found(tree, self.bound)
                if block is not None:
                    return block
                if bound >= min(limit, _LAST_BOUND):
                    break
                bound *= _BOUND_GROWTH
        return None

    def _statements(self, tree: int, nesting: int, closing: frozenset[str] | None) -> Iterator[Partial]:
        actions = self.forest.actions(tree)
        if self.forest.ended(tree):
            if nesting:
                yield Partial(1.0, (Return(),), EMPTY)
            return
        after = self.forest.after(tree) if len(actions) == 1 else None
        if after is not None:
            yield Partial(1.0, (Do(next(iter(actions))),), after)
        if nesting + 1 < len(self.patience):
            yield from self._loops(tree, nesting)
            for chooser in self._choosers(tree):
                yield from self._branches(tree, chooser, nesting, closing)

    def _choosers(self, tree: int) -> list[Entrance]:
        kinds = frozenset(self.forest.kinds(tree))
        if len(kinds) > _MANY_ACTIONS:
            single = [frozenset((kind,)) for kind in sorted(kinds)]
            chosen = [*single, *(kinds - one for one in single)]
        else:
            chosen = [frozenset(some) for size in range(1, len(kinds)) for some in combinations(sorted(kinds), size)]
        return [chooser for chooser in map(Entrance, chosen) if EMPTY not in self.forest.split(tree, chooser)]

    def _loops(self, tree: int, nesting: int) -> Iterator[Partial]:
        """Loops that begin here; later rounds may meet more than the first, and the body has to know of it."""
        heads = [tree]
        for head in heads:
            inside = self.forest.kinds(head) - {STOP}
            for chooser in (Entrance(inside), *self._choosers(head)):
                first, _ = self.forest.split(tree, chooser)
                entering, _ = self.forest.split(head, chooser)
                if first == EMPTY or STOP in chooser.actions:
                    continue
                for body in self._body(entering, nesting + 1, inside | {STOP}):
                    if body.rest == EMPTY or not acts(body.block):
                        continue
                    loop = While(chooser, body.block)
                    whole = loop_head(self.forest, loop, tree)
                    if whole is None:
                        widened = self.forest.merge(head, body.rest)
                        if widened is not None and widened not in heads and len(heads) < _HEADS:
                            heads.append(widened)
                        continue
                    _, rest = self.forest.split(whole, chooser)
                    if rest != EMPTY:
                        yield self._one(LOOP + self._separation(whole, chooser) + body.cost, loop, rest)
