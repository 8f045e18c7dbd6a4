"""The names the package offers."""

from __future__ import annotations

import importlib
import pkgutil
import types

import pytest

import alphanpi


def test_no_module_hides_a_public_function():
    modules = {module.name for module in pkgutil.iter_modules(alphanpi.__path__)}
    assert not modules & set(alphanpi.__all__)
    for name in sorted(modules - {"__main__"}):
        importlib.import_module(f"alphanpi.{name}")
    for name in alphanpi.__all__:
        assert not isinstance(getattr(alphanpi, name), types.ModuleType)


def test_every_exported_name_resolves():
    assert sorted(alphanpi.__all__) == sorted(set(alphanpi.__all__))
    for name in alphanpi.__all__:
        assert getattr(alphanpi, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        alphanpi.nothing  # noqa: B018 - the access is the test


@pytest.mark.parametrize("name", ["check", "search", "bench_search"])
def test_functions_are_not_hidden_by_modules(name):
    for module in (
        "alphanpi.environment.checking",
        "alphanpi.engine.search",
        "alphanpi.bench",
        "alphanpi.agent.solving",
    ):
        importlib.import_module(module)
    assert isinstance(getattr(alphanpi, name), types.FunctionType)


def test_tab_offers_the_public_names_and_nothing_else():
    assert set(dir(alphanpi)) == {*alphanpi.__all__, "__version__"}
    assert {"train", "report", "verify", "Environment", "StopTraining"} <= set(dir(alphanpi))
    assert not {"importlib", "sys", "annotations", "TYPE_CHECKING", "errors", "environment"} & set(dir(alphanpi))


def test_check_from_python():
    assert alphanpi.check(alphanpi.make("hanoi"), samples=3).ok


def test_search_from_python():
    environment = alphanpi.make("hanoi")
    trace = alphanpi.search(environment, "HANOI", environment.parse("HANOI", "2"))
    assert trace.success
    assert len(trace.actions) == 8


def test_modules_that_environments_import_are_found_where_they_used_to_be():
    for name, member in (
        ("spec", "Environment"),
        ("scene", "Scene"),
        ("cutoff", "Cutoff"),
        ("standalone", "Standalone"),
    ):
        assert getattr(importlib.import_module(f"alphanpi.{name}"), member).__module__.startswith(
            "alphanpi.environment."
        )
