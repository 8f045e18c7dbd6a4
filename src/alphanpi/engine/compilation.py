"""How the functions of the engine are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_njit: Any = njit  # its types do not know all of its options
# Division by zero cannot happen in the engine; without numba's check for it, loops are tighter.
_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy"}


def compiled(function: Function) -> Function:
    """Compile a function that allocates nothing, nor calls one that does.

    numba counts references to arrays, with atomic instructions, for every array of a tuple that is handed to a
    function: with tables of two dozen arrays that took half of the kernel's time. Where nothing is allocated
    there is nothing to count.
    """
    return _without_counting(function)


def inlined(function: Function) -> Function:
    """The same, made part of the functions that call it."""
    return _without_counting(function, inline="always")


def allocating(function: Function) -> Function:
    """Compile a function that allocates arrays."""
    result: Function = _njit(**_OPTIONS)(function)
    return result


def _without_counting(function: Function, **options: Any) -> Function:
    try:
        result: Function = _njit(**_OPTIONS, **options, _nrt=False)(function)
    except KeyError:  # the option is not among numba's documented ones
        result = _njit(**_OPTIONS, **options)(function)
    return result
