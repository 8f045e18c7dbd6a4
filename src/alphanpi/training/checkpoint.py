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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save

from alphanpi.agent.weights import (
    ModelCard,
    Tensors,
    TensorShape,
    below,
    parsed_weights,
    read_tensors,
    require_fitting,
    shapes_of,
    write_weights,
)
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.learn.iteration import Seconds
from alphanpi.learn.replay import Replay, StoredTrace
from alphanpi.learn.stagnation import Best
from alphanpi.learn.starts import Error, Start
from alphanpi.learn.trainer import Trainer
from alphanpi.learn.trials import KeptDecision
from alphanpi.network.config import MOST_WINDOW
from alphanpi.paper import PaperTrainer
from alphanpi.runs.records import (
    FORMAT,
    LAST,
    MODEL_FILE,
    STATE_FILE,
    TRAINER_FILE,
    CheckpointState,
    ErrorRecord,
    KeptRecord,
    RingRecord,
    RunIdentity,
    read_state,
    sha256_of,
)
from alphanpi.support.files import write_atomically
from alphanpi.support.record import read_bytes
from alphanpi.training.optimiser_state import optimiser_shapes, optimiser_tensors, restore_optimiser
from alphanpi.training.paper_checkpoint import paper_state, paper_tensors, require_paper_state, restore_paper
from alphanpi.verification.exploration import MOST_STARTS, StartOrigin

_KEPT = 2
_MOST_BYTES = 2**34
_LARGEST_FIELD = 2**15  # as an observation is kept
_LARGEST_COUNTER_EXAMPLE = 1000  # a size that can be enumerated is far below


class Progress(NamedTuple):
    """What is known of a run at a checkpoint beside the trainer's own state."""

    iteration: int
    elapsed: float
    seconds: Seconds


class _SavedRing(NamedTuple):
    """The traces of one program and outcome, as they are put back."""

    record: RingRecord
    traces: list[StoredTrace]


class _Opened(NamedTuple):
    """What there is in any checkpoint, read and found to be of the run."""

    state: CheckpointState
    weights: Tensors
    tensors: Tensors


class _Checkpoint(NamedTuple):
    """A checkpoint that was read wholly, and found to fit."""

    opened: _Opened
    rings: list[_SavedRing]
    errors: dict[str, list[Error]]


def save_checkpoint(
    folder: Path,
    trainer: Trainer | PaperTrainer,
    card: ModelCard,
    elapsed: float,
    seconds: Seconds,
    run: str | None = None,
) -> Path:
    """Write a checkpoint of the trainer below `folder`, atomically, and point `last` to it.

    `run` is the digest of the run's meta.json. If it cannot be written, whatever was there before is still there.
    """
    final = folder / f"iteration_{trainer.iteration:06d}"
    temporary = folder / f".writing-{secrets.token_hex(4)}"
    replaced = folder / f".writing-{secrets.token_hex(4)}"
    try:
        temporary.mkdir(parents=True)
        write_weights(temporary / MODEL_FILE, trainer.network, card)
        tensors, own = (
            (paper_tensors(trainer), paper_state(trainer))
            if isinstance(trainer, PaperTrainer)
            else (_tensors(trainer), _state(trainer))
        )
        plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        write_atomically(temporary / TRAINER_FILE, save(plain))
        state = {
            "format": FORMAT,
            "iteration": trainer.iteration,
            "seed": trainer.seed,
            "elapsed": elapsed,
            "seconds": seconds._asdict(),
            **own,
            "files": {name: _digest(temporary / name) for name in (MODEL_FILE, TRAINER_FILE)},
            "run": run,
        }
        write_atomically(temporary / STATE_FILE, json.dumps({**state, "digest": sha256_of(state)}))
        if final.exists():  # it could not be used, or the run would not be here again
            os.replace(final, replaced)
        os.replace(temporary, final)
        _point_last_to(folder, final.name)
    except OSError as error:
        raise UsageError(f"{final}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    # What was replaced or left half-written, and what is older than the one before this.
    for old in [*folder.glob(".writing-*"), *sorted(folder.glob("iteration_*"))[:-_KEPT]]:
        shutil.rmtree(old, ignore_errors=True)
    return final


def restore(
    folder: Path, trainer: Trainer | PaperTrainer, run: RunIdentity | None = None
) -> tuple[Progress, list[str]]:
    """Bring a trainer to the newest usable checkpoint; also warnings about those that were not."""
    warnings: list[str] = []
    for path in sorted(folder.glob("iteration_*"), reverse=True):
        try:
            opened = _open(path, trainer, run)
            state = opened.state
            if isinstance(trainer, PaperTrainer):
                require_paper_state(trainer, state, opened.tensors)
                restore_paper(trainer, state, opened.weights, opened.tensors)
            else:
                _apply(_read(opened, trainer), trainer)
        except (AlphaNPIError, OSError) as error:
            warnings.append(f"{path}: this checkpoint cannot be used ({str(error).removeprefix(f'{path}/')})")
            continue
        return Progress(state.iteration, state.elapsed, Seconds(**state.seconds)), warnings
    if warnings:
        others = f", nor any of the {len(warnings) - 1} before it" if len(warnings) > 1 else "; no other is there"
        raise UsageError(f"{warnings[0]}{others}")
    raise UsageError(f"{folder}: no checkpoint to resume from")


def _open(path: Path, trainer: Trainer | PaperTrainer, run: RunIdentity | None) -> _Opened:
    state = read_state(path)
    if state.seed != trainer.seed:
        raise UsageError("from a run with another seed")
    if run is not None and not run.owns(state):
        raise UsageError("from another run, or meta.json was changed")
    unknown = [name for name in state.seconds if name not in Seconds._fields]
    learned = {program.name for program in trainer.library.learned}
    if unknown or set(state.curriculum.success) != learned or state.curriculum.level > trainer.library.levels:
        raise UsageError(f"{STATE_FILE}: it does not fit the environment's programs")
    if state.curriculum.completed and min(state.curriculum.success.values()) < trainer.curriculum.threshold:
        raise UsageError(f"{STATE_FILE}: field 'curriculum': complete, though a program is not learned")
    contents = {name: read_bytes(path / name, most=_MOST_BYTES) for name in (MODEL_FILE, TRAINER_FILE)}
    for name, content in contents.items():
        if state.files[name] != hashlib.sha256(content).hexdigest():
            raise UsageError(f"{name} is damaged")
    weights = parsed_weights(contents[MODEL_FILE], MODEL_FILE)
    require_fitting(weights.tensors, shapes_of(trainer.network), MODEL_FILE)
    return _Opened(state, weights.tensors, read_tensors(contents[TRAINER_FILE], TRAINER_FILE))


def _read(opened: _Opened, trainer: Trainer) -> _Checkpoint:
    """Everything of a checkpoint; nothing of the trainer is changed before all of it is known to fit."""
    state, tensors = opened.state, opened.tensors
    window = trainer.config.network.window if state.window is None else state.window
    if bool(window) != bool(trainer.config.network.window) or window > MOST_WINDOW:
        raise UsageError(f"{STATE_FILE}: a window of {window} does not fit the run's configuration")
    for one in state.revised:
        if not _fits(trainer, window, one):
            raise UsageError(f"{STATE_FILE}: field 'revised': it does not fit the environment: {one!r}")
    require_fitting(tensors, dict(_trainer_shapes(trainer, tensors, state.rings)), TRAINER_FILE)
    return _Checkpoint(
        opened=opened,
        rings=[_ring(trainer, tensors, number, ring) for number, ring in enumerate(state.rings)],
        errors=_errors(trainer, state),
    )


def _apply(checkpoint: _Checkpoint, trainer: Trainer) -> None:
    state, weights, tensors = checkpoint.opened
    if state.window is not None:
        trainer.use_window(state.window)
    trainer.network.load_state_dict(weights)
    restore_optimiser(trainer.network, trainer.optimiser, tensors)
    _restore_replay(trainer.replay, checkpoint)
    curriculum = state.curriculum
    trainer.curriculum.level = curriculum.level
    trainer.curriculum.failed_exams = curriculum.failed_exams
    trainer.curriculum.learned_anew = curriculum.learned_anew
    trainer.curriculum.completed = curriculum.completed
    trainer.curriculum.success = dict(curriculum.success)
    trainer.curriculum.given_up = curriculum.given_up
    trainer.starts.errors = checkpoint.errors
    if state.together:
        trainer.together = dict(state.together)
    for name, best in state.stagnation.items():
        trainer.stagnation.best[name] = Best(best.success, best.since)
    trainer.trials.bars = dict(state.bars)
    trainer.trials.kept = tuple(KeptDecision(one.program, one.window, one.action) for one in state.revised)
    trainer.iteration = state.iteration
    trainer.weights_changed()


def _fits(trainer: Trainer, window: int, one: KeptRecord) -> bool:
    """Whether a kept decision could be one of this run."""
    entries, fields = len(trainer.library), len(trainer.environment.fields)
    return (
        one.program < len(trainer.library.learned)
        and one.action < entries
        and 0 < len(one.window) <= window
        and all(-1 <= action < entries and len(seen) == fields for action, seen in one.window)
        and all(abs(value) < _LARGEST_FIELD for _, seen in one.window for value in seen)
    )


def _errors(trainer: Trainer, state: CheckpointState) -> dict[str, list[Error]]:
    """The error starts of every program; starts of programs or sizes that there are not are refused."""
    environment = trainer.environment
    trained = [size for program in trainer.library.learned for size in trainer.starts.sizes(program)]
    validated = [trainer.starts.validation_size(program) for program in trainer.library.learned]
    largest = max(*validated, environment.validation_size, *environment.train_sizes, *environment.test_sizes, *trained)

    def fits(name: str, error: ErrorRecord) -> bool:
        if error.program != name or not error.origin:
            return error.program == name and error.size <= largest and bool(error.seed)
        number, *values = error.origin
        listed = len(values) in (0, error.size) or StartOrigin(number, tuple(values)).general
        if error.size > _LARGEST_COUNTER_EXAMPLE or number > MOST_STARTS or not listed:
            return False
        try:
            trainer.starts.state(_start(error))
        except AlphaNPIError:
            return False
        return True

    if set(state.errors) != {program.name for program in trainer.library.learned}:
        raise UsageError(f"{STATE_FILE}: field 'errors': other programs than the environment's")
    for name, errors in state.errors.items():
        for error in errors:
            if not fits(name, error):
                raise UsageError(f"{STATE_FILE}: field 'errors': no start of {name}: {error!r}")
    return {name: [Error(_start(one), one.passes) for one in errors] for name, errors in state.errors.items()}


def _start(error: ErrorRecord) -> Start:
    return Start(error.program, error.size, error.seed, error.origin)


def _state(trainer: Trainer) -> dict[str, Any]:
    """What goes into the state beside what every run has."""
    return {
        "curriculum": {
            "level": trainer.curriculum.level,
            "failed_exams": trainer.curriculum.failed_exams,
            "learned_anew": trainer.curriculum.learned_anew,
            "completed": trainer.curriculum.completed,
            "success": trainer.curriculum.success,
            "given_up": trainer.curriculum.given_up,
        },
        "errors": {
            name: [{**error.start._asdict(), "passes": error.passes} for error in errors]
            for name, errors in trainer.starts.errors.items()
        },
        "window": trainer.window,
        "stagnation": {name: best._asdict() for name, best in trainer.stagnation.best.items()},
        "together": trainer.together,
        "bars": trainer.trials.bars,
        "revised": [one._asdict() for one in trainer.trials.kept],
        "rings": [
            {"program": program, "success": success, "next": ring.next}
            for (program, success), ring in trainer.replay.rings.items()
        ],
    }


def _tensors(trainer: Trainer) -> Tensors:
    tensors = optimiser_tensors(trainer.network, trainer.optimiser)
    tensors["replay.observations"] = torch.from_numpy(trainer.replay.observations.array())
    tensors["replay.legal"] = torch.from_numpy(trainer.replay.legal.array())
    for number, ring in enumerate(trainer.replay.rings.values()):
        columns = {
            "lengths": np.array([len(trace.observations) for trace in ring.traces]),
            "values": np.array([trace.value for trace in ring.traces], np.float64),
            "scores": np.array([trace.score for trace in ring.traces], np.float64),
            "observations": np.concatenate([trace.observations for trace in ring.traces]),
            "legal": np.concatenate([trace.legal for trace in ring.traces]),
            "policies": np.concatenate([trace.policies for trace in ring.traces]),
            "previous": np.concatenate([trace.previous for trace in ring.traces]),
        }
        tensors.update({f"ring{number}.{name}": torch.from_numpy(array) for name, array in columns.items()})
    return tensors


def _trainer_shapes(
    trainer: Trainer,
    tensors: Tensors,
    rings: Sequence[RingRecord],
) -> Iterator[tuple[str, TensorShape]]:
    """What the tensors of a trainer have to be; how many traces and rows there are, they say themselves."""

    def rows(name: str) -> int:
        tensor = tensors.get(name)
        return len(tensor) if tensor is not None and tensor.dim() > 0 else 0

    yield from optimiser_shapes(trainer.network, tensors)
    entries = len(trainer.library)
    yield (
        "replay.observations",
        TensorShape((rows("replay.observations"), len(trainer.environment.fields)), torch.int16),
    )
    yield "replay.legal", TensorShape((rows("replay.legal"), entries), torch.int16)
    for number in range(len(rings)):
        traces, steps = rows(f"ring{number}.lengths"), rows(f"ring{number}.observations")
        yield f"ring{number}.lengths", TensorShape((traces,), torch.int64)
        yield f"ring{number}.values", TensorShape((traces,), torch.float64)
        yield f"ring{number}.observations", TensorShape((steps,), torch.int32)
        yield f"ring{number}.legal", TensorShape((steps,), torch.int32)
        yield f"ring{number}.policies", TensorShape((steps, entries), torch.float32)
        yield f"ring{number}.previous", TensorShape((steps,), torch.int32)
        yield f"ring{number}.scores", TensorShape((traces,), torch.float64)


def _ring(trainer: Trainer, tensors: Tensors, number: int, record: RingRecord) -> _SavedRing:
    columns = {name: tensor.numpy() for name, tensor in below(tensors, f"ring{number}.").items()}
    lengths = columns["lengths"]
    numbers = (
        ("observations", len(tensors["replay.observations"])),
        ("legal", len(tensors["replay.legal"])),
        ("previous", len(trainer.library) + 1),
    )
    if (
        record.program >= len(trainer.library.learned)
        or not 0 < len(lengths) <= trainer.replay.capacity
        or record.next >= len(lengths)
        or lengths.min() < 1
        or lengths.sum() != len(columns["observations"])
        or any(columns[name].min() < 0 or columns[name].max() >= known for name, known in numbers)
    ):
        raise UsageError(f"{TRAINER_FILE}: the traces of ring {number} do not fit together")
    ends = np.cumsum(lengths)
    traces = []
    for length, end, value, score in zip(lengths, ends, columns["values"], columns["scores"], strict=True):
        steps = slice(int(end - length), int(end))
        traces.append(
            StoredTrace(
                program=record.program,
                success=record.success,
                value=float(value),
                observations=columns["observations"][steps],
                legal=columns["legal"][steps],
                previous=columns["previous"][steps],
                policies=columns["policies"][steps],
                score=float(score),
            )
        )
    return _SavedRing(record, traces)


def _restore_replay(replay: Replay, checkpoint: _Checkpoint) -> None:
    replay.clear()
    for table, name in ((replay.observations, "replay.observations"), (replay.legal, "replay.legal")):
        for row in checkpoint.opened.tensors[name].numpy():
            table.number(row)
    for ring in checkpoint.rings:
        replay.put_back(ring.record.program, ring.record.success, ring.traces, ring.record.next)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _point_last_to(folder: Path, name: str) -> None:
    link = folder / f".{LAST}-{secrets.token_hex(4)}"
    link.symlink_to(name, target_is_directory=True)
    os.replace(link, folder / LAST)
