"""Presets: the paper's algorithm, and our own recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, overload

from alphanpi.environment.registration import registration
from alphanpi.errors import UsageError
from alphanpi.learn.config import TrainConfig
from alphanpi.network.evaluator import UNBOUNDED
from alphanpi.paper import PaperConfig
from alphanpi.support.config import C, Config, flattened, override

_PRESETS: dict[str, TrainConfig | PaperConfig] = {"default": TrainConfig(), "paper": PaperConfig()}


@overload
def preset(name: Literal["default"], environment: str = "") -> TrainConfig: ...
@overload
def preset(name: Literal["paper"], environment: str = "") -> PaperConfig: ...
@overload
def preset(name: str, environment: str = "") -> TrainConfig | PaperConfig: ...
def preset(name: str, environment: str = "") -> TrainConfig | PaperConfig:
    """The configuration of a preset, with what it changes for an environment."""
    if name not in _PRESETS:
        raise UsageError(f"unknown preset {name!r}; there are {' and '.join(_PRESETS)}")
    return override(_PRESETS[name], dict(registration(environment).presets.get(name, {})))


def require_available(preset: str, verified: bool = False, begin_from: bool = False, workers: bool = False) -> None:
    """Refuse options that the preset's training does not have."""
    asked = {"until verified": verified, "from": begin_from, "workers": workers}
    for option, wanted in asked.items():
        if wanted and preset == "paper":
            raise UsageError(f"the preset paper has no --{option}; leave it out, or train with the preset default")


def configured(base: C, config: Config | None, settings: Mapping[str, Any] | None) -> C:
    """A preset with what a configuration says, its defaults not counted, and with settings by `section.key`."""
    if config is not None and not isinstance(config, type(base)):
        wanted = type(base).__name__
        raise UsageError(f"config: give a {wanted}, not a {type(config).__name__}; single settings go to settings=")
    if settings is not None and not isinstance(settings, Mapping):
        raise UsageError(f'settings: give a dictionary such as {{"learning.batch": 64}}, not {settings!r:.80}')
    resolved = base if config is None else override(base, config.given())
    if settings is not None:
        resolved = override(resolved, flattened(dict(settings)))
    if isinstance(resolved, TrainConfig) and resolved.network.window == UNBOUNDED:
        raise UsageError("network.window is 0: only the preset paper trains a network that sees all of a call; give 1")
    return resolved
