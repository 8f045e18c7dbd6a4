"""Bodies that loop: invariants, one for each place that a loop comes back to, found among statements and then proved.

An agent with a window acts on what it carries from step to step, its context, of which there are finitely many. Some
contexts are *heads*: every loop goes through one of them. A body is run from its start to the next head or its end, and
from every head, in a state of which nothing is known but the head's statements, to the next. A statement that does not
follow at the end of such a way is given up, and what was gone through with it is gone through again, until all that are
left follow from each other: also those that were left out as long as another one implied them, in all that was seen of
real calls. As the actions taken are a number like others, statements about them show that the body
stops within its depth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

import z3

from alphanpi.environment.library import STOP
from alphanpi.environment.specification import Environment
from alphanpi.environment.step import Step
from alphanpi.network.decisions import Decisions
from alphanpi.proof.loop_statements import statements_about
from alphanpi.proof.readings import Moment, Seen, part_at
from alphanpi.proof.statement import Statement
from alphanpi.symbolic.faults import ImpossibleError, NotExpressibleError, RaisesError
from alphanpi.symbolic.reasoning import Reasoning, is_unknown
from alphanpi.symbolic.states import parts_of, remade
from alphanpi.symbolic.values import Question, UnknownClaim, UnknownTruth

RealCall = Sequence[Step]
"""The steps of a call's own body in a real run, the last of them STOP unless the run was cut."""


class Head:
    """A context that loops come back to, and what is still believed of it."""

    def __init__(self, context: int, statements: Sequence[Statement]) -> None:
        self.context = context
        self._given_up: set[str] = set()
        self._statements = {statement.text: statement for statement in statements}

    @property
    def statements(self) -> list[Statement]:
        """Those believed, but for what others imply."""
        left = {text: one for text, one in self._statements.items() if text not in self._given_up}
        implied = {text for one in left.values() for text in one.implied}
        return [one for text, one in left.items() if text not in implied]

    def give_up(self, statement: Statement) -> None:
        """Believe it no longer."""
        self._given_up.add(statement.text)


class Passage:
    """What was gone through from the start or a head: what was believed there, and what was shown where it led."""

    def __init__(self, believed: Sequence[Statement]) -> None:
        self.believed = tuple(believed)
        self._shown: dict[int, set[str]] = {}  # by head: what is true whenever ways lead to it

    def note(self, context: int, shown: set[str]) -> None:
        """What is true where a way leads to a head."""
        self._shown[context] = shown & self._shown.get(context, shown)

    def holds(self, own: Head | None, heads: Mapping[int, Head]) -> bool:
        """Whether all that was believed still is, and all that is believed of the heads it led to was shown there."""
        texts = set() if own is None else {statement.text for statement in own.statements}
        return {statement.text for statement in self.believed} <= texts and all(
            {statement.text for statement in heads[context].statements} <= shown
            for context, shown in self._shown.items()
        )


def contexts_of(decisions: Decisions, program: str, call: RealCall, environment: Environment[Any]) -> list[int]:
    """The contexts before the steps of a real call."""
    library, table = decisions.table.library, decisions.table
    context, found = table.beginning(library.index_of(program) - library.atomic_count), list[int]()
    for step in call:
        found.append(context)
        if step.action == STOP:
            break
        observation = tuple(int(entry) for entry in environment.observe(step.state))
        context = table.following(table.after(context, observation), library.index_of(step.action))
    return found


class Loops:
    """The places in a body that real calls come back to."""

    def __init__(
        self, environment: Environment[Any], decisions: Decisions, program: str, calls: Iterable[RealCall]
    ) -> None:
        self.environment = environment
        self.program = program
        self.heads: dict[int, Head] = {}
        self._seen: defaultdict[int, list[Seen]] = defaultdict(list)
        edges: defaultdict[int, set[int]] = defaultdict(set)
        library = decisions.table.library
        for number, call in enumerate(calls):
            contexts = contexts_of(decisions, program, call, environment)
            limit = environment.depth(program, call[0].state)
            visits: defaultdict[int, int] = defaultdict(int)
            for taken, (context, step) in enumerate(zip(contexts, call, strict=False)):
                moment = Moment(call[0].state, step.state, taken, limit)
                self._seen[context].append(Seen(number, visits[context], moment))
                visits[context] += 1
                if taken:
                    edges[contexts[taken - 1]].add(context)
        self._edges = edges
        self._beginning = decisions.table.beginning(library.index_of(program) - library.atomic_count)

    def find(self, general: Any) -> None:
        """Make heads of the contexts that real calls come back to."""
        for context in _returned_to(self._beginning, self._edges):
            self.add(context, general)

    def add(self, context: int, general: Any) -> None:
        """Make a head of a context, with all statements that fit what was seen there."""
        statements = statements_about(self.environment, self.program, general, self._seen[context])
        self.heads[context] = Head(context, statements)


def _returned_to(beginning: int, edges: dict[int, set[int]]) -> list[int]:
    """Contexts at which every cycle is entered that is reached: those a walk in depth finds on its own way."""
    found: list[int] = []
    done: set[int] = set()
    way: list[int] = [beginning]
    ahead = [iter(sorted(edges.get(beginning, ())))]
    while ahead:
        context = next(ahead[-1], None)
        if context is None:
            done.add(way.pop())
            ahead.pop()
        elif context in way:
            if context not in found:
                found.append(context)
        elif context not in done:
            way.append(context)
            ahead.append(iter(sorted(edges.get(context, ()))))
    return found


class Holding:
    """Asks and takes for known statements about moments of unknown values."""

    def __init__(self, environment: Environment[Any], reasoning: Reasoning) -> None:
        self.environment = environment
        self.reasoning = reasoning
        self.paths = reasoning.paths

    def follows(self, statement: Statement, moment: Moment) -> bool:
        """Whether a statement is true on all ways from here, and can be asked."""
        try:
            with closing(self.paths.ways(lambda: statement.holds(moment))) as ways:
                return all(self.certain(claim) for claim in ways)
        except (RaisesError, NotExpressibleError):
            self.paths.misused.clear()
            return False
        except (Exception, SystemExit):
            return False

    def certain(self, claim: Any) -> bool:
        """Whether something that was asked cannot be false."""
        if type(claim) is UnknownTruth:
            return self.paths.excluded(z3.Not(claim.term))
        if type(claim) is UnknownClaim:
            return self.paths.excluded(effect=_denied(claim.question))
        return bool(claim)

    def any_moment(self, general: Any, start: Any, limit: Any, statements: Sequence[Statement]) -> Moment:
        """A moment of which nothing is known but that these statements are true of it."""
        reasoning = self.reasoning
        kept = {statement.kept for statement in statements if statement.kept is not None}
        state = _with_kept(general, start, kept, ())
        moment = Moment(start, state, reasoning.number(), limit)
        with reasoning.taken_for_known():
            for statement in statements:
                if statement.kept is None:
                    self._take(statement.holds(moment))
        return moment

    def _take(self, claim: Any) -> None:
        if type(claim) is UnknownTruth:
            self.paths.add(claim.term)
        elif type(claim) is UnknownClaim:
            if not self.paths.repeating:
                _affirmed(claim.question)()
        elif not claim:
            raise ImpossibleError


def _denied(question: Question) -> Callable[[], None]:
    return question.assume if question.negated else question.deny


def _affirmed(question: Question) -> Callable[[], None]:
    return question.deny if question.negated else question.assume


def _with_kept(general: Any, start: Any, kept: set[tuple[int, ...]], path: tuple[int, ...]) -> Any:
    """A general state with the start's values in the parts that are kept."""
    if path in kept:
        return part_at(start, path)
    members = None if is_unknown(general) else parts_of(general)
    if not members:
        return general
    return remade(
        general, tuple(_with_kept(member, start, kept, (*path, place)) for place, member in enumerate(members))
    )
