"""Structured code over trees: what a block of statements leaves to be done, and the conditions it needs.

While a program is searched for, a branch is described by the actions it is for. Only when the whole program is known
are the observations on both sides of each branch known, and with them the condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from alphanpi.exporting.conditions import BranchCondition, Comparison, Letter, Separator
from alphanpi.exporting.tree import EMPTY, Futures


@dataclass(frozen=True)
class Entrance:
    """Decides which observations enter a branch: those before one of some actions, or those that pass a test."""

    actions: frozenset[str] = frozenset()
    test: Comparison | None = None

    def __call__(self, letter: Letter, action: str) -> bool:
        """Whether a branch is entered."""
        return action in self.actions if self.test is None else self.test.holds(letter)


class Do(NamedTuple):
    """Take an action, or call a program."""

    action: str


class Return(NamedTuple):
    """End the program, which is STOP."""


class If(NamedTuple):
    """Branch; `condition` is filled in when the program is complete."""

    chooser: Entrance
    then: Block
    otherwise: Block
    condition: BranchCondition | None = None


class While(NamedTuple):
    """Repeat; `condition` is filled in when the program is complete."""

    chooser: Entrance
    body: Block
    condition: BranchCondition | None = None


Statement = Do | Return | If | While
Block = tuple[Statement, ...]


class Completed(NamedTuple):
    """A block with its conditions, and the tree of what is left to be done after it."""

    block: Block
    rest: int


def execute(forest: Futures, block: Block, tree: int) -> int | None:
    """What is left to be done after a block; None if the block contradicts the tree."""
    for statement in block:
        following = _after(forest, statement, tree)
        if following is None:
            return None
        tree = following
    return tree


def loop_head(forest: Futures, loop: While, tree: int) -> int | None:
    """Everything that can be left to be done at the head of a loop, in any of its rounds."""
    while True:
        entering, _ = forest.split(tree, loop.chooser)
        after = execute(forest, loop.body, entering)
        if after is None:
            return None
        merged = forest.merge(tree, after)
        if merged is None or merged == tree:
            return merged
        tree = merged


def _after(forest: Futures, statement: Statement, tree: int) -> int | None:
    match statement:
        case Do(action):
            return forest.after(tree) if forest.actions(tree) <= {action} else None
        case Return():
            return EMPTY if forest.ended(tree) else None
        case If(chooser, then, otherwise):
            yes, no = forest.split(tree, chooser)
            first, second = execute(forest, then, yes), execute(forest, otherwise, no)
            return None if first is None or second is None else forest.merge(first, second)
        case While():
            head = loop_head(forest, statement, tree)
            return None if head is None else forest.split(head, statement.chooser)[1]


def acts(block: Block) -> bool:
    """Whether every way through a block takes an action or ends the program."""
    return any(
        isinstance(statement, (Do, Return))
        or (isinstance(statement, If) and acts(statement.then) and acts(statement.otherwise))
        for statement in block
    )


def complete(forest: Futures, tests: Separator, block: Block, tree: int) -> Completed:
    """Fill in the conditions of a block that fits the tree; branches never entered are left out."""
    done: list[Statement] = []
    for statement in block:
        if tree == EMPTY:
            break
        if isinstance(statement, If):
            yes, no = forest.split(tree, statement.chooser)
            then = complete(forest, tests, statement.then, yes)
            otherwise = complete(forest, tests, statement.otherwise, no)
            rest = forest.merge(then.rest, otherwise.rest)
            if yes == EMPTY or no == EMPTY:
                done += otherwise.block if yes == EMPTY else then.block
            elif then.block or otherwise.block:
                done.append(_branch(tests, statement, then.block, otherwise.block, forest[yes], forest[no]))
        elif isinstance(statement, While):
            head = loop_head(forest, statement, tree)
            assert head is not None, "only blocks that fit are completed"
            yes, rest = forest.split(head, statement.chooser)
            if yes != EMPTY:
                body = complete(forest, tests, statement.body, yes)
                condition = tests.separate(forest[yes], forest[rest])
                done.append(statement._replace(body=body.block, condition=condition))
        else:
            done.append(statement)
            rest = _after(forest, statement, tree)
        assert rest is not None, "only blocks that fit are completed"
        tree = rest
    return Completed(tuple(done), tree)


def _branch(
    tests: Separator, branch: If, then: Block, otherwise: Block, yes: Iterable[Letter], no: Iterable[Letter]
) -> If:
    """The branch, written the way round that needs the plainer condition."""
    plain, inverse = tests.separate(yes, no), tests.separate(no, yes)
    if then and (not otherwise or plain.cost <= inverse.cost):
        return branch._replace(then=then, otherwise=otherwise, condition=plain)
    return branch._replace(then=otherwise, otherwise=then, condition=inverse)


def cost(block: Block, tests: Separator) -> float:
    """How long completed code is: calls, branches and tests."""
    total = 0.0
    for statement in block:
        match statement:
            case Do() | Return():
                total += 1.0
            case If(_, then, otherwise, condition):
                assert condition is not None, "the block is complete"
                total += 1.0 + condition.cost + cost(then, tests) + cost(otherwise, tests) + 0.5 * bool(otherwise)
            case While(_, body, condition):
                assert condition is not None, "the block is complete"
                total += 2.0 + condition.cost + cost(body, tests)
    return total


def tidy(block: Block, last: bool = True) -> Block:
    """Leave out a `return` where the program ends anyway."""
    done = list(block)
    while last and done and isinstance(done[-1], Return):
        done.pop()
    for position, statement in enumerate(done):
        ends = last and position == len(done) - 1
        if isinstance(statement, If):
            then, otherwise = tidy(statement.then, ends), tidy(statement.otherwise, ends)
            # A branch that only returns stays where the other one does something.
            done[position] = statement._replace(then=then or statement.then, otherwise=otherwise)
        elif isinstance(statement, While):
            done[position] = statement._replace(body=tidy(statement.body, False))
    return tuple(done)
