"""Python's values as JSON, for comparing what Python and JavaScript did; `support/exchanging.mjs` is its other half."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import FunctionType, MethodType
from typing import Any

from alphanpi.exporting.javascript.naming import js_name
from alphanpi.exporting.javascript.refusing import UntranslatableError

_SAFE_INTEGER = 2**53 - 1


def encoded(value: Any, strict: bool = False, seen: dict[int, int] | None = None) -> Any:
    """A value as JSON; what can change has a number, and is a reference where it is met again.

    Objects are their classes' names and attributes. If strict, only what JavaScript can be given is taken.
    """
    seen = {} if seen is None else seen
    if hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) <= _SAFE_INTEGER else ["int", str(int(value))]
    if isinstance(value, float):
        return ["float", repr(float(value))]
    if strict and (isinstance(value, tuple) and hasattr(value, "_fields")):
        return ["made", js_name(type(value).__name__), [encoded(one, strict, seen) for one in value]]
    if strict and is_dataclass(value) and not isinstance(value, type):
        parts = [encoded(getattr(value, one.name), strict, seen) for one in fields(value) if one.init]
        return ["made", js_name(type(value).__name__), parts]
    if isinstance(value, tuple):
        return ["tuple", [encoded(one, strict, seen) for one in value]]
    if isinstance(value, range):
        return ["range", value.start, value.stop, value.step]
    if id(value) in seen:
        return ["reference", seen[id(value)]]
    seen[id(value)] = len(seen)
    if isinstance(value, list):
        return ["list", [encoded(one, strict, seen) for one in value]]
    if isinstance(value, dict):
        return ["dict", [[encoded(key, strict, seen), encoded(one, strict, seen)] for key, one in value.items()]]
    if isinstance(value, (set, frozenset)):
        parts = [encoded(one, strict, seen) for one in value]
        return ["set", parts if strict else sorted(map(_text, parts))]
    if strict:
        raise UntranslatableError(f"a {type(value).__name__}, which standalone().arguments gives to the runtime,")
    if isinstance(value, (type, FunctionType, MethodType)):
        return ["function"]
    members = [[name, encoded(one, strict, seen)] for name, one in sorted(_members(value))]
    return ["object", type(value).__name__, members]


def _text(value: Any) -> str:
    """As JavaScript writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    yield from getattr(value, "__dict__", {}).items()
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and name not in ("__dict__", "__weakref__"):
                yield name, getattr(value, name)
