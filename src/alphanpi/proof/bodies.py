"""All runs of a program's body at once: from a state of which nothing is known but that the program may start there.

The network is asked for what it does after every sequence of observations that is possible. A call is replaced by the
contract of the program called: that it may be made is shown, that it keeps its promise is taken for known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from traceback import extract_tb
from typing import Any, NamedTuple

import z3

from alphanpi.environment.library import STOP
from alphanpi.environment.specification import Environment
from alphanpi.network.decisions import Decisions, Mask
from alphanpi.proof.answers import limit, truth
from alphanpi.proof.framing import Choice, Framing
from alphanpi.proof.loops import Head, Holding, Loops, Passage, RealCall
from alphanpi.proof.observations import Met, Observations
from alphanpi.proof.readings import Moment
from alphanpi.symbolic.faults import EffortError, ImpossibleError, NotExpressibleError, RaisesError
from alphanpi.symbolic.formulas import any_of
from alphanpi.symbolic.reasoning import Reasoning
from alphanpi.symbolic.states import differences, general_state, known, lengths
from alphanpi.symbolic.universals import Read
from alphanpi.symbolic.values import Term

SequenceShown = tuple[tuple[int, Mask], ...]
"""What the network is shown in a run: histories, which stand for observations, and masks."""

MOST_PATHS = 20_000
"""Ways through a body."""
MOST_APART = 32
"""Observations at one place that are told apart though the same is done next and nothing of them is carried on."""
MOST_SHORTFALLS = 5
"""Ways that break a rule, after which no more are looked at."""
GROWING = "its depth grows with the problem, and only an agent with a window can be proved to stop"
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
    points: frozenset[tuple[int, Mask]]  # all steps
    loops: tuple[str, ...] = ()  # what stays true where it loops; then sequences have no end, and are not given


class _EnoughError(BaseException):
    """No more ways need to be looked at."""


class _BackError(BaseException):
    """A way comes back to a context that is no head yet."""

    def __init__(self, context: int) -> None:
        self.context = context


RealCalls = Callable[[], Iterable[RealCall]]
"""Real calls of the program, which statements about its loops must fit."""


def show_body(
    environment: Environment[Any],
    decisions: Decisions,
    program: str,
    invariants: Invariants,
    deadline: float = float("inf"),
    calls: RealCalls = tuple,
) -> BodyShown:
    """Go all ways through a program's body."""
    return _Body(environment, decisions, program, invariants, deadline, calls).shown()


class _Body:
    """The ways through one body."""

    def __init__(
        self,
        environment: Environment[Any],
        decisions: Decisions,
        program: str,
        invariants: Invariants,
        deadline: float,
        calls: RealCalls,
    ) -> None:
        self.environment = environment
        self.calls = calls
        self.library = environment.library
        self.decisions = decisions
        self.program = program
        self.level = self.library.named(program).level
        self.invariants = invariants
        self.reasoning = Reasoning(deadline)
        self.paths = self.reasoning.paths
        self.framing = Framing(self.library, self.reasoning)
        self.observations = Observations(environment, self.reasoning)
        self.has_views = type(environment).relative is not Environment.relative
        self.holding = Holding(environment, self.reasoning)
        self.loops: Loops | None = None
        self.heads: Mapping[int, Head] = {}
        self.pending: list[int | None] = [None]  # where ways are to begin: at the start, or at a head
        self.passages: dict[int | None, Passage] = {}
        self.counts: dict[int | None, int] = {}  # ways from there
        self.sequences: set[SequenceShown] = set()
        self.points: set[tuple[int, Mask]] = set()
        self.together = False  # whether some sequences stand for others, which show the network what it forgets
        self.views: set[Hashable] = set()
        self.called: set[str] = set()
        self.shortfalls: list[Shortfall] = []
        self.walk: _Ways | None = None

    def shown(self) -> BodyShown:
        """What all ways show."""
        try:
            self._find_loops()
            while self.pending:
                source = self.pending.pop(0)
                try:
                    self._go_through(source)
                    self.pending = self.pending or self._unsettled()
                except _BackError as back:
                    self._add_head(back.context)
        except _EnoughError:
            pass
        except EffortError as limit_met:
            self.shortfalls.append(Shortfall(str(limit_met), (), ()))
        except NotExpressibleError as error:
            self.shortfalls.append(Shortfall(f"not expressible: {error}{_place(error)}", (), ()))
        if not any(self.counts.values()) and not self.shortfalls:
            self.shortfalls.append(Shortfall("no valid state is a start of it, so nothing was shown", (), ()))
        return BodyShown(
            sequences=frozenset() if self.heads or self.together else frozenset(self.sequences),
            views=frozenset(self.views),
            called=frozenset(self.called),
            paths=sum(self.counts.values()),
            queries=self.paths.queries,
            unknowns=self.paths.unknowns,
            shortfalls=tuple(self.shortfalls),
            points=frozenset(self.points),
            loops=tuple(statement.text for head in self.heads.values() for statement in head.statements),
        )

    # ---- loops

    def _find_loops(self) -> None:
        if not self.library.named(self.program).growing:
            return
        if not self.decisions.table.window:
            raise EffortError(GROWING)
        self.loops = Loops(self.environment, self.decisions, self.program, self.calls())
        self.loops.find(self._any_general())
        self.heads = self.loops.heads

    def general(self) -> Any:
        """The most general state, of new unknown values."""
        return general_state(self.environment.symbolic, self.reasoning)

    def _any_general(self) -> Any:
        with closing(self.paths.ways(self.general)) as ways:
            return next(ways)

    def _add_head(self, context: int) -> None:
        """All that was gone through is gone through again, to the new head."""
        assert self.loops is not None, "only bodies that may loop are looked at for it"
        self.loops.add(context, self._any_general())
        self.pending, self.counts, self.passages = [None], {}, {}

    def _unsettled(self) -> list[int | None]:
        """Where ways began with more than is left, or led to heads where less was shown than is left."""
        return [
            source
            for source, passage in self.passages.items()
            if not passage.holds(None if source is None else self.heads[source], self.heads)
        ]

    def _go_through(self, source: int | None) -> None:
        """All ways from the start, or from a head, to the next heads and ends."""
        self.counts[source] = 0
        self.passages[source] = Passage(() if source is None else self.heads[source].statements)
        for choice in self.framing.choices(self.program):
            for start in self.ways(lambda choice=choice: self._begun(choice)):  # type: ignore[misc]
                self._go_from(start, source)
            self.walk = None

    def _go_from(self, start: Any, source: int | None) -> None:
        walk = self.walk = _Ways(self, start)
        for walk.limit in self.ways(lambda: limit(self.reasoning, self.environment.depth(self.program, start))):
            if source is None:
                walk.begin()
                continue
            for moment in self.ways(lambda: self._any_moment(start, walk.limit, source)):
                walk.go_on_from(moment, source)

    def _any_moment(self, start: Any, limit: Any, head: int) -> Moment:
        return self.holding.any_moment(self.framed(start), start, limit, self.passages[head].believed)

    def framed(self, start: Any) -> Any:
        """The most general state in the call."""
        return self.framing.of(start, self.general())

    def arrive(self, source: int | None, context: int, moment: Moment) -> None:
        """Come to a head: give up what is not true there."""
        head, shown, gave_up = self.heads[context], set[str](), False
        while waiting := [one for one in head.statements if one.text not in shown]:
            for statement in waiting:
                if self.holding.follows(statement, moment):
                    shown.add(statement.text)
                else:
                    head.give_up(statement)
                    gave_up = True
        self.passages[source].note(context, shown)
        if (gave_up or context not in self.counts) and context not in self.pending:
            self.pending.append(context)

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

    def note(self, source: int | None, threads: list[_Thread]) -> None:
        """Ways that end."""
        self.sequences.update(thread.sequence for thread in threads)
        self.counts[source] += len(threads)
        if self.counts[source] > MOST_PATHS:
            raise EffortError(f"there are more than {MOST_PATHS:,} ways through it")

    def _begun(self, choice: Choice) -> Any:
        start = self.framing.begun(self.general(), choice)
        if not (self.environment.valid(start) and self.environment.pre(self.program, start, None)):
            raise ImpossibleError
        return start


class _Thread(NamedTuple):
    """What the network carries, and where: several may come to one state by the same actions."""

    context: int
    guard: Term  # what was seen on the way, as a formula
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
        self._source: int | None = None
        self._before: Any = 0  # actions taken before the ways that are looked at begin
        self._actions: tuple[str, ...] = ()

    def begin(self) -> None:
        """All that may happen in a call."""
        if not self._holds(lambda: self.limit >= 1, "its depth may leave no room for STOP"):
            return
        library, table = self.body.library, self.body.decisions.table
        context = table.beginning(library.index_of(self.body.program) - library.atomic_count)
        self.go_on(self.start, [_Thread(context, z3.BoolVal(True), ())])

    def go_on_from(self, moment: Moment, head: int) -> None:
        """All that may happen from a head on."""
        self._source, self._before = head, moment.taken
        self.go_on(moment.state, [_Thread(head, z3.BoolVal(True), ())])

    def _proceed(self, state: Any, threads: list[_Thread]) -> None:
        """All that may happen after an action: at heads, ways end."""
        body = self.body
        for context in sorted({thread.context for thread in threads} & body.heads.keys()):
            arrived = [thread for thread in threads if thread.context == context]
            with body.paths.supposing(z3.Or(*[thread.guard for thread in arrived])) as possible:
                if possible:
                    body.note(self._source, arrived)
                    self._fits(state)
                    self._keeps_frame(state, "it may go on with another argument or start than it began with")
                    taken = self._before + len(self._actions)
                    body.arrive(self._source, context, Moment(self.start, state, taken, self.limit))
        others = [thread for thread in threads if thread.context not in body.heads]
        for thread in others if body.loops is not None else []:
            if thread.context in (body.decisions.table.histories[history].before for history, _ in thread.sequence):
                raise _BackError(thread.context)
        if others:
            self.go_on(state, others)

    def go_on(self, state: Any, threads: list[_Thread]) -> None:
        """All that may happen from a state on; what is done after several observations is looked at once for all."""
        universals, paths = self.body.reasoning.universals, self.body.paths
        groups: dict[str, _Alike] = {}
        outer, universals.seen = universals.seen, []
        for entries, mask in self.body.ways(lambda: (self.body.observations.entries(state), self._legal(state))):
            condition = paths.answers()
            reads, universals.seen = universals.seen, None
            now = groups if condition is not None else {}
            for thread, met in zip(threads, self._met(entries, threads), strict=True):
                apart = thread if condition is None else thread._replace(guard=z3.And(thread.guard, condition))
                for action, following in self._following(apart, met, mask):
                    now.setdefault(action, _Alike([], [])).threads.append(following)
                    now[action].reads.extend(reads)
            universals.seen = None
            if condition is None:
                for action, group in now.items():
                    self._do(state, action, group)
            universals.seen = []
        universals.seen = outer
        for action, group in groups.items():
            self._do(state, action, group)

    def _met(self, entries: tuple[Any, ...], threads: list[_Thread]) -> list[list[Met]]:
        """For each thread, the observations that are possible with these entries."""
        try:
            return self.body.observations.possible(entries, [thread.guard for thread in threads])
        except RaisesError as error:
            self.fall_short(str(error))
            raise _EnoughError from None

    def _following(self, thread: _Thread, met: list[Met], mask: Mask) -> Iterator[tuple[str, _Thread]]:
        """What the network does, and what it carries on; after many observations, what it forgets of them."""
        decisions, names = self.body.decisions, self.body.library.names
        alike: dict[tuple[str, int], list[Met]] = {}
        steps: dict[tuple[int, ...], tuple[int, Mask]] = {}
        for one in met:
            history = decisions.table.after(thread.context, one.observation)
            chosen = decisions.decide(history, mask).action
            context = thread.context if names[chosen] == STOP else decisions.table.following(history, chosen)
            alike.setdefault((names[chosen], context), []).append(one)
            steps[one.observation] = history, mask
        self.body.points.update(steps.values())
        for (action, context), ones in alike.items():
            self.body.together |= len(ones) > MOST_APART
            for some in [ones] if self.body.together else [[one] for one in ones]:
                guard = z3.And(thread.guard, any_of([one.formula for one in some], [one.formula for one in met]))
                yield action, _Thread(context, guard, (*thread.sequence, steps[some[0].observation]))

    def _do(self, state: Any, action: str, group: _Alike) -> None:
        """What an action leads to, in all threads that take it."""
        body, before = self.body, self._actions
        with body.paths.supposing(z3.Or(*[thread.guard for thread in group.threads])) as possible:
            if not possible:
                return
            for read in group.reads:
                body.reasoning.universals.look_at(*read)
            self._actions = (*before, action)
            threads = self._together(group.threads)
            if action == STOP:
                body.note(self._source, threads)
                self._stops_rightly(state)
                self._note_views(state)
            elif self._may_go_on():
                if body.library.named(action).atomic:
                    afters = body.ways(lambda: body.environment.act(state, action))
                else:
                    afters = self._call(state, action)
                for after in afters:
                    self._proceed(after, threads)
        self._actions = before

    def _together(self, threads: list[_Thread]) -> list[_Thread]:
        """Threads of which one is known to be; those that carry on the same may be one."""
        if self.body.together:
            carrying: dict[int, list[_Thread]] = {}
            for thread in threads:
                carrying.setdefault(thread.context, []).append(thread)
            threads = [own[0]._replace(guard=z3.Or(*[one.guard for one in own])) for own in carrying.values()]
        return threads if len(threads) > 1 else [threads[0]._replace(guard=z3.BoolVal(True))]

    def _may_go_on(self) -> bool:
        """Whether depth is left for a further action; ways on which it is not break a rule."""
        taken = self._before + len(self._actions)
        more = f"{len(self._actions)} actions " + ("are not enough" if self._source is None else "more may be too many")
        return self._holds(lambda: taken < self.limit, f"it may not stop within its depth: {more}")

    def _legal(self, state: Any) -> Mask:
        legal = self.body.environment.legal(self.body.program, state)
        return tuple(bool(one) for one in legal)

    def _stops_rightly(self, state: Any) -> bool:
        body, environment = self.body, self.body.environment
        framing, start = body.framing, self.start
        return (
            self._holds(
                lambda: truth(body.reasoning, environment.post(body.program, start, state)),
                "it may stop where its post-condition is false",
            )
            and self._keeps_frame(state, "it may end with another argument or start than it began with")
            and self._is_valid(
                state, lambda general: framing.of(start, general), "it may end in a state that is not valid"
            )
        )

    def _keeps_frame(self, state: Any, otherwise: str) -> bool:
        return self._holds(lambda: self.body.framing.is_kept(self.start, state), otherwise)

    def _note_views(self, state: Any) -> None:
        body = self.body
        if body.has_views:
            for view in body.ways(lambda: body.environment.relative(body.program, state)):
                if view is not None:
                    body.views.add(view)

    def _holds(self, condition: Callable[[], Any], otherwise: str) -> bool:
        """Whether a condition is true on all ways; where it is not, that is written down."""
        for claim in self.body.ways(condition):
            if not self.body.holding.certain(claim):
                self.fall_short(otherwise)
                return False
        return True

    def _is_valid(self, state: Any, framed: Callable[[Any], Any], otherwise: str) -> bool:
        """Whether a state is one of those that `symbolic` and `valid` describe, framed as a call has to have it."""
        body = self.body

        def fits() -> bool:
            self._require_case(state, framed(body.general()))
            return bool(body.environment.valid(state))

        return self._holds(fits, otherwise)

    def _fits(self, state: Any) -> None:
        """Refuse states that are no case of the most general one."""
        for _ in self.body.ways(lambda: self._require_case(state, self.body.framed(self.start))):
            pass

    def _require_case(self, state: Any, general: Any) -> None:
        for unfit in differences(general, state, lambda one, other: bool(one == other)):
            self.body.reasoning.refuse(unfit.what)

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
                after = body.framing.of(entered, body.general())
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
            # A head's state may come from any start: what fits both says little.
            starts = tuple(self._starts()) if self._source is None else ()
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
            for frame in (number, number + 1, 2 * number + 2, None):
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
