"""The paper's four experiments with the paper's own algorithm (`--preset paper`), beside its Tables 1 to 3.

It is a sweep (`alphanpi.sweep`), below `runs/paper`: each run trains until it succeeds, or for an hour of one core, and
is measured as `reproduce.py` measures. Finished ones are kept, and an interrupted one goes on where it stopped. Results
go to `results/paper-recipe.json` and `results/paper-recipe.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reproduce import CASES, Case, described, plan
from rich.console import Console

import alphanpi
from alphanpi import SweepProgress
from alphanpi.cli.sweeping import SweepView
from alphanpi.environment.registration import registration
from alphanpi.support.files import write_atomically

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "paper"
RESULTS = ROOT / "results"
EXPERIMENTS = ("hanoi", "recursive-sorting", "sorting", "flat-sorting")
BASE_CASE = "recursive-sorting-base-case"
"""The one thing that recursive sorting lacks: lists of one element among those that are learned from."""
NAMES = (*EXPERIMENTS, BASE_CASE)


def _paper_case(name: str) -> Case:
    usual = next(case for case in CASES if case.name == name.removesuffix("-base-case"))
    return usual._replace(name=name, preset="paper", seeds=1, time_limit=3600, long_sizes=())


PAPER_CASES = {name: _paper_case(name) for name in NAMES}
SETTINGS: dict[str, dict[str, Any]] = {BASE_CASE: {"paper.train_sizes": [1, 2, 3, 4]}}


class PaperTable(NamedTuple):
    """A table of the paper: a title, and the experiments beside each other."""

    title: str
    columns: dict[str, str]  # what a column is called, by case


TABLES = [
    PaperTable("Table 1: length of lists", {"sorting": "iterative", "recursive-sorting": "recursive"}),
    PaperTable("Table 1, recursive, lists of one element are learned from too", {BASE_CASE: "recursive"}),
    PaperTable("Table 2: length of lists, no hierarchy", {"flat-sorting": "flat"}),
    PaperTable("Table 3: disks of Hanoi", {"hanoi": "Hanoi"}),
]
MODES = {"planning": "with search", "greedy": "network only"}


def main() -> None:
    """Run all or the chosen experiments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--workers", type=int, default=1, help="runs side by side")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of each, from 0 on")
    parser.add_argument("--time-limit", type=float, default=3600.0, help="seconds of training per run")
    parser.add_argument("--trial", type=Path, metavar="FOLDER", help="runs and results go there instead")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - set(NAMES):
        parser.error(f"unknown experiments: {', '.join(sorted(unknown))}")
    chosen = [PAPER_CASES[name] for name in NAMES if not arguments.cases or name in arguments.cases]
    results = RESULTS if arguments.trial is None else arguments.trial / "results"

    def observe(progress: SweepProgress) -> None:
        write(results, progress)
        view(progress)

    with SweepView(Console()) as view:
        work = plan(chosen, arguments.seeds, arguments.time_limit)
        for environment in work["environments"]:
            environment["settings"] = SETTINGS.get(environment["name"], {})
        progress = alphanpi.sweep(
            work,
            out=RUNS if arguments.trial is None else arguments.trial / "runs",
            jobs=arguments.workers,
            resume=True,
            observer=observe,
        )
    if progress.interrupted:
        raise SystemExit("interrupted; the same command goes on")
    if failed := [f"{state.folder}: {state.note}" for state in progress.jobs if state.status == "failed"]:
        raise SystemExit("\n".join(["these runs failed, and are not in the tables:", *failed]))


def write(results: Path, progress: SweepProgress) -> None:
    """Write what has ended, beside what was written before."""
    file = results / "paper-recipe.json"
    before: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
    runs = {(run["case"], run["seed"]): run for run in before.get("runs", [])}
    ended = [state for state in progress.jobs if state.result is not None and state.status != "failed"]
    runs |= {(state.job.name, state.job.seed): described(state) for state in ended}
    ordered = sorted(runs.values(), key=lambda run: (NAMES.index(run["case"]), run["seed"]))
    if not ordered or ordered == before.get("runs"):
        return
    record = {
        "command": "python benchmarks/paper.py",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "runs": ordered,
    }
    write_atomically(file, json.dumps(record, indent=1) + "\n")
    write_atomically(results / "paper-recipe.md", "\n".join(page(record)))


def page(record: dict[str, Any]) -> list[str]:
    """The results beside the paper's."""
    lines = [
        "# The paper's recipe",
        "",
        "Written by `python benchmarks/paper.py` from `paper-recipe.json`: the paper's algorithm and hyper-parameters",
        "(`--preset paper`, `alphanpi.paper`) on its four experiments, one core each. Success is that of",
        "[the other results](README.md): the same instances in both modes, and planning with five simulations and",
        "without the level term. Cells are the mean over seeds, and in brackets what the paper reports of one agent.",
        f"Machine: {record['machine']}, on which other work may have been done; iterations are the same everywhere.",
    ]
    for table in TABLES:
        lines += _table(table, record["runs"])
    lines += [
        "",
        "## Training",
        "",
        "| experiment | seed | learned | seconds | iterations | averages at the end |",
        "|---|---|---|---|---|---|",
    ]
    for run in record["runs"]:
        averages = ", ".join(f"{name} {value:.2f}" for name, value in run["success"].items())
        verdict = "yes" if run["completed"] else f"no: {run['explanation']}"
        lines.append(
            f"| {run['case']} | {run['seed']} | {verdict} | {run['training_seconds']:.0f} | {run['iterations']} | "
            f"{averages} |"
        )
    return [*lines, ""]


def _table(table: PaperTable, runs: Sequence[dict[str, Any]]) -> list[str]:
    columns = {name: [run for run in runs if run["case"] == name] for name in table.columns}
    heads = [
        f"{table.columns[name]}, {shown} ({len(own)} seeds)"
        for name, own in columns.items()
        for shown in MODES.values()
    ]
    lines = ["", f"## {table.title}", "", f"| size | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for size in PAPER_CASES[next(iter(columns))].sizes:
        cells = [_cell(PAPER_CASES[name], own, size, mode) for name, own in columns.items() for mode in MODES]
        lines.append(f"| {size} | {' | '.join(cells)} |")
    return lines


def _cell(case: Case, runs: Sequence[dict[str, Any]], size: int, mode: str) -> str:
    rates = [score["rate"] for run in runs for score in run["scores"] if (score["size"], score["mode"]) == (size, mode)]
    published = registration(case.environment).published_success(case.program, mode, size)
    return f"{f'{statistics.mean(rates):.0%}' if rates else '-'} ({'-' if published is None else f'{published:.0%}'})"


if __name__ == "__main__":
    main()
