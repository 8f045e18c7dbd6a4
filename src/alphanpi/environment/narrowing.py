"""An environment in which some programs may call less than their levels allow.

A program that is to stay as it was learned must not take up what an environment has gained since. What may be called is
asked of the library everywhere, so the library is where that is said.
"""

from __future__ import annotations

import copy
from collections.abc import Container, Mapping
from typing import Any

from alphanpi.environment.specification import Environment

_WHOLE = "_before_narrowing"


def narrowed(environment: Environment[Any], only: Mapping[str, Container[str]]) -> Environment[Any]:
    """The environment, or a copy in which each program that is named may call no other entries than those given."""
    if not only:
        return environment
    narrower = copy.copy(environment)
    narrower.library = environment.library.narrowed(only)  # type: ignore[misc]
    vars(narrower)[_WHOLE] = environment
    return narrower


def whole(environment: Environment[Any]) -> Environment[Any]:
    """The environment as it was given, before any program of it was narrowed."""
    while _WHOLE in vars(environment):
        environment = vars(environment)[_WHOLE]
    return environment
