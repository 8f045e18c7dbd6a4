"""Calling a user's environment: every fault becomes one message with file, line, program and state."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from alphanpi.environment import facets, library, specification
from alphanpi.environment import frames as frames_of_calls
from alphanpi.environment.cutoff import Cutoff
from alphanpi.environment.frames import NO_FRAME_FIELDS, CallFrame
from alphanpi.environment.library import CallCondition
from alphanpi.environment.scene import Scene, problems
from alphanpi.environment.specification import STOP, Environment
from alphanpi.environment.standalone import Standalone
from alphanpi.errors import AlphaNPIError, EnvironmentFault, SpecificationError, UsageError
from alphanpi.support import limits

NO_FURTHER_SIZES: Mapping[str, int] = MappingProxyType({})
_SMALLEST, _LARGEST = np.iinfo(np.int16).min, np.iinfo(np.int16).max
_SHOWN_CHARACTERS = 200
_OURS = frozenset(module.__file__ for module in (facets, frames_of_calls, library, specification)) | {__file__}
PLAIN = frozenset((int, bool))  # what observations usually consist of
_HASHED_AT_LEAST = 1000
_WHOLE = (int, np.integer, np.bool_)
RAISED = (Exception, SystemExit)
"""What a member of an environment may raise; an interrupt is the user's and passes."""


class Guard:
    """An environment whose calls are checked: observations well-formed, states hashable, faults located.

    Who hashes every state anyway says so, and calls `hashable` for those that cannot be.
    """

    def __init__(self, environment: Environment[Any], hashed_by_caller: bool = False) -> None:
        self.environment = environment
        self.library = environment.library
        self.name = type(environment).__name__
        self._fields = tuple(environment.fields)
        self._well_formed: set[tuple[int, ...]] = set()
        self._hashed_by_caller = hashed_by_caller  # and never here: a state may hold values that have no hash yet
        self._to_be_hashed = _HASHED_AT_LEAST
        self._hashed_kinds: set[type] = set()
        # Called millions of times: what a declaration says is called directly, unless the class says otherwise.
        kind, entries = type(environment), [entry for entry in self.library if entry.name != STOP]
        self._effects: dict[str, Callable[[Any], Any]] = {
            entry.name: getattr(environment, entry.name) if kind.act is Environment.act else self._act(entry.name)
            for entry in entries
            if entry.atomic
        }
        self._results: dict[str, Callable[[Any, Any], Any]] = {
            entry.name: getattr(environment, entry.name) if kind.post is Environment.post else self._post(entry.name)
            for entry in entries
            if not entry.atomic and entry.target is None
        }
        self.changes_frames = kind.enter is not Environment.enter or kind.leave is not Environment.leave
        """Whether a program may see another state than its caller without being called by itself."""
        names = [entry.name for entry in self.library.learned]
        self._frames: dict[tuple[str | None, str], CallFrame | None] = {
            (caller, entry.name): self.library.frame(caller, entry.name)
            for caller in names
            for entry in self.library.callable_by(caller)
            if not entry.atomic and not self.changes_frames
        }

    def begun(self, program: str, state: Any, rng: np.random.Generator | None = None) -> Any:
        """A problem as its program finds it, with an argument that is drawn if it has none, and with its start.

        `program` may be a call with an argument.
        """
        if self.library.frame_fields == NO_FRAME_FIELDS:
            return state
        found = self.attempt(lambda: list(self.library.begun(program, state)), f"start of {program}", state)
        if not found:
            raise SpecificationError(
                f"{self.name}: {program}: no argument satisfies its pre-condition in {shown(state)}"
            )
        return found[0 if rng is None else int(rng.integers(len(found)))]

    def initial(
        self, program: str, size: int, rng: np.random.Generator, further: Mapping[str, int] = NO_FURTHER_SIZES
    ) -> Any:
        """A start state, hashable; further sizes of the problem are drawn where they are not given."""
        limits.size(f"{self.name}: {program}: size", size)
        sizes = {
            name: further[name] if name in further else int(rng.choice(values))
            for name, values in self.environment.further_sizes.items()
        }
        try:
            state = self.environment.initial(self.library.called(program).name, size, rng, **sizes)
        except RAISED as error:
            self._fault(error, f"initial state of {program} at size {size}")
        return self.hashable(self.begun(program, state, rng), f"initial state of {program} at size {size}")

    def look(self, state: Any) -> tuple[int, ...]:
        """An observation as the environment gives it, for callers that know the well-formed ones."""
        try:
            seen: Any = self.environment.observe(state)
            return seen if type(seen) is tuple else self._tuple(seen, "observe", self._fields)
        except RAISED as error:
            self._fault(error, "observe", state)

    def observe(self, state: Any) -> tuple[int, ...]:
        """An observation with one small integer per field."""
        observation = self.look(state)
        try:
            if observation in self._well_formed:
                return observation
        except TypeError:  # something in it cannot be hashed
            pass
        return self.well_formed(observation, state)

    def well_formed(self, observation: tuple[int, ...], state: Any) -> tuple[int, ...]:
        """The same observation, if it has one small integer per field."""
        try:
            known = observation in self._well_formed
        except TypeError:  # something in it cannot be hashed
            known = False
        if not known:
            self._check(observation, state)
            self._well_formed.add(observation)
        return observation

    def derive(self, observation: tuple[int, ...]) -> tuple[int, ...]:
        """The values of the derived conditions."""
        names = self.environment.derived
        try:
            derived = self._tuple(self.environment.derive(observation), "derive", names)
        except RAISED as error:
            self._fault(error, "derive", observation)
        if len(derived) != len(names):
            raise self._refusal("derive", f"it returned {len(derived)} values for {len(names)} names", observation)
        for name, value in zip(names, derived, strict=True):
            if not isinstance(value, _WHOLE):
                raise self._refusal("derive", f"{name!r} is {shown(value)}; give an integer or a bool", observation)
        return tuple(int(value) for value in derived)

    def act(self, state: Any, action: str) -> Any:
        """The state after an atomic action."""
        try:
            after = self._effects[action](state)
        except RAISED as error:
            self._fault(error, f"action {action}", state)
        return after if self._trusted(after) else self.hashable(after, f"action {action}", state)

    def render(self, state: Any) -> Scene | None:
        """The state's picture, without mistakes a viewer would stumble over."""
        try:
            scene = self.environment.render(state)
        except RAISED as error:
            self._fault(error, "render", state)
        if scene is None:
            return None
        if not isinstance(scene, Scene):
            raise self._refusal("render", f"it returned a {type(scene).__name__}, not a Scene", state)
        wrong = problems(scene)
        if wrong:
            raise SpecificationError(f"{self.name}: render: {wrong[0]} (state {shown(state)})")
        return scene

    def pre(self, program: str, state: Any, caller: str | None) -> bool:
        """Whether the program may be called."""
        try:
            return bool(self.environment.pre(program, state, caller))
        except RAISED as error:
            by = "" if caller is None else f" called by {caller}"
            self._fault(error, f"pre-condition of {program}{by}", state)

    def conditions(self, program: str) -> tuple[CallCondition, ...] | None:
        """For each library entry, where the program may do it; None where the environment decides otherwise."""
        return self.library.conditions(program) if type(self.environment).pre is Environment.pre else None

    def legal(self, program: str, state: Any) -> tuple[bool, ...]:
        """For each library entry, whether the program may do it."""
        try:
            return self.environment.legal(program, state)
        except RAISED as error:
            for entry in self.library.callable_by(program):
                if entry.name != STOP:
                    self.pre(entry.name, state, program)  # names the pre-condition that raises
            self._fault(error, f"legal actions of {program}", state)

    def post(self, program: str, before: Any, after: Any) -> bool:
        """Whether the program may end here."""
        try:
            holds = self._results[program](before, after)
        except RAISED as error:
            self._fault(error, f"post-condition of {program} begun in {shown(before)}", after)
        if holds is True or holds is False:
            return holds
        if not isinstance(holds, (bool, np.bool_)):
            raise SpecificationError(
                f"{self.name}: {program}: its post-condition returned {holds!r}; return True or False"
            )
        return bool(holds)

    def enter(self, state: Any, program: str, caller: str | None) -> Any:
        """What the callee sees."""
        frame = self._frames.get((caller, program))
        try:
            entered = self.environment.enter(state, program, caller) if frame is None else frame.enter(state)
        except RAISED as error:
            self._fault(error, f"entering {program} from {caller}", state)
        return entered if self._trusted(entered) else self.hashable(entered, f"entering {program} from {caller}", state)

    def leave(self, caller_state: Any, callee_state: Any, program: str, caller: str | None) -> Any:
        """What the caller sees afterwards."""
        frame = self._frames.get((caller, program))
        try:
            if frame is None:
                left = self.environment.leave(caller_state, callee_state, program, caller)
            else:
                left = frame.leave(caller_state, callee_state)
        except RAISED as error:
            self._fault(error, f"leaving {program} for {caller} in {shown(caller_state)}", callee_state)
        return left if self._trusted(left) else self.hashable(left, f"leaving {program} for {caller}", callee_state)

    def depth(self, program: str, state: Any) -> int:
        """Most actions of a call."""
        try:
            limit = self.environment.depth(program, state)
        except RAISED as error:
            self._fault(error, f"depth of {program}", state)
        if not isinstance(limit, _WHOLE):
            raise self._refusal("depth", f"{shown(limit)} for {program} is no whole number", state)
        if limit < 1:
            raise SpecificationError(f"{self.name}: {program}: depth {limit} leaves no room for STOP")
        if limit > limits.MOST_DEPTH:
            raise self._refusal("depth", f"{limit} for {program} is more than {limits.MOST_DEPTH:,}", state)
        return int(limit)

    def base_case(self, program: str, state: Any) -> bool:
        """Whether a call is meant to end without calling itself."""
        try:
            return bool(self.environment.base_case(program, state))
        except RAISED as error:
            self._fault(error, f"base_case of {program}", state)

    def size(self, state: Any) -> int:
        """Size of the current problem."""
        try:
            found = self.environment.size(state)
        except RAISED as error:
            self._fault(error, "size", state)
        return self._extent(found, "size", state)

    def measure(self, program: str, state: Any) -> int:
        """What recursion makes smaller."""
        try:
            found = self.environment.measure(program, state)
        except RAISED as error:
            self._fault(error, f"measure of {program}", state)
        return self._extent(found, "measure", state)

    def _extent(self, found: Any, member: str, state: Any) -> int:
        if not isinstance(found, _WHOLE) or found < 0:
            raise self._refusal(member, f"it returned {shown(found)}; give a whole number from 0 on", state)
        return int(found)

    def valid(self, state: Any) -> bool:
        """Whether a state is one of those that proofs are about."""
        try:
            return bool(self.environment.valid(state))
        except RAISED as error:
            self._fault(error, "valid", state)

    def enumerate(self, program: str, size: int) -> Iterator[Any]:
        """Every start of a size; NotImplementedError where the environment does not say."""
        return self._starts("enumerate", program, size)

    def templates(self, program: str, size: int, values: Sequence[Any]) -> Iterator[Any]:
        """The starts of a size around values given; NotImplementedError where the environment does not say."""
        return self._starts("templates", program, size, values)

    def _starts(self, member: str, program: str, size: int, *given: Sequence[Any]) -> Iterator[Any]:
        """Starts of a size, for all values of its further sizes, with every argument."""
        make, further = getattr(self.environment, member), self.environment.further_sizes
        if getattr(make, "__func__", None) is getattr(Environment, member):
            raise NotImplementedError  # which it would not get to with further sizes
        for values in product(*further.values()):
            sizes = dict(zip(further, values, strict=True))
            starts = partial(make, program, size, *given, **sizes)
            for start in self._states(starts, f"{member} of {program} at size {size}"):
                yield from self.library.begun(program, start)

    def outcomes(self, program: str, before: Any) -> Iterator[Any]:
        """Every state in which a call may end; NotImplementedError where the environment does not say."""
        return self._states(lambda: self.environment.outcomes(program, before), f"outcomes of {program}", before)

    def _states(self, make: Callable[[], Iterable[Any]], what: str, given: Any = None) -> Iterator[Any]:
        try:
            for state in make():
                # Values that are unknown yet have no hash: only the type is looked at.
                yield self.hashable(state, what, given) if type(state).__hash__ is None or state is None else state
        except NotImplementedError:
            raise
        except RAISED as error:
            self._fault(error, what, given)

    def relative(self, program: str, after: Any) -> Hashable | None:
        """What the end of a call looks like whatever the size; None where the environment has no such view."""
        try:
            view = self.environment.relative(program, after)
            hash(view)
        except RAISED as error:
            self._fault(error, f"relative of {program}", after)
        return view

    def cutoff(self) -> Cutoff | None:
        """The environment's lemma, if there is one."""
        try:
            lemma: Any = self.environment.cutoff()
        except RAISED as error:
            self._fault(error, "cutoff")
        if lemma is None or isinstance(lemma, Cutoff):
            return lemma
        raise self._refusal("cutoff", f"it returned a {type(lemma).__name__}, not a Cutoff")

    def standalone(self) -> Standalone[Any] | None:
        """The environment as plain Python source, if it has one."""
        try:
            source: Any = self.environment.standalone()
        except RAISED as error:
            self._fault(error, "standalone")
        if source is None or isinstance(source, Standalone):
            return source
        raise self._refusal("standalone", f"it returned a {type(source).__name__}, not a Standalone")

    def parse(self, program: str, text: str) -> Any:
        """The state a user typed; whatever is wrong with it, or with the environment's reading, is one message."""
        called = self.library.called(program).name
        try:
            state = self.environment.parse(called, text)
        except NotImplementedError:
            raise UsageError(
                f"{self.name} cannot read instances: leave the input out, and one is drawn (--size, --seed), or give "
                "it a method parse(program, text)"
            ) from None
        except AlphaNPIError:
            raise
        except RAISED as error:
            reason = f"{error}" or type(error).__name__
            raise UsageError(
                f"{self.name}: {shown(text)} cannot be read as an instance of {program}: {reason}"
            ) from error
        return self.hashable(self.begun(program, state), f"parse of {shown(text)}")

    def format(self, state: Any) -> str:
        """A state the way a user reads it."""
        try:
            text = self.environment.format(state)
        except RAISED as error:
            self._fault(error, "format", state)
        return self._text(text, "format", state)

    def result(self, program: str, final: Any, actions: Sequence[Any]) -> str:
        """What a user wants to read after a run."""
        try:
            text = self.environment.result(program, final, actions)
        except RAISED as error:
            self._fault(error, f"result of {program}", final)
        return self._text(text, "result", final)

    def _text(self, text: Any, member: str, state: Any) -> str:
        if not isinstance(text, str):
            raise self._refusal(member, f"it returned a {type(text).__name__}, not a text", state)
        return text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate can be neither printed nor written

    def _act(self, action: str) -> Callable[[Any], Any]:
        return lambda state: self.environment.act(state, action)

    def _post(self, program: str) -> Callable[[Any, Any], Any]:
        return lambda before, after: self.environment.post(program, before, after)

    def _tuple(self, entries: Any, member: str, names: Sequence[str]) -> tuple[Any, ...]:
        """One entry for each name, and one more where there are too many: they may have no end."""
        if entries is None or isinstance(entries, (str, bytes)):
            raise self._refusal(member, f"it returned a {type(entries).__name__}, not a tuple")
        return tuple(islice(entries, len(names) + 1))

    def _check(self, observation: tuple[Any, ...], state: Any) -> None:
        if len(observation) != len(self._fields):
            count = f"{len(observation)} entries for {len(self._fields)} fields"
            raise self._refusal("observe", f"returned {count}", state)
        if PLAIN.issuperset(map(type, observation)) and _in_range(observation):
            return
        for field, value in zip(self._fields, observation, strict=True):
            if not isinstance(value, _WHOLE):
                what = f"{shown(value)}, a {type(value).__name__}"
                raise self._refusal("observe", f"field {field!r} is {what}; give an integer or a bool", state)
            if not _in_range((value,)):
                raise self._refusal(
                    "observe", f"field {field!r} is {shown(value)}, out of {_SMALLEST}..{_LARGEST}", state
                )

    def _trusted(self, state: Any) -> bool:
        """Hashing long states again and again is costly: after many could be, all others of their types are trusted."""
        if self._hashed_by_caller:
            return state is not None
        self._to_be_hashed -= 1
        return self._to_be_hashed < 0 and type(state) in self._hashed_kinds

    def hashable(self, state: Any, what: str, given: Any = None) -> Any:
        """The state, if it can be hashed."""
        try:
            hash(state)
        except RAISED as error:
            if not isinstance(error, TypeError):
                self._fault(error, f"{what}: hash of the state", given)
            at = "" if given is None else f" in state {shown(given)}"
            kind = type(state).__name__
            inner = "" if not isinstance(state, Hashable) else ", which holds something unhashable"
            raise SpecificationError(
                f"{self.name}: {what}{at}: unhashable state: a {kind}{inner}; use tuples or frozen dataclasses"
            ) from None
        if state is None:
            raise SpecificationError(f"{self.name}: {what}: it returned None instead of a state")
        self._hashed_kinds.add(type(state))
        return state

    def incomparable(self, error: BaseException, state: Any, what: str, given: Any = None) -> NoReturn:
        """A state that no table can hold: it has no hash, or comparing it raises."""
        self.hashable(state, what, given)
        self._fault(error, f"{what}: comparing states", given)

    def _refusal(self, member: str, rule: str, state: Any = None) -> SpecificationError:
        """A member that returned something unusable, with the place where it is written."""
        code = getattr(getattr(type(self.environment), member, None), "__code__", None)
        notes = [] if state is None else [f"state {shown(state)}"]
        notes += [] if code is None else [f"{_place(code.co_filename)}:{code.co_firstlineno}"]
        verb = "" if rule.startswith("returned") else ":"
        return SpecificationError(f"{self.name}: {member}{verb} {rule}" + (f" ({', '.join(notes)})" if notes else ""))

    def attempt(self, function: Callable[[], Any], what: str, state: Any = None) -> Any:
        """What a function of the environment's returns that is no member of it, such as one of its lemma."""
        try:
            return function()
        except RAISED as error:
            self._fault(error, what, state)

    def _fault(self, error: BaseException, what: str, state: Any = None) -> NoReturn:
        if isinstance(error, AlphaNPIError):
            raise error
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if frame.filename not in _OURS]
        frame = (theirs or list(frames))[-1]
        place = _place(frame.filename)
        at = "" if state is None else f" in state {shown(state)}"
        raise EnvironmentFault(
            f"{place}:{frame.lineno}: {self.name}: {what}{at}: {type(error).__name__}: {error}"
        ) from error


def _place(filename: str) -> str:
    """A file for a message; those of the package by their names in it."""
    own = str(Path(__file__).parent)
    return filename.removeprefix(own).lstrip("/") if filename.startswith(own) else filename


def _in_range(values: tuple[Any, ...]) -> bool:
    return bool(min(values) >= _SMALLEST and max(values) <= _LARGEST)


def shown(state: Any) -> str:
    """A state for a message, cut where it is long."""
    try:
        text = repr(state)
    except RAISED as error:  # a user's own __repr__
        text = f"<{type(state).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
