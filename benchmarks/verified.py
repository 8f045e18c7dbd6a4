"""Train seeds until every program is proved, and write down how long it took: `results/verified.json`.

Each run is kept below `runs/verified`; finished ones are not repeated. Seeds run one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import alphanpi
from alphanpi.learn.presets import preset
from alphanpi.support.config import override
from alphanpi.support.files import write_atomically

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
)


def measured(case: Case, seed: int) -> dict[str, Any]:
    """Train one seed until verified, then verify what was saved."""
    run = RUNS / case.name / f"seed{seed}"
    finished = run / "result.json"
    if finished.exists():
        result: dict[str, Any] = json.loads(finished.read_text())
        return result
    shutil.rmtree(run, ignore_errors=True)
    config = override(preset("default", case.environment), {"until": "verified"})
    outcome = alphanpi.train(
        case.environment, seed=seed, out=run, config=config, time_limit=case.time_limit, **case.options
    )
    if outcome.reason == "interrupted":
        raise SystemExit(f"{run}: interrupted; the next time it starts again")
    verdicts = [json.loads(line)["verdict"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    certificate = alphanpi.verify(run)
    result = {
        "case": case.name,
        "seed": seed,
        "proved": outcome.proved,
        "training_seconds": round(outcome.elapsed, 1),
        "iterations": outcome.iterations,
        "verifications": [verdict for verdict in verdicts if verdict],
        "verdict": certificate.verdict,
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
    arguments = parser.parse_args()
    results = []
    for case in CASES:
        for seed in range(arguments.seeds) if case.name in arguments.cases else ():
            result = measured(case, seed)
            results.append(result)
            print(f"{case.name} seed {seed}: {result['verdict']} after {result['training_seconds']} s", flush=True)
    record = {
        "command": "python benchmarks/verified.py",
        "platform": f"{platform.platform()}, {os.cpu_count()} cores",
        "results": results,
    }
    write_atomically(RESULTS, json.dumps(record, indent=1) + "\n")
    print(f"{sum(result['proved'] for result in results)} of {len(results)} proved; {RESULTS}")


if __name__ == "__main__":
    main()
