"""The smallest training run: Hanoi with a network of a few units, a second long; and its files."""

from __future__ import annotations

import json
from pathlib import Path

from alphanpi.support.config import override
from alphanpi.training.presets import preset
from alphanpi.training.train import Outcome, train

SETTINGS = {
    **{"network.memory": 3, "network.observation_encoding": 2, "network.encoder_hidden": 3},
    **{"network.program_embedding": 2, "network.head_hidden": 3, "search.simulations": 20},
    **{"episodes.per_iteration": 8, "learning.gradient_steps": 2, "replay.capacity": 3, "curriculum.threshold": 1.0},
}


def options(iterations: int) -> list[str]:
    """The settings as arguments of the command line."""
    settings = {**SETTINGS, "max_iterations": iterations}
    return [word for key, value in settings.items() for word in (f"--{key}", str(value))]


def tiny_run(out: Path, iterations: int = 12, seed: int = 3, changes=None) -> Outcome:
    """A run that stops at its iteration limit."""
    config = override(preset("default", "hanoi"), {**SETTINGS, "max_iterations": iterations, **(changes or {})})
    return train("hanoi", seed=seed, out=out, config=config)


def edit(file: Path, change) -> None:
    """Change the values of a JSON file."""
    content = json.loads(file.read_text())
    changed = change(content)
    file.write_text(json.dumps(content if changed is None else changed))


def newest(run: Path) -> Path:
    return (run / "checkpoints" / "last").resolve()


def unseal(run: Path) -> None:
    """Make it a run such as there were before runs and checkpoints had digests."""
    for file in [run / "meta.json", *run.glob("checkpoints/iteration_*/state.json")]:
        edit(file, lambda record: {k: v for k, v in record.items() if k not in ("digest", "run", "configuration")})


def bits(run: Path) -> dict[str, bytes]:
    return {name: (newest(run) / name).read_bytes() for name in ("model.safetensors", "trainer.safetensors")}


def raise_limit(run: Path, limit: int) -> None:
    config = run / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 12", f"max_iterations = {limit}"))
