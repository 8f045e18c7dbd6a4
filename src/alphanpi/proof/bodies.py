"""All runs of a program's body at once: from a state of which nothing is known but that the program may start there.

The network is asked for what it does after every sequence of observations that is possible. A call is replaced by the
contract of the program called: that it may be made is shown, that it keeps its promise is taken for known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from traceback import extract_tb
from typing import Any, NamedTuple

import numpy as np
import z3

from alphanpi.environment.library import STOP
from alphanpi.environment.specification import Environment
from alphanpi.network.decisions import Decisions, Mask
from alphanpi.proof.framing import Choice, Framing
from alphanpi.symbolic.faults import EffortError, ImpossibleError, NotExpressibleError, RaisesError
from alphanpi.symbolic.paths import ALWAYS, WayTaken
from alphanpi.symbolic.reasoning import Reasoning
from alphanpi.symbolic.states import differences, known, lengths
from alphanpi.symbolic.universals import Read
from alphanpi.symbolic.values import UnknownClaim, UnknownNumber, UnknownTruth

SequenceShown = tuple[tuple[int, Mask], ...]
"""What the network is shown in a run: histories, which stand for observations, and masks."""

MOST_PATHS = 20_000
"""Ways through a body."""
MOST_SHORTFALLS = 5
"""Ways that break a rule, after which no more are looked at."""
GROWING = "its depth grows with the problem: a body that may loop is not proved by machine"
_VALUES = (0, 1, *range(2, 17), *range(-1, -17, -1))  # that an entry of an observation may have
_SMALLEST, _LARGEST = np.iinfo(np.int16).min, np.iinfo(np.int16).max
_SIZES = range(13)  # at which starts are looked for
_STARTS = 4  # of one way that breaks a rule

Invariants = Mapping[str, frozenset[Hashable]]
"""For programs that have a relative view, the views in which their calls end."""


class Shortfall(NamedTuple):
    """Why a proof does not go through."""

    text: str
    path: tuple[str, ...]  # the actions taken
    starts: tuple[Any, ...]  # from which the program may really fail, small ones first


class BodyShown(NamedTuple):
    """What all runs of a body do."""

    sequences: frozenset[SequenceShown]
    views: frozenset[Hashable]  # in which they end
    called: frozenset[str]  # programs
    paths: int
    queries: int
    unknowns: int
    shortfalls: tuple[Shortfall, ...]


class _EnoughError(BaseException):
    """No more ways need to be looked at."""


def show_body(
    environment: Environment[Any],
    decisions: Decisions,
    program: str,
    invariants: Invariants,
    deadline: float = float("inf"),
) -> BodyShown:
    """Go all ways through a program's body."""
    return _Body(environment, decisions, program, invariants, deadline).shown()


class _Body:
    """The ways through one body."""

    def __init__(
        self,
        environment: Environment[Any],
        decisions: Decisions,
        program: str,
        invariants: Invariants,
        deadline: float,
    ) -> None:
        self.environment = environment
        self.library = environment.library
        self.decisions = decisions
        self.program = program
        self.level = self.library.named(program).level
        self.invariants = invariants
        self.reasoning = Reasoning(deadline)
        self.paths = self.reasoning.paths
        self.framing = Framing(self.library, self.reasoning)
        self.has_views = type(environment).relative is not Environment.relative
        self.sequences: set[SequenceShown] = set()
        self.views: set[Hashable] = set()
        self.called: set[str] = set()
        self.shortfalls: list[Shortfall] = []
        self.count = 0
        self.walk: _Ways | None = None

    def shown(self) -> BodyShown:
        """What all ways show."""
        try:
            if self.library.named(self.program).growing:
                raise EffortError(GROWING)
            for choice in self.framing.choices(self.program):
                for start in self.ways(lambda choice=choice: self._begun(choice)):  # type: ignore[misc]
                    self._begin(start)
                self.walk = None
        except _EnoughError:
            pass
        except EffortError as limit_met:
            self.shortfalls.append(Shortfall(str(limit_met), (), ()))
        except NotExpressibleError as error:
            self.shortfalls.append(Shortfall(f"not expressible: {error}{_place(error)}", (), ()))
        if not self.count and not self.shortfalls:
            self.shortfalls.append(Shortfall("no valid state is a start of it, so nothing was shown", (), ()))
        return BodyShown(
            sequences=frozenset(self.sequences),
            views=frozenset(self.views),
            called=frozenset(self.called),
            paths=self.count,
            queries=self.paths.queries,
            unknowns=self.paths.unknowns,
            shortfalls=tuple(self.shortfalls),
        )

    def _begin(self, start: Any) -> None:
        self.walk = _Ways(self, start)
        for limit in self.ways(lambda: self.environment.depth(self.program, start)):
            self.walk.limit = limit
            self.walk.begin()

    def ways(self, function: Callable[[], Any]) -> Iterator[Any]:
        """All ways through a function of the environment; one on which it raises breaks a rule."""

        def called() -> Any:
            try:
                try:
                    return function()
                except (Exception, SystemExit) as error:
                    what = f"{type(error).__name__}: {error}{_place(error)}"
                    raise RaisesError(f"the environment may raise {what}") from error
            except RaisesError as error:
                if self.walk is None:
                    self.shortfalls.append(Shortfall(f"{error}{_place(error)}", (), ()))
                else:
                    self.walk.fall_short(f"{error}{_place(error)}")
                raise _EnoughError from None

        return self.paths.ways(called)

    def note(self, threads: list[_Thread]) -> None:
        """Ways that end."""
        self.sequences.update(thread.sequence for thread in threads)
        self.count += len(threads)
        if self.count > MOST_PATHS:
            raise EffortError(f"there are more than {MOST_PATHS:,} ways through it")

    def _begun(self, choice: Choice) -> Any:
        start = self.framing.begun(self.environment.symbolic(self.reasoning), choice)
        if not (self.environment.valid(start) and self.environment.pre(self.program, start, None)):
            raise ImpossibleError
        return start


class _Thread(NamedTuple):
    """What the network carries, and where: several may come to one state by the same actions."""

    context: int
    guard: WayTaken  # what was seen on the way
    sequence: SequenceShown


class _Alike(NamedTuple):
    """What threads see that do the same next, and the places that were looked at for it."""

    threads: list[_Thread]
    reads: list[Read]


class _Ways:
    """The ways from one kind of start."""

    def __init__(self, body: _Body, start: Any) -> None:
        self.body = body
        self.start = start
        self.limit: Any = 0
        self._actions: tuple[str, ...] = ()

    def begin(self) -> None:
        """All that may happen in a call."""
        library, table = self.body.library, self.body.decisions.table
        context = table.beginning(library.index_of(self.body.program) - library.atomic_count)
        self.go_on(self.start, [_Thread(context, ALWAYS, ())])

    def go_on(self, state: Any, threads: list[_Thread]) -> None:
        """All that may happen from a state on; what is done after several observations is looked at once for all."""
        universals, paths = self.body.reasoning.universals, self.body.paths
        groups: dict[str, _Alike] = {}
        outer, universals.seen = universals.seen, []
        for observation, mask in self.body.ways(lambda: (self._observed(state), self._legal(state))):
            plain = paths.guarded(ALWAYS) is not None
            seen = _Alike([], universals.seen)
            now = groups if plain else {}
            possible = paths.met([thread.guard for thread in threads])
            for thread in (threads[number] for number in possible):
                action, following = self._decided(thread, observation, mask)
                guard = paths.guarded(thread.guard) or thread.guard
                now.setdefault(action, _Alike([], [])).threads.append(following._replace(guard=guard))
                now[action].reads.extend(seen.reads)
            universals.seen = None
            if not plain:
                for action, group in now.items():
                    self._do(state, action, group)
            universals.seen = []
        universals.seen = outer
        for action, group in groups.items():
            self._do(state, action, group)

    def _decided(self, thread: _Thread, observation: tuple[int, ...], mask: Mask) -> tuple[str, _Thread]:
        """What the network does, and what it carries from there on."""
        decisions, names = self.body.decisions, self.body.library.names
        history = decisions.table.after(thread.context, observation)
        chosen = decisions.decide(history, mask).action
        context = thread.context if names[chosen] == STOP else decisions.table.following(history, chosen)
        return names[chosen], thread._replace(context=context, sequence=(*thread.sequence, (history, mask)))

    def _do(self, state: Any, action: str, group: _Alike) -> None:
        """What an action leads to, in all threads that take it."""
        body, before = self.body, self._actions
        with body.paths.supposing(z3.Or(*[thread.guard.term for thread in group.threads])) as possible:
            if not possible:
                return
            for read in group.reads:
                body.reasoning.universals.look_at(*read)
            self._actions = (*before, action)
            if action == STOP:
                body.note(group.threads)
                self._stops_rightly(state)
                self._note_views(state)
            elif self._may_go_on():
                if body.library.named(action).atomic:
                    afters = body.ways(lambda: body.environment.act(state, action))
                else:
                    afters = self._call(state, action)
                for after in afters:
                    self.go_on(after, group.threads)
        self._actions = before

    def _may_go_on(self) -> bool:
        """Whether depth is left for a further action; ways on which it is not break a rule."""
        taken = len(self._actions)
        return self._holds(
            lambda: taken < self.limit, f"it may not stop within its depth: {taken} actions are not enough"
        )

    def _observed(self, state: Any) -> tuple[int, ...]:
        seen = self.body.environment.observe(state)
        entries = tuple(self._entry(value) for value in seen)
        if len(entries) != len(self.body.environment.fields):
            raise RaisesError(f"observe returned {len(entries)} entries")
        return entries

    def _entry(self, value: Any) -> int:
        if type(value) is not UnknownNumber:
            if not issubclass(type(value), (int, np.integer, np.bool_, UnknownTruth, UnknownClaim)):
                raise RaisesError(f"observe returned a {type(value).__name__}")
            entry = int(value)
            if not _SMALLEST <= entry <= _LARGEST:
                raise RaisesError(f"observe returned {entry}, which is out of {_SMALLEST}..{_LARGEST}")
            return entry
        found: int | None = next((candidate for candidate in _VALUES if value == candidate), None)
        if found is None:
            raise self.body.reasoning.refuse("an observation with an entry that is not between -16 and 16")
        return found

    def _legal(self, state: Any) -> Mask:
        legal = self.body.environment.legal(self.body.program, state)
        return tuple(bool(one) for one in legal)

    def _stops_rightly(self, state: Any) -> bool:
        body, environment = self.body, self.body.environment
        framing, start = body.framing, self.start
        return (
            self._holds(
                lambda: environment.post(body.program, start, state), "it may stop where its post-condition is false"
            )
            and self._holds(
                lambda: framing.is_kept(start, state), "it may end with another argument or start than it began with"
            )
            and self._is_valid(
                state, lambda general: framing.of(start, general), "it may end in a state that is not valid"
            )
        )

    def _note_views(self, state: Any) -> None:
        body = self.body
        if body.has_views:
            for view in body.ways(lambda: body.environment.relative(body.program, state)):
                if view is not None:
                    body.views.add(view)

    def _holds(self, condition: Callable[[], Any], otherwise: str) -> bool:
        """Whether a condition is true on all ways; where it is not, that is written down."""
        for holds in self.body.ways(lambda: bool(condition())):
            if not holds:
                self.fall_short(otherwise)
                return False
        return True

    def _is_valid(self, state: Any, framed: Callable[[Any], Any], otherwise: str) -> bool:
        """Whether a state is one of those that `symbolic` and `valid` describe, framed as a call has to have it."""
        body = self.body

        def fits() -> bool:
            general = framed(body.environment.symbolic(body.reasoning))
            for unfit in differences(general, state, lambda one, other: bool(one == other)):
                body.reasoning.refuse(unfit.what)
            return bool(body.environment.valid(state))

        return self._holds(fits, otherwise)

    def _call(self, state: Any, entry: str) -> Iterator[Any]:
        """A call: that it may be made is shown; where it may lead, by its contract, is gone on from."""
        body, environment, caller = self.body, self.body.environment, self.body.program
        callee = body.library.called(entry)
        name = callee.name
        body.called.add(name)
        for entered in body.ways(lambda: environment.enter(state, entry, caller)):
            self._is_valid(
                entered,
                lambda general: body.framing.entered(general, entry),
                f"it may call {entry} in a state that is not valid",
            )
            self._holds(
                lambda entered=entered: environment.pre(name, entered, None),  # type: ignore[misc]
                f"it may call {entry} where no run of {name} may start",
            )
            if callee.level >= body.level:

                def smaller(entered: Any = entered) -> Any:
                    measure = environment.measure(name, entered)
                    return bool(measure >= 0) and bool(measure < environment.measure(caller, self.start))

                self._holds(smaller, f"it may call {entry} with a measure that is not smaller than its own")

            def ended(entered: Any = entered) -> Any:
                # Shown of every end of the callee: that its frame is the one it began with, and that these are true
                # and can be asked without an error.
                after = body.framing.of(entered, environment.symbolic(body.reasoning))
                with body.reasoning.taken_for_known():
                    if not (environment.post(name, entered, after) and environment.valid(after)):
                        raise ImpossibleError
                    if body.has_views:
                        view = environment.relative(name, after)
                        if view is not None and view not in body.invariants.get(name, ()):
                            raise ImpossibleError
                return environment.leave(state, after, entry, caller)

            yield from body.ways(ended)

    def fall_short(self, text: str) -> None:
        """Write down that a rule may be broken on the present way, with starts from which it may be."""
        body = self.body
        try:
            starts = tuple(self._starts())
        except (RaisesError, NotExpressibleError, ImpossibleError):
            body.paths.misused.clear()
            starts = ()
        body.shortfalls.append(Shortfall(text, self._actions, starts))
        if len(body.shortfalls) >= MOST_SHORTFALLS:
            raise _EnoughError

    def _starts(self) -> Iterator[Any]:
        """Starts of the present way, by size; none where the solver does not know any."""
        paths, reasoning = self.body.paths, self.body.reasoning
        size = reasoning.integer(self.body.environment.size(self.start))
        around = z3.Sum([z3.IntVal(0), *lengths(self.start)])
        found = 0
        for number in _SIZES:
            for frame in (number, number + 1, None):
                facts = [size == number, *([] if frame is None else [around <= frame])]
                example = paths.example(lambda model: known(self.start, model), *facts)
                if example is not None:
                    yield example
                    found += 1
                    break
            if found >= _STARTS:
                return


def _place(error: BaseException) -> str:
    """Where in an environment's file something was raised."""
    own = str(Path(__file__).parents[1])
    theirs = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(own)]
    ours = [frame for frame in extract_tb(error.__traceback__) if "/environments/" in frame.filename]
    frames = theirs or ours
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
