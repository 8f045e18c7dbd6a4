"""Environments known by id: where each is found, with which options, and what belongs to it alone."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from alphanpi.environment.specification import Environment
from alphanpi.errors import SpecificationError

ENTRY_POINT_GROUP = "alphanpi.environments"

_registered: dict[str, Registration] = {}


class PublishedScores(NamedTuple):
    """What a publication reports of a program in one mode: the share of problems solved, by size."""

    program: str
    mode: str
    success: Mapping[int, float]


@dataclass(frozen=True)
class Registration:
    """What is known of an environment by its id."""

    id: str
    target: str | type[Environment[Any]]
    """The class, or `package.module:ClassName`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the constructor, so that one class may have several ids."""
    example: str | None = None
    """An instance of its topmost program, as a user types it."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the name of a preset, the settings that are others for this environment."""
    published: tuple[PublishedScores, ...] = ()

    def published_success(self, program: str, mode: str, size: int) -> float | None:
        """What a publication reports; None where it says nothing."""
        found = (scores.success.get(size) for scores in self.published if scores[:2] == (program, mode))
        return next(found, None)


def register(
    identifier: str,
    target: str | type[Environment[Any]],
    *,
    options: Mapping[str, Any] | None = None,
    example: str | None = None,
    presets: Mapping[str, Mapping[str, Any]] | None = None,
    published: Iterable[PublishedScores] = (),
) -> None:
    """Make an environment known under an id.

    Args:
        identifier: The id.
        target: Its class, or `package.module:ClassName`, which is loaded when it is asked for.
        options: Arguments of its constructor; those that a user gives come on top.
        example: An instance of its topmost program, as a user types it; reports show it.
        presets: Settings that are others for this environment, by the name of a preset and by `section.key`.
        published: What a publication reports of it; reports show it beside what is measured.
    """
    if identifier in registrations():
        raise SpecificationError(f"an environment with id {identifier!r} is registered already")
    add(Registration(identifier, target, dict(options or {}), example, dict(presets or {}), tuple(published)))


def add(known: Registration) -> None:
    """Make an environment known, whatever installed packages offer under the same id."""
    _registered[known.id] = known


def registrations() -> dict[str, Registration]:
    """All environments known by id: those registered, and those that installed packages offer."""
    plugins = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    return {**{plugin.name: Registration(plugin.name, plugin.value) for plugin in plugins}, **_registered}


def identified(name: str) -> str | None:
    """The id that a user means, in whatever case of letters; None where there is none."""
    known = registrations()
    if name in known:
        return name
    same = [identifier for identifier in known if identifier.casefold() == name.casefold()]
    return same[0] if len(same) == 1 else None


def registration(identifier: str) -> Registration:
    """What is known of an environment; of one that is no id, nothing but its name."""
    return registrations().get(identified(identifier) or "") or Registration(identifier, identifier)
