"""Exported code says on which part a call works and what it hands over, alone and with a machine."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import alphanpi
from alphanpi.environment.guard import Guard
from tests.helpers.exports import ORIGIN, loaded
from tests.helpers.stripes import FENCE, Intended
from tests.helpers.translations import needs_node


@pytest.fixture(autouse=True)
def _recursion_limit():
    """Modules with calls inside one another raise it."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.fixture(scope="module")
def environment():
    return alphanpi.make(str(FENCE))


@pytest.fixture(scope="module")
def exported(environment):
    return alphanpi.export_evaluator(environment, Intended(environment), ORIGIN, samples=10, max_size=3)


def test_parts_and_arguments_are_methods(exported):
    assert exported.standalone
    dark = exported.text[exported.text.index("def dark_first") : exported.text.index("def light_first")]
    assert "paint(fence.with_dark())" in dark
    assert "light_first(fence.further())" in dark


def test_the_module_does_what_the_agent_does_without_the_package(environment, exported):
    module = loaded(exported.text)
    start = Guard(environment).parse("DARK_FIRST", "00000")
    fence = module.CurrentFence(module.Fence(*start[:4], module.Fence(*start.begun)))
    module.dark_first(fence)
    assert fence.state.boards == (1, 0, 1, 0, 1)
    assert fence.state.colour is None


def test_code_without_a_runtime_names_the_calls(environment):
    kind: Any = type(environment)
    hidden = type("Hidden", (kind,), {"standalone": lambda self: None})()
    found = alphanpi.export_evaluator(hidden, Intended(hidden), ORIGIN, samples=10, max_size=3)
    assert 'env.call("LIGHT_FIRST on further", light_first)' in found.text
    machine = alphanpi.Machine(hidden, "DARK_FIRST", Guard(hidden).parse("DARK_FIRST", "0000"))
    loaded(found.text).dark_first(machine)
    assert machine.state.boards == (1, 0, 1, 0)


@needs_node
def test_in_javascript_calls_are_told_apart_too(environment):
    found = alphanpi.export_evaluator(
        environment, Intended(environment), ORIGIN, samples=10, max_size=3, format="javascript"
    )
    assert "light_first(fence.further());" in found.text
