"""Presets: the paper's hyper-parameters, and our own recipe."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from alphanpi.config import TrainConfig
from alphanpi.errors import UsageError
from alphanpi.records import read_bytes, refuse

Overrides = dict[str, Any]

# Our recipe is the configuration's defaults, but for the search: those are the paper's.
_DEFAULT: Overrides = {
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
    "learning.blurred_fraction": 0.0,
    "learning.continued_fraction": 0.0,
    "replay.capacity": 200,
    "replay.positive_fraction": 0.5,
    "replay.positive_fraction_mastered": 0.5,
    "replay.ordered": False,
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

# By environment id: Hanoi is searched harder and with more noise. Where traces are long, a strong discount teaches to
# skip what need not be done this time, and to see that it need not be done is harder than to do it. They also need a
# longer time from 97 % to 99.5 %, in which fresh weights would only undo what is learned. Agents that solve nine of ten
# large problems pass an exam of twelve too often, and there are many exams.
_PER_ENVIRONMENT: dict[str, dict[str, Overrides]] = {
    "default": {
        "hanoi": {"search.noise_fraction": 0.5, "search.noise_concentration": 0.5},
        "sorting": {
            "search.discount": 0.999,
            "search.c_puct_planning": 5.0,
            "validation.exam_patience": 30,
            "validation.far_exam_episodes": 30,
        },
        "recursive-sorting": {"validation.far_exam_episodes": 24},
        "flat-sorting": {"validation.far_exam_episodes": 0},
    },
    "paper": {
        "hanoi": {
            "search.simulations": 1500,
            "search.noise_fraction": 0.5,
            "search.noise_concentration": 0.5,
            "episodes.base_case": True,
        }
    },
}
_PRESETS = {"default": _DEFAULT, "paper": _PAPER}


def preset(name: str, environment: str = "") -> TrainConfig:
    """The configuration of a preset, with what it changes for an environment."""
    if name not in _PRESETS:
        raise UsageError(f"unknown preset {name!r}; there are {' and '.join(_PRESETS)}")
    return override(TrainConfig(), {**_PRESETS[name], **_PER_ENVIRONMENT[name].get(environment, {})})


def override(config: TrainConfig, changes: Overrides) -> TrainConfig:
    """The configuration with `section.key` changed; unknown keys are refused with a suggestion."""
    known = list(flatten(config))
    values = config.model_dump()
    for path, value in changes.items():
        if path not in known:
            close = get_close_matches(path, known, n=1)
            close = close or get_close_matches(path, [key.rpartition(".")[2] for key in known], n=1)
            raise UsageError(f"unknown configuration key {path!r}" + (f"; did you mean {close[0]}?" if close else ""))
        *section, key = path.split(".")
        target = values
        for part in section:
            target = target[part]
        target[key] = value
    return validated(values)


def validated(values: dict[str, Any]) -> TrainConfig:
    """A configuration from plain values; the first wrong one is named."""
    try:
        return TrainConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"configuration: {path} = {first['input']!r}: {first['msg']}") from error


def flatten(config: BaseModel, prefix: str = "") -> dict[str, Any]:
    """All values by `section.key`."""
    flat: dict[str, Any] = {}
    for name in type(config).model_fields:
        value = getattr(config, name)
        if isinstance(value, BaseModel):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = value
    return flat


def read_toml(path: Path) -> Overrides:
    """The changes a configuration file asks for, by `section.key`."""
    content: dict[str, Any] = {}
    try:
        content = tomllib.loads(read_bytes(path).decode("utf-8"))
    except UnicodeDecodeError as error:
        refuse(str(path), f"not UTF-8: byte {error.start}", cause=error)
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOMLDecodeError
        raise UsageError(f"{path}: not valid TOML: {error}") from error
    return flattened(content)


def flattened(content: dict[str, Any]) -> Overrides:
    """The values of a configuration file by `section.key`."""
    changes: Overrides = {}
    for key, value in content.items():
        if isinstance(value, dict):
            changes.update({f"{key}.{inner}": item for inner, item in value.items()})
        else:
            changes[key] = value
    return changes


def to_toml(config: TrainConfig) -> str:
    """The configuration as a file that `read_toml` reads, each key with its description."""
    lines = []
    sections = []
    for name, field in TrainConfig.model_fields.items():
        value = getattr(config, name)
        if isinstance(value, BaseModel):
            sections.append((name, value))
        else:
            lines += [f"# {field.description}", f"{name} = {_toml(value)}"]
    for name, section in sections:
        lines += ["", f"[{name}]"]
        for key, field in type(section).model_fields.items():
            lines += [f"# {field.description}", f"{key} = {_toml(getattr(section, key))}"]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else repr(value)
