"""Train on the problems that are kept aside, and write down how long it took and how far it goes.

    python benchmarks/held_out_problems.py --seeds 10
    python benchmarks/held_out_problems.py garden words --seeds 3 --trial runs/changed-recipe

The environments, in `benchmarks/held_out` and `benchmarks/loops`, were written before any agent was trained on them,
and are as they were then. No setting was chosen on the first five. The others are now among those that the recipe is
ablated on: `tournament` since it showed that leaving needless calls out of traces does harm. Training has default
settings and a time limit; what is learned then runs on problems ten times as large as the largest of training. Results
go to `results/held-out.json` and `results/held-out.md`.

It is a sweep (`alphanpi.sweep`), below `runs/held-out`: finished runs are not repeated, so a change of the recipe is
measured in a folder of its own (`--trial`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

import alphanpi
from alphanpi.cli.sweeping import SweepView
from alphanpi.support.files import write_atomically
from alphanpi.sweeping.progress import JobState

ROOT = Path(__file__).parents[1]
HELD_OUT = ROOT / "benchmarks" / "held_out"
LOOPS = ROOT / "benchmarks" / "loops" / "held_out.py"
LARGER = 10  # times the largest training size
EPISODES = 40


class Case(NamedTuple):
    """An environment, and what is peculiar to it."""

    environment: str
    kind: str


CASES = {
    "selection": Case(f"{HELD_OUT}/selection.py", "a loop with a marker, recursion on the rest"),
    "negation": Case(f"{HELD_OUT}/negation.py", "mutual recursion in a group"),
    "treasure-map": Case(f"{HELD_OUT}/treasure_map.py", "a program with an argument"),
    "garden": Case(f"{HELD_OUT}/garden.py", "the start of the call, a further size"),
    "words": Case(f"{HELD_OUT}/words.py", "two pointers, a program called on a part"),
    "tournament": Case(f"{HELD_OUT}/tournament.py", "recursion on two named parts"),
    "running-parity": Case(f"{LOOPS}:RunningParity", "a loop that walks and writes"),
    "keep-nonzero": Case(f"{LOOPS}:KeepNonzero", "a loop with two pointers"),
    "paint-wall": Case(f"{LOOPS}:PaintWall", "a program in the loop of another"),
    "fetch-ring": Case(f"{LOOPS}:FetchRing", "look-alikes with different shortcuts"),
    "signals": Case(f"{LOOPS}:Signals", "something seen earlier is to be remembered"),
}


def planned(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """An environment of the sweep."""
    environment = alphanpi.make(CASES[name].environment)
    program = environment.library.learned[-1]
    size = LARGER * max(program.sizes_to_train(environment.train_sizes))
    return {
        "id": CASES[name].environment,
        "name": name,
        "seeds": range(arguments.seeds),
        "time_limit": arguments.time_limit,
        "evaluate": {"program": program.name, "sizes": [size], "episodes": EPISODES, "seed": 1000},
    }


def described(state: JobState) -> dict[str, Any]:
    """What is written down of a run that has ended; one that has not learned everything is measured as it is."""
    assert state.result is not None
    return {
        "seed": state.job.seed,
        "learned": state.result.learned,
        "note": state.result.note,
        "seconds": round(state.result.training_seconds, 2),
        "iterations": state.result.iterations,
        "success": state.result.success,
        **{score.mode: score.rate for score in state.result.scores},
        "size": state.result.scores[0].size,
    }


def row(name: str, runs: list[dict[str, Any]]) -> str:
    """A line of the table."""
    learned = sum(run["learned"] for run in runs)
    shares = [
        f"{statistics.mean(run[mode] for run in runs):.1%} ({min(run[mode] for run in runs):.0%})"
        for mode in ("greedy", "planning")
    ]
    spans = [
        f"{statistics.median(run[unit] for run in runs):.{digits}f} ({max(run[unit] for run in runs):.{digits}f})"
        for unit, digits in (("seconds", 1), ("iterations", 0))
    ]
    cells = (f"`{name}`", CASES[name].kind, f"{learned} of {len(runs)}", *spans, str(runs[0]["size"]), *shares)
    return f"| {' | '.join(cells)} |"


def write(folder: Path, measured: dict[str, list[dict[str, Any]]], arguments: argparse.Namespace) -> None:
    """Put what was measured in the place of what was known of the same environments."""
    file = folder / "held-out.json"
    records: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
    for name, runs in measured.items():
        records[name] = {
            "command": f"python benchmarks/held_out_problems.py {name} --seeds {arguments.seeds}",
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "version": alphanpi.__version__,
            "time_limit": arguments.time_limit,
            "runs": sorted(runs, key=lambda run: int(run["seed"])),
        }
    records = {name: records[name] for name in CASES if name in records}
    lines = [
        "# Problems kept aside",
        "",
        "Written by `python benchmarks/held_out_problems.py` from `held-out.json`. The environments are those of",
        "`benchmarks/held_out` and `benchmarks/loops`; no setting was chosen on the first five, the others are among",
        f"those the recipe was ablated on. Default settings, seeds from 0 on, {arguments.time_limit:g} s at most, one",
        "core; failed runs are included as they were when time was up.",
        f"Success is that of [the other results](README.md), on {EPISODES} problems for each seed, ten times as large",
        "as the largest of training: mean, and that of the worst seed. Seconds and iterations: median, and the worst.",
        "",
        "| environment | kind | learned | seconds | iterations | size | greedy | planning |",
        "|---|---|---|---|---|---|---|---|",
        *(row(name, record["runs"]) for name, record in records.items()),
        "",
    ]
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps(records, indent=1) + "\n")
    write_atomically(folder / "held-out.md", "\n".join(lines))


def main() -> None:
    """Run the environments and seeds asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environments", nargs="*", help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 to this, exclusive")
    parser.add_argument("--workers", type=int, default=1, help="runs side by side")
    parser.add_argument("--time-limit", type=float, default=120, help="seconds per run")
    parser.add_argument("--trial", type=Path, metavar="FOLDER", help="runs and results go there instead")
    arguments = parser.parse_args()
    if unknown := set(arguments.environments) - set(CASES):
        parser.error(f"unknown environments: {', '.join(sorted(unknown))}")
    plan = {"seeds": [0], "environments": [planned(name, arguments) for name in arguments.environments or CASES]}
    runs = ROOT / "runs" / "held-out" if arguments.trial is None else arguments.trial / "runs"
    with SweepView(Console()) as view:
        progress = alphanpi.sweep(plan, out=runs, jobs=arguments.workers, resume=True, observer=view)
    if progress.interrupted:
        raise SystemExit("interrupted; the same command goes on")
    measured: dict[str, list[dict[str, Any]]] = {}
    for state in progress.jobs:
        if state.status != "failed":
            measured.setdefault(state.job.name, []).append(described(state))
    write(ROOT / "results" if arguments.trial is None else arguments.trial, measured, arguments)
    if failed := [f"{state.folder}: {state.note}" for state in progress.jobs if state.status == "failed"]:
        raise SystemExit("\n".join(["these runs failed, and are not in the tables:", *failed]))


if __name__ == "__main__":
    main()
