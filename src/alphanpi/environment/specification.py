"""The specification language: what an environment is and how its programs are declared.

An environment is a set of pure functions over hashable state values. Each atomic action is one method whose
body is its effect; each program is one method whose body is the test of what must be true afterwards.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from alphanpi.environment.scene import Scene
from alphanpi.environment.standalone import Standalone
from alphanpi.environment.step import Step
from alphanpi.errors import SpecificationError
from alphanpi.support import limits

if TYPE_CHECKING:
    from alphanpi.environment.cutoff import Cutoff

State = TypeVar("State", bound=Hashable)
Method = TypeVar("Method", bound=Callable[..., Any])

STOP = "STOP"
_ATTRIBUTE = "__alphanpi_declaration__"


@dataclass(frozen=True)
class Program:
    """One entry of the library: an atomic action (level 0) or a program to be learned (level 1 and up)."""

    name: str
    level: int
    summary: str = ""
    recursive: bool = False
    depth: int | Callable[[Any], int] = 1
    minimum_size: int = 1
    pre: Callable[[Any], bool] | None = None
    shrink: Callable[[Any], Any] | None = None
    restore: Callable[[Any, Any], Any] | None = None

    @property
    def growing(self) -> bool:
        """Whether its depth is a function of the state, as that of a loop is."""
        return not isinstance(self.depth, int)

    @property
    def atomic(self) -> bool:
        """Whether this is an action of the environment rather than a program to be learned."""
        return self.level == 0


class Library(Sequence[Program]):
    """STOP, then the actions, then the programs by level; indices are stable and saved with every model."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._programs = tuple(programs)
        self.names = tuple(program.name for program in programs)
        self.atomic_count = sum(program.atomic for program in programs)
        self._index: Mapping[str, int] = {name: index for index, name in enumerate(self.names)}
        self._named: Mapping[str, Program] = {program.name: program for program in programs}
        self._may_call: Mapping[str, tuple[bool, ...]] = {
            caller.name: tuple(
                entry.level < caller.level or (entry is caller and caller.recursive) for entry in programs
            )
            for caller in programs
        }
        self._conditions: Mapping[str, tuple[CallCondition, ...]] = {
            caller.name: tuple(
                _condition(entry, caller) if allowed else False
                for entry, allowed in zip(programs, self._may_call[caller.name], strict=True)
            )
            for caller in programs
        }

    def __getitem__(self, key: Any) -> Any:
        return self._programs[key]

    def __len__(self) -> int:
        return len(self._programs)

    def __iter__(self) -> Iterator[Program]:
        return iter(self._programs)

    def index_of(self, name: str) -> int:
        """The program's index, or a SpecificationError that lists the names there are."""
        try:
            return self._index[name]
        except KeyError:
            raise SpecificationError(f"no program {name!r}; there are {', '.join(self.names)}") from None

    def named(self, name: str) -> Program:
        """The program of that name."""
        return self._named.get(name) or self._programs[self.index_of(name)]

    @property
    def learned(self) -> tuple[Program, ...]:
        """The programs above level 0: those an agent has to learn."""
        return self._programs[self.atomic_count :]

    @property
    def levels(self) -> int:
        """The highest level."""
        return max(program.level for program in self._programs)

    def may_call(self, name: str) -> tuple[bool, ...]:
        """For each entry, whether a program may call it: a lower level, or itself if it is recursive."""
        return self._may_call[name]

    def conditions(self, name: str) -> tuple[CallCondition, ...]:
        """For each entry, where a program may call it: everywhere, nowhere, or where a test of the state holds."""
        return self._conditions[name]

    def callable_by(self, name: str) -> tuple[Program, ...]:
        """The entries a program may call."""
        return tuple(entry for entry, allowed in zip(self, self.may_call(name), strict=True) if allowed)


CallCondition = bool | Callable[[Any], Any]


def _condition(entry: Program, caller: Program) -> CallCondition:
    """Where `caller` may call `entry`, as declared."""
    if entry is not caller:
        return True if entry.pre is None else entry.pre
    pre, shrink = entry.pre, entry.shrink
    if shrink is None:
        return False

    def inner_call(state: Any) -> bool:
        smaller = shrink(state)
        return smaller is not None and (pre is None or bool(pre(smaller)))

    return inner_call


@dataclass(frozen=True)
class _Declaration:
    """Arguments of a decorator, kept on the method until its class is complete."""

    level: int
    pre: Callable[[Any], bool] | None
    recursive: bool = False
    depth: int | Callable[[Any], int] = 1
    minimum_size: int = 1
    shrink: Callable[[Any], Any] | None = None
    restore: Callable[[Any, Any], Any] | None = None
    is_program: bool = False

    def __call__(self, method: Method) -> Method:
        setattr(method, _ATTRIBUTE, self)
        return method


def action(*, pre: Callable[[Any], bool] | None = None) -> Callable[[Method], Method]:
    """Declare an atomic action. The method's body, `NAME(self, state) -> state`, is its effect.

    Args:
        pre: Test of a state; the action is legal exactly where it holds. Without it, always.
    """
    return _Declaration(level=0, pre=pre)


def program(
    *,
    level: int,
    depth: int | Callable[[Any], int],
    pre: Callable[[Any], bool] | None = None,
    minimum_size: int = 1,
    recursive: bool = False,
    shrink: Callable[[Any], Any] | None = None,
    restore: Callable[[Any, Any], Any] | None = None,
) -> Callable[[Method], Method]:
    """Declare a program to be learned. The method's body, `NAME(self, before, after) -> bool`, is its test.

    The test includes the frame: whatever must not have changed.

    Args:
        level: Place in the hierarchy, from 1; a program may call everything below its level.
        depth: Most actions of one call, STOP included; a number, or a function of the state at the call.
        pre: Test of a state; the program may be called exactly where it holds. Without it, everywhere.
        minimum_size: Smallest problem on which the pre-condition can hold.
        recursive: Whether the program may call itself.
        shrink: For a recursive program: the smaller problem the inner call sees, or None where there is none.
            An inner call is legal where `shrink` gives a state that satisfies `pre`.
        restore: For a recursive program: `restore(caller_state, callee_state)` puts the caller's frame back.
    """
    return _Declaration(level, pre, recursive, depth, minimum_size, shrink, restore, is_program=True)


def require_specified(environment: Environment[Any]) -> None:
    """Refuse an environment whose names and sizes, which a user may have written in any way, cannot be used."""
    name = type(environment).__name__
    for member in ("fields", "derived"):
        names: Any = getattr(environment, member)
        if not isinstance(names, (tuple, list)) or not all(isinstance(entry, str) for entry in names):
            what = "every entry of an observation" if member == "fields" else "conditions"
            raise SpecificationError(f"{name}: `{member}` must name {what}, in a tuple of strings")
        if len(set(names)) != len(names):
            raise SpecificationError(f"{name}: `{member}` has a duplicate name")
    if not environment.fields:
        raise SpecificationError(f"{name}: `fields` must name every entry of an observation")
    _require_whole(name, "version", environment.version, 0, limits.MOST_SEED)
    _require_whole(name, "validation_size", environment.validation_size, 0, limits.MOST_SIZE)
    for member in ("train_sizes", "test_sizes"):
        sizes: Any = getattr(environment, member)
        if not isinstance(sizes, (tuple, list, range)) or not sizes:
            raise SpecificationError(f"{name}: `{member}` must be a tuple of sizes, one or more; it is {sizes!r:.80}")
        for size in sizes:
            _require_whole(name, member, size, 0, limits.MOST_SIZE)
    largest = max(environment.train_sizes)
    for item in environment.library.learned:
        least = item.minimum_size
        if largest < least or environment.validation_size < least:
            member = "train_sizes" if largest < least else "validation_size"
            raise SpecificationError(f"{name}: {item.name}: minimum_size {least} is beyond `{member}`")


def _require_whole(environment: str, what: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SpecificationError(
            f"{environment}: `{what}` holds {value!r:.80}; give whole numbers from {least} to {most:,}"
        )


class _Namespace(dict[str, Any]):
    """Body of an environment class; refuses a second declaration under a name already taken."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self and hasattr(self[name], _ATTRIBUTE):
            raise SpecificationError(f"{name}: duplicate name: declared twice in the same environment")
        super().__setitem__(name, value)


class EnvironmentMeta(ABCMeta):
    """Collects the declarations of an environment class into its library, and checks them."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **kwargs: Any) -> MutableMapping[str, Any]:
        """Give the class body a namespace that notices duplicates."""
        return _Namespace()

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **kwargs: Any
    ) -> EnvironmentMeta:
        """Build the class; one that declares programs gets its library."""
        if "legal" in namespace and bases != (Generic,):
            raise SpecificationError(
                f"{name}: legal: what is legal follows from the pre-conditions; give pre=, or override `pre`"
            )
        created = super().__new__(cls, name, bases, dict(namespace), **kwargs)
        programs = _collect(created)
        if any(not program.atomic for program in programs):
            created.library = _checked_library(name, programs)  # type: ignore[attr-defined]
        return created


def _collect(environment: type) -> list[Program]:
    found: dict[str, Program] = {}
    for base in reversed(environment.__mro__):
        for name, member in vars(base).items():
            if isinstance(member, _Declaration):
                missing = "effect" if member.level == 0 else "post-condition"
                raise SpecificationError(
                    f"{environment.__name__}: {name}: missing {missing}: decorate a method with the declaration"
                )
            declaration = getattr(member, _ATTRIBUTE, None)
            if isinstance(declaration, _Declaration):
                _require_whole(f"{environment.__name__}: {name}", "level", declaration.level, -(2**31), 2**31)
                if declaration.is_program and declaration.level < 1:
                    raise SpecificationError(
                        f"{environment.__name__}: {name}: level {declaration.level} is not allowed; "
                        "programs start at level 1, and actions are declared with @action"
                    )
                summary = (member.__doc__ or "").strip().split("\n")[0]
                found[name] = Program(
                    name=name,
                    level=declaration.level,
                    summary=summary,
                    recursive=declaration.recursive,
                    depth=declaration.depth,
                    minimum_size=declaration.minimum_size,
                    pre=declaration.pre,
                    shrink=declaration.shrink,
                    restore=declaration.restore,
                )
            else:
                found.pop(name, None)
    return list(found.values())


def _checked_library(environment: str, programs: Sequence[Program]) -> Library:
    def refuse(name: str, rule: str) -> SpecificationError:
        return SpecificationError(f"{environment}: {name}: {rule}")

    for item in programs:
        if item.name == STOP:
            raise refuse(STOP, "duplicate name: STOP is always there and cannot be declared")
        if hasattr(Environment, item.name) or item.name in Environment.__annotations__:
            raise refuse(item.name, "this name belongs to the Environment class; choose another")
        if not callable(item.depth):
            if not isinstance(item.depth, int):
                raise refuse(item.name, f"depth {item.depth!r:.80} is neither a whole number nor a function of a state")
            if item.depth < 1:
                raise refuse(item.name, f"depth {item.depth} leaves no room for STOP; give at least 1")
            if item.depth > limits.MOST_DEPTH:
                raise refuse(item.name, f"depth {item.depth} is more than {limits.MOST_DEPTH:,}")
        _require_whole(f"{environment}: {item.name}", "minimum_size", item.minimum_size, 0, limits.MOST_SIZE)
        for what, test in (("pre", item.pre), ("shrink", item.shrink), ("restore", item.restore)):
            if test is not None and not callable(test):
                raise refuse(item.name, f"{what}= must be a function; it is {test!r:.80}")
        if item.recursive and item.shrink is None:
            raise refuse(item.name, "recursive program without a way to shrink: give shrink=")
        if item.recursive and item.restore is None:
            raise refuse(item.name, "recursive program without a way back: give restore=")
        if not item.recursive and (item.shrink is not None or item.restore is not None):
            raise refuse(item.name, "shrink= and restore= are for recursive programs: say recursive=True")
    levels = {item.level for item in programs} | {0}
    for item in sorted(programs, key=lambda item: item.level):
        if item.level - 1 not in levels and item.level > 0:
            raise refuse(item.name, f"level gap: it has level {item.level}, but nothing has {item.level - 1}")
    ordered = sorted(programs, key=lambda item: item.level)
    return Library([Program(STOP, level=0, summary="end the current program"), *ordered])


class Environment(Generic[State], metaclass=EnvironmentMeta):
    """Base of all environments. Subclasses declare fields, actions and programs, and three functions.

    No method may change a state or draw from a global random generator.
    """

    library: ClassVar[Library]
    """Filled in from the declarations."""
    version: ClassVar[int] = 1
    """Raised when observations or rules change, so that an old model is not run on a new environment."""
    train_sizes: ClassVar[tuple[int, ...]] = (1, 2)
    """Problem sizes to learn from."""
    validation_size: ClassVar[int] = 3
    """Problem size that decides whether a program is learned."""
    test_sizes: ClassVar[tuple[int, ...]] = (5, 10)
    """Problem sizes to measure generalisation on."""

    fields: tuple[str, ...] = ()
    """A name for every entry of an observation."""

    derived: tuple[str, ...] = ()
    """Names of further conditions that follow from an observation; exported code may use them."""

    @abstractmethod
    def initial(self, program: str, size: int, rng: np.random.Generator) -> State:
        """Draw a state of that size that satisfies the program's pre-condition."""

    @abstractmethod
    def observe(self, state: State) -> Sequence[int]:
        """What the agent sees: one small integer or bool per field."""

    @abstractmethod
    def size(self, state: State) -> int:
        """Size of the current problem; inside a recursive call, of the reduced one."""

    def measure(self, program: str, state: State) -> int:
        """What every recursive call makes smaller; the size unless overridden."""
        return self.size(state)

    def base_case(self, program: str, state: State) -> bool:
        """Whether a call that begins here is meant to end without calling itself.

        By default where the size, or the measure, is at most the program's `minimum_size`.
        """
        entry = self.library.named(program)
        least = entry.minimum_size
        return not entry.recursive or self.size(state) <= least or self.measure(program, state) <= least

    def enumerate(self, program: str, size: int) -> Iterator[State]:
        """Every state of that size in which the program may start, up to the environment's symmetry; for `verify`."""
        raise NotImplementedError

    def templates(self, program: str, size: int, values: Sequence[Any]) -> Iterator[State]:
        """The same starts around values given, one for each place; for environments that only compare values."""
        raise NotImplementedError

    def outcomes(self, program: str, before: State) -> Iterator[State]:
        """Every state in which a call begun in `before` may end: the contract `verify` puts in its place."""
        raise NotImplementedError

    def relative(self, program: str, after: State) -> Hashable | None:
        """What the end of a call looks like whatever the size, where `outcomes` leaves more open than one state."""
        return None

    def cutoff(self) -> Cutoff | None:
        """The lemma by which a verification up to some size holds for every size, if there is one."""
        return None

    def derive(self, observation: Sequence[int]) -> Sequence[int]:
        """The values of the derived conditions, one small integer or bool for each name in `derived`."""
        raise NotImplementedError

    def standalone(self) -> Standalone[State] | None:
        """The environment as plain Python source, so that exported programs run on their own."""
        return None

    def parse(self, program: str, text: str) -> State:
        """Read an instance a user typed."""
        raise NotImplementedError

    def format(self, state: State) -> str:
        """Write a state the way a user reads it."""
        return str(state)

    def result(self, program: str, final: State, actions: Sequence[Step]) -> str:
        """What a user wants to read after a run; `actions` are its atomic steps, where they were kept."""
        return self.format(final)

    def render(self, state: State) -> Scene | None:
        """A picture of the state; None: it is shown as text."""
        return None

    def act(self, state: State, action: str) -> State:
        """Apply an atomic action."""
        result: State = getattr(self, action)(state)
        return result

    def pre(self, program: str, state: State, caller: str | None = None) -> bool:
        """Whether `program` may be called here; the legal-action mask is exactly this, everywhere."""
        entry = self.library.named(program)
        if caller == program:
            condition = self.library.conditions(program)[self.library.index_of(program)]
            return bool(condition if isinstance(condition, bool) else condition(state))
        return entry.pre is None or bool(entry.pre(state))

    def post(self, program: str, before: State, after: State) -> bool:
        """Whether a call that began in `before` may end in `after`."""
        holds: bool = getattr(self, program)(before, after)
        return holds

    def enter(self, state: State, program: str, caller: str | None = None) -> State:
        """What the callee sees: the state itself, or the smaller problem when a program calls itself."""
        if caller != program:
            return state
        entry = self.library.named(program)
        assert entry.shrink is not None
        smaller: State = entry.shrink(state)
        return smaller

    def leave(self, caller_state: State, callee_state: State, program: str, caller: str | None = None) -> State:
        """The caller's state after the callee ended in `callee_state`."""
        if caller != program:
            return callee_state
        entry = self.library.named(program)
        assert entry.restore is not None
        restored: State = entry.restore(caller_state, callee_state)
        return restored

    def depth(self, program: str, state: State) -> int:
        """Most actions, STOP included, of a call of `program` that begins in `state`."""
        limit = self.library.named(program).depth
        return limit if isinstance(limit, int) else limit(state)

    def legal(self, program: str, state: State) -> tuple[bool, ...]:
        """For each library entry, whether `program` may do it in `state`, as `pre` says; STOP is always legal."""
        if type(self).pre is Environment.pre:
            conditions = self.library.conditions(program)
            return tuple([test if test is True or test is False else bool(test(state)) for test in conditions])
        return tuple(
            allowed and (name == STOP or self.pre(name, state, program))
            for name, allowed in zip(self.library.names, self.library.may_call(program), strict=True)
        )
