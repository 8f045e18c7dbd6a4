"""Learn four list environments one on top of the other, and each from nothing: `results/continual.json`.

    python benchmarks/continual/measure.py --seeds 0-4

Three ways: *nothing*: every environment from nothing; *from*: each begins with the weights of the one before;
*freeze*: the same, and what was learned before stays as it is. The first environment is learned once for all. Runs are
kept below `runs/continual`; finished ones are not repeated. One run at a time; CPU seconds, of training with its exam.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import time
from pathlib import Path
from typing import Any

import alphanpi
from alphanpi.agent.compiling import compile_search
from alphanpi.agent.weights import frozen_hashes, hash_of
from alphanpi.support.files import write_atomically

ROOT = Path(__file__).parents[2]
FILE = ROOT / "benchmarks" / "continual" / "lists.py"
RUNS = ROOT / "runs" / "continual"
RESULTS = ROOT / "results" / "continual.json"
STAGES = ("Shifts", "Passes", "Sorting", "Smallest")
WAYS = ("nothing", "from", "freeze")
MOST_ITERATIONS = 200
SIZES, EPISODES = (10, 40), 20  # of lists that every program is run on, without search


def place(way: str, stage: int, seed: int) -> Path:
    """The run's folder."""
    return RUNS / ("nothing" if stage == 0 else way) / STAGES[stage] / f"seed{seed}"


def measured(way: str, stage: int, seed: int) -> dict[str, Any]:
    """Learn one environment in one way."""
    run = place(way, stage, seed)
    finished = run / "result.json"
    if finished.exists():
        result: dict[str, Any] = json.loads(finished.read_text())
        return {**result, "validated": validated(run)}
    shutil.rmtree(run, ignore_errors=True)
    before = None if way == "nothing" or stage == 0 else place(way, stage - 1, seed)
    compile_search()
    began = time.process_time()
    outcome = alphanpi.train(
        f"{FILE}:{STAGES[stage]}",
        seed=seed,
        out=run,
        settings={"max_iterations": MOST_ITERATIONS},
        begin_from=before,
        freeze=way == "freeze" and before is not None,
    )
    seconds = time.process_time() - began
    if outcome.reason == "interrupted":
        raise SystemExit(f"{run}: interrupted; the next time it starts again")
    agent = outcome.agent
    frozen = frozen_hashes(agent.network)
    if frozen:
        old = alphanpi.load(place(way, stage - 1, seed)).network
        assert all(frozen[name] == value for name, value in frozen_hashes(old).items())
        assert agent.card.origin is not None
        assert agent.card.origin.weights == hash_of(old)
    success = {}
    for entry in agent.environment.library.learned:
        scores = alphanpi.evaluate(agent, entry.name, list(SIZES), episodes=EPISODES, mode="greedy", keep=False)
        success[entry.name] = sum(score.successes for score in scores) / sum(score.episodes for score in scores)
    result = {
        "way": way,
        "environment": STAGES[stage],
        "seed": seed,
        "completed": outcome.completed,
        "explanation": outcome.explanation,
        "iterations": outcome.iterations,
        "cpu_seconds": round(seconds, 2),
        "success": success,
    }
    write_atomically(finished, json.dumps(result, indent=1) + "\n")
    return {**result, "validated": validated(run)}


def validated(run: Path) -> int | None:
    """The first iteration after which all programs reach the threshold; what follows is the exam's."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    highest, threshold = max(record["level"] for record in records), alphanpi.preset("default").curriculum.threshold
    for record in records:
        if record["level"] == highest and min(record["success"].values()) >= threshold:
            return int(record["iteration"])
    return None


def row(results: list[dict[str, Any]]) -> str:
    """Iterations and CPU seconds, median and worst, of runs that are alike."""
    iterations = [result["iterations"] for result in results]
    practised = [result["validated"] or result["iterations"] for result in results]
    seconds = [result["cpu_seconds"] for result in results]
    learned = sum(result["completed"] for result in results)
    worst = min(value for result in results for value in result["success"].values())
    return (
        f"{learned} of {len(results)} | {statistics.median(practised):g} ({max(practised)}) | "
        f"{statistics.median(iterations):g} ({max(iterations)}) | "
        f"{statistics.median(seconds):.1f} ({max(seconds):.1f}) | {worst:.0%}"
    )


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-4", help="for example 0-4")
    first, _, last = parser.parse_args().seeds.partition("-")
    results: list[dict[str, Any]] = []
    for seed in range(int(first), int(last or first) + 1):
        for way in WAYS:
            for stage in range(len(STAGES)):
                if stage or way == "nothing":
                    results.append(measured(way, stage, seed))
                    print(json.dumps(results[-1]), flush=True)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    command = "python benchmarks/continual/measure.py --seeds " + f"{first}-{last or first}"
    write_atomically(RESULTS, json.dumps({"command": command, "machine": machine, "runs": results}, indent=1) + "\n")
    print("\n| environment | way | learned | validated | iterations | CPU seconds | worst success |")
    print("|---|---|---|---|---|---|---|")
    for name in STAGES:
        for way in WAYS:
            own = [result for result in results if (result["environment"], result["way"]) == (name, way)]
            if own:
                print(f"| {name} | {way} | {row(own)} |")
    for way in WAYS:
        totals = [
            sum(
                result["cpu_seconds"]
                for result in results
                if result["seed"] == seed and (result["way"] == way or result["environment"] == STAGES[0])
            )
            for seed in sorted({result["seed"] for result in results})
        ]
        print(f"all four, {way}: CPU seconds median {statistics.median(totals):.1f}, worst {max(totals):.1f}")


if __name__ == "__main__":
    main()
