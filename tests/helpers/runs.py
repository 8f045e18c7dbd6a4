"""Run folders, without training anything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from alphanpi.agent.loading import describe, weights_path
from alphanpi.agent.weights import read_weights, write_weights
from alphanpi.engine.config import SearchConfig
from alphanpi.environment.registry import make
from alphanpi.network.model import create_network
from tests.helpers.paths import LIGHTS

SORTING = "pretrained:recursive-sorting-compare"


def metrics(iterations: int) -> list[dict]:
    """Records as a run writes them: two levels, learned one after the other."""

    def success(number: int) -> dict[str, float]:
        first = {"HANOI": min(1.0, 2 * number / iterations)}
        return first | {"NEXT": 1.0} if 2 * number > iterations else first

    return [
        {
            "iteration": number,
            "level": 1 if number <= iterations // 2 else 2,
            "advanced": number in (iterations // 2, iterations),
            "success": success(number),
            "explored": {"HANOI": 0.5},
            "exam": {iterations - 2: "failed: HANOI on 3", iterations: "passed"}.get(number, ""),
            "policy_loss": 1 / number,
            "value_loss": 0.5 / number,
            "simulations": 1000 * number,
            "seconds": {"search": 0.5, "gradients": 0.5},
            "elapsed": float(number),
        }
        for number in range(1, iterations + 1)
    ]


def run_folder(folder: Path, pretrained: str = "hanoi", iterations: int = 30) -> Path:
    """A folder that looks like a run that has ended."""
    weights = weights_path(f"pretrained:{pretrained}")
    card = read_weights(weights).card
    meta = {
        **{"environment": card.environment, "options": card.options, "seed": card.seed, "device": "cpu"},
        **{"preset": "default", "command": "alphanpi train hanoi --seed 0", "started": "2026-01-01T00:00:00+0000"},
        **{"python": "3.11", "platform": "Linux", "packages": {}},
    }
    curriculum = {"level": 1, "streak": 0, "failed_exams": 0, "completed": True, "success": {}}
    state = {
        **{"format": 2, "iteration": iterations, "seed": card.seed, "elapsed": float(iterations), "seconds": {}},
        **{"curriculum": curriculum, "errors": {}, "rings": []},
        "files": {"model.safetensors": read_weights(weights).sha256, "trainer.safetensors": 64 * "0"},
    }
    checkpoint = folder / "checkpoints" / "last"
    checkpoint.mkdir(parents=True)
    shutil.copy(weights, checkpoint / "model.safetensors")
    (checkpoint / "state.json").write_text(json.dumps(state))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in metrics(iterations)))
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def untrained_hanoi(folder: Path) -> Path:
    """Weights that know nothing, for an environment that can be verified."""
    return _untrained(folder, "hanoi")


def untrained_lights(folder: Path) -> Path:
    """Weights that know nothing, for an environment without a picture."""
    return _untrained(folder, str(LIGHTS))


def _untrained(folder: Path, name: str) -> Path:
    environment = make(name)
    network = create_network(environment, 3)
    path = folder / "model.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    write_weights(path, network, describe(name, {}, environment, network, SearchConfig(), 3))
    return path


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
