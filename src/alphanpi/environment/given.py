"""Environments as Python functions are given them: by id, path or module, as a class, or as an instance.

A run names its environment so that another process finds it. A class of a notebook, or an instance whose options cannot
be told, has no such name: this process remembers which run it belongs to, and any other has to be given it again.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi.environment import trust
from alphanpi.environment.provenance import digest_of, file_contents, module_contents
from alphanpi.environment.registration import registrations
from alphanpi.environment.registry import IN_MEMORY, OWN_MODULES, absolute, create, make, make_named_in, place
from alphanpi.environment.source_loading import PREFIX
from alphanpi.environment.specification import Environment
from alphanpi.errors import AlphaNPIError, UsageError

GivenEnvironment = str | Path | type[Environment[Any]] | Environment[Any]
"""An id, path/to/file.py:ClassName, package.module:ClassName, a class, or an instance."""

_of_runs: dict[Path, Environment[Any]] = {}


class Identified(NamedTuple):
    """An environment, and how a run names it."""

    environment: Environment[Any]
    identifier: str
    options: dict[str, Any]
    in_process: bool  # whether it was given as an object, which this process goes on to use


def as_environment(given: GivenEnvironment, /, **options: Any) -> Environment[Any]:
    """The environment that was given, created with the options unless it is an instance."""
    if isinstance(given, Environment):
        _require_no_options(given, options)
        return given
    if isinstance(given, type):
        return create(_environment_class(given), **options)
    if isinstance(given, (str, Path)):
        return make(str(given), **options)
    raise UsageError(
        f"{given!r:.80} is no environment; give an id, path/to/file.py:ClassName, a class or an instance of Environment"
    )


def identify(given: GivenEnvironment, options: Mapping[str, Any]) -> Identified:
    """The same, with the name by which other processes find it; to give an environment is to trust it."""
    kept = _as_json(options)
    created = as_environment(given, **kept)
    if isinstance(given, (str, Path)):
        return Identified(created, absolute(str(given)), kept, in_process=False)
    kind = type(created)
    found = options_of(created) if isinstance(given, Environment) else kept
    name = None if found is None else _name_of(kind)
    return Identified(created, name or f"{IN_MEMORY}:{kind.__name__}", found or {}, in_process=True)


def remember(run: Path, environment: Environment[Any]) -> None:
    """Let this process load a run with the very environment it was trained with."""
    _of_runs[run.resolve()] = environment


def environment_of(
    file: Path, identifier: str, options: Mapping[str, Any], given: GivenEnvironment | None
) -> Environment[Any]:
    """The environment of a run or of weights: the given one, the one remembered, or what the file names, if it may."""
    if isinstance(given, Environment):
        return given
    if given is None:
        for folder in file.resolve().parents:
            if folder in _of_runs:
                return _of_runs[folder]
    elif isinstance(given, type):
        _environment_class(given)
    return make_named_in(str(file), identifier, options, str(given) if isinstance(given, Path) else given)


def named_again(
    environment: Environment[Any], identifier: str, options: Mapping[str, Any], given: GivenEnvironment | None
) -> Identified:
    """What `environment_of` found, with the name by which other processes find it."""
    if isinstance(given, (str, Path)):
        return Identified(environment, absolute(str(given)), dict(options), in_process=False)
    if given is not None:
        return identify(environment, {})
    return Identified(environment, identifier, dict(options), in_process=identifier.startswith(f"{IN_MEMORY}:"))


def options_of(environment: Environment[Any]) -> dict[str, Any] | None:
    """Options with which its class makes such an instance again; None where that cannot be told."""
    kind, members = type(environment), vars(environment)
    if any(vars(base).get("__slots__") for base in kind.__mro__):
        return None
    named = {
        name: members[stored]
        for name in inspect.signature(kind).parameters
        for stored in (name, f"_{name}")
        if stored in members
    }
    for candidate in ({}, named):
        try:
            options = _as_json(candidate)
            if vars(create(kind, **options)) == members:
                return options
        except (AlphaNPIError, ValueError, TypeError):  # an array is neither equal nor unequal to another
            continue
    return None


def _environment_class(given: type[Any]) -> type[Environment[Any]]:
    if not issubclass(given, Environment):
        raise UsageError(f"{given.__name__} is no environment: its class has to derive from alphanpi.Environment")
    return given


def _require_no_options(given: Environment[Any], options: Mapping[str, Any]) -> None:
    if options:
        kind = type(given).__name__
        raise UsageError(f"options ({', '.join(options)}) are for a class; an instance of {kind} has its own already")


def _as_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a run that is resumed will have them."""
    try:
        kept: dict[str, Any] = json.loads(json.dumps(dict(options), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise UsageError(f"options of an environment are kept as JSON: {error}") from error
    return kept


def _name_of(kind: type[Environment[Any]]) -> str | None:
    """The name by which other processes find a class, which is now trusted; None where they cannot."""
    module = sys.modules.get(kind.__module__)
    if module is None or getattr(module, kind.__qualname__, None) is not kind:
        return None
    target = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__module__.startswith(OWN_MODULES):
        ids = (known.id for known in registrations().values() if known.target == target and not known.options)
        return next(ids, target)
    spec = getattr(module, "__spec__", None)
    name: str = kind.__module__ if spec is None else spec.name  # of `python -m package.module`, not __main__
    if "." in name and not name.startswith(PREFIX):
        return _trusted_module(name, kind)
    file = getattr(module, "__file__", None)
    return None if file is None else _trusted_file(Path(file), kind)


def _trusted_module(module: str, kind: type[Environment[Any]]) -> str | None:
    contents = module_contents(module)
    if not contents:
        return None
    trust.remember(module, digest_of(contents))
    return f"{module}:{kind.__qualname__}"


def _trusted_file(file: Path, kind: type[Environment[Any]]) -> str | None:
    """A file's name, if the class is really in it: consoles and notebooks name files of their own."""
    try:
        contents = file_contents(file)
        tree = ast.parse(contents[file.parent.resolve() / file.name])
    except (OSError, SyntaxError, ValueError):
        return None
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    if file.suffix != ".py" or kind.__name__ not in classes:
        return None
    trust.remember(place(file), digest_of(contents))
    return f"{place(file)}:{kind.__name__}"
