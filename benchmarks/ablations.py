"""What each difference from the paper contributes: our recipe with one thing done as in the paper.

Every variant is trained on the same seeds, which are those the recipe was chosen on. Results go to
`results/ablations.json` as they come and `results/ablations.md`; runs that are in the file are not repeated.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parents[1] / "results"
FILE = RESULTS / "ablations.json"
FIRST_SEED = 100


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


class Job(NamedTuple):
    """One run."""

    case: str
    difference: str
    seed: int


def run_one(job: Job) -> dict[str, Any]:
    """Train once, and say whether and when the curriculum was completed."""
    import torch

    from alphanpi.learn.presets import preset
    from alphanpi.learn.train import train
    from alphanpi.support.config import override

    torch.set_num_threads(1)
    case = CASES[job.case]
    changes = next(variant.changes for variant in VARIANTS if variant.difference == job.difference)
    with tempfile.TemporaryDirectory() as folder:
        outcome = train(
            case.environment,
            seed=job.seed,
            out=Path(folder) / "run",
            config=override(preset("default", case.environment), changes),
            time_limit=case.time_limit,
            **case.options,
        )
    return {
        **job._asdict(),
        "completed": outcome.completed,
        "iterations": outcome.iterations,
        "seconds": round(outcome.elapsed, 1),
    }


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    runs: list[dict[str, Any]] = json.loads(FILE.read_text()) if FILE.is_file() else []
    done = {(run["case"], run["difference"], run["seed"]) for run in runs}
    jobs = [
        Job(case, variant.difference, FIRST_SEED + seed)
        for case in arguments.cases
        for variant in VARIANTS
        for seed in range(arguments.seeds)
    ]
    jobs = [job for job in jobs if tuple(job) not in done]
    with multiprocessing.get_context("spawn").Pool(arguments.workers, maxtasksperchild=1) as pool:
        for number, run in enumerate(pool.imap(run_one, jobs), start=1):
            runs.append(run)
            print(f"[{number}/{len(jobs)}] {run}", flush=True)
            FILE.write_text(json.dumps(runs, indent=1) + "\n")
    write_table(runs)


def write_table(runs: list[dict[str, Any]]) -> None:
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
    (RESULTS / "ablations.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
