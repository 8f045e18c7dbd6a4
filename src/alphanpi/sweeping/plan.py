"""What a sweep is to do: a file of TOML, checked to the last key before anything is run."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from alphanpi.environment.registry import absolute
from alphanpi.errors import UsageError
from alphanpi.runs.records import Seed, Size
from alphanpi.support.config import flattened
from alphanpi.support.durations import seconds_of
from alphanpi.support.limits import MOST_ACTIONS, MOST_EPISODES, MOST_SECONDS
from alphanpi.support.record import Record, Share, Text, read_bytes, refuse

EXAMPLE = """\
# Two environments x two settings x six seeds: 24 runs.
environments = [
  "examples/lights.py",
  {id = "recursive-sorting", options = {observation = "compare"}, name = "sorting", time_limit = "10m"},
]
seeds = "0-5"
time_limit = "2m"

[variants.usual]      # as the preset has it

[variants.narrow]
network.memory = 8

[evaluate]            # afterwards, of each run
sizes = [10, 100]
episodes = 20
"""

MOST_RETRIES = 100
_RANGE = re.compile(r"\s*(\d{1,18})\s*-\s*(\d{1,18})\s*")
_MOST_SEEDS = 1000
_IN_FILE = re.compile(r"\.py(:\w+)?$")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._+=-]+")

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,79}$")]
TimeLimit = Annotated[float, Field(gt=0, le=MOST_SECONDS)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1, max_length=_MOST_SEEDS)]
Until = Literal["learned", "verified"]
Settings = dict[str, Any]


class Measurement(Record):
    """What `evaluate` is asked about a run that has ended."""

    program: Text | None = Field(None, description="program to measure; the last one if omitted")
    sizes: Annotated[tuple[Size, ...], Field(min_length=1)] | None = Field(
        None, description="sizes of problems, such as [10, 100]; the environment's test sizes up to 100 if omitted"
    )
    episodes: Annotated[int, Field(ge=1, le=MOST_EPISODES)] = Field(40, description="problems of each size")
    mode: Literal["greedy", "planning", "both"] = Field(
        "both", description="greedy (the network alone), planning (with search) or both"
    )
    seed: Seed = Field(0, description="whole number that decides the problems")
    max_actions: Annotated[int, Field(ge=1, le=MOST_ACTIONS)] | None = Field(
        None, description="actions after which an execution fails; evaluate's own limit if omitted"
    )
    above: Share | None = Field(
        None,
        description="share from 0 to 1: measure only where every program was learned and every measurement before "
        "succeeded more often than this",
    )


class PlannedEnvironment(Record):
    """An environment of a sweep; what it leaves out is as for the others."""

    id: Annotated[Text, Field(min_length=1)] = Field(
        description="id, path/to/file.py:ClassName (from the folder of the sweep's file) or package.module:ClassName"
    )
    name: Name = Field(
        description="of its folder and in tables, letters, digits and ._+=-; made from the id if omitted"
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description='table of its options, such as {observation = "compare"}'
    )
    preset: Text | None = Field(None, description="instead of the sweep's")
    settings: Settings = Field(default_factory=dict, description="table of settings, over those of the sweep")
    seeds: Seeds | None = Field(None, description="instead of the sweep's")
    time_limit: TimeLimit | None = Field(None, description="instead of the sweep's")
    until: Until | None = Field(None, description="instead of the sweep's")
    evaluate: tuple[Measurement, ...] | None = Field(None, description="table, or list of them, instead of the sweep's")


class SweepPlan(Record):
    """All of a sweep: every environment with every variant and every seed is a run."""

    environments: Annotated[tuple[PlannedEnvironment, ...], Field(min_length=1)] = Field(
        description='list of ids and files, such as ["hanoi", "mine.py"], or of tables with an id'
    )
    seeds: Seeds = Field(description='list such as [0, 1, 2], or a range such as "0-9", both ends included')
    preset: Text = Field("default", description="default or paper")
    settings: Settings = Field(default_factory=dict, description="table of settings of all runs, by section.key")
    variants: dict[Name, Settings] = Field(
        default_factory=dict,
        description="tables of settings that differ, by name; an empty one for the settings as they are. Without any, "
        "each seed is run once",
    )
    time_limit: TimeLimit | None = Field(
        None, description='of each run, over all attempts: seconds, or "90s", "5m", "1h"; none if omitted'
    )
    until: Until = Field("learned", description="learned, or verified: go on until every program is proved")
    device: Text = Field("cpu", description="where the network runs: cpu, cuda, mps")
    retries: Annotated[int, Field(ge=0, le=MOST_RETRIES)] = Field(
        2, description="how often a run is taken up again whose process died; errors that a run reports are final"
    )
    evaluate: tuple[Measurement, ...] = Field(
        (), description="table, or list of them: what to measure of each run afterwards; nothing if omitted"
    )


def read_plan(file: Path) -> SweepPlan:
    """The plan in a file; environments' files are looked for from its folder."""
    try:
        content = tomllib.loads(read_bytes(file).decode("utf-8"))
    except UnicodeDecodeError as error:
        refuse(str(file), f"not UTF-8: byte {error.start}", cause=error)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: not valid TOML: {error}") from error
    return parsed_plan(content, str(file), file.parent)


def parsed_plan(content: Mapping[str, Any], where: str, folder: Path = Path()) -> SweepPlan:
    """The plan that a table describes; a UsageError names the key that is wrong, and what it should be."""
    try:
        text = json.dumps(_normalised(dict(content), where, folder), default=str)  # TOML has dates, JSON has not
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{where}: it holds what TOML cannot: {error}") from error
    try:
        plan = SweepPlan.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise UsageError(f"{where}: {_fault(error)}") from error
    names = [planned.name.casefold() for planned in plan.environments]
    for kind, given in (("environments", names), ("variants", [name.casefold() for name in plan.variants])):
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice is not None:
            raise UsageError(f"{where}: {kind}: two are called {twice!r}; give each a name of its own")
    for seeds in (plan.seeds, *(planned.seeds or () for planned in plan.environments)):
        if len(set(seeds)) < len(seeds):
            raise UsageError(f"{where}: seeds: {next(s for s in seeds if seeds.count(s) > 1)} is there twice")
    return plan


def _normalised(content: dict[str, Any], where: str, folder: Path) -> dict[str, Any]:
    """What may be written in several ways in one of them; what is wrong stays as it is, to be refused."""
    made = _shared(content, where)
    if isinstance(made.get("variants"), dict):
        made["variants"] = {name: _flat(settings) for name, settings in made["variants"].items()}
    environments = made.get("environments")
    if isinstance(environments, list | tuple):
        made["environments"] = [_environment(one, where, folder) for one in environments]
    return made


def _environment(given: Any, where: str, folder: Path) -> Any:
    table = {"id": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or not isinstance(table.get("id"), str):
        return table
    identifier = table["id"]
    short = identifier.rpartition("/")[2].replace(".py", "")
    located = str(folder / identifier) if _IN_FILE.search(identifier) else identifier
    return {"name": _NOT_IN_NAMES.sub("-", short).strip("-"), **_shared(table, where), "id": absolute(located)}


def _shared(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Keys that a sweep and an environment of it have in common."""
    made = dict(table)
    if "settings" in made:
        made["settings"] = _flat(made["settings"])
    if isinstance(made.get("evaluate"), Mapping):
        made["evaluate"] = [made["evaluate"]]
    if isinstance(made.get("time_limit"), str):
        made["time_limit"] = seconds_of(made["time_limit"], f"{where}: time_limit")
    if isinstance(made.get("seeds"), str):
        made["seeds"] = _seeds(made["seeds"], where)
    if isinstance(made.get("seeds"), range):
        made["seeds"] = list(made["seeds"])
    return made


def _flat(settings: Any) -> Any:
    return flattened(dict(settings)) if isinstance(settings, Mapping) else settings


def _seeds(text: str, where: str) -> list[int]:
    match = _RANGE.fullmatch(text)
    first, last = (int(match[1]), int(match[2])) if match else (0, -1)
    if not 0 <= last - first < _MOST_SEEDS:
        raise UsageError(f'{where}: seeds = "{text}": write a range such as "0-9", of at most {_MOST_SEEDS:,} seeds')
    return list(range(first, last + 1))


def _fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    fields = _model_of(first["loc"]).model_fields
    if first["type"] == "extra_forbidden":
        close = get_close_matches(str(first["loc"][-1]), fields, n=1)
        return f"unknown key {key!r}; " + (f"did you mean {close[0]}?" if close else f"there are {', '.join(fields)}")
    about = next((fields[part].description for part in reversed(first["loc"]) if part in fields), None)
    if first["type"] == "missing":
        return f"{key} is missing: {about}"
    message = first["msg"][:1].lower() + first["msg"][1:]
    return f"{key}: {message}, not {json.dumps(first['input'], default=str):.60}; expected: {about}"


def _model_of(place: tuple[int | str, ...]) -> type[BaseModel]:
    """The record that a place in the file belongs to."""
    if "evaluate" in place[:-1]:
        return Measurement
    return PlannedEnvironment if place[0] == "environments" and len(place) > 2 else SweepPlan
