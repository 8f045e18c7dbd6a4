"""Run folders for comparisons and for watching, without training anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from alphanpi.support.config import override, to_toml
from alphanpi.training.presets import preset
from tests.helpers.runs import metrics

SIZES = (2, 5)


def write_run(
    folder: Path,
    seed: int = 0,
    iterations: int = 20,
    end: str | None = "completed",
    environment: str = "hanoi",
    changes: dict[str, Any] | None = None,
    solved: int | None = None,
    **meta: Any,
) -> Path:
    """A run that took a second per iteration; `end` is its outcome's reason, None for one that has none."""
    folder.mkdir(parents=True)
    content = {
        **{"environment": environment, "options": {}, "seed": seed, "preset": "default", "device": "cpu"},
        **{"command": f"alphanpi train {environment} --seed {seed}", "started": "2026-01-01T00:00:00+0000"},
        **{"python": "3.11", "platform": "Linux", "packages": {"alphanpi": "0.1.0"}, **meta},
    }
    (folder / "config.toml").write_text(to_toml(override(preset("default", "hanoi"), changes or {})))
    lines = metrics(iterations)
    if end != "completed":
        lines = lines[: len(lines) * 3 // 4]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    if end is not None:
        completed = end in ("completed", "proved")
        outcome = {
            **{"completed": completed, "reason": "completed" if completed else end, "iterations": len(lines)},
            **{"elapsed": float(len(lines)), "proved": end == "proved"},
            "explanation": "" if completed else "NEXT at 40%, needs 95%",
        }
        (folder / "outcome.json").write_text(json.dumps(outcome))
    if solved is not None:
        scores = [
            {"program": "HANOI", "size": size, "mode": mode, "episodes": 20, "successes": solved}
            for size in SIZES
            for mode in ("greedy", "planning")
        ]
        (folder / "scores.json").write_text(json.dumps({"scores": scores}))
    (folder / "meta.json").write_text(json.dumps(content))
    return folder
