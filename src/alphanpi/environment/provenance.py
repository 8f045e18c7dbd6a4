"""Which source files an environment consists of, found without running any of them, and their digest.

An environment's own source is its file and, followed through import statements, every module of the same folder (for a
file) or of the same package (for a module). Libraries from elsewhere do not count: their versions are recorded.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_OWN_PACKAGE = "alphanpi"
_OWN_ENVIRONMENTS = "alphanpi.environments"
_BASES = ("alphanpi.environment.specification", "alphanpi.environment.facets")
_OF_NO_ENVIRONMENT = ("builtins", "abc", "typing", *_BASES)


class _Module(NamedTuple):
    """A source file, under the name by which the others of its root folder import it."""

    name: str
    file: Path


class _Root(NamedTuple):
    """A folder in which imports are looked up, and the package they have to be in; any if empty."""

    folder: Path
    package: str


def file_sources(file: Path) -> tuple[Path, ...]:
    """The files of an environment that is loaded from a file."""
    return tuple(sorted(file_contents(file)))


def file_contents(file: Path) -> dict[Path, bytes]:
    """The same with what is in them, read once: what is digested is then what can be run."""
    file = file.parent.resolve() / file.name  # neighbours are those of the link, if it is one
    return _closure(_Root(file.parent, ""), _Module(file.stem, file))


def module_sources(module: str) -> tuple[Path, ...]:
    """The files of an environment in an installed module; none where it cannot be found. Nothing is imported."""
    return tuple(sorted(module_contents(module)))


def module_contents(module: str) -> dict[Path, bytes]:
    """The same with what is in them."""
    top = module.partition(".")[0]
    try:
        found = importlib.util.find_spec(top)  # of a dotted name it would import the parents
    except (ImportError, ValueError):
        return {}
    if found is None or (found.origin is None and not found.submodule_search_locations):
        return {}
    places = [Path(place).parent for place in found.submodule_search_locations or ()]
    folder = (places[0] if places else Path(str(found.origin)).parent).resolve()
    package = _OWN_ENVIRONMENTS if top == _OWN_PACKAGE else top
    files = list(_files_of(folder, module))
    return _closure(_Root(folder, package), _Module(module, files[-1])) if files else {}


def class_sources(environment: type[Any]) -> tuple[Path, ...]:
    """The files of an environment class that is loaded, and of the classes it inherits from; none for `Environment`."""
    files: set[Path] = set()
    for base in environment.__mro__:
        module = sys.modules.get(base.__module__)
        file = getattr(module, "__file__", None)
        if base.__module__ in _OF_NO_ENVIRONMENT or file is None:
            continue
        found = module_sources(base.__module__) if "." in base.__module__ else ()
        same = any(Path(file).samefile(one) for one in found)
        files.update(found if same else file_sources(Path(file)))
    return tuple(sorted(files))


def digest(files: Iterable[Path]) -> str:
    """SHA-256 over the contents of source files, whatever their folder is called."""
    return digest_of({file: file.read_bytes() for file in files})


def digest_of(contents: Mapping[Path, bytes]) -> str:
    """The same of files that were read before."""
    total = hashlib.sha256()
    for file in sorted(contents, key=lambda path: (path.name, path.as_posix())):
        content = contents[file]
        total.update(f"{file.name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def _closure(root: _Root, first: _Module) -> dict[Path, bytes]:
    found = {first.file: first.file.read_bytes()}
    pending = [first]
    while pending:
        module = pending.pop()
        for name in _imported(module, found[module.file]):
            if root.package and not f"{name}.".startswith(f"{root.package}."):
                continue
            for file in _files_of(root.folder, name):
                own = _name_of(root.folder, file)
                if file not in found and f"{own}.".startswith(f"{root.package}." if root.package else ""):
                    found[file] = file.read_bytes()
                    pending.append(_Module(own, file))
    return found


def _imported(module: _Module, content: bytes) -> Iterator[str]:
    """Names that may be modules, in all import statements of a file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # running it warns, where it is run
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it cannot be run either
        return
    inside = module.name if module.file.name == "__init__.py" else module.name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = inside.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            stem = ".".join(part for part in (base, node.module) if part)
            yield from [stem, *(f"{stem}.{alias.name}" if stem else alias.name for alias in node.names)]


def _files_of(folder: Path, name: str) -> Iterator[Path]:
    """The files that importing a dotted name from a folder runs: those of its packages, then its own."""
    place = folder
    for part in name.split("."):
        if not part:
            return
        package, module = place / part / "__init__.py", place / f"{part}.py"
        if package.is_file():
            yield package
        elif module.is_file():
            yield module
            return
        elif not (place / part).is_dir():
            return
        place /= part


def _name_of(folder: Path, file: Path) -> str:
    parts = file.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def source_sha256(environment: type[Any]) -> str | None:
    """Digest of the files an environment class consists of; None where it has none, or they cannot be read."""
    try:
        files = class_sources(environment)
        return digest(files) if files else None
    except OSError:
        return None
