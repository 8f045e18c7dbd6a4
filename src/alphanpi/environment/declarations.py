"""How actions and programs are declared, and how a class's declarations become its library."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

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
    declared = Program(
        "",
        level=level,
        recursive=recursive,
        depth=depth,
        minimum_size=minimum_size,
        pre=pre,
        shrink=shrink,
        restore=restore,
    )
    return _Declaration(declared, is_program=True)


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
        programs = _collect(created)
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
