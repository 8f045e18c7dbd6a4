"""The demo keeps its run, and replaces nothing but the one it left before. A stub stands for `alphanpi`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

STUB = """#!/bin/sh
echo "alphanpi $*" >> calls
case "$1" in
  train) mkdir -p runs/demo && echo "$$" > runs/demo/meta.json ;;
  export) echo "print('moves')" > runs/demo/hanoi.py ;;
  report) echo page > runs/demo/report.html ;;
  *) if [ "$1" = "${FAILS:-}" ]; then exit 1; fi ;;
esac
"""


@pytest.fixture
def demo(tmp_path):
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin" / "alphanpi"
    stub.write_text(STUB)
    stub.chmod(0o755)

    def start(fails: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}", "FAILS": fails}
        script = ["sh", str(ROOT / "scripts" / "demo.sh")]
        return subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return start


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "runs").iterdir())


def test_the_demo_leaves_its_run_and_page_and_says_what_to_type(demo, tmp_path):
    outcome = demo()
    assert outcome.returncode == 0, outcome.stderr
    assert (tmp_path / "runs" / "demo" / "report.html").read_text() == "page\n"
    assert f"Open {tmp_path}/runs/demo/report.html in a browser" in outcome.stdout
    assert "source .venv/bin/activate" in outcome.stdout
    advice = outcome.stdout.split("Then, for example:\n")[1].splitlines()
    assert all(line.startswith("  alphanpi ") for line in advice)


def test_the_next_demo_replaces_it_unless_it_fails(demo, tmp_path):
    meta = tmp_path / "runs" / "demo" / "meta.json"
    demo()
    first = meta.read_text()
    assert demo(fails="verify").returncode == 1
    assert meta.read_text() == first
    assert kept(tmp_path) == ["demo"]
    assert demo().returncode == 0
    assert meta.read_text() != first
    assert kept(tmp_path) == ["demo"]


def test_what_is_no_finished_demo_is_never_touched(demo, tmp_path):
    (tmp_path / "runs" / "demo").mkdir(parents=True)
    (tmp_path / "runs" / "demo" / "mine").touch()
    outcome = demo()
    assert outcome.returncode == 2
    assert "was not left by a finished demo: move it away" in outcome.stderr
    assert not (tmp_path / "calls").exists()
    assert (tmp_path / "runs" / "demo" / "mine").exists()


def test_a_first_demo_that_fails_leaves_nothing(demo, tmp_path):
    assert demo(fails="eval").returncode == 1
    assert kept(tmp_path) == []
