"""A trained agent: weights, the environment they belong to, and running programs with them."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

import safetensors
import torch
from safetensors.torch import save

from alphanpi import limits
from alphanpi.config import NetworkConfig, SearchConfig, planning_config
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.files import write_atomically
from alphanpi.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.model import NPINetwork, create_evaluator
from alphanpi.registry import make
from alphanpi.spec import STOP, Environment

PRETRAINED = "pretrained:"
MODEL_FILE = "model.safetensors"
MAX_ACTIONS = 10_000_000  # of one execution: a program may be right and yet take exponential time
_METADATA = "alphanpi"

Mode = Literal["greedy", "planning"]


class ModelCard(NamedTuple):
    """What a weights file says of itself."""

    environment: str
    options: dict[str, Any]
    version: int  # of the environment
    library: list[str]
    fields: list[str]
    network: dict[str, int]
    search: dict[str, Any]  # configuration the agent was trained with; planning starts from it
    seed: int


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
            config = planning_config(SearchConfig(**{**self.card.search, "max_actions": max_actions}))
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


def load(run: str | Path, device: str = "cpu") -> Agent:
    """Load an agent from a run directory, a folder or file with weights, or `pretrained:NAME`."""
    path = weights_path(run)
    card, tensors = read_weights(path)
    environment = make(card.environment, **card.options)
    library = environment.library
    for what, saved, now in (
        ("programs", card.library, list(library.names)),
        ("observation fields", card.fields, list(environment.fields)),
        ("version", card.version, environment.version),
    ):
        if saved != now:
            raise UsageError(f"{path}: made for {card.environment} with other {what}: {saved}, now {now}")
    network = NPINetwork(len(card.fields), len(library.learned), len(library), NetworkConfig(**card.network))
    network.load_state_dict(tensors)
    network.eval()
    return Agent(environment, network, card, device)


def weights_path(run: str | Path) -> Path:
    """Where the weights of a run are."""
    if str(run).startswith(PRETRAINED):
        name = str(run).removeprefix(PRETRAINED)
        folder = resources.files("alphanpi") / "pretrained" / name
        path = Path(str(folder)) / MODEL_FILE
        if not path.is_file():
            raise UsageError(f"no pretrained agent {name!r}; there are {', '.join(pretrained()) or 'none'}")
        return path
    path = Path(run)
    for candidate in (path, path / "checkpoints" / "last" / MODEL_FILE, path / MODEL_FILE):
        if candidate.is_file():
            return candidate
    if not path.exists():
        raise UsageError(f"{path}: there is no such run; give a run directory or {PRETRAINED}NAME")
    raise UsageError(f"{path}: no weights in it; expected checkpoints/last/{MODEL_FILE}")


def pretrained() -> list[str]:
    """Names of the agents that come with the package."""
    folder = Path(str(resources.files("alphanpi") / "pretrained"))
    return sorted(path.parent.name for path in folder.glob(f"*/{MODEL_FILE}"))


def write_weights(path: Path, network: NPINetwork, card: ModelCard) -> None:
    """Save weights together with what they belong to."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    write_atomically(path, save(tensors, metadata={_METADATA: json.dumps(card._asdict())}))


def read_weights(path: Path) -> tuple[ModelCard, dict[str, torch.Tensor]]:
    """Read weights and their card; anything else than our own file is refused."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
    except (OSError, safetensors.SafetensorError) as error:
        raise UsageError(f"{path}: not a readable weights file: {error}") from error
    if _METADATA not in metadata:
        raise UsageError(f"{path}: a weights file, but not one of AlphaNPI's")
    return ModelCard(**json.loads(metadata[_METADATA])), tensors


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
        library=list(environment.library.names),
        fields=list(environment.fields),
        network=network.config.model_dump(),
        search=search.model_dump(),
        seed=seed,
    )
