"""The specification language: what an environment is and how its programs are declared.

An environment is a set of pure functions over hashable state values. Each atomic action is one method whose
body is its effect; each program is one method whose body is the test of what must be true afterwards. Parts of a
problem on which programs may be called are attributes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from alphanpi.environment.declarations import EnvironmentMeta, action, program, require_whole, subproblem
from alphanpi.environment.facets import Exportable, Pictured, Provable, State, Textual, Verifiable
from alphanpi.environment.library import STOP, Library, Program
from alphanpi.errors import SpecificationError
from alphanpi.support import limits

__all__ = [
    "STOP",
    "Environment",
    "Library",
    "Program",
    "State",
    "action",
    "program",
    "require_specified",
    "subproblem",
]


class Environment(
    Textual[State],
    Pictured[State],
    Verifiable[State],
    Provable[State],
    Exportable[State],
    metaclass=EnvironmentMeta,
):
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

    further_sizes: ClassVar[Mapping[str, tuple[int, ...]]] = MappingProxyType({})
    """Other sizes of a problem, by name, and their values to learn from; `initial` gets one of each by name."""

    call_start: ClassVar[str | None] = None
    """Name of a field of the state that holds, inside every call, the state in which the call began."""

    fields: tuple[str, ...] = ()
    """A name for every entry of an observation."""

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

    def act(self, state: State, action: str) -> State:
        """Apply an atomic action."""
        result: State = getattr(self, action)(state)
        return result

    def pre(self, program: str, state: State, caller: str | None = None) -> bool:
        """Whether `program` may be called here; the legal-action mask is exactly this, everywhere.

        `program` is the name of an entry of the library: an action, a program, or a call with an argument or on a
        sub-problem.
        """
        entry = self.library.named(program)
        frame = None if caller is None or entry.atomic else self.library.frame(caller, program)
        entered = state if frame is None else frame.enter(state)
        return entered is not None and (entry.pre is None or bool(entry.pre(entered)))

    def post(self, program: str, before: State, after: State) -> bool:
        """Whether a call that began in `before` may end in `after`."""
        holds: bool = getattr(self, program)(before, after)
        return holds

    def enter(self, state: State, program: str, caller: str | None = None) -> State:
        """What the callee sees: the state itself, or a part of the problem, with the call's argument and start."""
        frame = None if caller is None else self.library.frame(caller, program)
        entered: State = state if frame is None else frame.enter(state)
        return entered

    def leave(self, caller_state: State, callee_state: State, program: str, caller: str | None = None) -> State:
        """The caller's state after the callee ended in `callee_state`."""
        frame = None if caller is None else self.library.frame(caller, program)
        left: State = callee_state if frame is None else frame.leave(caller_state, callee_state)
        return left

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
    unit: Any = environment.size_unit
    if not isinstance(unit, (tuple, list)) or len(unit) != 2 or not all(isinstance(word, str) for word in unit):
        raise SpecificationError(
            f"{name}: `size_unit` must be two words, such as ('disk', 'disks'); it is {unit!r:.80}"
        )
    if not environment.fields:
        raise SpecificationError(f"{name}: `fields` must name every entry of an observation")
    require_whole(name, "version", environment.version, 0, limits.MOST_SEED)
    require_whole(name, "validation_size", environment.validation_size, 0, limits.MOST_SIZE)
    for member in ("train_sizes", "test_sizes"):
        sizes: Any = getattr(environment, member)
        if not isinstance(sizes, (tuple, list, range)) or not sizes:
            raise SpecificationError(f"{name}: `{member}` must be a tuple of sizes, one or more; it is {sizes!r:.80}")
        for size in sizes:
            require_whole(name, member, size, 0, limits.MOST_SIZE)
    further: Any = environment.further_sizes
    if not isinstance(further, Mapping) or not all(isinstance(named, str) and further[named] for named in further):
        raise SpecificationError(f"{name}: `further_sizes` must give each name one size or more, in a tuple")
    for named, sizes in further.items():
        for size in sizes:
            require_whole(name, f"further_sizes: {named}", size, 0, limits.MOST_SIZE)
    for item in environment.library.learned:
        least = item.minimum_size
        largest = max(item.sizes_to_train(environment.train_sizes))
        if largest < least or item.size_to_validate(environment.validation_size) < least:
            member = "train_sizes" if largest < least else "validation_size"
            raise SpecificationError(f"{name}: {item.name}: minimum_size {least} is beyond `{member}`")
