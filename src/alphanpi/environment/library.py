"""The library of an environment: actions, programs to be learned and their calls, in an order that never changes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from alphanpi.environment.frames import NO_FRAME_FIELDS, Argument, CallFrame, FrameFields, SubProblem, framed
from alphanpi.errors import SpecificationError

STOP = "STOP"

CallCondition = bool | Callable[[Any], Any]
"""Where a call is allowed: everywhere, nowhere, or where a test of the state holds."""


NO_ARGUMENT: Mapping[str, Argument] = MappingProxyType({})


class Target(NamedTuple):
    """What a call runs that is not just a program on its caller's own state."""

    program: str
    argument: Mapping[str, Argument]  # by field of the state
    subproblem: SubProblem | None


@dataclass(frozen=True)
class Program:
    """One entry of the library: an atomic action (level 0), a program to be learned (level 1 and up), or a call of one.

    A call has a target: the program it runs, with an argument or on a named sub-problem or both.
    """

    name: str
    level: int
    summary: str = ""
    recursive: bool = False
    depth: int | Callable[[Any], int] = 1
    minimum_size: int = 1
    pre: Callable[[Any], bool] | None = None
    shrink: Callable[[Any], Any] | None = None
    restore: Callable[[Any, Any], Any] | None = None
    subproblems: tuple[SubProblem, ...] = ()
    """On which it may call itself and its group."""
    lower_on: Mapping[str, tuple[SubProblem, ...]] = field(default_factory=dict, hash=False)
    """By name, programs below it and the sub-problems on which it may call them, too."""
    group: str = ""
    arguments: Mapping[str, tuple[Argument, ...]] = field(default_factory=dict, hash=False)
    """By field of the state, the values that a call may hand over."""
    train_sizes: tuple[int, ...] | None = None
    validation_size: int | None = None
    target: Target | None = None

    @property
    def growing(self) -> bool:
        """Whether its depth is a function of the state, as that of a loop is."""
        return not isinstance(self.depth, int)

    @property
    def atomic(self) -> bool:
        """Whether this is an action of the environment rather than a program or a call of one."""
        return self.level == 0

    @property
    def runs(self) -> str:
        """The program that runs where this entry is called."""
        return self.name if self.target is None else self.target.program

    def sizes_to_train(self, usual: Sequence[int]) -> tuple[int, ...]:
        """Sizes to learn from: its own, or those of the environment."""
        return self.train_sizes or tuple(usual)

    def size_to_validate(self, usual: int) -> int:
        """The size to validate on: its own, or that of the environment."""
        return usual if self.validation_size is None else self.validation_size


class Library(Sequence[Program]):
    """STOP, then the actions, the programs by level, and their calls; indices are stable and saved with every model.

    A program that takes no argument is called by its own entry, on the caller's state or, where it calls itself, on the
    smaller problem. All other calls have entries of their own.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        only: Mapping[str, Container[str]] | None = None,
        frame_fields: FrameFields = NO_FRAME_FIELDS,
    ) -> None:
        """Entries in their order; a program that `only` names may call no others than it says there."""
        self.frame_fields = frame_fields
        declared = [program for program in programs if program.target is None]
        calls = [program for program in programs if program.target is not None] or _calls(declared)
        self._programs = (*declared, *calls)
        programs = self._programs
        narrowed = only or {}
        self.names = tuple(program.name for program in programs)
        self.atomic_count = sum(program.atomic for program in programs)
        self._index: Mapping[str, int] = {name: index for index, name in enumerate(self.names)}
        self._named: Mapping[str, Program] = {program.name: program for program in programs}
        self.learned: tuple[Program, ...] = programs[self.atomic_count : len(declared)]
        """The programs above level 0: those an agent has to learn."""
        self.callees = tuple(max(-1, self._index[program.runs] - self.atomic_count) for program in programs)
        """For each entry, which of the programs to be learned runs; -1 for STOP and actions."""
        callers = {caller.name: caller for caller in (*declared[: self.atomic_count], *self.learned)}
        self._may_call: Mapping[str, tuple[bool, ...]] = {
            name: tuple(
                self._declared(caller, entry) and (name not in narrowed or entry.name in narrowed[name])
                for entry in programs
            )
            for name, caller in callers.items()
        }
        self._frames: Mapping[tuple[str | None, str], CallFrame | None] = {
            (caller, entry.name): self._frame(None if caller is None else callers[caller], entry)
            for caller in (None, *callers)
            for entry in programs
            if not entry.atomic
        }
        self._conditions: Mapping[str, tuple[CallCondition, ...]] = {
            caller: tuple(
                self._condition(caller, entry) if allowed else False
                for entry, allowed in zip(programs, self._may_call[caller], strict=True)
            )
            for caller in callers
        }
        self._recursions = {
            program.name: frozenset(
                index
                for index, entry in enumerate(programs)
                if not entry.atomic and entry.level == program.level and self._may_call[program.name][index]
            )
            for program in self.learned
        }

    def __getitem__(self, key: Any) -> Any:
        return self._programs[key]

    def __len__(self) -> int:
        return len(self._programs)

    def __iter__(self) -> Iterator[Program]:
        return iter(self._programs)

    def narrowed(self, only: Mapping[str, Container[str]]) -> Library:
        """The same entries, where some programs may call no others than said."""
        return Library(self._programs, only, self.frame_fields)

    def index_of(self, name: str) -> int:
        """The entry's index, or a SpecificationError that lists the names there are."""
        try:
            return self._index[name]
        except KeyError:
            alone = [one.name for one in self._programs if one.target is None or one.target.subproblem is None]
            raise SpecificationError(f"no program {name!r}; there are {', '.join(alone)}") from None

    def spelt(self, name: str) -> str:
        """The name as it is declared, in whatever case and with whatever blanks a user wrote it."""
        same = [one for one in self.names if "".join(one.casefold().split()) == "".join(name.casefold().split())]
        return same[0] if len(same) == 1 else self.named(name).name

    def named(self, name: str) -> Program:
        """The entry of that name."""
        return self._named.get(name) or self._programs[self.index_of(name)]

    def called(self, name: str) -> Program:
        """The program that runs where an entry is called: itself, or the target of a call."""
        entry = self.named(name)
        return entry if entry.target is None else self._named[entry.target.program]

    @property
    def levels(self) -> int:
        """The highest level."""
        return max(program.level for program in self._programs)

    def may_call(self, name: str) -> tuple[bool, ...]:
        """For each entry, whether a program may call it."""
        return self._may_call[name]

    def conditions(self, name: str) -> tuple[CallCondition, ...]:
        """For each entry, where a program may call it: everywhere, nowhere, or where a test of the state holds."""
        return self._conditions[name]

    def callable_by(self, name: str) -> tuple[Program, ...]:
        """The entries a program may call."""
        return tuple(entry for entry, allowed in zip(self, self.may_call(name), strict=True) if allowed)

    def frame(self, caller: str | None, name: str) -> CallFrame | None:
        """How a call of an entry begins and ends; None where the callee works on the caller's own state."""
        return self._frames[caller, name]

    def framed(self) -> tuple[Program, ...]:
        """The calls that change the frame, whoever makes them."""
        return tuple(
            entry
            for place, entry in enumerate(self)
            if not entry.atomic
            and any(
                self._may_call[caller.name][place] and self.frame(caller.name, entry.name) is not None
                for caller in self.learned
            )
        )

    def recursions(self, name: str) -> frozenset[int]:
        """Entries by which a program calls itself, or another of its group."""
        return self._recursions[name]

    def group(self, name: str) -> frozenset[str]:
        """A program, and those that it and they may call recursively."""
        group, pending = {name}, [name]
        while pending:
            for call in self.recursions(pending.pop()):
                callee = self.called(self.names[call]).name
                if callee not in group:
                    group.add(callee)
                    pending.append(callee)
        return frozenset(group)

    def choices(self, program: str) -> Sequence[Mapping[str, Argument]]:
        """All arguments with which a program may be called; one without any where it takes none."""
        entry = self.named(program)
        return _choices(entry.arguments) if entry.target is None else [entry.target.argument]

    def begun(self, program: str, state: Any) -> Iterator[Any]:
        """A problem as its program finds it, with its start: once for each argument, unless one is in the state."""
        fields, entry = self.frame_fields, self.named(program)
        if fields == NO_FRAME_FIELDS:
            yield state
            return
        given = {name: getattr(state, name, None) for name in fields.arguments}
        choices: Sequence[Mapping[str, Any]] = self.choices(program)
        if entry.arguments and all(given[name] is not None for name in entry.arguments):
            choices = [{name: given[name] for name in entry.arguments}]
        for argument in choices:
            found = fields.entered(state, argument)
            pre = self.called(program).pre
            if len(choices) == 1 or pre is None or pre(found):
                yield found

    def _declared(self, caller: Program, entry: Program) -> bool:
        """Whether declarations let a program call an entry."""
        if entry.atomic:
            return not caller.atomic
        callee, subproblem = self._named[entry.runs], None if entry.target is None else entry.target.subproblem
        if callee.arguments and entry.target is None:
            return False
        if callee.level < caller.level:
            return subproblem is None or subproblem in caller.lower_on.get(callee.name, ())
        if callee is caller and subproblem is None:
            return caller.shrink is not None
        together = callee is caller or (callee.group == caller.group != "")
        return together and subproblem in caller.subproblems

    def _frame(self, caller: Program | None, entry: Program) -> CallFrame | None:
        target = entry.target
        argument = NO_ARGUMENT if target is None else target.argument
        if target is not None and target.subproblem is not None:
            return framed(target.subproblem.enter, target.subproblem.leave, self.frame_fields, argument)
        if caller is not None and entry.runs == caller.name:
            return framed(caller.shrink, caller.restore, self.frame_fields, argument)
        return framed(None, None, self.frame_fields, argument)

    def _condition(self, caller: str, entry: Program) -> CallCondition:
        """Where `caller` may call `entry`, as declared."""
        pre = self._named[entry.runs].pre
        frame = None if entry.atomic else self._frames[caller, entry.name]
        if frame is None:
            return True if pre is None else pre
        enter = frame.enter

        def inner_call(state: Any) -> bool:
            entered = enter(state)
            return entered is not None and (pre is None or bool(pre(entered)))

        return inner_call


def learned_names(names: Sequence[str], count: int) -> tuple[str, ...]:
    """The programs among the names of a library that has so many to learn: the last ones that are no calls."""
    programs = [name for name in names if name.isidentifier()]
    return tuple(programs[max(0, len(programs) - count) :])


def _calls(declared: Sequence[Program]) -> list[Program]:
    """An entry for each call that is not just a program, in the order of the programs."""
    calls = []
    for callee in declared:
        if callee.atomic:
            continue
        parts: dict[SubProblem | None, None] = {None: None} if callee.arguments else {}
        for caller in declared:
            together = caller is callee or (caller.group == callee.group != "")
            parts.update(dict.fromkeys(caller.subproblems if together else caller.lower_on.get(callee.name, ())))
        for part, argument in product(parts, _choices(callee.arguments)):
            name = callee.name + (f"({', '.join(map(str, argument.values()))})" if argument else "")
            calls.append(
                Program(
                    name if part is None else f"{name} on {part.name}",
                    level=callee.level,
                    summary=callee.summary,
                    recursive=callee.recursive,
                    depth=callee.depth,
                    minimum_size=callee.minimum_size,
                    pre=callee.pre,
                    target=Target(callee.name, argument, part),
                )
            )
    return calls


def _choices(arguments: Mapping[str, tuple[Argument, ...]]) -> list[Mapping[str, Argument]]:
    """All arguments that a program takes; one without any where it takes none."""
    return [dict(zip(arguments, values, strict=True)) for values in product(*arguments.values())]
