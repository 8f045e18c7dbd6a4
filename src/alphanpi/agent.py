"""A trained agent: weights, the environment they belong to, and running programs with them."""

from __future__ import annotations

import hashlib
import os
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from alphanpi import limits
from alphanpi.config import SearchConfig, planning_config
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.model import NPINetwork, create_evaluator
from alphanpi.registry import create, load_named_in
from alphanpi.run_records import CHECKPOINTS, LAST, META_FILE, MODEL_FILE, STATE_FILE, read_run, read_state
from alphanpi.spec import STOP, Environment
from alphanpi.weights import ModelCard, Weights, network_of, read_weights, write_weights

__all__ = [
    "MAX_ACTIONS", "MODEL_FILE", "Agent", "Mode", "ModelCard", "RunFailed",
    "describe", "load", "pretrained", "read_weights", "weights_path", "write_weights",
]  # fmt: skip

PRETRAINED = "pretrained:"
MAX_ACTIONS = 10_000_000  # of one execution: a program may be right and yet take exponential time

Mode = Literal["greedy", "planning"]


class Agent:
    """A network and its environment, ready to run programs."""

    def __init__(
        self, environment: Environment[Any], network: NPINetwork, card: ModelCard, device: str = "cpu"
    ) -> None:
        self.environment = environment
        self.network = network
        self.card = card
        self.evaluator = create_evaluator(network, device)
        self.interpreter = Interpreter(environment, self.evaluator)
        self.guard = self.interpreter.guard
        self._planner: Search | None = None

    def run(self, program: str, instance: str, mode: Mode = "greedy", max_actions: int = MAX_ACTIONS) -> str:
        """Run a program on an instance as a user types it; the result as a user reads it."""
        recorded = mode == "greedy" and type(self.environment).result is not Environment.result
        execution = self.execute(program, instance, mode=mode, record=recorded, max_actions=max_actions)
        if not execution.success:
            raise RunFailed(program, instance, execution)
        library = self.environment.library
        atomic = [step for step in execution.steps if step.action != STOP and library.named(step.action).atomic]
        return self.guard.result(program, execution.final, atomic)

    def trace(
        self, program: str, instance: str, recording: Recording | None = None, max_actions: int = MAX_ACTIONS
    ) -> Execution:
        """Run a program greedily and keep its steps: all, or those the recording says."""
        return self.execute(program, instance, record=recording or True, max_actions=max_actions)

    def execute(
        self,
        program: str,
        instance: str,
        mode: Mode = "greedy",
        record: bool | Recording = False,
        max_actions: int = MAX_ACTIONS,
    ) -> Execution:
        """Run a program on an instance as a user types it; success or failure with its reason."""
        state = self.parse(program, instance)
        return self.executions([Call(program, state)], mode, record, max_actions)[0]

    def executions(
        self,
        calls: list[Call],
        mode: Mode = "greedy",
        record: bool | Recording = False,
        max_actions: int = MAX_ACTIONS,
    ) -> list[Execution]:
        """Run many calls; one success rule for both modes.

        More than `max_actions`, those of nested calls too, are a failure; planning counts what it tries.
        """
        limits.whole("max_actions", max_actions, most=limits.MOST_ACTIONS)
        if mode not in ("greedy", "planning"):
            raise UsageError(f"unknown mode {mode!r}; there are greedy and planning")
        if mode == "greedy":
            return self.interpreter.run(calls, record, max_actions)
        if record:
            raise UsageError("steps are kept in greedy mode only; planning re-plans inside every call")
        traces = self.planner(max_actions).run([Request(call.program, call.state) for call in calls])
        return [Execution(trace.success, trace.failure, trace.final, len(trace.actions), None, ()) for trace in traces]

    def planner(self, max_actions: int = MAX_ACTIONS) -> Search:
        """The search for a trained agent (see `planning_config`): exploitation mode and few simulations."""
        if self._planner is None or self._planner.config.max_actions != max_actions:
            config = planning_config(self.card.search.model_copy(update={"max_actions": max_actions}))
            self._planner = Search(self.environment, self.evaluator, config)
        return self._planner

    def parse(self, program: str, instance: str) -> Any:
        """A state from what a user types."""
        return self.guard.parse(program, instance)

    @property
    def weights_hash(self) -> str:
        """SHA-256 over all weights."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.network.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().numpy().tobytes())
        return digest.hexdigest()


class RunFailed(AlphaNPIError):  # noqa: N818 - what happened, not a mistake in the code
    """The agent did not solve the instance."""

    def __init__(self, program: str, instance: str, execution: Execution) -> None:
        inside = ""
        if execution.culprit is not None and execution.culprit.program != program:
            inside = f", inside {execution.culprit.program}"
        reason = execution.failure.name.lower()
        super().__init__(f"{program} {instance!r} was not solved: {reason}{inside} after {execution.actions} actions")


def load(run: str | Path, device: str = "cpu", *, environment: str | type[Environment[Any]] | None = None) -> Agent:
    """Load an agent from a run directory, a folder or file with weights, or `pretrained:NAME`.

    Args:
        run: Where the weights are.
        device: Where the network runs.
        environment: The agent's environment, as id, path/to/file.py:ClassName, package.module:ClassName or class. If
            omitted, the one that the weights name, where that is known by id or was named by the user before.
    """
    path = weights_path(run)
    weights = read_weights(path)
    card = weights.card
    _require_intact(path, weights)
    created = create(load_named_in(str(path), card.environment, environment), **card.options)
    library = created.library
    for what, saved, now in (
        ("programs", card.library, tuple(library.names)),
        ("observation fields", card.fields, tuple(created.fields)),
        ("version", card.version, created.version),
    ):
        if saved != now:
            raise UsageError(f"{path}: made for {card.environment} with other {what}: {saved}, now {now}")
    network = network_of(created, card.network, weights.tensors, str(path))
    network.eval()
    return Agent(created, network, card, device)


def _require_intact(path: Path, weights: Weights) -> None:
    """Weights of a checkpoint are those it was saved with, and those of its run."""
    folder, run = path.parent, path.parent.parent.parent
    card = weights.card
    of_run = folder.parent.name == CHECKPOINTS
    if not (folder / STATE_FILE).exists():
        if of_run:
            raise UsageError(
                f"{path}: there is no {STATE_FILE} beside it, so it cannot be checked; use another checkpoint"
            )
        return
    state = read_state(folder)
    cure = f"use another checkpoint, or `alphanpi resume {run}`"
    if state.files[MODEL_FILE] != weights.sha256:
        raise UsageError(f"{path}: damaged: not what {STATE_FILE} says was saved; {cure}")
    if state.seed != card.seed:
        raise UsageError(f"{path}: from a run with seed {card.seed}, but {STATE_FILE} says {state.seed}; {cure}")
    if not (of_run and (run / META_FILE).exists()):
        return
    owner = read_run(run / META_FILE)
    meta = owner.meta
    same = (meta.seed, meta.environment, meta.options) == (card.seed, card.environment, card.options)
    if not same or not owner.owns(state):
        raise UsageError(f"{path}: from another run than {run / META_FILE} tells of; put the right files back")


def weights_path(run: str | Path) -> Path:
    """Where the weights of a run are."""
    if str(run).startswith(PRETRAINED):
        name = str(run).removeprefix(PRETRAINED)
        if name not in pretrained():
            raise UsageError(f"no pretrained agent {name!r}; there are {', '.join(pretrained()) or 'none'}")
        return Path(str(resources.files("alphanpi") / "pretrained" / name)) / MODEL_FILE
    path = Path(run)
    for candidate in (path, _newest(path / CHECKPOINTS) / MODEL_FILE, path / MODEL_FILE):
        if candidate.is_file():
            return candidate
    if not path.exists():
        raise UsageError(f"{path}: there is no such run; give a run directory or {PRETRAINED}NAME")
    raise UsageError(f"{path}: no weights in it; expected {CHECKPOINTS}/{LAST}/{MODEL_FILE}")


def _newest(checkpoints: Path) -> Path:
    """The folder `last` leads to, by its own name: the link may lead to another while files are read."""
    last = checkpoints / LAST
    name = os.readlink(last) if last.is_symlink() else LAST
    return checkpoints / name if Path(name).name == name else last


def pretrained() -> list[str]:
    """Names of the agents that come with the package."""
    folder = Path(str(resources.files("alphanpi") / "pretrained"))
    return sorted(path.parent.name for path in folder.glob(f"*/{MODEL_FILE}"))


def describe(
    identifier: str,
    options: dict[str, Any],
    environment: Environment[Any],
    network: NPINetwork,
    search: SearchConfig,
    seed: int,
) -> ModelCard:
    """The card of a network trained on an environment."""
    return ModelCard(
        environment=identifier,
        options=options,
        version=environment.version,
        library=tuple(environment.library.names),
        fields=tuple(environment.fields),
        network=network.config,
        search=search,
        seed=seed,
    )
