"""Configuration: frozen, validated, unknown keys refused. Each field's description is its documentation."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from alphanpi.errors import UsageError
from alphanpi.support.record import read_bytes, refuse

Overrides = dict[str, Any]


class Config(BaseModel):
    """Base of all configuration sections."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: Any, info: ValidationInfo) -> Any:
        """True and False are no numbers, though Python takes them for 1 and 0."""
        kind = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and kind in (int, float):
            raise ValueError("give a number")
        return value

    def flat(self) -> Overrides:
        """All values by `section.key`."""
        return flattened(self.model_dump())

    def given(self) -> Overrides:
        """The values it was made with, by `section.key`, without those that were left to their defaults."""
        values: Overrides = {}
        for name in type(self).model_fields:
            if name in self.model_fields_set:
                value = getattr(self, name)
                inner = value.given() if isinstance(value, Config) else None
                values |= {name: value} if inner is None else {f"{name}.{key}": item for key, item in inner.items()}
        return values


C = TypeVar("C", bound="Config")


def override(config: C, changes: Overrides) -> C:
    """The configuration with `section.key` changed; unknown keys are refused with a suggestion."""
    known = list(config.flat())
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
    try:
        return type(config).model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"configuration: {path} = {first['input']!r}: {first['msg']}") from error


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
    """Values in sections by `section.key`."""
    changes: Overrides = {}
    for key, value in content.items():
        if isinstance(value, dict):
            changes.update({f"{key}.{inner}": item for inner, item in value.items()})
        else:
            changes[key] = value
    return changes


def to_toml(config: Config) -> str:
    """The configuration as a file that `read_toml` reads, each key with its description."""
    lines = []
    sections = []
    for name, field in type(config).model_fields.items():
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
