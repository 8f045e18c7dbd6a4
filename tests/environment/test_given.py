"""Environments given as ids, paths, classes and instances, and the names runs have for them."""

from __future__ import annotations

import sys
import types

import pytest

import alphanpi
from alphanpi import Environment, UsageError, action, make, program
from alphanpi.environment import given as naming
from alphanpi.environment.given import as_environment, identify, options_of
from alphanpi.environments.hanoi import Hanoi
from alphanpi.environments.recursive_sorting import RecursiveSorting
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.modules import forgetting
from tests.helpers.paths import LIGHTS


class Limited(Environment[int]):
    """Counts down from a number that its options bound."""

    fields = ("zero",)

    def __init__(self, most: int = 5, hidden: int = 0) -> None:
        self._most = most
        self.secret = hidden

    @action(pre=lambda state: state > 0)
    def DOWN(self, state):
        return state - 1

    @program(level=1, depth=8)
    def EMPTY(self, before, after):
        return after == 0

    def initial(self, program, size, rng):
        return min(size, self._most)

    def observe(self, state):
        return (state == 0,)

    def size(self, state):
        return state


NAME = f"{__name__}:Limited"


def test_ids_paths_classes_and_instances_are_environments():
    for given in ("hanoi", Hanoi, Hanoi()):
        assert isinstance(as_environment(given), Hanoi)
    assert type(as_environment(LIGHTS)).__name__ == "Lights"
    assert as_environment(Limited, most=3)._most == 3  # type: ignore[attr-defined]
    assert alphanpi.check("hanoi", samples=2).ok
    assert alphanpi.check(Hanoi, samples=2).ok


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (int, {}, "int is no environment: its class has to derive from alphanpi.Environment"),
        (17, {}, "17 is no environment; give an id"),
        (Limited(), {"most": 2}, r"options \(most\) are for a class; an instance of Limited has its own"),
        (Limited, {"most": {1}}, "options of an environment are kept as JSON"),
    ],
)
def test_what_is_no_environment_is_refused(given, options, message):
    with pytest.raises(UsageError, match=message):
        identify(given, options)


def test_built_in_classes_have_their_ids():
    assert identify(Hanoi, {}).identifier == "hanoi"
    named = identify(RecursiveSorting, {"observation": "compare"})
    assert (named.identifier, named.options) == ("recursive-sorting", {"observation": "compare"})
    named = identify(make("recursive-sorting-compare"), {})
    assert (named.identifier, named.options) == ("recursive-sorting", {"observation": "compare"})


def test_classes_of_modules_and_files_have_names_that_other_processes_understand(tmp_path, monkeypatch):
    assert identify(Limited, {"most": 3}).identifier == NAME
    assert type(make(NAME)).__name__ == "Limited"
    (tmp_path / "beside.py").write_text(COUNTDOWN)
    monkeypatch.syspath_prepend(tmp_path)
    with forgetting("beside"):
        from beside import Countdown  # type: ignore[import-not-found]

        named = identify(Countdown, {})
    assert named.identifier == f"{tmp_path}/beside.py:Countdown"
    assert type(make(named.identifier)).__name__ == "Countdown"
    loaded = identify(type(make(str(LIGHTS))), {})
    assert loaded.identifier == f"{LIGHTS}:Lights"


def test_options_of_an_instance_are_found_out_where_they_can_be():
    assert options_of(Limited()) == {}
    assert options_of(Limited(most=3)) == {"most": 3}
    assert options_of(Limited(hidden=3)) is None  # it is kept under another name
    assert identify(Limited(hidden=3), {}).identifier == "in-memory:Limited"


def test_classes_that_no_file_holds_are_named_as_such(monkeypatch):
    class Local(Limited):
        pass

    assert identify(Local, {}).identifier == "in-memory:Local"
    interactive = types.ModuleType("__main__")
    interactive.Limited = type("Limited", (Limited,), {"__module__": "__main__"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__main__", interactive)
    assert identify(interactive.Limited, {}).identifier == "in-memory:Limited"
    interactive.__file__ = naming.__file__  # as consoles do: the class is not in it
    assert identify(interactive.Limited, {}).identifier == "in-memory:Limited"
    interactive.__file__ = __file__
    assert identify(interactive.Limited, {}).identifier == f"{__file__}:Limited"
