"""The guard checks what members return; nobody calls an environment without one."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import numpy as np
import pytest

from alphanpi import Environment, EnvironmentFault, SpecificationError, UsageError
from alphanpi.environment.guard import Guard
from alphanpi.environment.registry import make
from tests.helpers.chain import Chain
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.paths import SOURCE


@pytest.mark.parametrize("found", [2.0, float("nan"), -1, "3", None, np.float64(2)], ids=repr)
@pytest.mark.parametrize("name", ["size", "measure"])
def test_sizes_and_measures_are_whole_numbers(name, found):
    guard = Guard(type("Broken", (Chain,), {name: lambda self, *arguments: found})())
    with pytest.raises(SpecificationError, match=rf"Broken: {name}: it returned .* \(state 3, .*test_guard.py:\d+\)"):
        guard.size(3) if name == "size" else guard.measure("DOWN", 3)


def test_sizes_may_be_numpys():
    guard = Guard(type("Fine", (Chain,), {"size": lambda self, state: np.int64(state)})())
    assert (guard.size(3), guard.measure("DOWN", 3)) == (3, 3)


@pytest.mark.parametrize(
    ("members", "call", "message"),
    [
        ({"cutoff": lambda self: 5}, lambda guard: guard.cutoff(), "cutoff: it returned a int, not a Cutoff"),
        ({"standalone": lambda self: "x"}, lambda guard: guard.standalone(), "it returned a str, not a Standalone"),
        ({"enumerate": lambda self, *_: [[1]]}, lambda guard: list(guard.enumerate("DOWN", 1)), "unhashable state"),
        ({"enumerate": lambda self, *_: [None]}, lambda guard: list(guard.enumerate("DOWN", 1)), "returned None"),
        ({"enumerate": lambda self, *_: 5}, lambda guard: list(guard.enumerate("DOWN", 1)), "TypeError"),
        ({"derived": ("a",), "derive": lambda self, seen: (0.5,)}, lambda guard: guard.derive((1,)), "'a' is 0.5"),
        (
            {"derived": ("a",), "derive": lambda self, seen: itertools.count()},
            lambda guard: guard.derive((1,)),
            "2 values for 1",
        ),
    ],
)
def test_what_optional_members_return_is_checked(members, call, message):
    with pytest.raises((SpecificationError, EnvironmentFault), match=message):
        call(Guard(type("Broken", (Chain,), members)()))


def test_a_size_beyond_all_bounds_is_refused_before_a_problem_is_made():
    with pytest.raises(UsageError, match="Chain: DOWN: size 1000000000: give a whole number"):
        Guard(Chain()).initial("DOWN", 10**9, np.random.default_rng(0))


def test_users_files_may_have_the_names_of_ours(tmp_path):
    path = tmp_path / "guard.py"
    path.write_text(COUNTDOWN.replace("return (state == 0,)", "raise KeyError('lost')"))
    with pytest.raises(EnvironmentFault, match=rf"^{path}:\d+: Countdown: observe in state 3: KeyError"):
        Guard(make(str(path))).observe(3)


_MEMBERS = {name for name in dir(Environment) if callable(getattr(Environment, name)) and not name.startswith("_")}


def bare_calls(path: Path) -> list[str]:
    """Members of environments that are read in a file, other than from a guard."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in _MEMBERS:
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if name in ("environment", "env"):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno}: {name}.{node.attr}")
    return found


def test_environments_are_called_through_guards_only():
    assert {"initial", "observe", "format", "legal", "cutoff"} <= _MEMBERS
    assert bare_calls(SOURCE / "environment" / "guard.py")  # the test can fail
    # What checks is a guard itself, the oracle is the definition, and proofs look at what unknown values raise, as does
    # what counter-examples of theirs are made of.
    allowed = ("environment/", "environments/", "bench/oracle.py", "proof/", "symbolic/", "verification/exploration.py")
    files = [path for path in SOURCE.rglob("*.py") if not str(path.relative_to(SOURCE)).startswith(allowed)]
    assert len(files) > 40
    assert [call for path in files for call in bare_calls(path)] == []
