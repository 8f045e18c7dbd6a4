"""How an environment offers itself as plain Python source, so that exported programs run without this package."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
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
    for every recursive program a method that gives the smaller problem. An object and the smaller problems made from
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
    """For every recursive program, the method that gives the smaller problem."""
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
