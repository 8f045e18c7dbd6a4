"""Train seeds until every program is proved, and write down how long it took: `results/verified.json`.

It is a sweep (`alphanpi.sweep`), below `runs/verified`; finished runs are not repeated. Seeds run one after the other,
unless `--workers` says otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

import alphanpi
from alphanpi.cli.sweeping import SweepView
from alphanpi.support.files import write_atomically
from alphanpi.sweeping.progress import JobState

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "verified"
RESULTS = ROOT / "results" / "verified.json"


class Case(NamedTuple):
    """An environment and the time a seed gets."""

    name: str
    environment: str
    options: dict[str, Any]
    time_limit: float


CASES = (
    Case("hanoi", "hanoi", {}, 240),
    Case("recursive-sorting-compare", "recursive-sorting", {"observation": "compare"}, 600),
    Case("sorting", "sorting", {}, 240),
    *(
        Case(name, name, {}, 240)
        for name in ("addition", "binary-search", "insertion-sort", "merge-sort", "quicksort", "string-matching")
    ),
)


def measured(state: JobState) -> dict[str, Any]:
    """What a run that has ended took, and what a verification says of its agent, asked for once."""
    finished = state.folder / "verified.json"
    if finished.exists():
        result: dict[str, Any] = json.loads(finished.read_text())
        return result
    assert state.result is not None
    verdicts = [json.loads(line)["verdict"] for line in (state.run / "metrics.jsonl").read_text().splitlines()]
    certificate = alphanpi.verify(state.run)
    result = {
        "case": state.job.name,
        "seed": state.job.seed,
        "proved": state.result.status == "proved",
        "training_seconds": round(state.result.training_seconds, 1),
        "iterations": state.result.iterations,
        "verifications": [verdict for verdict in verdicts if verdict],
        "verdict": str(certificate.claim),
        "verification_seconds": certificate.seconds,
        "smallest_margins": {item.name: item.numerics.smallest_margin for item in certificate.programs},
        "weights_sha256": certificate.weights_sha256,
    }
    write_atomically(finished, json.dumps(result, indent=1) + "\n")
    return result


def main() -> None:
    """Run the cases and seeds asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="*", default=[case.name for case in CASES])
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0 to this, exclusive")
    parser.add_argument("--workers", type=int, default=1, help="runs side by side")
    parser.add_argument("--time-limit", type=float, help="seconds per run, instead of the case's own")
    parser.add_argument("--trial", type=Path, metavar="FOLDER", help="runs and results go there instead")
    arguments = parser.parse_args()
    plan = {
        "seeds": range(arguments.seeds),
        "until": "verified",
        "environments": [
            {
                "id": case.environment,
                "name": case.name,
                "options": case.options,
                "time_limit": arguments.time_limit or case.time_limit,
            }
            for case in CASES
            if case.name in arguments.cases
        ],
    }
    runs = RUNS if arguments.trial is None else arguments.trial / "runs"
    file = RESULTS if arguments.trial is None else arguments.trial / RESULTS.name
    with SweepView(Console()) as view:
        progress = alphanpi.sweep(plan, out=runs, jobs=arguments.workers, resume=True, observer=view)
    if progress.interrupted:
        raise SystemExit("interrupted; the same command goes on")
    failed = [f"{state.folder}: {state.note}" for state in progress.jobs if state.status == "failed"]
    if failed:
        raise SystemExit("\n".join(["these runs failed; the same command tries them again:", *failed]))
    names = [case.name for case in CASES]
    results = [measured(state) for state in sorted(progress.jobs, key=lambda state: names.index(state.job.name))]
    record = {
        "command": "python benchmarks/verified.py",
        "platform": f"{platform.platform()}, {os.cpu_count()} cores",
        "results": results,
    }
    write_atomically(file, json.dumps(record, indent=1) + "\n")
    print(f"{sum(result['proved'] for result in results)} of {len(results)} proved; {file}")


if __name__ == "__main__":
    main()
