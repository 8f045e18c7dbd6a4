"""How actions and programs are declared, and how a class's declarations become its library."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from alphanpi.environment.frames import Argument, FrameFields, SubProblem
from alphanpi.environment.library import STOP, Library, Program
from alphanpi.errors import SpecificationError
from alphanpi.support import limits

Method = TypeVar("Method", bound=Callable[..., Any])

_ATTRIBUTE = "__alphanpi_declaration__"


@dataclass(frozen=True)
class _Declaration:
    """Arguments of a decorator, kept on the method until its class is complete."""

    declared: Program  # without its name
    is_program: bool

    def __call__(self, method: Method) -> Method:
        setattr(method, _ATTRIBUTE, self)
        return method


def action(*, pre: Callable[[Any], bool] | None = None) -> Callable[[Method], Method]:
    """Declare an atomic action. The method's body, `NAME(self, state) -> state`, is its effect.

    Args:
        pre: Test of a state; the action is legal exactly where it holds. Without it, always.
    """
    return _Declaration(Program("", level=0, pre=pre), is_program=False)


def subproblem(*, enter: Callable[[Any], Any], leave: Callable[[Any, Any], Any]) -> SubProblem:
    """Declare a part of a problem that programs may be called on; its name is that of the class attribute.

    Args:
        enter: `enter(state)` is the problem that the callee sees, or None where there is none. A call is legal where it
            gives a state that satisfies the callee's `pre`.
        leave: `leave(caller_state, callee_state)` puts the caller's frame back when the callee has ended.
    """
    return SubProblem(enter, leave)


def program(
    *,
    level: int,
    depth: int | Callable[[Any], int],
    pre: Callable[[Any], bool] | None = None,
    minimum_size: int = 1,
    recursive: bool | SubProblem | Sequence[SubProblem] = False,
    shrink: Callable[[Any], Any] | None = None,
    restore: Callable[[Any, Any], Any] | None = None,
    on: Mapping[str, SubProblem | Sequence[SubProblem]] | None = None,
    group: str = "",
    arguments: Mapping[str, Sequence[Argument]] | None = None,
    train_sizes: Sequence[int] | None = None,
    validation_size: int | None = None,
) -> Callable[[Method], Method]:
    """Declare a program to be learned. The method's body, `NAME(self, before, after) -> bool`, is its test.

    The test includes the frame: whatever must not have changed.

    Args:
        level: Place in the hierarchy, from 1; a program may call everything below its level.
        depth: Most actions of one call, STOP included; a number, or a function of the state at the call.
        pre: Test of a state; the program may be called exactly where it holds. Without it, everywhere.
        minimum_size: Smallest problem on which the pre-condition can hold.
        recursive: Whether the program may call itself: True, with `shrink` and `restore`, or the sub-problems on which.
        shrink: With `recursive=True`: the smaller problem the inner call sees, or None where there is none.
            An inner call is legal where `shrink` gives a state that satisfies `pre`.
        restore: With `recursive=True`: `restore(caller_state, callee_state)` puts the caller's frame back.
        on: Names of programs below this one, each with the sub-problems on which it may be called, too.
        group: A name that programs of one level share which may call each other on their sub-problems.
        arguments: Fields of the state that a call sets, each with the values it may have; None in all other calls.
        train_sizes: Problem sizes to learn this program from, in place of the environment's.
        validation_size: Problem size that decides whether this program is learned, in place of the environment's.
    """
    for what, given, example in (("on", on, "{'PARTITION': left}"), ("arguments", arguments, "{'side': (1, 2)}")):
        if given is not None and not isinstance(given, Mapping):
            raise SpecificationError(f"{what}= must be a dictionary, such as {example}; it is {given!r:.80}")
    named = () if isinstance(recursive, bool) else _several(recursive)
    declared = Program(
        "",
        level=level,
        recursive=bool(recursive),
        depth=depth,
        minimum_size=minimum_size,
        pre=pre,
        shrink=shrink,
        restore=restore,
        subproblems=named,
        lower_on={name: _several(parts) for name, parts in (on or {}).items()},
        group=group,
        arguments={name: _several(values) for name, values in (arguments or {}).items()},
        train_sizes=None if train_sizes is None else _several(train_sizes),
        validation_size=validation_size,
    )
    return _Declaration(declared, is_program=True)


def _several(given: Any) -> tuple[Any, ...]:
    """What was given, if it is a sequence, or else the one thing that was; a text is one thing."""
    return tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (given,)


def require_whole(environment: str, what: str, value: Any, least: int, most: int) -> None:
    """Refuse what is no whole number between two bounds."""
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
        created = super().__new__(cls, name, bases, dict(namespace), **kwargs)
        if getattr(created, "legal", None) is not getattr(_base(created), "legal", None):
            raise SpecificationError(
                f"{name}: legal: what is legal follows from the pre-conditions; give pre=, or override `pre`"
            )
        programs = _with_named_parts(created, _collect(created))
        if any(not program.atomic for program in programs):
            created.library = _checked_library(created, programs)  # type: ignore[attr-defined]
        return created


def _collect(environment: type) -> list[Program]:
    found: dict[str, Program] = {}
    for base in reversed(environment.__mro__):
        for name, member in vars(base).items():
            if isinstance(member, _Declaration):
                missing = "post-condition" if member.is_program else "effect"
                raise SpecificationError(
                    f"{environment.__name__}: {name}: missing {missing}: decorate a method with the declaration"
                )
            declaration = getattr(member, _ATTRIBUTE, None)
            if isinstance(declaration, _Declaration):
                level = declaration.declared.level
                require_whole(f"{environment.__name__}: {name}", "level", level, -(2**31), 2**31)
                if declaration.is_program and level < 1:
                    raise SpecificationError(
                        f"{environment.__name__}: {name}: level {level} is not allowed; "
                        "programs start at level 1, and actions are declared with @action"
                    )
                summary = (member.__doc__ or "").strip().split("\n")[0]
                found[name] = replace(declaration.declared, name=name, summary=summary)
            else:
                found.pop(name, None)
    return list(found.values())


def _with_named_parts(environment: type, programs: Sequence[Program]) -> list[Program]:
    """The programs, the sub-problems they mention named after the class's attributes."""
    named: dict[SubProblem, SubProblem] = {}
    for base in environment.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, SubProblem):
                named.setdefault(member, replace(member, name=name))

    def parts(program: Program, found: Sequence[SubProblem]) -> tuple[SubProblem, ...]:
        for part in found:
            if isinstance(part, SubProblem) and part not in named:
                raise SpecificationError(
                    f"{environment.__name__}: {program.name}: a sub-problem without a name: make it a class attribute"
                )
        return tuple(named[part] if isinstance(part, SubProblem) else part for part in found)

    return [
        replace(
            program,
            subproblems=parts(program, program.subproblems),
            lower_on={name: parts(program, found) for name, found in program.lower_on.items()},
        )
        for program in programs
    ]


def _base(created: EnvironmentMeta) -> EnvironmentMeta:
    """The class `Environment` itself."""
    return [kind for kind in created.__mro__ if isinstance(kind, EnvironmentMeta)][-1]


def _checked_library(created: EnvironmentMeta, programs: Sequence[Program]) -> Library:
    environment = created.__name__
    base = _base(created)
    reserved = {*dir(base), *(name for kind in base.__mro__ for name in getattr(kind, "__annotations__", ()))}

    def refuse(name: str, rule: str) -> SpecificationError:
        return SpecificationError(f"{environment}: {name}: {rule}")

    for item in programs:
        if item.name == STOP:
            raise refuse(STOP, "duplicate name: STOP is always there and cannot be declared")
        if item.name in reserved:
            raise refuse(item.name, "this name belongs to the Environment class; choose another")
        if not callable(item.depth):
            if not isinstance(item.depth, int):
                raise refuse(item.name, f"depth {item.depth!r:.80} is neither a whole number nor a function of a state")
            if item.depth < 1:
                raise refuse(item.name, f"depth {item.depth} leaves no room for STOP; give at least 1")
            if item.depth > limits.MOST_DEPTH:
                raise refuse(item.name, f"depth {item.depth} is more than {limits.MOST_DEPTH:,}")
        require_whole(f"{environment}: {item.name}", "minimum_size", item.minimum_size, 0, limits.MOST_SIZE)
        for what, test in (("pre", item.pre), ("shrink", item.shrink), ("restore", item.restore)):
            if test is not None and not callable(test):
                raise refuse(item.name, f"{what}= must be a function; it is {test!r:.80}")
        unnamed = item.recursive and not item.subproblems
        if unnamed and item.shrink is None:
            raise refuse(item.name, "recursive program without a way to shrink: give shrink=, or recursive=PART")
        if unnamed and item.restore is None:
            raise refuse(item.name, "recursive program without a way back: give restore=")
        if not unnamed and (item.shrink is not None or item.restore is not None):
            cure = "a part has its own enter= and leave=" if item.subproblems else "say recursive=True"
            raise refuse(item.name, f"shrink= and restore= are for recursive programs without named parts: {cure}")
        _require_calls(refuse, item, {other.name: other for other in programs})
    levels = {item.level for item in programs} | {0}
    for item in sorted(programs, key=lambda item: item.level):
        if item.level - 1 not in levels and item.level > 0:
            raise refuse(item.name, f"level gap: it has level {item.level}, but nothing has {item.level - 1}")
    ordered = sorted(programs, key=lambda item: item.level)
    start: Any = created.call_start  # type: ignore[attr-defined]
    if start is not None and not isinstance(start, str):
        raise SpecificationError(f"{environment}: `call_start` must name a field of the state; it is {start!r:.80}")
    held = dict.fromkeys(name for item in programs for name in item.arguments)
    if start in held:
        raise SpecificationError(f"{environment}: `call_start` and an argument have the same field {start!r}")
    stop = Program(STOP, level=0, summary="end the current program")
    return Library([stop, *ordered], frame_fields=FrameFields(tuple(held), start))


def _require_calls(refuse: Callable[[str, str], SpecificationError], item: Program, others: dict[str, Program]) -> None:
    """Refuse sub-problems, groups and arguments that cannot be meant as they are declared."""
    for part in (*item.subproblems, *(one for parts in item.lower_on.values() for one in parts)):
        if not isinstance(part, SubProblem):
            raise refuse(
                item.name, f"{part!r:.80} is no sub-problem: give an attribute made by subproblem(enter=, leave=)"
            )
        for what, function in (("enter", part.enter), ("leave", part.leave)):
            if not callable(function):
                raise refuse(part.name, f"{what}= must be a function; it is {function!r:.80}")
    for name in item.lower_on:
        if name not in others or not 0 < others[name].level < item.level:
            raise refuse(item.name, f"on= names {name!r}, which is no program below level {item.level}")
    if not isinstance(item.group, str):
        raise refuse(item.name, f"group= must be a name; it is {item.group!r:.80}")
    if item.group:
        if not item.subproblems:
            raise refuse(item.name, f"group {item.group!r}: on which sub-problems may it call? give recursive=PART")
        for other in others.values():
            if other.group == item.group and other.level != item.level:
                raise refuse(item.name, f"group {item.group!r}: {other.name} has level {other.level}, not {item.level}")
    for field, values in item.arguments.items():
        if not isinstance(field, str) or not values or len(set(values)) != len(values):
            raise refuse(item.name, f"arguments= gives each field of the state different values; not so {field!r:.80}")
        if not all(isinstance(value, (bool, int, str)) for value in values):
            raise refuse(item.name, f"arguments of {field!r} must be numbers, truth values or texts")
    sizes = (*(item.train_sizes or ()), *(() if item.validation_size is None else (item.validation_size,)))
    for size in sizes:
        require_whole(item.name, "train_sizes, validation_size", size, 0, limits.MOST_SIZE)
    if item.train_sizes == ():
        raise refuse(item.name, "train_sizes must be one size or more")
