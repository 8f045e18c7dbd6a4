"""Calling a user's environment: every fault becomes one message with file, line, program and state."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from alphanpi.errors import AlphaNPIError, EnvironmentFault, SpecificationError, UsageError
from alphanpi.scene import Scene, problems
from alphanpi.spec import STOP, Environment

_SMALLEST, _LARGEST = np.iinfo(np.int16).min, np.iinfo(np.int16).max
_SHOWN_CHARACTERS = 200
PLAIN = frozenset((int, bool))  # what observations usually consist of
_HASHED_AT_LEAST = 1000


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
        self._to_be_hashed = 0 if hashed_by_caller else _HASHED_AT_LEAST
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
            if not entry.atomic
        }
        self._shrinks = {
            entry.name: entry.shrink for entry in entries if entry.shrink and kind.enter is Environment.enter
        }
        self._restores = {
            entry.name: entry.restore for entry in entries if entry.restore and kind.leave is Environment.leave
        }

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Any:
        """A start state, hashable."""
        try:
            state = self.environment.initial(program, size, rng)
        except Exception as error:
            self._fault(error, f"initial state of {program} at size {size}")
        return self.hashable(state, f"initial state of {program} at size {size}")

    def look(self, state: Any) -> tuple[int, ...]:
        """An observation as the environment gives it, for callers that know the well-formed ones."""
        try:
            return tuple(self.environment.observe(state))
        except Exception as error:
            self._fault(error, "observe", state)

    def observe(self, state: Any) -> tuple[int, ...]:
        """An observation with one small integer per field."""
        return self.well_formed(self.look(state), state)

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
        try:
            derived = tuple(int(value) for value in self.environment.derive(observation))
        except Exception as error:
            self._fault(error, "derive", observation)
        if len(derived) != len(self.environment.derived):
            raise SpecificationError(
                f"{self.name}: derive returned {len(derived)} values for {len(self.environment.derived)} names"
            )
        return derived

    def act(self, state: Any, action: str) -> Any:
        """The state after an atomic action."""
        try:
            after = self._effects[action](state)
        except Exception as error:
            self._fault(error, f"action {action}", state)
        return after if self._trusted(after) else self.hashable(after, f"action {action}", state)

    def render(self, state: Any) -> Scene | None:
        """The state's picture, without mistakes a viewer would stumble over."""
        try:
            scene = self.environment.render(state)
        except Exception as error:
            self._fault(error, "render", state)
        if scene is None:
            return None
        if not isinstance(scene, Scene):
            raise SpecificationError(f"{self.name}: render: it returned a {type(scene).__name__}, not a Scene")
        wrong = problems(scene)
        if wrong:
            raise SpecificationError(f"{self.name}: render: {wrong[0]} (state {shown(state)})")
        return scene

    def pre(self, program: str, state: Any, caller: str | None) -> bool:
        """Whether the program may be called."""
        try:
            return bool(self.environment.pre(program, state, caller))
        except Exception as error:
            self._fault(error, f"pre-condition of {program} called by {caller}", state)

    def tests(self, program: str) -> tuple[Callable[[Any], Any], ...] | None:
        """The tests of a state that decide what the program may do; None where the environment decides otherwise."""
        kind = type(self.environment)
        if kind.pre is not Environment.pre or kind.legal is not Environment.legal:
            return None
        return tuple(test for test in self.library.conditions(program) if not isinstance(test, bool))

    def legal(self, program: str, state: Any) -> tuple[bool, ...]:
        """For each library entry, whether the program may do it."""
        try:
            return self.environment.legal(program, state)
        except Exception:
            for entry in self.library.callable_by(program):
                if entry.name != STOP:
                    self.pre(entry.name, state, program)  # names the pre-condition that raises
            raise

    def post(self, program: str, before: Any, after: Any) -> bool:
        """Whether the program may end here."""
        try:
            holds = self._results[program](before, after)
        except Exception as error:
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
        try:
            shrink = self._shrinks.get(program) if program == caller else None
            entered = self.environment.enter(state, program, caller) if shrink is None else shrink(state)
        except Exception as error:
            self._fault(error, f"entering {program} from {caller}", state)
        return entered if self._trusted(entered) else self.hashable(entered, f"entering {program} from {caller}", state)

    def leave(self, caller_state: Any, callee_state: Any, program: str, caller: str | None) -> Any:
        """What the caller sees afterwards."""
        try:
            restore = self._restores.get(program) if program == caller else None
            if restore is None:
                left = self.environment.leave(caller_state, callee_state, program, caller)
            else:
                left = restore(caller_state, callee_state)
        except Exception as error:
            self._fault(error, f"leaving {program} for {caller} in {shown(caller_state)}", callee_state)
        return left if self._trusted(left) else self.hashable(left, f"leaving {program} for {caller}", callee_state)

    def depth(self, program: str, state: Any) -> int:
        """Most actions of a call."""
        try:
            limit = self.environment.depth(program, state)
        except Exception as error:
            self._fault(error, f"depth of {program}", state)
        if limit < 1:
            raise SpecificationError(f"{self.name}: {program}: depth {limit} leaves no room for STOP")
        return limit

    def base_case(self, program: str, state: Any) -> bool:
        """Whether a call is meant to end without calling itself."""
        try:
            return bool(self.environment.base_case(program, state))
        except Exception as error:
            self._fault(error, f"base_case of {program}", state)

    def size(self, state: Any) -> int:
        """Size of the current problem."""
        try:
            return int(self.environment.size(state))
        except Exception as error:
            self._fault(error, "size", state)

    def measure(self, program: str, state: Any) -> int:
        """What recursion makes smaller."""
        try:
            return int(self.environment.measure(program, state))
        except Exception as error:
            self._fault(error, f"measure of {program}", state)

    def _act(self, action: str) -> Callable[[Any], Any]:
        return lambda state: self.environment.act(state, action)

    def _post(self, program: str) -> Callable[[Any, Any], Any]:
        return lambda before, after: self.environment.post(program, before, after)

    def _check(self, observation: tuple[int, ...], state: Any) -> None:
        if len(observation) != len(self._fields):
            raise SpecificationError(
                f"{self.name}: observe returned {len(observation)} entries for {len(self._fields)} fields"
                f" in state {shown(state)}"
            )
        if PLAIN.issuperset(map(type, observation)) and _in_range(observation):
            return
        for field, value in zip(self._fields, observation, strict=True):
            if not isinstance(value, (int, np.integer, np.bool_)):
                raise SpecificationError(
                    f"{self.name}: observe: field {field!r} is {value!r}, a {type(value).__name__}; "
                    f"give an integer or a bool (state {shown(state)})"
                )
            if not _in_range((value,)):
                raise SpecificationError(
                    f"{self.name}: observe: field {field!r} is {value}, out of {_SMALLEST}..{_LARGEST} "
                    f"(state {shown(state)})"
                )

    def _trusted(self, state: Any) -> bool:
        """Hashing long states again and again is costly: after many could be, all others are taken to be hashable."""
        self._to_be_hashed -= 1
        return self._to_be_hashed < 0 and state is not None

    def hashable(self, state: Any, what: str, given: Any = None) -> Any:
        """The state, if it can be hashed."""
        try:
            hash(state)
        except TypeError:
            at = "" if given is None else f" in state {shown(given)}"
            kind = type(state).__name__
            inner = "" if not isinstance(state, Hashable) else ", which holds something unhashable"
            raise SpecificationError(
                f"{self.name}: {what}{at}: unhashable state: a {kind}{inner}; use tuples or frozen dataclasses"
            ) from None
        if state is None:
            raise SpecificationError(f"{self.name}: {what}: it returned None instead of a state")
        return state

    def _fault(self, error: Exception, what: str, state: Any = None) -> NoReturn:
        if isinstance(error, AlphaNPIError):
            raise error
        frames = traceback.extract_tb(error.__traceback__)
        own = str(Path(__file__).parent)
        theirs = [frame for frame in frames if Path(frame.filename).name not in ("guard.py", "spec.py")]
        frame = (theirs or list(frames))[-1]
        place = frame.filename.removeprefix(own).lstrip("/") if frame.filename.startswith(own) else frame.filename
        at = "" if state is None else f" in state {shown(state)}"
        raise EnvironmentFault(
            f"{place}:{frame.lineno}: {self.name}: {what}{at}: {type(error).__name__}: {error}"
        ) from error


def parsed(environment: Environment[Any], program: str, text: str) -> Any:
    """The state a user typed; whatever is wrong with it, or with the environment's reading, is one message."""
    name = type(environment).__name__
    environment.library.named(program)
    try:
        return environment.parse(program, text)
    except NotImplementedError:
        raise UsageError(f"{name} cannot read instances: give it a method parse(program, text)") from None
    except AlphaNPIError:
        raise
    except Exception as error:
        raise UsageError(f"{name}: {text!r} cannot be read as an instance of {program}: {error}") from error


def _in_range(values: tuple[int, ...]) -> bool:
    return min(values) >= _SMALLEST and max(values) <= _LARGEST


def shown(state: Any) -> str:
    """A state for a message, cut where it is long."""
    text = repr(state)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
