"""Exports of agents that follow hand-written solutions."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import alphanpi
from alphanpi import STOP, Environment, Origin
from alphanpi.exporting.equality import executed
from tests.helpers.solutions import ScriptedEvaluator

ORIGIN = Origin("hand-written", "0" * 12, "test", {})


def loaded(text: str) -> types.ModuleType:
    """An exported module."""
    module = types.ModuleType("exported")
    vars(module).update(executed(text))
    return module


def scripted(environment: Environment, solutions=None, origin: Origin = ORIGIN, samples: int = 40, **options):
    """The export of an agent that does what the solutions do."""
    evaluator = ScriptedEvaluator(environment, solutions)
    return alphanpi.export_evaluator(environment, evaluator, origin, samples=samples, **options)


def run_script(path: Path, *arguments: str) -> subprocess.CompletedProcess:
    """A fresh, isolated interpreter: nothing of this package can be imported."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(path), *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def counted_tour(see, size):
    """There and back, the way back counted."""
    steps = 0
    while not see.at_end:
        see = yield "RIGHT"
        steps += 1
    for _ in range(steps):
        yield "LEFT"
    yield STOP
