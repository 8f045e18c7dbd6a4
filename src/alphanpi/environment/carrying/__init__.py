"""An environment's own source as the runtime of exported modules, where nobody wrote one by hand."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from alphanpi.environment.carrying.runtime_class import CarriedSource, RuntimeWriter
from alphanpi.environment.carrying.source_text import UncarriableError
from alphanpi.environment.guard import RAISED, Guard
from alphanpi.environment.specification import Environment
from alphanpi.environment.standalone import Standalone, plain
from alphanpi.errors import AlphaNPIError

__all__ = ["CarriedStandalone", "Runtime", "runtime_of"]


@dataclass(frozen=True)
class CarriedStandalone(Standalone[Hashable]):
    """A runtime made of an environment's own source."""

    helpers: frozenset[str] = frozenset()
    """Functions, classes and constants of the source that are left out where nothing uses them."""
    main: str = ""
    """What makes the module a script; it reads and writes as the environment does. Empty if it cannot."""


class Runtime(NamedTuple):
    """What the functions of an exported module work on; without one, why there is none."""

    standalone: Standalone[Any] | None
    reason: str = ""


def runtime_of(guard: Guard) -> Runtime:
    """The environment's `standalone()`, or else its own source as far as it can be carried along."""
    offered = guard.standalone()
    if offered is not None:
        return Runtime(offered)
    if type(guard.environment).standalone is not Environment.standalone:
        return Runtime(None, "its standalone() returns None")
    try:
        return Runtime(_carried(guard))
    except UncarriableError as error:
        return Runtime(None, str(error))


def _carried(guard: Guard) -> CarriedStandalone:
    entry = guard.library.learned[-1]
    size = max(entry.minimum_size, min(guard.environment.train_sizes))
    try:
        state = guard.initial(entry.name, size, np.random.default_rng(0))
    except AlphaNPIError as error:
        raise UncarriableError(f"no state could be drawn: {error}") from error
    written = RuntimeWriter(guard, type(state)).written()
    _require_the_same(written)
    return CarriedStandalone(
        parameter=written.parameter,
        class_name=written.class_name,
        source=written.source,
        arguments=lambda state: (state,),
        agrees=lambda state, current: bool(plain(state) == plain(current.state)),
        inner=written.inner,
        fields=written.fields,
        helpers=written.helpers,
        main=written.main,
    )


def _require_the_same(written: CarriedSource) -> None:
    """The source can be executed, and its constants are those of the environment's modules."""
    namespace: dict[str, Any] = {"__name__": "exported"}
    try:
        exec(compile(f"from __future__ import annotations\n{written.source}", "<runtime>", "exec"), namespace)
    except RAISED as error:
        raise UncarriableError(f"its source does not run by itself: {type(error).__name__}: {error}") from error
    for name, value in written.constants.items():
        if plain(namespace.get(name)) != plain(value):
            raise UncarriableError(f"{name} has another value than where it is defined")
