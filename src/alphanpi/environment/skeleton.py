"""The skeletons `alphanpi new-env` writes: small environments that pass the check and can be learned."""

from __future__ import annotations

import builtins
import importlib.util
import keyword
import re
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

from alphanpi.environment.guard import shown
from alphanpi.errors import UsageError
from alphanpi.support.files import write_atomically

Kind = Literal["list", "text", "tree", "grid", "number", "graph"]
"""What a skeleton is about; each is a text in `skeletons`, with NAME for the class and TITLE for what it is called."""

_LONGEST_NAME = 60
_TAKEN = frozenset(("State", "NamedTuple", "Environment", "UsageError", *dir(builtins)))  # would hide another class


def new_env(name: str, folder: str | Path = ".", kind: Kind | None = None) -> tuple[Path, str]:
    """Write a skeleton environment; returns the file and the name of its class. An existing file is left alone.

    Args:
        name: What it is to be called; file and class are named after it.
        folder: Where to write the file.
        kind: What it is about: a list, a text, a tree, a grid, a number or a graph; without one, a walk of some steps.
    """
    if kind is not None and kind not in get_args(Kind):
        raise UsageError(f"no kind {shown(kind)}; there are {', '.join(get_args(Kind))}")
    words = [word for word in re.split(r"[^0-9A-Za-z]+", name) if word]
    module, class_name = "_".join(words).lower(), "".join(word[0].upper() + word[1:] for word in words)
    if not class_name.isidentifier() or not name.isascii() or keyword.iskeyword(module) or len(name) > _LONGEST_NAME:
        raise UsageError(
            f"{shown(name)} does not make a class name; use at most {_LONGEST_NAME} letters, digits, '-' and '_', a "
            "letter first"
        )
    path = Path(folder) / f"{module}.py"
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} is there already; choose another name or folder")
    if class_name in _TAKEN or importlib.util.find_spec(module) is not None:
        raise UsageError(f"{name!r} means something else in Python, or in the file itself; choose another name")
    skeleton = (resources.files("alphanpi.environment") / "skeletons" / f"{kind or 'steps'}.txt").read_text(
        encoding="utf-8"
    )
    title = " ".join(words).capitalize()
    filled = skeleton.replace("TITLE", title, 1).replace("class NAME(", f"class {class_name}(", 1)
    write_atomically(path, filled)
    return path, class_name
