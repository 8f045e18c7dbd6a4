"""Loading an environment's file and the modules beside it.

What is run are the bytes that were read and digested before, never a compiled copy of unknown origin. The neighbours of
a file are its own: two folders with a `helper.py` each do not share one, and nothing outside sees either.
"""

from __future__ import annotations

import builtins
import contextvars
import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from alphanpi.environment.provenance import digest_of

PREFIX = "alphanpi_user"
"""How the names of modules begin that were loaded from files."""

_loading: contextvars.ContextVar[Path | None] = contextvars.ContextVar("loading", default=None)


def being_loaded() -> Path | None:
    """The file whose content is being run just now, if there is one."""
    return _loading.get()


def load_file(file: Path, contents: Mapping[Path, bytes]) -> ModuleType:
    """The module of a file, run from the contents that `file_contents` gave for it; run anew only if they changed."""
    file = file.parent.resolve() / file.name
    # A name that is the same in every process, and cannot collide with an installed module.
    name = f"{PREFIX}_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    digest = digest_of(contents)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__alphanpi_digest__", None) == digest:
        return loaded
    neighbours = f"{name}_neighbours"
    _forget(name, neighbours)
    folder = _Folder(file, name, neighbours, contents)
    _FINDER.folders[neighbours] = folder
    module = importlib.util.module_from_spec(folder.spec(name, file))
    module.__alphanpi_digest__ = digest  # type: ignore[attr-defined]
    sys.modules[name] = module  # dataclasses and annotations look their module up while it loads
    outer = _loading.set(file)
    try:
        folder.run(module, file)
    except BaseException:
        _forget(name, neighbours)
        raise
    finally:
        _loading.reset(outer)
    return module


def _forget(name: str, neighbours: str) -> None:
    for known in list(sys.modules):
        if known in (name, neighbours) or known.startswith(f"{neighbours}."):
            del sys.modules[known]


class _Folder:
    """The folder of one environment's file: which modules it holds, and the import statement of code in it."""

    def __init__(self, file: Path, name: str, neighbours: str, contents: Mapping[Path, bytes]) -> None:
        self.file, self.name, self.neighbours, self.contents = file, name, neighbours, contents
        self.builtins = {**vars(builtins), "__import__": self._import}

    def spec(self, name: str, file: Path | None, package: bool = False) -> ModuleSpec:
        """How to make a module of a file; of a package without one, if there is none."""
        spec = ModuleSpec(
            name, _SourceLoader(self, file), origin=None if file is None else str(file), is_package=package
        )
        spec.has_location = file is not None
        return spec

    def run(self, module: ModuleType, file: Path) -> None:
        """Run a file's content as a module."""
        module.__dict__["__builtins__"] = self.builtins
        exec(compile(self.contents[file], str(file), "exec", dont_inherit=True), module.__dict__)

    def find(self, name: str) -> ModuleSpec | None:
        """The spec of a neighbour by its full name, or of the package that holds them all."""
        if name == self.neighbours:
            return self.spec(name, None, package=True)
        place = self.file.parent.joinpath(*name.removeprefix(f"{self.neighbours}.").split("."))
        if place / "__init__.py" in self.contents:
            return self.spec(name, place / "__init__.py", package=True)
        if place.with_suffix(".py") in self.contents:
            return self.spec(name, place.with_suffix(".py"))
        if any(place in file.parents for file in self.contents):
            return self.spec(name, None, package=True)
        return None

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 - the names of `__import__`
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if level == 0 and name == self.file.stem:
            return sys.modules[self.name]
        if level != 0 or not self._is_neighbour(top):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        found = builtins.__import__(f"{self.neighbours}.{name}", globals, locals, fromlist or (), 0)
        return found if fromlist else sys.modules[f"{self.neighbours}.{top}"]

    def _is_neighbour(self, top: str) -> bool:
        """Whether a name is one of the folder, and not of Python itself or of a program that has it loaded already."""
        if top in sys.stdlib_module_names or top == "alphanpi":
            return False
        spec = self.find(f"{self.neighbours}.{top}")
        loaded = getattr(sys.modules.get(top), "__file__", None)
        return spec is not None and (spec.origin is None or loaded is None or Path(loaded) != Path(spec.origin))


class _SourceLoader(Loader):
    def __init__(self, folder: _Folder, file: Path | None) -> None:
        self.folder, self.file = folder, file

    def exec_module(self, module: ModuleType) -> None:
        if self.file is not None:
            self.folder.run(module, self.file)


class _Finder(MetaPathFinder):
    """Finds the neighbours of all files that were loaded."""

    def __init__(self) -> None:
        self.folders: dict[str, _Folder] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        folder = self.folders.get(fullname.partition(".")[0])
        return None if folder is None else folder.find(fullname)


_FINDER = _Finder()
sys.meta_path.append(_FINDER)
