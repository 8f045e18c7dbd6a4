"""Put agents of the reproduction into the package: weights, and a card with the command, the seed and the scores."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import alphanpi
from alphanpi.runs.records import CERTIFICATE_FILE
from alphanpi.support.record import read_record
from alphanpi.sweeping.jobs import JOB_FILE, RESULT_FILE, RUN_FOLDER, Job
from alphanpi.sweeping.records import JobResult

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "reproduce"
TARGET = ROOT / "src" / "alphanpi" / "pretrained"
VERDICTS = ("PROVED", "SATURATED", "BOUNDED", "REFUTED", "none")
TIME_LIMIT = 300.0  # for a verification
MEASURED = ((10, 40), (20, 40), (60, 10), (100, 10))  # size and episodes, of runs that were trained until verified
MOST_SEEDS = 1000
NAMES = ("hanoi", "sorting", "recursive-sorting", "recursive-sorting-compare")


def verdict(run: Path) -> str:
    """What verification says of a run, in a word: its certificate, if it is of this agent, or else a new one."""
    from alphanpi.errors import AlphaNPIError
    from alphanpi.verification import read_certificate, verify

    try:
        return read_certificate(alphanpi.load(run), run / CERTIFICATE_FILE).verdict
    except AlphaNPIError:
        pass
    try:
        return verify(run, time_limit=TIME_LIMIT).verdict
    except AlphaNPIError:
        return "none"


def measured(run: Path) -> list[dict[str, Any]]:
    """Success of the topmost program, on the same instances in both modes."""
    program = alphanpi.load(run).environment.library.learned[-1].name
    scores = [
        score
        for size, episodes in MEASURED
        for mode in ("greedy", "planning")
        for score in alphanpi.evaluate(run, program, sizes=(size,), episodes=episodes, mode=mode, seed=1000)
    ]
    return [_shown(score) for score in scores]


def _shown(score: Any) -> dict[str, Any]:
    return {key: getattr(score, key) for key in ("program", "size", "mode", "episodes", "successes", "rate")}


def main() -> None:
    """Of each case, take the run that learned everything, scores best, and is verified best; the first of equals."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES), help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--runs", type=Path, default=RUNS, help="the sweep's folder, of a trial for example")
    arguments = parser.parse_args()
    for name in arguments.names:
        folders = {seed: arguments.runs / name / f"seed{seed}" for seed in range(MOST_SEEDS)}
        results = {
            read_record(file.with_name(JOB_FILE), Job).seed: read_record(file, JobResult)
            for file in (arguments.runs / name).glob(f"seed*/{RESULT_FILE}")
        }
        ranks = {
            seed: (not result.learned, -statistics.mean([score.rate for score in result.scores] or [1.0]))
            for seed, result in results.items()
        }
        best_rank = min(ranks.values())
        verdicts = {seed: verdict(folders[seed] / RUN_FOLDER) for seed, rank in ranks.items() if rank == best_rank}
        seed = min(verdicts, key=lambda seed: (VERDICTS.index(verdicts[seed]), seed))
        best, run = results[seed], folders[seed] / RUN_FOLDER
        meta = json.loads((run / "meta.json").read_text())
        folder = TARGET / name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(run / "checkpoints" / "last" / "model.safetensors", folder / "model.safetensors")
        options = "".join(f" --{key} {value}" for key, value in meta["options"].items())
        job = read_record(folders[seed] / JOB_FILE, Job)
        options += " --until verified" if job.until == "verified" else ""
        card = {
            "environment": meta["environment"],
            "options": meta["options"],
            "seed": seed,
            "command": f"alphanpi train {meta['environment']} --seed {seed}{options}",
            "completed": best.learned,
            "training_seconds": round(best.training_seconds, 2),
            "verdict": verdicts[seed],
            "packages": meta["packages"],
            "scores_command": "evaluate(agent, program, sizes, episodes, mode, seed=1000), see benchmarks/reproduce.py",
            "scores": [_shown(score) for score in best.scores] or measured(run),
        }
        (folder / "card.json").write_text(json.dumps(card, indent=1) + "\n")
        print(f"{name}: seed {seed}, {verdicts[seed]}; of {verdicts}")


if __name__ == "__main__":
    main()
