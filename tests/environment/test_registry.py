"""Environments are found by id, file, module and entry point; what cannot be found or loaded is explained."""

from __future__ import annotations

import importlib
import importlib.metadata
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from alphanpi.environment import registration, registry
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.errors import EnvironmentFault, SpecificationError, UnknownEnvironmentError, UsageError
from tests.helpers.countdown import COUNTDOWN

COUNTER = COUNTDOWN.replace("Countdown", "Counter").replace("state - 1", "state - self.step") + textwrap.indent(
    "\ndef __init__(self, step: int = 1) -> None:\n    self.step = step\n", "    "
)


def made(identifier: str, **options: Any) -> Any:
    """The environment, untyped: its attributes are its own."""
    return registry.make(identifier, **options)


def test_unknown_id_is_answered_with_close_ones():
    with pytest.raises(UnknownEnvironmentError, match="unknown environment 'hannoi': did you mean hanoi"):
        registry.make("hannoi")


def test_unknown_id_without_close_ones_is_answered_with_all():
    with pytest.raises(
        UnknownEnvironmentError,
        match=r"there are .*flat-sorting, hanoi, .*recursive-sorting, recursive-sorting-compare, sorting",
    ):
        registry.make("@@@@")


def test_builtin_by_id_with_options():
    assert made("sorting").observation == "paper"
    assert made("sorting", observation="compare").observation == "compare"


def test_unknown_option_is_refused():
    with pytest.raises(SpecificationError, match=r"Sorting: it cannot be created with these options.*colour"):
        registry.make("sorting", colour="red")
    with pytest.raises(UsageError, match="choose paper or compare"):
        registry.make("sorting", observation="colour")


def test_file_with_and_without_class_name(written):
    path = written(COUNTER)
    named = registry.make(f"{path}:Counter", step=2)
    assert named.act(5, "DOWN") == 3
    assert type(registry.make(str(path))) is type(named)


def test_file_with_several_classes_asks_which(written):
    path = written(COUNTER + "\n\nclass Other(Counter):\n    pass\n")
    assert type(registry.make(f"{path}:Other")).__name__ == "Other"
    with pytest.raises(UnknownEnvironmentError, match=r"say which class: .*there is Counter, Other"):
        registry.make(str(path))


def test_missing_file():
    with pytest.raises(UnknownEnvironmentError, match=r"nowhere\.py: there is no such file"):
        registry.make("nowhere.py:Counter")


def test_wrong_class_name_is_answered_with_the_right_one(written):
    path = written(COUNTER)
    with pytest.raises(UnknownEnvironmentError, match="no environment class 'Conter'; did you mean Counter"):
        registry.make(f"{path}:Conter")


def test_file_without_environment(written):
    path = written("class Thing:\n    pass\n")
    with pytest.raises(UnknownEnvironmentError, match="'Thing': it holds no Environment"):
        registry.make(f"{path}:Thing")
    with pytest.raises(UnknownEnvironmentError, match="there is none"):
        registry.make(str(path))


def test_file_that_raises_names_file_and_line(written):
    path = written("\n\nvalue = 1 / 0\n")
    with pytest.raises(EnvironmentFault) as fault:
        registry.make(f"{path}:Counter")
    assert str(fault.value) == f"{path}: loading it failed: line 3: ZeroDivisionError: division by zero"


def test_file_that_failed_can_be_mended(written):
    path = written("value = 1 / 0\n")
    with pytest.raises(EnvironmentFault):
        registry.make(str(path))
    written(COUNTER + "\n# mended\n")
    assert made(str(path)).step == 1


def test_file_that_exits_is_a_fault(written):
    path = written("raise SystemExit(3)\n")
    with pytest.raises(EnvironmentFault, match="line 1: SystemExit"):
        registry.make(str(path))


def test_file_with_a_syntax_error_names_the_line(written):
    path = written("value = 1\nclass :\n    pass\n")
    with pytest.raises(EnvironmentFault, match=r"mine\.py: loading it failed: line 2: SyntaxError"):
        registry.make(str(path))


def test_file_with_a_wrong_declaration_names_file_program_and_rule(written):
    path = written(COUNTER.replace("level=1", "level=2"))
    with pytest.raises(SpecificationError, match=r"mine\.py: Counter: EMPTY: level gap"):
        registry.make(str(path))


def test_module_path():
    environment = registry.make("alphanpi.environments.hanoi:Hanoi")
    assert type(environment).__name__ == "Hanoi"
    with pytest.raises(UnknownEnvironmentError, match="did you mean Hanoi"):
        registry.make("alphanpi.environments.hanoi:Hanoy")
    with pytest.raises(UnknownEnvironmentError, match=r"no module named 'alphanpi\.environments\.nothing'"):
        registry.make("alphanpi.environments.nothing:Nothing")


def test_module_that_raises(tmp_path, monkeypatch):
    (tmp_path / "raising_environment.py").write_text("import no_such_module_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EnvironmentFault, match=r"raising_environment: loading it failed.*no_such_module_anywhere"):
        registry.make("raising_environment:Counter")


def test_available_lists_the_builtin_environments():
    listings = {listing.id: listing for listing in registry.available()}
    assert {"hanoi", "sorting", "recursive-sorting", "flat-sorting"} <= set(listings)
    assert listings["hanoi"].summary == "Tower of Hanoi, solved recursively."
    assert all(listing.environment is not None and listing.broken is None for listing in listings.values())


def test_entry_points_are_listed_and_loaded_even_when_one_is_broken(tmp_path, monkeypatch):
    (tmp_path / "plugin_environment.py").write_text(COUNTER)
    (tmp_path / "broken_environment.py").write_text("value = 1 / 0\n")
    package = tmp_path / "plugin-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        f"[{registration.ENTRY_POINT_GROUP}]\n"
        "counter = plugin_environment:Counter\nbroken = broken_environment:Broken\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert "counter" in importlib.metadata.entry_points(group=registration.ENTRY_POINT_GROUP).names
    listings = {listing.id: listing for listing in registry.available()}
    assert listings["counter"].summary == "Counts down."
    assert listings["broken"].environment is None
    assert "ZeroDivisionError" in str(listings["broken"].broken)
    assert listings["hanoi"].broken is None
    assert made("counter", step=3).step == 3
    monkeypatch.delitem(sys.modules, "plugin_environment")


def test_registered_environment(monkeypatch):
    monkeypatch.setattr(registration, "_registered", dict(registration._registered))
    registration.register("mine", RecursiveSorting)
    registration.register("towers", "alphanpi.environments.hanoi:Hanoi")
    assert isinstance(registry.make("mine"), RecursiveSorting)
    assert type(registry.make("towers")).__name__ == "Hanoi"
    for taken in ("mine", "hanoi"):
        with pytest.raises(SpecificationError, match=f"'{taken}' is registered already"):
            registration.register(taken, RecursiveSorting)


def test_a_package_that_offers_a_built_in_id_does_no_harm(tmp_path):
    package = tmp_path / "plugin-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[{registration.ENTRY_POINT_GROUP}]\nhanoi = elsewhere:Hanoi\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import alphanpi; print(alphanpi.make('hanoi').__module__)"
    )
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert outcome.stdout == "alphanpi.environments.hanoi\n"


def test_what_is_legal_cannot_be_overridden_by_a_mixin_either():
    class Mask:
        def legal(self, program, state):
            return (True,) * 9

    with pytest.raises(SpecificationError, match="Masked: legal: what is legal follows from the pre-conditions"):

        class Masked(Mask, RecursiveSorting):
            """Its mask comes from elsewhere."""
