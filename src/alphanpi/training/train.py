"""Training runs: start one, resume one, stop in good order."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from alphanpi.agent.agent import Agent
from alphanpi.agent.beginning import Beginning, beginning_of, read_beginning
from alphanpi.agent.compiling import compile_search
from alphanpi.agent.loading import NamedEnvironment, Subject, describe, frozen_calls, load
from alphanpi.agent.weights import ModelCard
from alphanpi.cluster.shipping import ship, unpacked
from alphanpi.cluster.spreading import Spread, require_workers, spread
from alphanpi.environment.given import GivenEnvironment, Identified, environment_of, identify, named_again, remember
from alphanpi.environment.registry import IN_MEMORY
from alphanpi.environment.source_loading import being_loaded
from alphanpi.environment.specification import Environment
from alphanpi.errors import SpecificationError, StopTraining, UsageError
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.iteration import IterationReport, Seconds, one_thread
from alphanpi.learn.trainer import Trainer
from alphanpi.network.model import usable_device
from alphanpi.network.paying import device_advice
from alphanpi.paper import PaperConfig, PaperTrainer
from alphanpi.runs.directory import RunDirectory, new_meta
from alphanpi.runs.records import Meta, StoredOutcome
from alphanpi.support import limits
from alphanpi.support.interrupts import stop_requests
from alphanpi.support.limits import percent
from alphanpi.support.markup import facts
from alphanpi.training.checkpoint import restore, save_checkpoint
from alphanpi.training.metrics import MetricsWriter
from alphanpi.training.presets import configured, require_available
from alphanpi.training.presets import preset as preset_config
from alphanpi.training.trackers import tracked, tracker_names
from alphanpi.verification.certificate import subject_of
from alphanpi.verification.during_training import OutOfTimeError
from alphanpi.verification.keeping import write_best

CHECKPOINT_ITERATIONS = 10
CUT = "the time limit was met during the verification; `alphanpi resume` with more time repeats it"

Observer = Callable[[Any, IterationReport, float], object]
"""Called after every iteration with the trainer, what the iteration did, and the seconds since the run began.

It may raise `StopTraining`, and must not change the trainer. Any other exception ends the training, too, and is raised
to the caller of `train`; a checkpoint is written before.
"""


class Outcome(NamedTuple):
    """How a run ended."""

    run: Path
    completed: bool
    reason: str  # completed, iterations, time, interrupted, stopped, frozen
    iterations: int
    elapsed: float  # seconds, over all sessions of the run
    seconds: Seconds
    success: dict[str, float]
    explanation: str
    proved: bool  # whether the run was to go on until verified, and was

    @property
    def agent(self) -> Agent:
        """The newest agent of the run, loaded from its directory."""
        return load(self.run)

    def _repr_html_(self) -> str:
        ended = ("learned and proved" if self.proved else "learned") + " every program"
        learned = ", ".join(f"{name} {percent(value)}" for name, value in self.success.items())
        rows: list[tuple[str, object]] = [
            ("training", ended if self.completed else f"stopped ({self.reason}): {self.explanation}"),
            ("success", learned),
            ("time", f"{self.elapsed:.1f} s, {self.iterations} iterations"),
            ("run", self.run),
        ]
        return facts(rows)


def train(
    environment: GivenEnvironment,
    *,
    seed: int | None = None,
    out: str | Path | None = None,
    preset: str = "default",
    config: TrainConfig | PaperConfig | None = None,
    settings: Mapping[str, Any] | None = None,
    until: Literal["learned", "verified"] | None = None,
    time_limit: float | None = None,
    device: str = "cpu",
    observer: Observer | Sequence[Observer] | None = None,
    log: str | Sequence[str] | None = None,
    warn: Callable[[str], None] | None = None,
    workers: int | None = None,
    ray: str | None = None,
    begin_from: Subject | None = None,
    freeze: bool = False,
    **options: Any,
) -> Outcome:
    """Train an agent; everything about the run goes into its directory.

    Args:
        environment: Id, path/to/file.py:ClassName, package.module:ClassName, a class, or an instance. A class that is
            in no file, such as one of a notebook, has to be given again by another process that loads the run.
        seed: Decides every random draw; drawn and recorded if not given.
        out: Run directory; below `runs/` if not given.
        preset: `default`, or `paper` for the algorithm of the paper, see `alphanpi.paper`.
        config: What it was made with comes before the preset; what was left to its defaults is the preset's.
        settings: Single settings, for example {"learning.batch": 64}; they come before both.
        until: `verified` goes on until every program is proved; the same as the setting of that name.
        time_limit: Seconds after which the run stops, with a checkpoint.
        device: Where the network lives.
        observer: Called after every iteration, or several; see `Observer`.
        log: `wandb`, `mlflow` or both: trackers to be told of every iteration, too.
        warn: Told where the network is too small for its device to pay.
        workers: Processes of Ray that play episodes, validation and exams; what is learned does not depend on them.
        ray: Address of the cluster they are in; this machine if not given.
        begin_from: An agent, or what `load` takes, that has learned part of this environment: its weights are begun
            with, by the names of programs, actions and fields. From nothing, if not given.
        freeze: Let the programs it has learned stay exactly as they are, and learn the others beside them.
        **options: Of the environment, for example observation="compare".
    """
    if being_loaded() is not None:
        raise UsageError('it begins to train while it is loaded; put that under `if __name__ == "__main__":`')
    _require(time_limit, device)
    require_workers(workers, ray)
    trackers = tracker_names(log)
    if out is not None and not str(out):
        raise UsageError("an empty name for the run directory; give the name of a folder, or leave it out")
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    seed = limits.seed(seed)
    named = _identified(environment, options)
    short = named.identifier.removeprefix(f"{IN_MEMORY}:").rpartition("/")[2].replace(".py", "").replace(":", "-")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    directory = RunDirectory(Path(out) if out is not None else Path("runs") / short / f"{stamp}-seed{seed}")
    directory.require_new()
    usual = preset_config(preset, named.identifier)
    if freeze and begin_from is None:
        raise UsageError("--freeze keeps what another agent has learned; say which: --from RUN")
    require_available(
        preset, verified=until == "verified", begin_from=begin_from is not None, workers=workers is not None
    )
    if isinstance(usual, PaperConfig):
        paper = PaperTrainer(named.environment, configured(usual, config, settings), seed, device)
        _advise(paper, warn)
        meta = new_meta(named.identifier, named.options, seed, preset, device)
        return _begin(directory, meta, named, paper, None, time_limit, observer, trackers)
    resolved = configured(usual, config, settings)
    if until is not None:
        resolved = configured(resolved, None, {"until": until})
    beginning = None if begin_from is None else beginning_of(begin_from, freeze)
    if beginning is not None:
        sizes = beginning.network_config(resolved.network, usual.network)
        resolved = resolved.model_copy(update={"network": sizes})
    record = None if beginning is None else beginning.record
    meta = new_meta(named.identifier, named.options, seed, preset, device, record)
    with _spread(named, workers, ray, beginning) as played:
        trainer = Trainer(played.environment, resolved, seed, device, beginning, played.spread)
        _advise(trainer, warn)
        trainer.measure_frozen()
        return _begin(directory, meta, named, trainer, beginning, time_limit, observer, trackers)


def _begin(
    directory: RunDirectory,
    meta: Meta,
    named: Identified,
    trainer: Trainer | PaperTrainer,
    beginning: Beginning | None,
    time_limit: float | None,
    observer: Observer | Sequence[Observer] | None,
    trackers: Sequence[str],
) -> Outcome:
    with directory.locked():
        directory.create(meta, trainer.config, None if beginning is None else beginning.content)
        if named.in_process:
            remember(directory.path, trainer.environment)
        return _go_on(directory, trainer, 0.0, Seconds(), time_limit, _listed(observer), trackers)


def resume(
    run: str | Path,
    *,
    time_limit: float | None = None,
    device: str | None = None,
    environment: NamedEnvironment = None,
    observer: Observer | Sequence[Observer] | None = None,
    log: str | Sequence[str] | None = None,
    warn: Callable[[str], None] | None = None,
    workers: int | None = None,
    ray: str | None = None,
) -> Outcome:
    """Go on with a run from its newest checkpoint, exactly as if it had never stopped.

    Args:
        run: Run directory.
        time_limit: Seconds after which the run stops, with a checkpoint.
        device: Where the network lives; where it was, if not given. Another kind of device rounds differently.
        environment: The run's environment, as for `train`; if not given, the one this process trained it with, or the
            one the run names, where that is known by id or was named by the user before.
        observer: Called after every iteration, or several; see `Observer`.
        log: `wandb`, `mlflow` or both; they go on where they stopped.
        warn: Told what was wrong and could be mended.
        workers: As for `train`; it need not be as many as before.
        ray: As for `train`.
    """
    say = warn or (lambda _: None)
    directory = RunDirectory(Path(run))
    meta = directory.meta()
    _require(time_limit, device or meta.device)
    require_workers(workers, ray)
    trackers = tracker_names(log)
    with directory.locked(), ExitStack() as stack:
        created = environment_of(directory.meta_file, meta.environment, meta.options, environment)
        named = named_again(created, meta.environment, meta.options, environment)
        trainer: Trainer | PaperTrainer
        require_available(meta.preset, workers=workers is not None)
        if meta.preset == "paper":
            trainer = PaperTrainer(named.environment, directory.config(PaperConfig()), meta.seed, device or meta.device)
        else:
            config = directory.config(TrainConfig())
            beginning = read_beginning(directory.beginning_file, meta.beginning)
            played = stack.enter_context(_spread(named, workers, ray, beginning))
            trainer = Trainer(played.environment, config, meta.seed, device or meta.device, beginning, played.spread)
        _advise(trainer, warn)
        elapsed, seconds = 0.0, Seconds()
        if any(directory.checkpoints.glob("iteration_*")):
            progress, warnings = restore(directory.checkpoints, trainer, directory.identity())
            elapsed, seconds = progress.elapsed, progress.seconds
            for warning in warnings:
                say(f"{warning}; going on from iteration {progress.iteration}")
        else:
            say(f"{directory.path}: it stopped before its first checkpoint; starting again")
            if isinstance(trainer, Trainer):
                trainer.measure_frozen()
        directory.keep_metrics_until(trainer.iteration, say)
        return _go_on(directory, trainer, elapsed, seconds, time_limit, _listed(observer), trackers)


class _Played(NamedTuple):
    """The environment that is trained with, and who plays."""

    environment: Environment[Any]
    spread: Spread | None


@contextmanager
def _spread(named: Identified, workers: int | None, ray: str | None, beginning: Beginning | None) -> Iterator[_Played]:
    if workers is None:
        yield _Played(named.environment, None)
        return
    shipment = ship(named.identifier, named.options, frozen_calls(() if beginning is None else beginning.frozen))
    with spread(shipment, workers, ray) as made:
        # States go to and fro: their classes have to be in modules of the same name here and there.
        yield _Played(unpacked(shipment), made)


def _identified(environment: GivenEnvironment, options: Mapping[str, Any]) -> Identified:
    """The environment; where it does not take an option that is the name of a setting, the setting is named."""
    try:
        return identify(environment, options)
    except SpecificationError as error:
        keys = [key for key in TrainConfig().flat() if key.rpartition(".")[2] in options]
        if not keys:
            raise
        raise UsageError(f'{error}; a setting of the training goes to settings={{"{keys[0]}": ...}}') from error


def _listed(observer: Observer | Sequence[Observer] | None) -> tuple[Observer, ...]:
    return () if observer is None else tuple(observer) if isinstance(observer, Sequence) else (observer,)


def _require(time_limit: float | None, device: str) -> None:
    """Refuse what cannot work before anything is written."""
    if time_limit is not None and not time_limit > 0:  # nor NaN
        raise UsageError(f"a time limit of {time_limit} leaves no time; give a positive number of seconds")
    usable_device(device)


def _advise(trainer: Trainer | PaperTrainer, warn: Callable[[str], None] | None) -> None:
    advice = device_advice(trainer.network, trainer.device)
    if advice and warn is not None:
        warn(advice)


def _go_on(
    directory: RunDirectory,
    trainer: Trainer | PaperTrainer,
    elapsed: float,
    seconds: Seconds,
    time_limit: float | None,
    observers: Sequence[Observer],
    trackers: Sequence[str],
) -> Outcome:
    meta, identity = directory.identity()
    compile_search(trainer.device)  # before the clock runs
    began, before = time.perf_counter(), elapsed
    cut, saved = False, trainer.iteration
    usual = trainer if isinstance(trainer, Trainer) else None  # may verify, and give up
    reason = "completed" if trainer.curriculum.completed else "frozen" if _gave_up(usual) else ""
    if trainer.iteration >= trainer.config.max_iterations:
        reason = reason or "iterations"
    if not reason:
        directory.outcome_file.unlink(missing_ok=True)
    with (
        tracked(trackers if not reason else (), directory, trainer.config) as logs,
        closing(MetricsWriter(directory, trainer.iteration)) as writer,
        stop_requests() as stopped,
    ):
        while not reason:
            if time_limit is not None and usual is not None and usual.may_verify and 0 < trainer.iteration != saved:
                save_checkpoint(directory.checkpoints, trainer, _card(meta, trainer), elapsed, seconds, identity)
            try:
                deadline = float("inf") if time_limit is None else began + time_limit
                report = trainer.iterate() if usual is None else usual.iterate(deadline)
            except OutOfTimeError:
                reason, cut = "time", True  # the checkpoint is from before this iteration, which will be repeated
                elapsed = before + time.perf_counter() - began
                break
            _require_finite(trainer, report, directory)
            seconds = seconds.plus(report.seconds)
            elapsed = before + time.perf_counter() - began
            writer.write(report, elapsed)
            wished = False
            try:
                for log in logs:
                    log(report)
                for observer in observers:
                    try:
                        observer(trainer, report, elapsed)
                    except StopTraining:
                        wished = True
            except Exception:  # whoever watches may fail, or its reader go away: what was learned is kept
                save_checkpoint(directory.checkpoints, trainer, _card(meta, trainer), elapsed, seconds, identity)
                raise
            if trainer.curriculum.completed:
                reason = "completed"
            elif _gave_up(usual):
                reason = "frozen"
            elif wished:
                reason = "stopped"
            elif stopped():
                reason = "interrupted"
            elif trainer.iteration >= trainer.config.max_iterations:
                reason = "iterations"
            elif time_limit is not None and time.perf_counter() - began > time_limit:
                reason = "time"
            if reason or report.advanced or trainer.iteration % CHECKPOINT_ITERATIONS == 0:
                save_checkpoint(directory.checkpoints, trainer, _card(meta, trainer), elapsed, seconds, identity)
                saved = trainer.iteration
    outcome = Outcome(
        run=directory.path,
        completed=trainer.curriculum.completed and not cut,
        reason=reason,
        iterations=trainer.iteration,
        elapsed=elapsed,
        seconds=seconds._replace(other=elapsed - (sum(seconds) - seconds.other)),
        success=dict(trainer.curriculum.success),
        explanation=CUT if cut else trainer.curriculum.explain(),
        proved=usual is not None and usual.curriculum.completed and not cut and usual.config.until == "verified",
    )
    if usual is not None and usual.proof is not None and outcome.proved:
        write_best(usual.proof.certificate(subject_of(_card(meta, trainer), trainer.network)), directory)
    directory.keep_outcome(StoredOutcome.model_validate(outcome._asdict()))
    return outcome


def _gave_up(trainer: Trainer | None) -> bool:
    return trainer is not None and bool(trainer.curriculum.given_up)


def _card(meta: Meta, trainer: Trainer | PaperTrainer) -> ModelCard:
    began = trainer.beginning if isinstance(trainer, Trainer) else None
    origin = None if began is None else began.origin
    environment, search = trainer.environment, trainer.config.search
    return describe(meta.environment, meta.options, environment, trainer.network, search, trainer.seed, origin)


def _require_finite(trainer: Trainer | PaperTrainer, report: IterationReport, directory: RunDirectory) -> None:
    """Stop where learning has left the numbers; the checkpoints before are as they were."""
    numbers = (report.policy_loss, report.value_loss, report.gradient_norm)
    with one_thread():
        finite = all(bool(weights.isfinite().all()) for weights in trainer.network.parameters())
    if finite and all(map(math.isfinite, numbers)):
        return
    raise UsageError(
        f"{directory.path}: iteration {report.iteration}: weights or losses are no finite numbers any more; "
        "start a new run with a smaller learning rate"
    )
