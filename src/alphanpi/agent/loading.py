"""Loading an agent: from a run, from a file of weights, or by the name of one that comes with the package."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from alphanpi.agent.agent import Agent, LoadedFrom
from alphanpi.agent.weights import ModelCard, SavedWeights, WeightsOrigin, hash_of, network_of, read_weights
from alphanpi.engine.config import SearchConfig
from alphanpi.environment.given import GivenEnvironment, environment_of
from alphanpi.environment.narrowing import narrowed
from alphanpi.environment.registration import identified
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.network.frozen import FrozenRecord
from alphanpi.network.model import NPINetwork
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.records import CHECKPOINTS, LAST, META_FILE, MODEL_FILE, STATE_FILE, read_run, read_state

PRETRAINED = "pretrained:"


class Trained(Protocol):
    """What has an agent, such as the outcome of a training."""

    @property
    def agent(self) -> Agent:
        """The agent."""


Subject = Agent | Trained | str | Path
"""What every verb takes: an agent, the outcome of a training, or where `load` finds an agent."""
NamedEnvironment = GivenEnvironment | None


def load(run: str | Path, device: str = "cpu", *, environment: NamedEnvironment = None) -> Agent:
    """Load an agent from a run directory, a folder or file with weights, or `pretrained:NAME`.

    Args:
        run: Where the weights are.
        device: Where the network runs.
        environment: The agent's environment, as id, path/to/file.py:ClassName, package.module:ClassName, class or
            instance. If omitted, the one that this process trained it with, or that the weights name, where that is
            known by id or was named by the user before.
    """
    path = weights_path(run)
    weights = read_intact(path)
    card = weights.card
    created = environment_of(path, card.environment, card.options, environment)
    created = narrowed(created, frozen_calls(card.frozen))
    library = created.library
    for what, saved, now in (
        ("programs", card.library, tuple(library.names)),
        ("observation fields", card.fields, tuple(created.fields)),
        ("version", card.version, created.version),
    ):
        if saved != now:
            raise UsageError(f"{path}: made for {card.environment} with other {what}: {saved}, now {now}")
    network = network_of(created, card.network, weights.tensors, str(path), card.frozen)
    network.eval()
    directory = RunDirectory((Path(run) if Path(run).is_dir() else path.parent).absolute())
    own = weights.sha256 if environment is None else None
    return Agent(created, network, card, device, LoadedFrom(str(run), directory, hash_of(network), own))


def read_intact(path: Path) -> SavedWeights:
    """A weights file, which has to be what its checkpoint and its run say."""
    weights = read_weights(path)
    _require_intact(path, weights)
    return weights


def frozen_calls(frozen: Sequence[FrozenRecord]) -> dict[str, frozenset[str]]:
    """What frozen programs may call: nothing that came after them."""
    return {name: frozenset(record.library) for record in frozen for name in record.programs}


def as_agent(subject: Subject, device: str = "cpu", *, environment: NamedEnvironment = None) -> Agent:
    """The agent itself, that of a training, or the one that `load` finds."""
    if isinstance(subject, (str, Path)):
        return load(subject, device, environment=environment)
    agent = subject if isinstance(subject, Agent) else getattr(subject, "agent", None)
    if not isinstance(agent, Agent):
        raise UsageError(
            f"{subject!r:.80} is no agent; give an agent, an outcome of `train`, a run directory or {PRETRAINED}NAME"
        )
    if environment is not None:
        raise UsageError("an agent has its environment already; give its environment to `load`")
    return agent


def _require_intact(path: Path, weights: SavedWeights) -> None:
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
    kind, colon, name = str(run).partition(":")
    if f"{kind}{colon}".casefold() == PRETRAINED:
        if name.casefold() not in pretrained():
            close = get_close_matches(name.casefold(), pretrained(), n=1)
            there_are = f"there are {', '.join(pretrained()) or 'none'}"
            hint = f"did you mean {PRETRAINED}{close[0]}?" if close else there_are
            raise UsageError(f"no pretrained agent {name!r}; {hint}")
        return Path(str(resources.files("alphanpi") / "pretrained" / name.casefold())) / MODEL_FILE
    path = Path(run)
    for candidate in (path, _newest(path / CHECKPOINTS) / MODEL_FILE, path / MODEL_FILE):
        if candidate.is_file():
            return candidate
    if not path.exists():
        raise UsageError(f"{path}: there is no such run; {_advice(str(run))}")
    raise UsageError(f"{path}: no weights in it; expected {CHECKPOINTS}/{LAST}/{MODEL_FILE}")


def _advice(name: str) -> str:
    """What may have been meant by a name that is no run."""
    if name.casefold() in pretrained():
        return f"did you mean {PRETRAINED}{name.casefold()}?"
    if identified(name) is not None:
        return f"it is an environment: `alphanpi train {identified(name)}` makes a run"
    return f"give a run directory or {PRETRAINED}NAME; `alphanpi agents` lists those"


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
    origin: WeightsOrigin | None = None,
) -> ModelCard:
    """The card of a network trained on an environment."""
    library = environment.library
    return ModelCard(
        environment=identifier,
        options=options,
        version=environment.version,
        library=tuple(library.names),
        fields=tuple(environment.fields),
        network=network.config,
        search=search,
        seed=seed,
        calls={
            entry.name: tuple(called.name for called in library.callable_by(entry.name)) for entry in library.learned
        },
        origin=origin,
        frozen=tuple(part.record for part in network.frozen),
    )
