"""Finding environments: by id, by `path/to/file.py:ClassName`, by `package.module:ClassName`, or by entry point."""

from __future__ import annotations

import importlib
import inspect
import shlex
import traceback
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from alphanpi.environment import trust
from alphanpi.environment.guard import RAISED
from alphanpi.environment.provenance import digest_of, file_contents, module_contents
from alphanpi.environment.registration import identified, registration, registrations
from alphanpi.environment.source_loading import load_file
from alphanpi.environment.specification import Environment, require_specified
from alphanpi.errors import AlphaNPIError, EnvironmentFault, SpecificationError, UnknownEnvironmentError, UsageError

OWN_MODULES = "alphanpi.environments."
IN_MEMORY = "in-memory"
"""In place of a file or module: what a run was trained with is in none."""


class Listing(NamedTuple):
    """One environment as `alphanpi envs` shows it; `broken` says why it cannot be loaded."""

    id: str
    summary: str
    environment: type[Environment[Any]] | None
    options: Mapping[str, Any]
    broken: str | None = None


def make(identifier: str, /, **options: Any) -> Environment[Any]:
    """Load an environment and create it with the given options (for example `observation="compare"`)."""
    return create(load(identifier), **{**registration(identifier).options, **options})


def make_named_in(
    file: str,
    identifier: str,
    options: Mapping[str, Any],
    given: str | type[Environment[Any]] | None = None,
) -> Environment[Any]:
    """The environment of an agent or a run: the given one, or what a file names, if that may be run."""
    name = given if isinstance(given, str) else identifier
    kind = _load_named_in(file, identifier, given)
    return create(kind, **{**registration(name).options, **options})


def create(environment: type[Environment[Any]], /, **options: Any) -> Environment[Any]:
    """Instantiate an environment class; errors name the class and what is missing or unknown."""
    name = environment.__name__
    if not hasattr(environment, "library"):
        raise SpecificationError(f"{name}: it declares no program; decorate at least one method with @program")
    missing = ", ".join(sorted(getattr(environment, "__abstractmethods__", ())))
    if missing:
        raise SpecificationError(f"{name}: missing members: {missing}")
    try:
        inspect.signature(environment).bind(**options)
    except (TypeError, ValueError) as error:
        raise SpecificationError(f"{name}: it cannot be created with these options: {error}") from error
    try:
        created = environment(**options)
        require_specified(created)
    except AlphaNPIError:
        raise
    except RAISED as error:
        raise EnvironmentFault(f"{name}: creating it failed: {_where(error)}") from error
    return created


def load(identifier: str) -> type[Environment[Any]]:
    """The environment class behind an id, a file or a module path that a user names; to name is to trust it."""
    return _load(identifier, trust.remember)


def load_contents(identifier: str, contents: Mapping[Path, bytes]) -> type[Environment[Any]]:
    """The class in a file that another process has read, for a user who named it there."""
    location, class_name = split(identifier)
    return _environment_class(_run_file(Path(location), contents), class_name, location)


def _load_named_in(file: str, identifier: str, given: str | type[Environment[Any]] | None) -> type[Environment[Any]]:
    if isinstance(given, type):
        return given
    if given is not None:
        return load(given)
    location, class_name = split(identifier)
    if location == IN_MEMORY:
        raise UnknownEnvironmentError(
            f"{file}: it was trained with {class_name}, defined in a notebook or made by hand, so no file is known to "
            f"hold it: in Python, environment={class_name}; for a command, put the class into a file: --env "
            f"FILE.py:{class_name}"
        )
    if identifier not in registrations() and location.endswith(".py") and not Path(location).is_file():
        raise UnknownEnvironmentError(
            f"{file}: it names the environment {identifier}, and there is no such file; if you have it: --env FILE"
        )
    return _load(identifier, trust.required(file, shlex.quote(identifier)))


def _load(identifier: str, approve: trust.Approve) -> type[Environment[Any]]:
    known = registrations()
    own = identified(identifier)
    if own is not None:
        target = known[own].target
        return target if isinstance(target, type) else _from_module(*split(target))
    location, class_name = split(identifier)
    if location.endswith(".py"):
        return _environment_class(_from_file(Path(location), approve), class_name, location)
    if class_name is not None:
        if not location.startswith(OWN_MODULES) and identifier not in {one.target for one in known.values()}:
            contents = module_contents(location)
            approve(location, digest_of(contents) if contents else None)
        return _from_module(location, class_name)
    close = get_close_matches(identifier.lower(), known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(sorted(known))};"
    raise UnknownEnvironmentError(
        f"unknown environment {identifier!r}: {hint} give an id, path/to/file.py:ClassName or module:ClassName"
    )


def absolute(identifier: str) -> str:
    """The identifier in a form that works from every folder: a file's path made absolute, an id as it is spelt."""
    location, class_name = split(identifier)
    if not location.endswith(".py"):
        return identified(identifier) or identifier
    return place(Path(location)) + (f":{class_name}" if class_name else "")


def available() -> Iterator[Listing]:
    """All environments known by id; a broken third-party one is listed with its error."""
    for identifier, known in sorted(registrations().items()):
        try:
            environment = load(identifier)
        except AlphaNPIError as error:
            yield Listing(identifier, "", None, known.options, str(error))
        else:
            summary = (environment.__doc__ or "").strip().split("\n")[0]
            yield Listing(identifier, summary, environment, known.options)


def place(file: Path) -> str:
    """A file's path from the root; a link stays one, since its neighbours are those of its own folder."""
    return str(file.parent.resolve() / file.name)


def split(target: str) -> tuple[str, str | None]:
    """The file or module that an identifier names, and the class in it."""
    location, separator, class_name = target.rpartition(":")
    # A Windows drive ("C:\\env.py") is not a class name.
    if not separator or not class_name.isidentifier():
        return target, None
    return location, class_name


def _from_module(module: str, class_name: str | None) -> type[Environment[Any]]:
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise UnknownEnvironmentError(f"no module named {module!r}; is its package installed?") from error
        raise EnvironmentFault(f"{module}: loading it failed: {_where(error)}") from error
    except AlphaNPIError as error:
        raise _at(module, error) from error
    except RAISED as error:
        raise EnvironmentFault(f"{module}: loading it failed: {_where(error)}") from error
    return _environment_class(loaded, class_name, module)


def _from_file(path: Path, approve: trust.Approve) -> ModuleType:
    if not path.is_file():
        raise UnknownEnvironmentError(f"{path}: there is no such file")
    try:
        contents = file_contents(path)
    except OSError as error:
        raise UsageError(f"{error.filename or path}: cannot be read: {error.strerror}") from error
    approve(place(path), digest_of(contents))
    return _run_file(path, contents)


def _run_file(path: Path, contents: Mapping[Path, bytes]) -> ModuleType:
    try:
        return load_file(path, contents)
    except AlphaNPIError as error:
        raise _at(str(path), error) from error
    except RAISED as error:
        raise EnvironmentFault(f"{path}: loading it failed: {_where(error, str(path))}") from error


def _environment_class(module: ModuleType, class_name: str | None, location: str) -> type[Environment[Any]]:
    classes = {
        name: member
        for name, member in vars(module).items()
        if isinstance(member, type) and issubclass(member, Environment) and member.__module__ == module.__name__
    }
    if class_name is None:
        complete = [member for member in classes.values() if hasattr(member, "library")]
        if len(complete) == 1:
            return complete[0]
        names = ", ".join(classes) or "none"
        raise UnknownEnvironmentError(f"{location}: say which class: {location}:ClassName; there is {names}")
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, Environment)):
        close = get_close_matches(class_name, classes, n=1) or list(classes)
        hint = f"; did you mean {close[0]}?" if close else ": it holds no Environment"
        raise UnknownEnvironmentError(f"{location}: there is no environment class {class_name!r}{hint}")
    return found


def _at(place: str, error: AlphaNPIError) -> AlphaNPIError:
    kind = type(error) if type(error).__module__ == AlphaNPIError.__module__ else EnvironmentFault
    return kind(f"{place}: {error}")


def _where(error: BaseException, prefer: str | None = None) -> str:
    """`line N: ErrorType: message`, at the innermost frame in the preferred file."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if prefer is None or Path(frame.filename) == Path(prefer).resolve()]
    inside = inside or [frame for frame in frames if prefer is not None and frame.filename.endswith(prefer)]
    line = f"line {inside[-1].lineno}: " if inside else ""
    return f"{line}{type(error).__name__}: {error}"
