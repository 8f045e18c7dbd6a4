"""What each difference from the paper contributes: our recipe with one thing done as in the paper.

Every variant is trained on the same seeds, which are those the recipe was chosen on. It is a sweep (`alphanpi.sweep`),
below `runs/ablations`. Results go to `results/ablations.json` and `results/ablations.md`; runs that are in the file are
not repeated.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

import alphanpi
from alphanpi.cli.sweeping import SweepView
from alphanpi.support.files import write_atomically
from alphanpi.sweeping.progress import JobState

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "ablations"
RESULTS = ROOT / "results"
FIRST_SEED = 100
SEPARATOR = "="  # between the names of a case and of a difference


class Variant(NamedTuple):
    """One difference, by its number in docs/differences.md, and the settings that take it back."""

    difference: str
    changes: dict[str, Any]


VARIANTS = [
    Variant("none", {}),
    Variant("S4", {"search.failed_call_exploration": "discard"}),
    Variant("S6", {"search.recursion_penalty_where": "legal"}),
    Variant("S7", {"search.recursion_bonus": 0.0}),
    Variant("S9", {"search.level_term": "constant"}),
    Variant("S14", {"search.simulations_exploitation": 5}),
    Variant("L1", {"learning.unroll": "stored"}),
    Variant("L2", {"learning.policy_weight": "uniform"}),
    Variant("L3", {"learning.consensus": 0.0}),
    Variant("L5", {"learning.value_weight": 1.0, "learning.gradient_clip": 0.0}),
    Variant("L6", {"learning.learning_rate": 1e-4, "learning.slowest": 1.0}),
    Variant("L7", {"learning.weight_average": 0.0}),
    Variant("L10", {"episodes.programs": "one", "episodes.sizes": "one"}),
    Variant("L11", {"episodes.error_fraction": 0.0}),
    Variant("L12", {"episodes.base_case": False}),
    Variant("L23", {"episodes.called_fraction": 0.0}),
    Variant("L24", {"validation.called_program_factor": 1}),
    Variant("L25", {"replay.positive_fraction_mastered": 0.7}),
    Variant("L27", {"replay.thrifty": False}),
    Variant("L28", {"learning.renewed_share": 0.0}),
]


class Case(NamedTuple):
    """An environment and the time a run may take."""

    environment: str
    options: dict[str, Any]
    time_limit: float


CASES = {
    "hanoi": Case("hanoi", {}, 40),
    "recursive-sorting-compare": Case("recursive-sorting", {"observation": "compare"}, 60),
}


class Run(NamedTuple):
    """One run, as the file of results names it."""

    case: str
    difference: str
    seed: int


def plan(missing: Sequence[Run], time_limit: float | None) -> dict[str, Any]:
    """The sweep of what is missing, which may be other seeds of one variant than of another."""
    return {
        "seeds": [FIRST_SEED],
        "environments": [
            {
                "id": CASES[name].environment,
                "name": f"{name}{SEPARATOR}{variant.difference}",
                "options": CASES[name].options,
                "settings": variant.changes,
                "seeds": own,
                "time_limit": time_limit or CASES[name].time_limit,
            }
            for name in CASES
            for variant in VARIANTS
            if (own := [run.seed for run in missing if run[:2] == (name, variant.difference)])
        ],
    }


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2, help="runs side by side")
    parser.add_argument("--ray", help="address of a Ray cluster, as for `alphanpi sweep`")
    parser.add_argument("--time-limit", type=float, help="seconds per run, instead of the case's own")
    parser.add_argument("--trial", type=Path, metavar="FOLDER", help="runs and results go there instead")
    arguments = parser.parse_args()
    results = RESULTS if arguments.trial is None else arguments.trial / "results"
    file = results / "ablations.json"
    before: list[dict[str, Any]] = json.loads(file.read_text()) if file.is_file() else []
    done = {(run["case"], run["difference"], run["seed"]) for run in before}
    wanted = [
        Run(case, variant.difference, FIRST_SEED + seed)
        for case in arguments.cases
        for variant in VARIANTS
        for seed in range(arguments.seeds)
    ]
    missing = [run for run in wanted if run not in done]
    runs = before
    if missing:
        with SweepView(Console()) as view:
            progress = alphanpi.sweep(
                plan(missing, arguments.time_limit),
                out=RUNS if arguments.trial is None else arguments.trial / "runs",
                jobs=arguments.workers,
                ray=arguments.ray,
                resume=True,
                observer=view,
            )
        runs = before + [_described(state) for state in progress.jobs if state.result and state.status != "failed"]
        write_atomically(file, json.dumps(runs, indent=1) + "\n")
        if progress.interrupted:
            raise SystemExit("interrupted; the same command goes on")
        for state in progress.jobs:
            if state.status == "failed":
                print(f"{state.folder}: {state.note}")
    write_table(runs, results)


def _described(state: JobState) -> dict[str, Any]:
    assert state.result is not None
    case, _, difference = state.job.name.rpartition(SEPARATOR)
    return {
        **Run(case, difference, state.job.seed)._asdict(),
        "completed": state.result.learned,
        "iterations": state.result.iterations,
        "seconds": round(state.result.training_seconds, 1),
    }


def write_table(runs: list[dict[str, Any]], results: Path) -> None:
    """Write results/ablations.md."""
    lines = [
        "# What each difference from the paper contributes",
        "",
        f"Written by `python benchmarks/ablations.py`, seeds from {FIRST_SEED}. Each row takes one difference of",
        "[docs/differences.md](../docs/differences.md) back, everything else as in the preset `default`. A run that",
        "did not complete its curriculum in time counts with the time it had. Seconds are rough: one or two runs side",
        "by side on two cores, at times with other work; iterations do not depend on the machine, but for runs that",
        "were stopped. These runs were made before the sums of the compiled evaluator were put into their present",
        "order; the same seeds go other ways now.",
        "",
    ]
    for name, case in CASES.items():
        own = [run for run in runs if run["case"] == name]
        if not own:
            continue
        lines += [f"## {name}, at most {case.time_limit:.0f} s", ""]
        lines += ["| taken back | learned | iterations, median | seconds, median | worst |", "|---|---|---|---|---|"]
        for variant in VARIANTS:
            found = [run for run in own if run["difference"] == variant.difference]
            if found:
                settings = ", ".join(f"`{key} = {json.dumps(value)}`" for key, value in variant.changes.items())
                seconds = [run["seconds"] for run in found]
                lines.append(
                    f"| {variant.difference} {settings} | {sum(run['completed'] for run in found)} of {len(found)} | "
                    f"{statistics.median(run['iterations'] for run in found):.0f} | "
                    f"{statistics.median(seconds):.1f} | {max(seconds):.1f} |"
                )
        lines.append("")
    write_atomically(results / "ablations.md", "\n".join(lines))


if __name__ == "__main__":
    main()
