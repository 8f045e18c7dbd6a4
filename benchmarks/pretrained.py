"""Put agents of the reproduction into the package: weights, and a card with the command, the seed and the scores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "reproduce"
TARGET = ROOT / "src" / "alphanpi" / "pretrained"
NAMES = ("hanoi", "sorting", "recursive-sorting", "recursive-sorting-compare")


def main() -> None:
    """Take the first seed that learned everything, or the first one at all, of each case."""
    for name in NAMES:
        results = [json.loads(path.read_text()) for path in (RUNS / name).glob("seed*/result.json")]
        best = min(results, key=lambda result: (not result["completed"], result["seed"]))
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
            "packages": meta["packages"],
            "scores_command": "evaluate(agent, program, sizes, episodes, mode, seed=1000), see benchmarks/reproduce.py",
            "scores": [
                {key: score[key] for key in ("program", "size", "mode", "episodes", "successes", "rate")}
                for score in best["scores"]
            ],
        }
        (folder / "card.json").write_text(json.dumps(card, indent=1) + "\n")
        print(f"{name}: seed {best['seed']}")


if __name__ == "__main__":
    main()
