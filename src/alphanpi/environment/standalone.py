"""How an environment offers itself as plain Python source, so that exported programs run without this package."""

from __future__ import annotations

import dataclasses
import importlib.util
import keyword
import re
import unicodedata
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Generic, TypeVar

from alphanpi.errors import SpecificationError

State = TypeVar("State", bound=Hashable)

MARKER = "# ---- runtime"
"""In a runtime's file, everything after the line that starts with this is copied into exported modules."""


@dataclass(frozen=True)
class Standalone(Generic[State]):
    """Source of a class whose objects the exported functions work on.

    The class has a method for every action (its name in lower case), an attribute or property for every field, and
    for every call on another problem a method that gives that problem. An object and the smaller problems made from
    it share what a call changes, and own what `restore` would put back.
    """

    parameter: str
    """What the exported functions call such an object."""
    class_name: str
    source: str
    """Python source with the class and, if the module is to run as a script, a main part."""
    arguments: Callable[[State], tuple[Any, ...]]
    """Arguments of the class for a start state."""
    agrees: Callable[[State, Any], bool]
    """Whether an object is in a given final state; asked when an export is checked."""
    inner: Mapping[str, str] = field(default_factory=dict)
    """For every call on another problem, `SORT` by itself or `SORT on left`, the method that gives that problem."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Expressions for fields that are no attributes of the object."""


def runtime_source(module: str) -> str:
    """The part of a module's source that belongs into exports: its imports, and all after the marker line."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise SpecificationError(f"there is no module {module} to take a runtime from")
    above, marker, below = Path(found.origin).read_text(encoding="utf-8").partition(f"\n{MARKER}")
    if not marker:
        raise SpecificationError(f"{found.origin}: no line starts with {MARKER!r}")
    imports = [
        line for line in above.splitlines() if line.startswith(("import ", "from ")) and "__future__" not in line
    ]
    _, _, body = below.partition("\n")
    return "\n".join([*imports, "", "", body.strip("\n"), ""])


def identifier(text: str) -> str:
    """The text as a name: as it is where it is one, otherwise with underscores for what a name may not hold."""
    text = unicodedata.normalize("NFKC", text)
    text = text if text.isidentifier() else re.sub(r"\W", "_", text)
    text = text if text.isidentifier() else f"_{text}"
    return f"{text}_" if keyword.iskeyword(text) else text


def method_name(action: str) -> str:
    """The method of a runtime for an action."""
    return identifier(action.lower())


def rebuilt_arguments(standalone: Standalone[Any], namespace: Mapping[str, Any], state: Any) -> tuple[Any, ...]:
    """The arguments of a runtime's class for a start, with the classes of the runtime, which was executed."""
    return tuple(_rebuilt(one, namespace) for one in standalone.arguments(state))


def _rebuilt(value: Any, namespace: Mapping[str, Any]) -> Any:
    """The value with the runtime's classes in the place of those of the same names."""
    if type(value) in (tuple, frozenset):
        return type(value)(_rebuilt(one, namespace) for one in value)
    kind: Any = namespace.get(type(value).__name__)
    if not isinstance(kind, type) or kind is type(value):
        return value
    if isinstance(value, Enum):
        return kind.__members__[value.name]  # type: ignore[attr-defined]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*(_rebuilt(one, namespace) for one in value))
    if dataclasses.is_dataclass(value):
        names = [one.name for one in dataclasses.fields(value) if one.init]
        return kind(**{name: _rebuilt(getattr(value, name), namespace) for name in names})
    return value


def plain(value: Any) -> Any:
    """A state without its classes, so that it can be compared with one of a runtime's own classes."""
    if isinstance(value, Enum):
        return type(value).__name__, value.name
    if isinstance(value, tuple):
        named = (type(value).__name__,) if hasattr(value, "_fields") else ()
        return (*named, *map(plain, value))
    if isinstance(value, (set, frozenset)):
        return frozenset(map(plain, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(plain(getattr(value, one.name)) for one in dataclasses.fields(value)))
    return value
