"""What a checkpoint keeps of a run of the paper's algorithm, in the same files as those of other runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alphanpi.agent.weights import Tensors, TensorShape, require_fitting
from alphanpi.errors import UsageError
from alphanpi.paper import Experience, PaperTrainer
from alphanpi.runs.records import STATE_FILE, TRAINER_FILE, CheckpointState
from alphanpi.training.optimiser_state import optimiser_shapes, optimiser_tensors, restore_optimiser

_BUFFER = "buffer."


def paper_state(trainer: PaperTrainer) -> dict[str, Any]:
    """What goes into the state beside what every run has."""
    curriculum = trainer.curriculum
    return {
        "curriculum": {
            "level": curriculum.level,
            "completed": curriculum.completed,
            "success": curriculum.success,
        },
        "errors": {},
        "rings": [],
    }


def paper_tensors(trainer: PaperTrainer) -> Tensors:
    """Adam's moments, and the replay buffer by columns."""
    buffer = trainer.buffer
    columns = _columns(trainer)
    for name in Experience._fields if buffer.experiences else ():
        rows = np.array([getattr(one, name) for one in buffer.experiences])
        columns[name] = rows.astype(columns[name].dtype)
    columns["next"] = np.array(buffer.next)
    columns["solved"] = np.array(sorted(buffer.solved), np.int64)
    kept = {f"{_BUFFER}{name}": torch.from_numpy(column) for name, column in columns.items()}
    return {**optimiser_tensors(trainer.network, trainer.optimiser), **kept}


def require_paper_state(trainer: PaperTrainer, state: CheckpointState, tensors: Tensors) -> None:
    """Refuse what is not of such a run, before anything is changed."""
    levels = {program.level for program in trainer.library.learned}
    if state.errors or state.rings or state.curriculum.level not in levels:
        raise UsageError(f"{STATE_FILE}: not of a run of the paper's algorithm")
    stored = tensors.get(f"{_BUFFER}program", torch.zeros(0)).shape
    count = stored[0] if len(stored) == 1 else 0
    solved = tensors.get(f"{_BUFFER}solved", torch.zeros(0)).shape
    shapes = dict(optimiser_shapes(trainer.network, tensors))
    for name, column in _columns(trainer).items():
        kind = torch.from_numpy(column).dtype
        shapes[f"{_BUFFER}{name}"] = TensorShape((count, *column.shape[1:]), kind)
    shapes[f"{_BUFFER}next"] = TensorShape((), torch.int64)
    shapes[f"{_BUFFER}solved"] = TensorShape(tuple(solved), torch.int64)
    require_fitting(tensors, shapes, TRAINER_FILE)
    programs = torch.cat([tensors[f"{_BUFFER}program"], tensors[f"{_BUFFER}solved"]])
    following = int(tensors[f"{_BUFFER}next"])
    known = len(trainer.library.learned)
    if (
        count > trainer.buffer.size
        or not 0 <= following < max(1, count)
        or (len(programs) > 0 and not 0 <= int(programs.min()) <= int(programs.max()) < known)
    ):
        raise UsageError(f"{TRAINER_FILE}: the experiences of the replay buffer do not fit together")


def restore_paper(trainer: PaperTrainer, state: CheckpointState, weights: Tensors, tensors: Tensors) -> None:
    """Bring a trainer to a checkpoint that was found to fit."""
    trainer.network.load_state_dict(weights)
    restore_optimiser(trainer.network, trainer.optimiser, tensors)
    columns = [tensors[f"{_BUFFER}{name}"].numpy() for name in Experience._fields]
    buffer, curriculum = trainer.buffer, trainer.curriculum
    buffer.experiences = [
        Experience(observation, int(program), memory, policy, legal, float(reward), bool(positive))
        for observation, program, memory, policy, legal, reward, positive in zip(*columns, strict=True)
    ]
    buffer.next = int(tensors[f"{_BUFFER}next"])
    buffer.solved = set(tensors[f"{_BUFFER}solved"].tolist())
    curriculum.level = state.curriculum.level
    curriculum.completed = state.curriculum.completed
    curriculum.success = dict(state.curriculum.success)
    trainer.iteration = state.iteration
    trainer.weights_changed()


def _columns(trainer: PaperTrainer) -> dict[str, NDArray[Any]]:
    """An empty column for each part of an experience, of its shape and kind."""
    fields, entries = len(trainer.environment.fields), len(trainer.library)
    columns = Experience(
        observation=np.zeros((0, fields), np.int16),
        program=np.zeros(0, np.int64),  # type: ignore[arg-type]
        memory=np.zeros((0, trainer.evaluator.memory_width), np.float32),
        policy=np.zeros((0, entries), np.float32),
        legal=np.zeros((0, entries), bool),
        reward=np.zeros(0, np.float64),  # type: ignore[arg-type]
        positive=np.zeros(0, bool),  # type: ignore[arg-type]
    )
    return columns._asdict()
