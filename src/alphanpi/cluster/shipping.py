"""Environments for workers: found there by name where they are installed, or sent as source where they are files."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from alphanpi.environment.given import identify
from alphanpi.environment.narrowing import narrowed
from alphanpi.environment.provenance import digest_of, file_contents, module_contents
from alphanpi.environment.registration import identified, registrations
from alphanpi.environment.registry import IN_MEMORY, OWN_MODULES, absolute, create, load_contents, make, split
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError


class SourceFile(NamedTuple):
    """A file an environment consists of."""

    path: str  # absolute, on the machine it comes from
    content: bytes


class FrozenCalls(NamedTuple):
    """All that a frozen program may call."""

    program: str
    entries: tuple[str, ...]


class Shipment(NamedTuple):
    """How another process makes an environment."""

    identifier: str  # path/to/file.py:ClassName, an id, or package.module:ClassName
    options: str  # JSON
    files: tuple[SourceFile, ...]  # of one in a file; others are found by name
    digest: str | None  # SHA-256 of its source, which has to be the same there; None for our own
    frozen: tuple[FrozenCalls, ...] = ()  # of programs that may call less than their levels allow


def ship(identifier: str, options: Mapping[str, Any], frozen: Mapping[str, Collection[str]] | None = None) -> Shipment:
    """What a worker needs, with all that `frozen` programs may call; one line where it is in no file or module."""
    known = registrations().get(identified(identifier) or "")
    if known is not None and isinstance(known.target, type):  # registered by the user's own code, which is not sent
        named = identify(known.target, {**known.options, **options})
        return ship(named.identifier, named.options, frozen)
    if identifier.startswith(f"{IN_MEMORY}:"):
        name = identifier.partition(":")[2]
        raise UsageError(
            f"{name} cannot be sent to workers: it was defined in a notebook or made by hand; put the class into "
            f"a file and give FILE.py:{name}"
        )
    identifier, kept = absolute(identifier), json.dumps(dict(options))
    calls = tuple(FrozenCalls(name, tuple(sorted(entries))) for name, entries in sorted((frozen or {}).items()))
    location, _ = split(identifier if known is None else str(known.target))
    if location.endswith(".py"):
        contents = file_contents(Path(location))
        files = tuple(SourceFile(str(path), content) for path, content in sorted(contents.items()))
        return Shipment(identifier, kept, files, digest_of(contents), calls)
    own = location.startswith(OWN_MODULES)  # of a version that the hand-shake has compared
    return Shipment(identifier, kept, (), None if own else digest_of(module_contents(location)), calls)


def unpacked(shipment: Shipment) -> Environment[Any]:
    """The environment, in the process it was sent to. To name it was to trust it, where it was sent from."""
    return narrowed(_made(shipment), {one.program: one.entries for one in shipment.frozen})


def _made(shipment: Shipment) -> Environment[Any]:
    options: dict[str, Any] = json.loads(shipment.options)
    if shipment.files:
        contents = {Path(file.path): file.content for file in shipment.files}
        if digest_of(contents) != shipment.digest or not all(PurePath(path).is_absolute() for path in contents):
            raise UsageError(f"{shipment.identifier}: what was sent to a worker is not what was read")
        return create(load_contents(shipment.identifier, contents), **options)
    environment = make(shipment.identifier, **options)
    if shipment.digest is not None:
        module = type(environment).__module__
        if digest_of(module_contents(module)) != shipment.digest:
            raise UsageError(f"{shipment.identifier}: a node of the cluster has {module} with other source code")
    return environment
