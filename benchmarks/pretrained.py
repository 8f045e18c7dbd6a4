"""Put agents of the reproduction into the package: weights, and a card with the command, the seed and the scores."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from pathlib import Path

from alphanpi.support.record import read_record
from alphanpi.sweeping.jobs import JOB_FILE, RESULT_FILE, RUN_FOLDER, Job
from alphanpi.sweeping.records import JobResult

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "reproduce"
TARGET = ROOT / "src" / "alphanpi" / "pretrained"
VERDICTS = ("PROVED", "SATURATED", "BOUNDED", "REFUTED", "none")
TIME_LIMIT = 100.0  # for a verification
MOST_SEEDS = 1000
NAMES = ("hanoi", "sorting", "recursive-sorting", "recursive-sorting-compare")


def verdict(run: Path) -> str:
    """What verification says of a run, in a word."""
    from alphanpi.errors import AlphaNPIError
    from alphanpi.verification import verify

    try:
        return verify(run, time_limit=TIME_LIMIT).verdict
    except AlphaNPIError:
        return "none"


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
            seed: (not result.learned, -statistics.mean(score.rate for score in result.scores))
            for seed, result in results.items()
            if result.scores
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
            "scores": [
                score.model_dump(include={"program", "size", "mode", "episodes", "successes", "rate"})
                for score in best.scores
            ],
        }
        (folder / "card.json").write_text(json.dumps(card, indent=1) + "\n")
        print(f"{name}: seed {seed}, {verdicts[seed]}; of {verdicts}")


if __name__ == "__main__":
    main()
