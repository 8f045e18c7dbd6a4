"""Trees of what a program does after which observations, with equal subtrees stored once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from alphanpi.environment.specification import STOP
from alphanpi.exporting.conditions import Letter


class Move(NamedTuple):
    """An action and the tree of what follows it."""

    action: str
    following: int


class TraceStep(NamedTuple):
    """One step of a call: what it saw, and what it did."""

    letter: Letter
    action: str


CallTrace = tuple[TraceStep, ...]


class Futures(Protocol):
    """What is left to be done at a place in code, by number: by letter, the action to be taken and what follows it."""

    def __getitem__(self, tree: int) -> dict[Letter, Move]:
        """What is done after which letter, and what follows."""

    def merge(self, one: int, other: int) -> int | None:
        """Everything in either; None where they contradict each other."""

    def union(self, trees: Iterable[int]) -> int | None:
        """The merge of many."""

    def after(self, tree: int) -> int | None:
        """What follows the next action, whatever was seen; None where that depends on what was seen."""

    def split(self, tree: int, chosen: Callable[[Letter, str], bool]) -> tuple[int, int]:
        """The part for which the test holds, and the other."""

    def actions(self, tree: int) -> frozenset[str]:
        """The actions that may come next."""

    def kinds(self, tree: int) -> frozenset[str]:
        """What may come next as `split` tells it apart: actions, or finer."""

    def actions_in(self, tree: int) -> frozenset[str]:
        """The actions that may come now or later, without STOP."""

    def ended(self, tree: int) -> bool:
        """Whether nothing but STOP comes next."""


EMPTY = 0
"""Nothing that could be left to be done: where no run comes."""


class Forest:
    """Trees by number; a tree maps each observation that can come next to the action taken and what follows."""

    def __init__(self) -> None:
        self._trees: list[dict[Letter, Move]] = [{}]
        self._numbers: dict[frozenset[tuple[Letter, Move]], int] = {frozenset(): EMPTY}
        self._merged: dict[tuple[int, int], int | None] = {}
        self._remaining: dict[int, frozenset[str]] = {EMPTY: frozenset()}

    def __getitem__(self, tree: int) -> dict[Letter, Move]:
        return self._trees[tree]

    def plant(self, moves: dict[Letter, Move]) -> int:
        """The number of the tree with these branches."""
        key = frozenset(moves.items())
        if key not in self._numbers:
            self._numbers[key] = len(self._trees)
            self._trees.append(moves)
        return self._numbers[key]

    def grow(self, traces: Iterable[CallTrace]) -> int | None:
        """The tree of all traces; None if two of them see the same and then do different things."""
        root = _nested(traces)
        if root is None:
            return None
        order = [root]  # callers before what they lead to; no recursion, since traces may be long
        for nested in order:
            order += [branch.following for branch in nested.values()]
        numbers: dict[int, int] = {}
        for nested in reversed(order):
            moves = {letter: Move(branch.action, numbers[id(branch.following)]) for letter, branch in nested.items()}
            numbers[id(nested)] = self.plant(moves)
        return numbers[id(root)]

    def merge(self, one: int, other: int) -> int | None:
        """The tree of everything in either; None where they contradict each other."""
        if one == other or other == EMPTY:
            return one
        if one == EMPTY:
            return other
        key = (min(one, other), max(one, other))
        if key not in self._merged:
            self._merged[key] = self._merge(one, other)
        return self._merged[key]

    def _merge(self, one: int, other: int) -> int | None:
        small, large = sorted((self._trees[one], self._trees[other]), key=len)
        shared = [letter for letter in small if letter in large]
        if any(small[letter].action != large[letter].action for letter in shared):
            return None
        moves = {**large, **small}
        for letter in shared:
            following = self.merge(small[letter].following, large[letter].following)
            if following is None:
                return None
            moves[letter] = Move(small[letter].action, following)
        return self.plant(moves)

    def actions(self, tree: int) -> frozenset[str]:
        """The actions that may come next."""
        return frozenset(move.action for move in self._trees[tree].values())

    def kinds(self, tree: int) -> frozenset[str]:
        """The same, since actions are all that is told apart."""
        return self.actions(tree)

    def ended(self, tree: int) -> bool:
        """Whether nothing but STOP comes next."""
        return all(move.action == STOP for move in self._trees[tree].values())

    def split(self, tree: int, chosen: Callable[[Letter, str], bool]) -> tuple[int, int]:
        """The branches for which the test holds, and the others."""
        yes = {letter: move for letter, move in self._trees[tree].items() if chosen(letter, move.action)}
        no = {letter: move for letter, move in self._trees[tree].items() if letter not in yes}
        return self.plant(yes), self.plant(no)

    def after(self, tree: int) -> int | None:
        """What follows the next action, whatever was seen; None where that depends on what was seen."""
        return self.union({move.following for move in self._trees[tree].values()})

    def union(self, trees: Iterable[int]) -> int | None:
        """The merge of many trees."""
        together = EMPTY
        for tree in sorted(trees):
            merged = self.merge(together, tree)
            if merged is None:
                return None
            together = merged
        return together

    def actions_in(self, tree: int) -> frozenset[str]:
        """The actions that may come now or later, without STOP."""
        pending = [] if tree in self._remaining else [tree]
        while pending:
            here = pending[-1]
            moves = self[here].values()
            unknown = {move.following for move in moves} - self._remaining.keys()
            if unknown:
                pending += unknown
                continue
            pending.pop()
            inside = {move.action for move in moves}.union(*(self._remaining[move.following] for move in moves))
            self._remaining[here] = frozenset(inside - {STOP})
        return self._remaining[tree]

    def letters(self, tree: int) -> Iterator[Letter]:
        """Every letter that occurs in a tree, possibly more than once."""
        seen, pending = {tree}, [tree]
        while pending:
            for letter, move in self._trees[pending.pop()].items():
                yield letter
                if move.following not in seen:
                    seen.add(move.following)
                    pending.append(move.following)


class _Branch(NamedTuple):
    action: str
    following: dict[Letter, _Branch]


def _nested(traces: Iterable[CallTrace]) -> dict[Letter, _Branch] | None:
    root: dict[Letter, _Branch] = {}
    for trace in traces:
        here = root
        for letter, action in trace:
            branch = here.get(letter)
            if branch is None:
                branch = here[letter] = _Branch(action, {})
            elif branch.action != action:
                return None
            here = branch.following
    return root


def consistent(traces: Iterable[CallTrace]) -> bool:
    """Whether no two traces see the same and then do different things."""
    return _nested(traces) is not None


def projected(traces: Collection[CallTrace], kept: Sequence[int]) -> set[CallTrace]:
    """The traces with only some of the features."""
    shorter: dict[TraceStep, TraceStep] = {}
    for trace in traces:
        for step in trace:
            if step not in shorter:
                shorter[step] = TraceStep(tuple(step.letter[index] for index in kept), step.action)
    return {tuple(shorter[step] for step in trace) for trace in traces}
