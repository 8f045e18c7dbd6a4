"""Exported code says on which part a call works and what it hands over, alone and with a machine."""

from __future__ import annotations

import pytest

import alphanpi
from alphanpi.environment.guard import Guard
from tests.helpers.exports import ORIGIN, loaded
from tests.helpers.stripes import Intended, Stripes


@pytest.fixture(scope="module")
def exported():
    environment = Stripes()
    return alphanpi.export_evaluator(environment, Intended(environment), ORIGIN, samples=10, max_size=3)


def test_parts_and_arguments_are_methods(exported):
    assert exported.standalone
    dark = exported.text[exported.text.index("def dark_first") : exported.text.index("def light_first")]
    assert "paint(fence.with_dark())" in dark
    assert "light_first(fence.further())" in dark


def test_the_module_does_what_the_agent_does_without_the_package(exported):
    module = loaded(exported.text)
    start = Guard(Stripes()).parse("DARK_FIRST", "00000")
    fence = module.CurrentFence(module.Fence(*start[:4], module.Fence(*start.begun)))
    module.dark_first(fence)
    assert fence.state.boards == (1, 0, 1, 0, 1)
    assert fence.state.colour is None


def test_code_without_a_runtime_names_the_calls(exported):
    class Hidden(Stripes):  # type: ignore[misc]
        def standalone(self):
            return None

    environment = Hidden()
    found = alphanpi.export_evaluator(environment, Intended(environment), ORIGIN, samples=10, max_size=3)
    assert 'env.call("LIGHT_FIRST on further", light_first)' in found.text
    machine = alphanpi.Machine(environment, "DARK_FIRST", Guard(environment).parse("DARK_FIRST", "0000"))
    loaded(found.text).dark_first(machine)
    assert machine.state.boards == (1, 0, 1, 0)
