"""Compilation of the search, once per installation: when it goes on, and letting it come before what is measured."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
from numba.core import event

from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environment.specification import Environment, action, program
from alphanpi.network.model import create_evaluator, create_network

_LINGERING = 0.5  # seconds: one function is hardly ever the last


class CompilerWatch(event.Listener):
    """Knows whether numba compiles; what is loaded from its cache does not count."""

    def __init__(self) -> None:
        self._under_way = 0
        self._ended = -_LINGERING

    @property
    def busy(self) -> bool:
        """Whether something is compiled now, or was a moment ago."""
        return self._under_way > 0 or time.monotonic() - self._ended < _LINGERING

    def on_start(self, event: Any) -> None:
        """A function begins."""
        self._under_way += 1

    def on_end(self, event: Any) -> None:
        """A function is done."""
        self._under_way -= 1
        self._ended = time.monotonic()


COMPILER = CompilerWatch()
event.register("numba:compile", COMPILER)  # type: ignore[no-untyped-call]


class Lamp(Environment[bool]):
    """The smallest environment: a lamp to be switched on."""

    fields = ("lit",)

    @action()
    def PRESS(self, lit: bool) -> bool:  # noqa: N802
        """Press the switch."""
        return not lit

    @program(level=1, depth=2)
    def LIGHT(self, before: bool, after: bool) -> bool:  # noqa: N802
        """Switch it on."""
        return after

    def initial(self, program: str, size: int, rng: np.random.Generator) -> bool:
        """It is off."""
        return False

    def observe(self, lit: bool) -> tuple[bool]:
        """Whether it is lit."""
        return (lit,)

    def size(self, lit: bool) -> int:
        """One lamp."""
        return 1


@cache
def compile_search(device: str = "cpu") -> None:
    """Compile what plays episodes and runs programs on a device, or load it, before time is measured."""
    lamp = Lamp()
    evaluator = create_evaluator(create_network(lamp), device)
    config = SearchConfig(simulations=1, simulations_exploitation=1)
    Search(lamp, evaluator, config).run([Request("LIGHT", False), Request("LIGHT", False, exploring=True)])
    Interpreter(lamp, evaluator).run([Call("LIGHT", False)])
