"""Train and measure every agent of the results tables: `make reproduce`.

It is a sweep (`alphanpi.sweep`), below `runs/reproduce`: each case and seed is a run of its own, in a fresh process, so
that none profits from what another has compiled or remembered. Finished ones are kept, and an interrupted reproduction
goes on where it stopped. Results go to `results/*.json` and `results/README.md`; those of the gallery, measured at ten
times its largest training size and at 1,000, to `results/gallery.json` and `results/gallery.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rich.console import Console

import alphanpi
from alphanpi import SweepProgress
from alphanpi.cli.sweeping import SweepView
from alphanpi.environment.registration import registration
from alphanpi.support.files import write_atomically
from alphanpi.sweeping.progress import JobState

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "reproduce"
RESULTS = ROOT / "results"


class Case(NamedTuple):
    """One line of work: an environment, a preset, its seeds, and what is measured."""

    name: str
    environment: str
    options: dict[str, Any]
    preset: str
    seeds: int
    time_limit: float
    program: str
    sizes: tuple[int, ...]
    episodes: int
    long_sizes: tuple[int, ...] = ()
    long_modes: tuple[Literal["greedy", "planning"], ...] = ("greedy", "planning")
    long_episodes: int = 1


def gallery_case(environment: str, **others: Any) -> Case:
    """The last program of an environment of the gallery; 1,000 is measured where a run takes less than a minute."""
    made = alphanpi.make(environment)
    program = made.library.learned[-1]
    size = 10 * max(program.sizes_to_train(made.train_sizes))
    usual = Case(environment, environment, {}, "default", 10, 120, program.name, (size,), 40, (1000,), long_episodes=5)
    return usual._replace(**others)


SORT_SIZES = (10, 20, 60, 100)
LONG = 60
CASES = [
    Case("hanoi", "hanoi", {}, "default", 10, 120, "HANOI", (2, 5, 10, 12), 6, (15,), ("greedy",)),
    Case(
        "recursive-sorting-compare",
        "recursive-sorting",
        {"observation": "compare"},
        "default",
        10,
        240,
        "BUBBLESORT",
        SORT_SIZES,
        40,
        (1000,),
    ),
    Case("recursive-sorting", "recursive-sorting", {}, "default", 10, 240, "BUBBLESORT", SORT_SIZES, 40, (1000,)),
    Case("sorting", "sorting", {}, "default", 10, 360, "BUBBLESORT", SORT_SIZES, 40, (1000,)),
    Case("flat-sorting", "flat-sorting", {}, "default", 10, 40, "BUBBLESORT", (3, 4, 5, 6), 40),
]
GALLERY = [
    gallery_case("addition", long_sizes=(1000, 5000)),  # 5,000 digits: the longest of the field
    gallery_case("binary-search"),
    gallery_case("brackets"),
    gallery_case("insertion-sort", long_episodes=1),
    gallery_case("merge-sort"),
    gallery_case("quicksort"),
    gallery_case("string-matching"),
    gallery_case("topological-sort"),
]


SLOW = ("recursive-sorting-compare", "recursive-sorting", "sorting")


def most_actions(case: Case, size: int) -> int:
    """Bubble sort takes 6 to 8 n^2 actions in all, and planning tries several for each that it takes."""
    return 10_000_000 if case.environment == "hanoi" else min(20_000 + 50 * size * size, 500_000_000)


def measurements(case: Case) -> list[dict[str, Any]]:
    """What is measured of each run, as a sweep wants it; success is counted on the same instances in both modes."""
    usual = {"program": case.program, "episodes": case.episodes, "seed": 1000}
    found: list[dict[str, Any]] = []
    for size in case.sizes:
        limit = most_actions(case, size)
        found.append({**usual, "sizes": [size], "mode": "greedy", "max_actions": limit})
        # Planning is slower: on long lists it sees the first ten of the same instances.
        episodes = case.episodes if size < LONG else min(case.episodes, 10)
        found.append({**usual, "sizes": [size], "mode": "planning", "max_actions": 4 * limit, "episodes": episodes})
    for size in case.long_sizes:
        for mode in case.long_modes:
            limit = most_actions(case, size) * (4 if mode == "planning" else 1)
            found.append({**usual, "sizes": [size], "mode": mode, "max_actions": limit, "above": 0.5})
            found[-1]["episodes"] = case.long_episodes
    return found


def plan(cases: Sequence[Case], seeds: int | None, time_limit: float | None) -> dict[str, Any]:
    """The sweep: cases are its environments, each with its own preset, seeds, limit and measurements."""
    return {
        "seeds": [0],
        "environments": [
            {
                "id": case.environment,
                "name": case.name,
                "options": case.options,
                "preset": case.preset,
                "seeds": range(seeds or case.seeds),
                "time_limit": time_limit or case.time_limit,
                "evaluate": measurements(case),
            }
            for case in cases
        ],
    }


class Writer:
    """Writes the results of a case whenever another of its runs has ended."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._written: dict[str, int] = {}

    def __call__(self, progress: SweepProgress) -> None:
        """Write what is new."""
        ended: dict[str, list[JobState]] = {}
        for state in progress.jobs:
            if state.result is not None and state.status != "failed":
                ended.setdefault(state.job.name, []).append(state)
        for name, states in ended.items():
            if self._written.get(name) != len(states):
                self._written[name] = len(states)
                _write(self._results, name, [described(state) for state in states])


def main() -> None:
    """Run all or the chosen cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = ", ".join(case.name for case in (*CASES, *GALLERY))
    parser.add_argument("cases", nargs="*", help=f"some of: gallery (all of it), {names}")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="runs side by side")
    parser.add_argument("--ray", help="address of a Ray cluster, as for `alphanpi sweep`")
    parser.add_argument("--seeds", type=int, help="seeds per case, instead of the case's own number")
    parser.add_argument("--time-limit", type=float, help="seconds per run, instead of the case's own")
    parser.add_argument("--short", action="store_true", help="without the bubble sorts of 1,000, which take long")
    parser.add_argument("--trial", type=Path, metavar="FOLDER", help="runs and results go there, and to no table")
    arguments = parser.parse_args()
    unknown = set(arguments.cases) - {"gallery", *(case.name for case in (*CASES, *GALLERY))}
    if unknown:
        parser.error(f"unknown cases: {', '.join(sorted(unknown))}")
    chosen = [
        case
        for case in (*CASES, *GALLERY)
        if not arguments.cases or case.name in arguments.cases or (case in GALLERY and "gallery" in arguments.cases)
    ]
    if arguments.short:
        chosen = [case._replace(long_sizes=()) if case.name in SLOW else case for case in chosen]
    results = RESULTS if arguments.trial is None else arguments.trial / "results"
    writer = Writer(results)

    def observe(progress: SweepProgress) -> None:
        writer(progress)
        view(progress)

    with SweepView(Console()) as view:
        progress = alphanpi.sweep(
            plan(chosen, arguments.seeds, arguments.time_limit),
            out=RUNS if arguments.trial is None else arguments.trial / "runs",
            jobs=arguments.workers,
            ray=arguments.ray,
            resume=True,
            observer=observe,
        )
    if progress.interrupted:
        raise SystemExit("interrupted; the same command goes on")
    write_summary(results)
    write_gallery(results)
    if arguments.trial is None:
        write_readme()
    if failed := [f"{state.folder}: {state.note}" for state in progress.jobs if state.status == "failed"]:
        raise SystemExit("\n".join(["these runs failed, and are not in the tables:", *failed]))


def described(state: JobState) -> dict[str, Any]:
    """What is written down of a run that has ended."""
    result = state.result
    assert result is not None
    return {
        "case": state.job.name,
        "seed": state.job.seed,
        "completed": result.learned,
        "explanation": result.note,
        "training_seconds": round(result.training_seconds, 2),
        "iterations": result.iterations,
        "seconds": {part: round(value, 2) for part, value in result.seconds.items()},
        "success": result.success,
        "scores": [score.model_dump() for score in result.scores],
    }


def _write(results: Path, name: str, runs: list[dict[str, Any]]) -> None:
    record = {
        "command": f"python benchmarks/reproduce.py {name}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "runs": sorted(runs, key=lambda run: int(run["seed"])),
    }
    if name in {case.name for case in GALLERY}:
        records = {**_gallery(results), name: record}
        name, record = "gallery", dict(sorted(records.items()))
    write_atomically(results / f"{name}.json", json.dumps(record, indent=1) + "\n")


def _gallery(results: Path) -> dict[str, Any]:
    """What was measured of the gallery, by case."""
    path = results / "gallery.json"
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def write_summary(results: Path = RESULTS) -> None:
    """Write results/README.md from the JSON files."""
    lines = [
        "# Results",
        "",
        "Written by `make reproduce` (`python benchmarks/reproduce.py`) from the JSON files beside it. Every agent is",
        "trained from scratch on one core, one run at a time or two side by side. The recipe was chosen on seeds",
        "100-109; seeds 0-9 are reported, failed ones included: an agent not finished within the time limit is",
        "measured as it is. Cases and seeds that are missing have not been measured yet.",
        "",
        "`bench-search.json` is the output of `alphanpi bench search --oracle-seconds 2 --json` on the same machine,",
        "`bench-device.json` that of `alphanpi bench device --json` on another one, see docs/gpu.md,",
        "`bench-scale.json` that of `alphanpi bench scale --json`, see docs/cluster.md,",
        "[ablations.md](ablations.md) says what each difference from the paper contributes, and",
        "[paper-recipe.md](paper-recipe.md) what the paper's own algorithm reaches.",
        "",
        "Success is STOP within the limits, the post-condition true, and every call on the way successful, for both",
        "modes and on the same instances. Lists of n must be sorted within about 50 n² actions in all (bubble sort",
        "takes 6 to 8 n²; with search, 200 n² may be tried). The paper reports one agent per table.",
        "",
    ]
    for case in CASES:
        path = results / f"{case.name}.json"
        if path.is_file():
            lines += _section(case, json.loads(path.read_text()))
    write_atomically(results / "README.md", "\n".join(lines))


def write_gallery(results: Path = RESULTS) -> None:
    """Write results/gallery.md from results/gallery.json."""
    records = _gallery(results)
    if not records:
        return
    lines = [
        "# Results of the gallery",
        "",
        "Written by `python benchmarks/reproduce.py gallery` from `gallery.json`. Every agent is trained from scratch,",
        "with default settings, from the specification alone. Environments were written with seeds 100-104; seeds 0-9",
        "are reported, failed ones included. Success is that of [the other results](README.md). Times are those of the",
        "machine named, on which other work may have been done; iterations are the same everywhere.",
        "",
        "| environment | program | learned | seconds, median (worst) | iterations, median (worst) | measured |",
        "|---|---|---|---|---|---|",
    ]
    scores = [
        "| environment | size | mode | instances | mean | worst seed | seeds at 100 % | seconds each |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in (case for case in GALLERY if case.name in records):
        record = records[case.name]
        runs = record["runs"]
        seconds = [run["training_seconds"] for run in runs]
        iterations = [run["iterations"] for run in runs]
        lines.append(
            f"| `{case.name}` | `{case.program}` | {sum(run['completed'] for run in runs)} of {len(runs)} | "
            f"{statistics.median(seconds):.1f} ({max(seconds):.1f}) | "
            f"{statistics.median(iterations):.0f} ({max(iterations)}) | `{record['command']}`; {record['machine']} |"
        )
        for size, mode in sorted({(score["size"], score["mode"]) for run in runs for score in run["scores"]}):
            found = [s for run in runs for s in run["scores"] if (s["size"], s["mode"]) == (size, mode)]
            rates = [score["rate"] for score in found]
            scores.append(
                f"| `{case.name}` | {size} | {mode} | {sum(score['episodes'] for score in found)} | "
                f"{statistics.mean(rates):.1%} | {min(rates):.0%} | "
                f"{sum(rate == 1.0 for rate in rates)} of {len(rates)} | "
                f"{statistics.median(score['seconds_per_episode'] for score in found):.4f} |"
            )
    write_atomically(results / "gallery.md", "\n".join([*lines, "", *scores, ""]))


README_ROWS = [
    # label, case, sizes, paper without and with search
    ("Hanoi, 2 to 12 disks", "hanoi", (2, 5, 10, 12), "100 % / 100 %"),
    ("recursive sorting, `compare`, length 100", "recursive-sorting-compare", (100,), "10 % / 100 %"),
    ("recursive sorting, `paper`, length 100", "recursive-sorting", (100,), "10 % / 100 %"),
    ("iterative sorting, length 20", "sorting", (20,), "85 % / 100 %"),
    ("iterative sorting, length 100", "sorting", (100,), "10 % / 40 %"),
    ("iterative sorting, one list of 1,000", "sorting", (1000,), "-"),
    ("sorting without hierarchy, length 4", "flat-sorting", (4,), "22 % / 42 %"),
]
BEGIN, END = "<!-- results: written by benchmarks/reproduce.py -->", "<!-- end of results -->"


def write_readme() -> None:
    """Rewrite the table in README.md from the JSON files."""
    lines = [
        "| | learned | training, median (worst) | success without search | with search | paper, without / with |",
        "|---|---|---|---|---|---|",
    ]
    for label, name, sizes, paper in README_ROWS:
        path = RESULTS / f"{name}.json"
        if not path.is_file():
            continue
        runs = json.loads(path.read_text())["runs"]
        seconds = [run["training_seconds"] for run in runs]
        rates = {
            mode: [s["rate"] for run in runs for s in run["scores"] if s["mode"] == mode and s["size"] in sizes]
            for mode in ("greedy", "planning")
        }
        if not all(rates.values()):
            continue
        shown = [f"{100 * statistics.mean(rates[mode]):.4g} % (worst {100 * min(rates[mode]):.4g} %)" for mode in rates]
        lines.append(
            f"| {label} | {sum(run['completed'] for run in runs)} of {len(runs)} | "
            f"{statistics.median(seconds):.0f} s ({max(seconds):.0f} s) | {' | '.join(shown)} | {paper} |"
        )
    text = (ROOT / "README.md").read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    write_atomically(ROOT / "README.md", f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}")


def _section(case: Case, record: dict[str, Any]) -> list[str]:
    runs = record["runs"]
    seconds = [run["training_seconds"] for run in runs]
    learned = [run for run in runs if run["completed"]]
    observation = case.options.get("observation", "paper") if case.environment != "hanoi" else ""
    lines = [
        f"## {case.name}",
        "",
        f"Environment `{case.environment}`"
        + (f", observation `{observation}`" if observation else "")
        + f", preset `{case.preset}`; {case.program}; {record['machine']}. Command: `{record['command']}`.",
        "",
        f"Learned: {len(learned)} of {len(runs)} seeds. Training seconds: median {statistics.median(seconds):.1f}, "
        f"worst {max(seconds):.1f} (limit {case.time_limit:.0f}).",
        *(["", record["note"]] if record.get("note") else []),
        "",
        "| size | mode | mean | worst seed | seeds at 100 % | seconds each | paper |",
        "|---|---|---|---|---|---|---|",
    ]
    keys = sorted({(score["size"], score["mode"]) for run in runs for score in run["scores"]})
    for size, mode in keys:
        found = [s for run in runs for s in run["scores"] if (s["size"], s["mode"]) == (size, mode)]
        rates = [score["rate"] for score in found]
        paper = registration(case.environment).published_success(case.program, mode, size)
        lines.append(
            f"| {size} | {mode} | {statistics.mean(rates):.1%} | {min(rates):.0%} | "
            f"{sum(rate == 1.0 for rate in rates)} of {len(rates)} | "
            f"{statistics.median(score['seconds_per_episode'] for score in found):.4f} | "
            f"{'-' if paper is None else f'{paper:.0%}'} |"
        )
    lines += ["", "| seed | learned | seconds | iterations |", "|---|---|---|---|"]
    for run in runs:
        verdict = "yes" if run["completed"] else f"no: {run['explanation']}"
        lines.append(f"| {run['seed']} | {verdict} | {run['training_seconds']:.1f} | {run['iterations']} |")
    return [*lines, ""]


if __name__ == "__main__":
    main()
