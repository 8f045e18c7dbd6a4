"""All ways through a function of unknown values, each with what it takes for known.

A function asks for truth values. Where both answers are possible, it is run again for the other one; what is known is
kept by the solver, level by level, so nothing before the question is asked of it twice. An answer of the solver that it
does not know counts as possible.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import z3

from alphanpi.symbolic.asking import Asked, Asking, valued
from alphanpi.symbolic.faults import EffortError, ImpossibleError, NotExpressibleError, RaisesError
from alphanpi.symbolic.values import Question, Term

z3.z3.Z3_DEBUG = False  # its Python checks the types of all arguments again, which takes a third of the time
EFFORT = 3_000_000
"""Of the solver for one question, in its own units: a limit by the clock would not be the same every time."""
_LONGEST = 60.0
"""Seconds that one question never takes; with fewer left, the clock is a limit, too."""
MOST_BRANCHES = 64
"""Ways through a function of one place."""
_PRUNED = object()


class _Fork:
    """A question that was answered."""

    __slots__ = ("answer", "formula", "kind", "other", "said")

    def __init__(self, question: Question, answer: bool, other: Callable[[], None] | None) -> None:
        self.kind = question.kind
        self.formula = question.formula
        self.said = question.said
        self.answer = answer
        self.other = other  # takes the other answer for known; None if that was done, or is impossible


class _Noted(NamedTuple):
    """What a term is known to be, and since which question."""

    term: Term  # which keeps its id from being used again
    value: Any
    forks: list[_Fork]
    position: int


class _Depth(NamedTuple):
    """What to go back to."""

    undone: int
    model: Any


class WayThrough(NamedTuple):
    """One way through a function, where nothing is asked of the solver."""

    condition: Term
    result: Any


class _Branching:
    """Answers given in one way through such a function."""

    def __init__(self, given: list[bool]) -> None:
        self.given = given
        self.asked: list[Term] = []
        self.answers: list[bool] = []

    def decide(self, formula: Term) -> bool:
        for known, answer in zip(self.asked, self.answers, strict=True):
            if known.eq(formula):
                return answer
        answer = self.given[len(self.asked)] if len(self.asked) < len(self.given) else True
        self.asked.append(formula)
        self.answers.append(answer)
        return answer

    def condition(self) -> Term:
        signed = [asked if answer else z3.Not(asked) for asked, answer in zip(self.asked, self.answers, strict=True)]
        return z3.And(*signed)


class Paths:
    """What is known on the way that is looked at, and the questions it depends on."""

    def __init__(self, deadline: float = float("inf")) -> None:
        self.solver = z3.Solver()
        self.solver.set("rlimit", EFFORT)
        self.solver.set("arith.solver", 2)  # finds models of sums and counts ten times as fast as the newer one
        self.deadline = deadline
        self.queries = 0
        self.unknowns = 0
        """Questions that the solver did not answer."""
        self.misused: list[str] = []
        self.undo: list[Callable[[], object]] = []
        """How to forget what is kept beside the solver, last things last."""
        self.model: Any = None
        """Values that fit all that is known, if any are at hand."""
        self._levels: list[_Depth] = []
        self._forks: list[_Fork] = []
        self._position = 0
        self._names = 0
        self._branching: _Branching | None = None
        self._raised: list[str] = []  # on the present way
        self._asking = Asking()
        self._equal: dict[int, _Noted] = {}  # by id of constants
        self._answered: dict[int, _Noted] = {}  # by id of formulas
        self._valued: dict[int, _Noted] = {}  # by id of terms that are known numbers
        self.plain = True
        """Whether all that was taken for known on the present way are the answers to its questions."""

    # ---- ways

    def ways(self, function: Callable[[], Any]) -> Generator[Any, None, None]:
        """What the function returns on every way through it that may be possible.

        Until the next one is asked for, the solver knows what holds on that way.
        """
        depth, names, forks = len(self._levels), self._names, list[_Fork]()
        taken = names
        self._push()
        try:
            while True:
                self._require_time()
                self._forks, self._position, self._names = forks, 0, names
                result, self.plain = _PRUNED, True
                self._raised.clear()
                try:
                    result = function()
                except ImpossibleError:
                    pass
                finally:
                    if self.misused:
                        raise NotExpressibleError(self.misused[0])
                if self._raised and result is not _PRUNED:
                    raise NotExpressibleError(f"catching the error that there is {self._raised[0]}")
                if self._position < len(forks):
                    raise NotExpressibleError("a function that asks for less when it is called again")
                if result is not _PRUNED:
                    yield result
                taken = max(taken, self._names)
                if not self._next(forks):
                    break
        finally:  # also where no further ways are asked for
            while len(self._levels) > depth:
                self._pop()
            self._forks, self._position = [], 0
            self._names = max(taken, self._names)  # what `answers` said of any way speaks of nothing that comes later

    def answers(self) -> Term | None:
        """What the questions of the way just gone were answered with, as one formula; None where it takes more."""
        if not self.plain or any(fork.formula is None for fork in self._forks):
            return None
        return z3.And(*[fork.formula if fork.answer else z3.Not(fork.formula) for fork in self._forks])

    @contextmanager
    def supposing(self, *facts: Term) -> Iterator[bool]:
        """Facts that are taken for known meanwhile; whether that is possible."""
        depth = len(self._levels)
        self._push()
        try:
            self.add(*facts)
            for fact in map(z3.simplify, facts):
                for part in fact.children() if z3.is_and(fact) else (fact,):
                    self._equate(part)
            yield self.possible()
        finally:
            while len(self._levels) > depth:
                self._pop()
            self._forks, self._position = [], 0

    def _next(self, forks: list[_Fork]) -> bool:
        """Go on with the last answer that has not been looked at; False where there is none."""
        while forks:
            fork = forks[-1]
            self._pop()
            if fork.other is not None:
                other, fork.other, fork.answer = fork.other, None, not fork.answer
                self._push()
                # What is taken for known belongs to this answer: nothing of it is repeated by the function.
                self._forks, self._position = forks, len(forks)
                other()
                self._note_answer(fork)
                if self.possible():
                    return True
                self._pop()
            forks.pop()
        return False

    @property
    def position(self) -> int:
        """How many questions of the present way were asked."""
        return self._position

    @property
    def repeating(self) -> bool:
        """Whether the function is on its way to the answer that is new: all before is known already."""
        return self._position < len(self._forks)

    def decide(self, formula: Term) -> bool:
        """Whether a formula holds; either answer in turn, where both are possible."""
        asked = self._asking.asked(formula)
        if asked.answer is not None:
            return asked.answer
        formula = asked.formula
        if self._branching is not None:
            return self._branching.decide(formula)
        answer = self._answer(asked)
        if answer is not None:
            return answer
        negation = z3.Not(formula)

        def assume() -> None:
            self.add(formula)
            self._equate(formula)

        def deny() -> None:
            self.add(negation)
            if z3.is_not(formula):
                self._equate(formula.arg(0))

        return self.fork(Question("formula", assume, deny, formula=formula, said=formula))

    def _answer(self, asked: Asked) -> bool | None:
        """The answer to a question, where it was given before or follows from a value that is known."""
        known = self._recalled(self._answered, asked.key)
        if known is not None:
            return bool(known.value)
        known = None if asked.valued is None else self._recalled(self._valued, asked.valued.key)
        return None if known is None or asked.valued is None else bool(known.value == asked.valued.value)

    def _note_answer(self, fork: _Fork) -> None:
        """Asked again, what speaks of all places would be taken for known, or fail at one, once more each time."""
        if fork.said is not None:
            self._note(self._answered, fork.said, fork.answer)

    def _note(self, notes: dict[int, _Noted], term: Term, value: Any) -> None:
        key = term.get_id()
        if key not in notes:
            notes[key] = _Noted(term, value, self._forks, self._position)
            self.keep(lambda: notes.pop(key))

    def _recalled(self, notes: dict[int, _Noted], key: int) -> _Noted | None:
        """What is noted, unless the function is repeated, and has not come there yet."""
        known = notes.get(key)
        if known is None or (known.forks is self._forks and known.position > self._position):
            return None
        return known

    def _equate(self, formula: Term) -> None:
        """Call a constant by what it is known to be: places that are the same should look the same."""
        if not z3.is_eq(formula) or not z3.is_int(formula.arg(0)):
            return
        number = valued(formula)
        if number is not None:
            self._note(self._valued, number.term, number.value)
        sides = sorted((formula.arg(0), formula.arg(1)), key=_age, reverse=True)
        for constant, other in (sides, sides[::-1]):
            if _age(constant) >= 0 and constant.get_id() not in self._equal and not self._leads_to(other, constant):
                self._note(self._equal, constant, other)
                return

    def _leads_to(self, term: Term, constant: Term) -> bool:
        while not _mentions(term, constant):
            known = self._equal.get(term.get_id())
            if known is None:
                return False
            term = known.value
        return True

    def resolved(self, term: Term) -> Term:
        """A constant by the term that it is known to be."""
        while (known := self._recalled(self._equal, term.get_id())) is not None:
            term = known.value
        return term

    def fork(self, question: Question) -> bool:
        """The same for any question."""
        if self._branching is not None:
            self.refuse("a question about whole tuples inside a function of one place")
        known = None if question.said is None else self._recalled(self._answered, question.said.get_id())
        if known is not None:
            return bool(known.value) != question.negated
        if self.repeating:
            fork = self._forks[self._position]
            self._position += 1
            if fork.kind != question.kind:
                self.refuse("a function that asks for something else when it is called again")
            return fork.answer != question.negated
        if self.model is None and not self.possible():
            raise ImpossibleError
        # That something holds of all places takes much to say; that it fails at one takes little, and is asked first.
        likely = question.formula is not None
        effects = {True: question.assume, False: question.deny}
        self._push()
        fork = _Fork(question, likely, effects[not likely])
        self._take(fork, effects[likely])
        if not self.possible():
            self._back(fork)
            fork.answer, fork.other = not likely, None
            self._push()
            self._take(fork, _nothing if question.follows and not likely else effects[not likely])
        return fork.answer != question.negated

    def _take(self, fork: _Fork, effect: Callable[[], None]) -> None:
        self._forks.append(fork)
        self._position += 1
        effect()
        self._note_answer(fork)

    def _back(self, fork: _Fork) -> None:
        assert self._forks.pop() is fork
        self._position -= 1
        self._pop()

    def refuse(self, what: str) -> NoReturn:
        """Write down what has no meaning for unknown values, and raise."""
        self.misused.append(what)
        raise NotExpressibleError(what)

    def raising(self, what: str) -> RaisesError:
        """What to raise where known values would; it is written down, as known ones may be looked at all the same."""
        self._raised.append(what)
        return RaisesError(what)

    # ---- branches

    def branches(self, function: Callable[[], Any]) -> list[WayThrough]:
        """All ways through a function of one place; conditions exclude each other, and cover all."""
        outer = self._branching
        found: list[WayThrough] = []
        given: list[bool] | None = []
        try:
            while given is not None:
                self._branching = branching = _Branching(given)
                result = function()
                found.append(WayThrough(branching.condition(), result))
                if len(found) > MOST_BRANCHES:
                    self.refuse(f"a function of one place with more than {MOST_BRANCHES} ways through it")
                answers = branching.answers
                while answers and not answers[-1]:
                    answers.pop()
                given = [*answers[:-1], False] if answers else None
        finally:
            self._branching = outer
        return found

    @property
    def condition(self) -> Term | None:
        """Inside a function of one place: under which condition the present point is met."""
        return None if self._branching is None else self._branching.condition()

    # ---- what is known

    def add(self, *facts: Term) -> None:
        """Take facts for known."""
        if self.repeating:
            return
        self._require_time()  # facts about all places may take longer to say than to decide
        for fact in facts:
            self.solver.add(fact)
            if self.model is not None and not z3.is_true(self.model.eval(fact, model_completion=True)):
                self.model = None

    def known_model(self) -> Any:
        """Values that fit what is known."""
        if not self.possible() or self.model is None:
            raise ImpossibleError
        return self.model

    def keep(self, undo: Callable[[], object]) -> None:
        """Say how to forget what was just written down."""
        self.undo.append(undo)

    def possible(self) -> bool:
        """Whether anything fits what is known; yes, where the solver does not know."""
        if self.model is not None:
            return True
        left = self._require_time()
        if left < _LONGEST:
            self.solver.set("timeout", 1 + int(1_000 * left))
        self.queries += 1
        answer = self.solver.check()
        if answer == z3.sat:
            self.model = self.solver.model()
        elif answer == z3.unknown:
            self._require_time()
            self.unknowns += 1
        return bool(answer != z3.unsat)

    def _require_time(self) -> float:
        """How many seconds are left, if any."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise EffortError("the time limit was met")
        return left

    def excluded(self, *facts: Term, effect: Callable[[], None] | None = None) -> bool:
        """Whether these facts contradict what is known."""
        self._push()
        try:
            self.add(*facts)
            if effect is not None:
                effect()
            return not self.possible()
        finally:
            self._pop()

    def example(self, make: Callable[[Any], Any], *facts: Term) -> Any:
        """What is made of values that fit what is known and these facts; None where none are found."""
        self._push()
        try:
            self.add(*facts)
            found = self.possible() and self.model is not None
            return make(self.model) if found else None
        finally:
            self._pop()

    def values_of(self, terms: Sequence[Term], most: int) -> list[tuple[Term, ...]] | None:
        """All values that terms may have together, `most` at most and one more; None where the solver does not know."""
        found: list[tuple[Term, ...]] = []
        self._push()
        try:
            while len(found) <= most and self.possible():
                if self.model is None:
                    return None
                self._require_time()
                values = tuple(self.model.eval(term, model_completion=True) for term in terms)
                if not all(z3.is_int_value(value) or z3.is_true(value) or z3.is_false(value) for value in values):
                    return None
                found.append(values)
                self.add(z3.Or(*[term != value for term, value in zip(terms, found[-1], strict=True)]))
            return found
        finally:
            self._pop()

    def name(self, what: str) -> str:
        """A new name; the same on every repetition."""
        self._names += 1
        return f"{what}!{self._names}"

    def _push(self) -> None:
        self.solver.push()
        self._levels.append(_Depth(len(self.undo), self.model))

    def _pop(self) -> None:
        self.solver.pop()
        level = self._levels.pop()
        while len(self.undo) > level.undone:
            self.undo.pop()()
        self.model = level.model


def _nothing() -> None:
    pass


def _age(term: Term) -> int:
    """The number of a constant, by which later ones are told from earlier ones; -1 for all other terms."""
    if not z3.is_const(term) or term.decl().kind() != z3.Z3_OP_UNINTERPRETED:
        return -1
    _, _, number = term.decl().name().partition("!")
    return int(number) if number.isdecimal() else 0


def _mentions(term: Term, constant: Term) -> bool:
    if term.eq(constant):
        return True
    return any(_mentions(child, constant) for child in term.children())
