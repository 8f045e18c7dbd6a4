"""Put agents of the reproduction into the package: weights, and a card with the command, the seed and the scores."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "reproduce"
TARGET = ROOT / "src" / "alphanpi" / "pretrained"
VERDICTS = ("PROVED", "SATURATED", "BOUNDED", "REFUTED", "none")
NAMES = ("hanoi", "sorting", "recursive-sorting", "recursive-sorting-compare")


def verdict(name: str, seed: int) -> str:
    """What verification says of a run, in a word."""
    from alphanpi.errors import AlphaNPIError
    from alphanpi.verification import verify

    try:
        return verify(RUNS / name / f"seed{seed}", time_limit=30).verdict
    except AlphaNPIError:
        return "none"


def main() -> None:
    """Of each case, take the run that learned everything, scores best, and is verified best; the first of equals."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES), help=f"some of: {', '.join(NAMES)}")
    for name in parser.parse_args().names:
        results = [json.loads(path.read_text()) for path in (RUNS / name).glob("seed*/result.json")]
        ranks = {}
        for result in results:
            rate = statistics.mean(score["rate"] for score in result["scores"])
            ranks[result["seed"]] = (not result["completed"], -rate)
        leaders = [result for result in results if ranks[result["seed"]] == min(ranks.values())]
        verdicts = {result["seed"]: verdict(name, result["seed"]) for result in leaders}
        best = min(leaders, key=lambda result: (VERDICTS.index(verdicts[result["seed"]]), result["seed"]))
        run = RUNS / name / f"seed{best['seed']}"
        meta = json.loads((run / "meta.json").read_text())
        folder = TARGET / name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(run / "checkpoints" / "last" / "model.safetensors", folder / "model.safetensors")
        options = "".join(f" --{key} {value}" for key, value in meta["options"].items())
        card = {
            "environment": meta["environment"],
            "options": meta["options"],
            "seed": best["seed"],
            "command": f"alphanpi train {meta['environment']} --seed {best['seed']}{options}",
            "completed": best["completed"],
            "training_seconds": best["training_seconds"],
            "verdict": verdicts[best["seed"]],
            "packages": meta["packages"],
            "scores_command": "evaluate(agent, program, sizes, episodes, mode, seed=1000), see benchmarks/reproduce.py",
            "scores": [
                {key: score[key] for key in ("program", "size", "mode", "episodes", "successes", "rate")}
                for score in best["scores"]
            ],
        }
        (folder / "card.json").write_text(json.dumps(card, indent=1) + "\n")
        print(f"{name}: seed {best['seed']}, {verdicts[best['seed']]}; of {verdicts}")


if __name__ == "__main__":
    main()
