"""Comparing runs: those that differ in nothing but the seed are a group; groups of one environment are compared."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi import __version__
from alphanpi.errors import UsageError
from alphanpi.reporting.comparison_records import (
    COMPARISON_SCHEMA,
    ComparedRun,
    ComparisonRecord,
    EnvironmentGroups,
    GroupRecord,
    GroupScore,
    MedianRecord,
    UnreadableRun,
)
from alphanpi.reporting.run_reading import read_run
from alphanpi.runs.finding import find_runs
from alphanpi.support.intervals import median_interval, wilson_interval

_MOST_POINTS = 40_000  # of all learning curves together: the page stays small
_CURVE_POINTS = (40, 400)  # of one, at least and at most
_LEARNED = ("learned", "proved")


class PlacedRun(NamedTuple):
    """A run, and its place in the comparison's list."""

    place: int
    run: ComparedRun

    @property
    def settings(self) -> str:
        """What it shares with the runs of its group, as a key."""
        return json.dumps(self.run.settings, sort_keys=True)


def compared(places: Iterable[str | Path]) -> ComparisonRecord:
    """The runs at these places, grouped; a UsageError where not one of them can be read."""
    directories = find_runs(places)
    if not directories:
        raise UsageError("no runs to compare; give run directories, or folders that hold some")
    least, most = _CURVE_POINTS
    points = min(most, max(least, _MOST_POINTS // len(directories)))
    runs: list[ComparedRun] = []
    unreadable: list[UnreadableRun] = []
    for directory in directories:
        try:
            runs.append(read_run(directory, points))
        except UsageError as error:
            unreadable.append(UnreadableRun(str(directory.path), str(error)))
    if not runs:
        raise UsageError(unreadable[0].reason)
    placed = [PlacedRun(place, run) for place, run in enumerate(runs)]
    environments = list(dict.fromkeys(run.environment for run in runs))
    return ComparisonRecord(
        schema=COMPARISON_SCHEMA,
        version=__version__,
        runs=runs,
        environments=[
            _environment(name, [one for one in placed if one.run.environment == name]) for name in environments
        ],
        unreadable=unreadable,
    )


def _environment(name: str, placed: Sequence[PlacedRun]) -> EnvironmentGroups:
    groups: dict[str, list[PlacedRun]] = {}
    for one in placed:
        groups.setdefault(one.settings, []).append(one)
    each = list(groups.values())
    known = list(dict.fromkeys(key for one in placed for key in one.run.settings))
    presets = {_shown(one.run, "preset") for one in placed}

    def values(key: str) -> set[str]:
        # Another preset may have other keys altogether: its name says so.
        return {_shown(group[0].run, key) for group in each if len(presets) == 1 or key in group[0].run.settings}

    different = [key for key in known if len(values(key)) > 1]
    curves = [one.run.curves for one in placed if one.run.curves is not None]
    scored = [score.program for one in placed for score in one.run.scores]
    return EnvironmentGroups(
        environment=name,
        programs=list(dict.fromkeys([*(program for curve in curves for program in curve.success), *scored])),
        settings=different,
        groups=[_group(group, different) for group in each],
    )


def _shown(run: ComparedRun, key: str) -> str:
    return json.dumps(run.settings.get(key))


def _group(placed: Sequence[PlacedRun], different: Sequence[str]) -> GroupRecord:
    settings = {key: placed[0].run.settings.get(key) for key in different}
    ended = [one.run for one in placed if one.run.status != "running"]
    learned = sum(run.status in _LEARNED for run in ended)
    low, high = wilson_interval(learned, len(ended)) if ended else (0.0, 1.0)
    last = [key.rpartition(".")[2] for key in different]
    names = {key: key if last.count(short) > 1 else short for key, short in zip(different, last, strict=True)}
    return GroupRecord(
        label=", ".join(f"{names[key]} {_value(value)}" for key, value in settings.items()) or "all runs",
        settings=settings,
        runs=[one.place for one in placed],
        ended=len(ended),
        learned=learned,
        learned_low=low,
        learned_high=high,
        seconds=_median([run.seconds if run.status in _LEARNED else math.inf for run in ended]),
        iterations=_median([run.iterations if run.status in _LEARNED else math.inf for run in ended]),
        verdicts=dict(Counter(one.run.verdict for one in placed if one.run.verdict is not None)),
        scores=_scores(placed),
        notes=_notes(placed),
    )


def _value(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value)


def _median(values: Sequence[float]) -> MedianRecord | None:
    """Of runs that ended; one that did not learn everything never would have, however long it took."""
    if not values:
        return None
    found = median_interval(values)
    median, low, high = (value if math.isfinite(value) else None for value in (found.median, found.low, found.high))
    return MedianRecord(median, low, high, found.coverage)


def _scores(placed: Sequence[PlacedRun]) -> list[GroupScore]:
    """Where several runs were measured in the same program, size and mode, all of their episodes together."""
    keys = sorted({(score.program, score.size, score.mode) for one in placed for score in one.run.scores})
    found = []
    for key in keys:
        rows = [(one.place, score) for one in placed for score in one.run.scores if score[:3] == key]
        episodes, successes = sum(score.episodes for _, score in rows), sum(score.successes for _, score in rows)
        found.append(
            GroupScore(
                *key,
                episodes,
                successes,
                successes / episodes,
                *wilson_interval(successes, episodes),
                runs=[place for place, _ in rows],
                rates=[score.successes / score.episodes for _, score in rows],
            )
        )
    return found


def _notes(placed: Sequence[PlacedRun]) -> list[str]:
    notes = []
    if len({one.run.machine for one in placed}) > 1:
        notes.append("not all runs are of the same machine and versions: their times are hardly comparable")
    twice = [seed for seed, times in Counter(one.run.seed for one in placed).items() if times > 1]
    if twice:
        notes.append(f"seed {twice[0]} was run more than once, and counts as often")
    ended = [one.run for one in placed if one.run.status != "running"]
    if len({frozenset(score[:3] for score in run.scores) for run in ended}) > 1:
        notes.append("not all runs were measured at the same sizes; alphanpi eval measures the others")
    return notes
