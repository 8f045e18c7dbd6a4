"""Python's own functions and methods, and the functions of `support` that stand for them."""

from __future__ import annotations

from typing import NamedTuple


class Builtin(NamedTuple):
    """How a function is called: the helper, how many arguments it takes, and the names of those given by name."""

    helper: str
    least: int
    most: int | None  # None: any number
    names: tuple[str, ...] = ()  # of all parameters that may be given by name, by place
    first_name: int = 0  # the place of the first of them


FUNCTIONS = {
    "abs": Builtin("$abs", 1, 1),
    "all": Builtin("$all", 1, 1),
    "any": Builtin("$any", 1, 1),
    "bool": Builtin("$bool", 0, 1),
    "chr": Builtin("$chr", 1, 1),
    "dict": Builtin("$dict", 0, 1),
    "divmod": Builtin("$divmod", 2, 2),
    "enumerate": Builtin("$enumerate", 1, 2, ("start",), 1),
    "filter": Builtin("$filter", 2, 2),
    "float": Builtin("$float", 0, 1),
    "frozenset": Builtin("$setof", 0, 1),
    "int": Builtin("$int", 0, 2, ("base",), 1),
    "iter": Builtin("$iterator", 1, 1),
    "len": Builtin("$len", 1, 1),
    "list": Builtin("$list", 0, 1),
    "map": Builtin("$map", 2, None),
    "max": Builtin("$max", 1, None),
    "min": Builtin("$min", 1, None),
    "next": Builtin("$next", 1, 2),
    "ord": Builtin("$ord", 1, 1),
    "pow": Builtin("$pow", 2, 2),
    "range": Builtin("$range", 1, 3),
    "repr": Builtin("$repr", 1, 1),
    "reversed": Builtin("$reversed", 1, 1),
    "set": Builtin("$setof", 0, 1),
    "sorted": Builtin("$sorted", 1, 1, ("key", "reverse"), 1),
    "str": Builtin("$str", 0, 1),
    "sum": Builtin("$sum", 1, 2, ("start",), 1),
    "tuple": Builtin("$tuple", 0, 1),
    "zip": Builtin("$zip", 0, None),
}
METHODS = {
    "add": Builtin("$include", 1, 1),
    "append": Builtin("$append", 1, 1),
    "center": Builtin("$center", 1, 2),
    "clear": Builtin("$clear", 0, 0),
    "copy": Builtin("$copy", 0, 0),
    "count": Builtin("$count", 1, 1),
    "difference": Builtin("$difference", 1, 1),
    "discard": Builtin("$discard", 1, 1),
    "endswith": Builtin("$endswith", 1, 1),
    "extend": Builtin("$extend", 1, 1),
    "find": Builtin("$find", 1, 3),
    "get": Builtin("$lookup", 1, 2),
    "index": Builtin("$index", 1, 3),
    "insert": Builtin("$insert", 2, 2),
    "intersection": Builtin("$intersection", 1, 1),
    "isalpha": Builtin("$isalpha", 0, 0),
    "isdecimal": Builtin("$isdecimal", 0, 0),
    "isdigit": Builtin("$isdigit", 0, 0),
    "isspace": Builtin("$isspace", 0, 0),
    "issubset": Builtin("$issubset", 1, 1),
    "items": Builtin("$items", 0, 0),
    "join": Builtin("$join", 1, 1),
    "keys": Builtin("$keys", 0, 0),
    "ljust": Builtin("$ljust", 1, 2),
    "lower": Builtin("$lower", 0, 0),
    "lstrip": Builtin("$lstrip", 0, 1),
    "partition": Builtin("$partition", 1, 1),
    "pop": Builtin("$pop", 0, 2),
    "remove": Builtin("$remove", 1, 1),
    "removeprefix": Builtin("$removeprefix", 1, 1),
    "removesuffix": Builtin("$removesuffix", 1, 1),
    "replace": Builtin("$substitute", 2, 3),
    "reverse": Builtin("$reverse", 0, 0),
    "rjust": Builtin("$rjust", 1, 2),
    "rstrip": Builtin("$rstrip", 0, 1),
    "setdefault": Builtin("$setdefault", 1, 2),
    "sort": Builtin("$sort", 0, 0, ("key", "reverse"), 0),
    "split": Builtin("$split", 0, 2, ("sep", "maxsplit"), 0),
    "splitlines": Builtin("$splitlines", 0, 0),
    "startswith": Builtin("$startswith", 1, 1),
    "strip": Builtin("$strip", 0, 1),
    "union": Builtin("$union", 0, None),
    "update": Builtin("$update", 1, 1),
    "upper": Builtin("$upper", 0, 0),
    "values": Builtin("$values", 0, 0),
    "zfill": Builtin("$zfill", 1, 1),
}
_EXCEPTIONS = """
ArithmeticError AssertionError AttributeError BaseException Exception IndexError KeyError LookupError NameError
NotImplementedError OverflowError RecursionError RuntimeError StopIteration SystemExit TypeError ValueError
ZeroDivisionError
"""
EXCEPTIONS = frozenset(_EXCEPTIONS.split())
TYPES = frozenset(("bool", "dict", "float", "int", "list", "range", "set", "str", "tuple"))
"""What `isinstance` may ask for, besides classes."""
_DUNDERS = """
__init__ __post_init__ __eq__ __lt__ __le__ __gt__ __ge__ __len__ __bool__ __getitem__ __setitem__ __delitem__
__contains__ __iter__ __str__ __repr__ __hash__ __call__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__
__pow__ __and__ __or__ __xor__ __lshift__ __rshift__ __neg__
"""
DUNDERS = frozenset(_DUNDERS.split())
"""Special methods that a class may have."""
SYS = frozenset(("argv", "exit", "stdout", "stderr"))
STREAM = frozenset(("write", "writelines", "flush"))
