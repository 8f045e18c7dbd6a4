"""Presets: the paper's hyper-parameters, and our own recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alphanpi.environment.registration import registration
from alphanpi.errors import UsageError
from alphanpi.learn.config import TrainConfig
from alphanpi.support.config import Overrides, flattened, override

# Our recipe is the configuration's defaults, but for search and network: those are the paper's.
_DEFAULT: Overrides = {
    "network.window": 1,
    "search.c_puct_planning": 5.0,
    "search.simulations_exploitation": 1,
    "search.failed_call_exploration": "penalise",
    "search.level_term": "decaying",
    "search.recursion_bonus": 0.005,
    "search.recursion_penalty_where": "possible",
    "search.noise_concentration": 0.3,
}

# Appendix E of the paper; rules as in its section 3 and appendix A.
_PAPER: Overrides = {
    "episodes.per_iteration": 20,
    "episodes.programs": "one",
    "episodes.sizes": "one",
    "episodes.base_case": False,
    "episodes.error_fraction": 0.0,
    "episodes.called_fraction": 0.0,
    "learning.learning_rate": 1e-4,
    "learning.slowest": 1.0,
    "learning.gradient_steps": 40,
    "learning.batch": 256,
    "learning.unroll": "stored",
    "learning.policy_weight": "uniform",
    "learning.consensus": 0.0,
    "learning.value_weight": 1.0,
    "learning.gradient_clip": 0.0,
    "learning.weight_average": 0.0,
    "replay.capacity": 200,
    "replay.positive_fraction": 0.5,
    "replay.positive_fraction_mastered": 0.5,
    "replay.thrifty": False,
    "curriculum.threshold": 0.97,
    "curriculum.estimate": "moving-average",
    "curriculum.patience": 1,
    "validation.episodes": 25,
    "validation.mode": "planning",
    "validation.called_program_factor": 1,
    "validation.training_share": 0.0,
    "validation.exam_episodes": 0,
    "validation.exam_planning_episodes": 0,
    "validation.exam_search_episodes": 0,
    "validation.far_exam_episodes": 0,
}

_PRESETS = {"default": _DEFAULT, "paper": _PAPER}


def preset(name: str, environment: str = "") -> TrainConfig:
    """The configuration of a preset, with what it changes for an environment."""
    if name not in _PRESETS:
        raise UsageError(f"unknown preset {name!r}; there are {' and '.join(_PRESETS)}")
    return override(TrainConfig(), {**_PRESETS[name], **registration(environment).presets.get(name, {})})


def configured(base: TrainConfig, config: TrainConfig | None, settings: Mapping[str, Any] | None) -> TrainConfig:
    """A preset with what a configuration says, its defaults not counted, and with settings by `section.key`."""
    if config is not None and not isinstance(config, TrainConfig):
        raise UsageError(f"config: give a TrainConfig, not a {type(config).__name__}; single settings go to settings=")
    if settings is not None and not isinstance(settings, Mapping):
        raise UsageError(f'settings: give a dictionary such as {{"learning.batch": 64}}, not {settings!r:.80}')
    resolved = base if config is None else override(base, config.given())
    return resolved if settings is None else override(resolved, flattened(dict(settings)))
