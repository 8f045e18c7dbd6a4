"""The layout shows the architecture: dependencies between packages point one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import alphanpi
from tests.helpers.paths import SOURCE

MAY_USE = {
    "support": set(),
    "symbolic": set(),
    "environment": {"symbolic", "support"},
    "environments": {"environment", "symbolic"},
    "runs": {"support"},
    "network": {"environment", "support"},
    "engine": {"network", "environment", "support"},
    "agent": {"engine", "network", "environment", "runs", "support"},
    "cluster": {"agent", "engine", "network", "environment", "support"},
    "proof": {"network", "environment", "symbolic", "support"},
    "verification": {"proof", "symbolic", "cluster", "agent", "engine", "network", "environment", "runs", "support"},
    "exporting": {"verification", "cluster", "agent", "engine", "network", "environment", "support"},
    "learn": {"verification", "cluster", "agent", "engine", "network", "environment", "support"},
    "paper": {"learn", "engine", "network", "environment", "support"},
    "training": {
        *("paper", "learn", "verification", "cluster", "agent", "network", "environment", "runs", "support"),
    },
    "sweeping": {"cluster", "training", "agent", "network", "environment", "runs", "support"},
    "reporting": {"exporting", "verification", "agent", "engine", "environment", "runs", "support"},
    "gymnasium": {"reporting", "environment", "support"},
    "bench": {
        *("training", "learn", "exporting", "cluster", "agent"),
        *("engine", "network", "environments", "environment", "support"),
    },
    "cli": {
        *("sweeping", "bench", "reporting", "training", "learn", "exporting", "verification"),
        *("cluster", "agent", "environment", "support"),
    },
}
"""Which packages each may import from, from the bottom up; docs/architecture.md draws it."""

PUBLIC_VERBS = SOURCE / "agent" / "verbs.py"
"""An agent's methods that are the package's verbs: it looks them up in the public API, above all packages."""


class Import(NamedTuple):
    """A module, and what it imports of ours."""

    file: Path
    target: str

    @property
    def package(self) -> str:
        return self.file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports() -> Iterator[Import]:
    for file in sorted(SOURCE.rglob("*.py")):
        if (file.parent == SOURCE and file.name != "paper.py") or file == PUBLIC_VERBS:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}: imports are absolute"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            yield from (Import(file, name) for name in names if name.split(".")[0] == "alphanpi")


def test_dependencies_point_one_way():
    wrong = []
    for one in imports():
        used = one.target.split(".")[1]
        if used not in ("errors", "__version__", one.package) and used not in MAY_USE[one.package]:
            wrong.append(f"{one.file.relative_to(SOURCE)} imports {one.target}")
    assert wrong == []


def test_every_permission_is_used_and_none_goes_up():
    used = {(one.package, one.target.split(".")[1]) for one in imports()}
    assert {(package, other) for package, others in MAY_USE.items() for other in others} <= used
    order = list(MAY_USE)
    assert all(order.index(other) < order.index(package) for package, others in MAY_USE.items() for other in others)


def test_the_top_level_holds_the_public_api_and_errors_alone():
    assert {file.name for file in SOURCE.glob("*.py")} == {"__init__.py", "__main__.py", "errors.py", "paper.py"}
    assert {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()} == {*MAY_USE} - {"paper"}


def test_source_never_reaches_into_the_tests():
    for file in SOURCE.rglob("*.py"):
        assert '"tests"' not in file.read_text(), file


def test_specifying_and_checking_needs_no_torch():
    code = "import sys, alphanpi; alphanpi.check(alphanpi.make('hanoi'), samples=2); print('torch' in sys.modules)"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert outcome.stdout == "False\n"


def test_no_package_but_environments_and_bench_names_an_environment():
    names = {listing.id for listing in alphanpi.available()}
    assert "hanoi" in names
    found = [
        f"{file.relative_to(SOURCE)}:{node.lineno}: {node.value!r}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file.relative_to(SOURCE).parts[0] not in ("environments", "bench")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert found == []


def test_every_class_has_a_name_of_its_own():
    places: dict[str, list[Path]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(file)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
