"""Which names are known where, and what `self` is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_WORDS = """
arguments await break case catch class const continue debugger default delete do else enum eval export extends false
finally for function if implements import in instanceof interface let new null package private protected public
return static super switch this throw true try typeof undefined var void while with yield Array BigInt Boolean Error
Infinity Map Math NaN Number Object RangeError ReferenceError RegExp Set String Symbol TypeError WeakMap run
globalThis process URL async Promise JSON
"""
_ATTRIBUTES = """
constructor prototype __proto__ hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf
length name caller arguments push message stack cause every some map filter join slice splice concat findIndex forEach
"""
_RESERVED, _RESERVED_ATTRIBUTES = frozenset(_WORDS.split()), frozenset(_ATTRIBUTES.split())


def js_name(name: str) -> str:
    """A variable's name in JavaScript, where a dollar sign cannot be part of any name of Python's."""
    return f"{name}$" if name in _RESERVED else name


def js_attribute(name: str) -> str:
    """An attribute's name in JavaScript."""
    return f"{name}$" if name in _RESERVED_ATTRIBUTES else name


class Naming:
    """The names around the place that is being translated."""

    def __init__(self) -> None:
        self.scopes: list[set[str]] = []  # the module's, then those of functions inside one another
        self.this: str | None = None  # the name that JavaScript calls `this`
        self.class_name: str | None = None
        self._temporaries = 0

    def is_local(self, name: str) -> bool:
        """Whether a function around binds the name."""
        return name == self.this or any(name in scope for scope in self.scopes[1:])

    def is_bound(self, name: str) -> bool:
        """Whether anything around binds the name."""
        return name == self.this or any(name in scope for scope in self.scopes)

    def variable(self, name: str) -> str:
        """A variable in JavaScript."""
        return "this" if name == self.this else js_name(name)

    def attribute(self, name: str) -> str:
        """An attribute in JavaScript; names of a class's own, with two underscores, are made unique as Python does."""
        if self.class_name is not None and name.startswith("__") and not name.endswith("__"):
            name = f"_{self.class_name.lstrip('_')}{name}"
        return js_attribute(name)

    def temporary(self) -> str:
        """A new name that nobody else has."""
        self._temporaries += 1
        return f"${self._temporaries}"

    @contextmanager
    def scope(self, names: set[str]) -> Iterator[None]:
        """Inside a function or comprehension."""
        around = self.this
        self.this = None if around in names else around
        self.scopes.append(names)
        try:
            yield
        finally:
            self.scopes.pop()
            self.this = around
