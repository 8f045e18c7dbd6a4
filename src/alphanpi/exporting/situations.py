"""What a program does of which only the last steps count: situations, of which finitely many come back again and again.

An agent with a window knows a state, made of its last steps, and what it sees now, the letter. Both are a situation:
they decide the action, and a run is a path from situation to situation. A place in code is known by the situations a
run can be in there, as it is by a tree where an agent remembers everything; so code is found in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations
from operator import or_

from alphanpi.environment.specification import STOP
from alphanpi.exporting.conditions import Letter
from alphanpi.exporting.contexts import ContextTrace
from alphanpi.exporting.tree import EMPTY, CallTrace, Move, TraceStep

_MOST_STATES = 30  # of which pairs are looked at


def as_single_steps(traces: Iterable[ContextTrace]) -> set[CallTrace]:
    """Every step as a call of its own that sees its state first: consistent if state and letter decide the move.

    States that contradict each other nowhere are shown as one as well, so that whoever drops features keeps that.
    """
    tables: dict[int, dict[Letter, str]] = {}
    for trace in traces:
        for state, letter, _, move in trace:
            tables.setdefault(state, {})[letter] = move
    groups = [*tables.values()]
    if len(groups) <= _MOST_STATES:
        groups += [
            {**one, **other}
            for one, other in combinations(tables.values(), 2)
            if all(one[letter] == other[letter] for letter in one.keys() & other.keys())
        ]
    return {
        (TraceStep((number, *letter), move),) for number, table in enumerate(groups) for letter, move in table.items()
    }


class Situations:
    """Sets of situations, as integers with a bit for each."""

    def __init__(self) -> None:
        self._letters: list[Letter] = []
        self._actions: list[str] = []
        self._kinds: list[str] = []
        self._following: list[int] = []
        self._rivals: list[int] = []  # situations that look the same, in which something else is done
        self._known_rivals: dict[int, int] = {}
        self._known_after: dict[int, int | None] = {}
        self._next_kinds: dict[int, frozenset[str]] = {}
        self._next_actions: dict[int, frozenset[str]] = {}
        self._moves: dict[int, dict[Letter, Move]] = {}
        self._splits: dict[tuple[int, Callable[[Letter, str], bool]], tuple[int, int]] = {}
        self._remaining: dict[int, frozenset[str]] = {}

    def grow(self, traces: Iterable[ContextTrace], kept: Collection[int], coarse: bool) -> int | None:
        """The situations in which calls begin, with some features alone; None where these do not decide the move.

        Coarse ones follow each other wherever some with the same states and moves do, whatever is seen in them.
        """
        numbers: dict[tuple[int, Letter], int] = {}
        beginning = 0
        for trace in traces:
            before: int | None = None
            for state, whole, action, move in trace:
                letter = tuple(whole[place] for place in kept)
                here = numbers.setdefault((state, letter), len(numbers))
                if here == len(self._letters):
                    self._letters.append(letter)
                    self._actions.append(action)
                    self._kinds.append(move)
                    self._following.append(0)
                if self._kinds[here] != move:
                    return None
                if before is None:
                    beginning |= 1 << here
                else:
                    self._following[before] |= 1 << here
                before = here
        if coarse:
            beginning = self._coarsened(list(numbers), beginning)
        same: dict[Letter, int] = {}
        doing: dict[tuple[Letter, str], int] = {}
        for number, (letter, action) in enumerate(zip(self._letters, self._actions, strict=True)):
            same[letter] = same.get(letter, 0) | 1 << number
            doing[letter, action] = doing.get((letter, action), 0) | 1 << number
        self._rivals = [
            same[letter] & ~doing[letter, action] for letter, action in zip(self._letters, self._actions, strict=True)
        ]
        return beginning

    def _coarsened(self, situations: Sequence[tuple[int, Letter]], beginning: int) -> int:
        kinds: dict[tuple[int, str], int] = {}
        for number, (state, _) in enumerate(situations):
            kind = (state, self._kinds[number])
            kinds[kind] = kinds.get(kind, 0) | 1 << number

        def widened(tree: int) -> int:
            return reduce(or_, (members for members in kinds.values() if members & tree), 0)

        for members in kinds.values():
            following = widened(self._after(members))
            for number in self._members(members):
                self._following[number] = following
        return widened(beginning)

    def _members(self, tree: int) -> Iterator[int]:
        while tree:
            lowest = tree & -tree
            yield lowest.bit_length() - 1
            tree ^= lowest

    def __getitem__(self, tree: int) -> dict[Letter, Move]:
        if tree not in self._moves:
            moves: dict[Letter, Move] = {}
            for number in self._members(tree):
                letter, following = self._letters[number], self._following[number]
                if letter in moves:
                    following |= moves[letter].following
                moves[letter] = Move(self._actions[number], following)
            self._moves[tree] = moves
        return self._moves[tree]

    def merge(self, one: int, other: int) -> int | None:
        """All situations of either; None where some look the same and ask for different actions."""
        return None if self._rivals_of(one) & other else one | other

    def _rivals_of(self, tree: int) -> int:
        if tree not in self._known_rivals:
            self._known_rivals[tree] = reduce(or_, (self._rivals[number] for number in self._members(tree)), 0)
        return self._known_rivals[tree]

    def union(self, trees: Iterable[int]) -> int | None:
        """The merge of many sets."""
        together = EMPTY
        for tree in trees:
            merged = self.merge(together, tree)
            if merged is None:
                return None
            together = merged
        return together

    def after(self, tree: int) -> int | None:
        """What follows the next action, whatever was seen; None where that depends on what was seen."""
        if tree not in self._known_after:
            following = self._after(tree)
            self._known_after[tree] = self.merge(following, following)
        return self._known_after[tree]

    def _after(self, tree: int) -> int:
        return reduce(or_, (self._following[number] for number in self._members(tree)), 0)

    def actions(self, tree: int) -> frozenset[str]:
        """The actions that may come next."""
        if tree not in self._next_actions:
            self._next_actions[tree] = frozenset(self._actions[number] for number in self._members(tree))
        return self._next_actions[tree]

    def kinds(self, tree: int) -> frozenset[str]:
        """The moves that may come next: actions and, where it matters, the states they lead to."""
        if tree not in self._next_kinds:
            self._next_kinds[tree] = frozenset(self._kinds[number] for number in self._members(tree))
        return self._next_kinds[tree]

    def ended(self, tree: int) -> bool:
        """Whether nothing but STOP comes next."""
        return self.actions(tree) <= {STOP}

    def split(self, tree: int, chosen: Callable[[Letter, str], bool]) -> tuple[int, int]:
        """The situations for which the test holds, with others that look the same, and the rest."""
        key = (tree, chosen)
        if key not in self._splits:
            members = list(self._members(tree))
            letters = {self._letters[one] for one in members if chosen(self._letters[one], self._kinds[one])}
            yes = reduce(or_, (1 << one for one in members if self._letters[one] in letters), 0)
            self._splits[key] = (yes, tree & ~yes)
        return self._splits[key]

    def reachable(self, tree: int) -> int:
        """These situations and all that can come later."""
        found, pending = tree, tree
        while pending:
            pending = self._after(pending) & ~found
            found |= pending
        return found

    def actions_in(self, tree: int) -> frozenset[str]:
        """The actions that may come now or later, without STOP."""
        if tree not in self._remaining:
            self._remaining[tree] = self.actions(self.reachable(tree)) - {STOP}
        return self._remaining[tree]

    def letters(self, tree: int) -> Iterator[Letter]:
        """Every letter that can be seen now or later, possibly more than once."""
        return (self._letters[number] for number in self._members(self.reachable(tree)))
