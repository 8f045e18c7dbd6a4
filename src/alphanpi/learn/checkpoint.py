"""Checkpoints: everything a run needs to go on as if it had never stopped.

A checkpoint is a folder that appears in one step. `last` points to the newest; the one before is kept, and used when
the newest turns out to be damaged.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import torch
from safetensors.torch import load_file, save_file

from alphanpi.agent import MODEL_FILE, ModelCard, read_weights, write_weights
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.learn.replay import Replay, StoredTrace
from alphanpi.learn.starts import Error, Start
from alphanpi.learn.trainer import Seconds, Trainer

STATE_FILE = "state.json"
TRAINER_FILE = "trainer.safetensors"
LAST = "last"
_KEPT = 2
_FORMAT = 2


class Progress(NamedTuple):
    """What is known of a run at a checkpoint beside the trainer's own state."""

    iteration: int
    elapsed: float
    seconds: Seconds


def save_checkpoint(folder: Path, trainer: Trainer, card: ModelCard, elapsed: float, seconds: Seconds) -> Path:
    """Write a checkpoint of the trainer below `folder`, atomically, and point `last` to it."""
    folder.mkdir(parents=True, exist_ok=True)
    final = folder / f"iteration_{trainer.iteration:06d}"
    temporary = folder / f".writing-{secrets.token_hex(4)}"
    temporary.mkdir()
    try:
        write_weights(temporary / MODEL_FILE, trainer.acting, card)
        save_file(_tensors(trainer), temporary / TRAINER_FILE)
        state = {
            "format": _FORMAT,
            "iteration": trainer.iteration,
            "seed": trainer.seed,
            "elapsed": elapsed,
            "seconds": seconds._asdict(),
            "curriculum": {
                "level": trainer.curriculum.level,
                "streak": trainer.curriculum.streak,
                "failed_exams": trainer.curriculum.failed_exams,
                "completed": trainer.curriculum.completed,
                "success": trainer.curriculum.success,
            },
            "errors": {
                name: [{**error.start._asdict(), "passes": error.passes} for error in errors]
                for name, errors in trainer.starts.errors.items()
            },
            "rings": [
                {"program": program, "success": success, "next": ring.next}
                for (program, success), ring in trainer.replay.rings.items()
            ],
            "files": {name: _digest(temporary / name) for name in (MODEL_FILE, TRAINER_FILE)},
        }
        (temporary / STATE_FILE).write_text(json.dumps(state))
        for path in temporary.iterdir():
            _flush(path)
        if final.exists():
            os.replace(final, folder / f"damaged_{final.name}_{secrets.token_hex(2)}")
        os.replace(temporary, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    _point_last_to(folder, final.name)
    # What an earlier session left half-written, and what is older than the one before this.
    for old in [*folder.glob(".writing-*"), *sorted(folder.glob("iteration_*"))[:-_KEPT]]:
        shutil.rmtree(old)
    return final


def restore(folder: Path, trainer: Trainer) -> tuple[Progress, list[str]]:
    """Bring a trainer to the newest usable checkpoint; also warnings about those that were not."""
    warnings: list[str] = []
    for path in sorted(folder.glob("iteration_*"), reverse=True):
        try:
            return _restore(path, trainer), warnings
        except (AlphaNPIError, OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            reason = str(error) or type(error).__name__
            warnings.append(f"{path}: this checkpoint cannot be used ({reason}); it is left as it is")
    if warnings:
        others = f", nor any of the {len(warnings) - 1} before it" if len(warnings) > 1 else "; no other is there"
        raise UsageError(f"{warnings[0]}{others}")
    raise UsageError(f"{folder}: no checkpoint to resume from")


def _restore(path: Path, trainer: Trainer) -> Progress:
    state = json.loads((path / STATE_FILE).read_text())
    if state.get("format") != _FORMAT:
        raise UsageError("not a checkpoint of this version")
    for name, digest in state["files"].items():
        if _digest(path / name) != digest:
            raise UsageError(f"{name} is damaged")
    if state["seed"] != trainer.seed:
        raise UsageError("from a run with another seed")
    try:
        _, acting = read_weights(path / MODEL_FILE)
        tensors = load_file(path / TRAINER_FILE)
    except safetensors.SafetensorError as error:
        raise UsageError(str(error)) from error
    trainer.acting.load_state_dict(acting)
    trainer.network.load_state_dict(_below(tensors, "network."))
    _restore_optimiser(trainer, tensors)
    _restore_replay(trainer.replay, tensors, state["rings"])
    curriculum = state["curriculum"]
    trainer.curriculum.level = curriculum["level"]
    trainer.curriculum.streak = curriculum["streak"]
    trainer.curriculum.failed_exams = curriculum["failed_exams"]
    trainer.curriculum.completed = curriculum["completed"]
    trainer.curriculum.success = dict(curriculum["success"])
    trainer.starts.errors = {name: [_error(item) for item in errors] for name, errors in state["errors"].items()}
    trainer.iteration = state["iteration"]
    trainer.weights_changed()
    return Progress(state["iteration"], state["elapsed"], Seconds(**state["seconds"]))


def _error(item: dict[str, Any]) -> Error:
    start = Start(item["program"], item["size"], tuple(item["seed"]), tuple(item.get("origin", ())))
    return Error(start, item["passes"])


def _tensors(trainer: Trainer) -> dict[str, torch.Tensor]:
    tensors = {f"network.{name}": tensor for name, tensor in trainer.network.state_dict().items()}
    names = {id(parameter): name for name, parameter in trainer.network.named_parameters()}
    for parameter, moments in trainer.optimiser.state.items():
        for key, value in moments.items():
            tensors[f"optimiser.{names[id(parameter)]}.{key}"] = torch.as_tensor(value)
    tensors["replay.observations"] = torch.from_numpy(trainer.replay.observations.array())
    tensors["replay.legal"] = torch.from_numpy(trainer.replay.legal.array())
    for number, ring in enumerate(trainer.replay.rings.values()):
        columns = {
            "lengths": np.array([len(trace.observations) for trace in ring.traces]),
            "values": np.array([trace.value for trace in ring.traces], np.float64),
            "observations": np.concatenate([trace.observations for trace in ring.traces]),
            "legal": np.concatenate([trace.legal for trace in ring.traces]),
            "policies": np.concatenate([trace.policies for trace in ring.traces]),
            "memories": np.concatenate([trace.memories for trace in ring.traces]),
        }
        tensors.update({f"ring{number}.{name}": torch.from_numpy(array) for name, array in columns.items()})
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def _restore_optimiser(trainer: Trainer, tensors: dict[str, torch.Tensor]) -> None:
    state: dict[int, dict[str, torch.Tensor]] = {}
    for index, (name, _) in enumerate(trainer.network.named_parameters()):
        moments = _below(tensors, f"optimiser.{name}.")
        if moments:
            state[index] = moments
    groups = trainer.optimiser.state_dict()["param_groups"]
    trainer.optimiser.load_state_dict({"state": state, "param_groups": groups})


def _restore_replay(replay: Replay, tensors: dict[str, torch.Tensor], rings: list[dict[str, Any]]) -> None:
    replay.clear()
    for table, name in ((replay.observations, "replay.observations"), (replay.legal, "replay.legal")):
        for row in tensors[name].numpy():
            table.number(row)
    for number, ring in enumerate(rings):
        columns = {name: tensor.numpy() for name, tensor in _below(tensors, f"ring{number}.").items()}
        ends = np.cumsum(columns["lengths"])
        traces = []
        for length, end, value in zip(columns["lengths"], ends, columns["values"], strict=True):
            rows = slice(int(end - length), int(end))
            traces.append(
                StoredTrace(
                    program=ring["program"],
                    success=ring["success"],
                    value=float(value),
                    observations=columns["observations"][rows],
                    legal=columns["legal"][rows],
                    policies=columns["policies"][rows],
                    memories=columns["memories"][rows],
                )
            )
        replay.put_back(ring["program"], ring["success"], traces, ring["next"])


def _below(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _point_last_to(folder: Path, name: str) -> None:
    link = folder / f".{LAST}-{secrets.token_hex(4)}"
    link.symlink_to(name, target_is_directory=True)
    os.replace(link, folder / LAST)
