"""Output that nobody reads or that cannot be written; whatever happens is one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.tiny import newest, options


def shell(command: str, *, cwd: Path) -> subprocess.CompletedProcess:
    alphanpi = f"{sys.executable} -c 'from alphanpi.cli import main; main()'"
    text = f"set -o pipefail; {command.replace('alphanpi', alphanpi)}"
    return subprocess.run(["bash", "-c", text], cwd=cwd, capture_output=True, text=True, check=False)


def test_output_that_cannot_be_written_is_an_error(tmp_path):
    for command in ("alphanpi envs > /dev/full", "alphanpi config > /dev/full", "alphanpi envs --json > /dev/full"):
        done = shell(command, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), command
        assert "standard output: cannot be written: No space left on device" in done.stderr
    done = shell("alphanpi envs >&-", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "alphanpi: error: standard output is closed\n")


def test_a_reader_that_goes_away_leaves_the_exit_code(finished, tmp_path):
    done = shell("alphanpi config | true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (141, "")
    done = shell(f"alphanpi verify {finished} --json --max-size 2 | true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")  # REFUTED


def test_training_without_a_reader_stops_with_a_checkpoint(tmp_path):
    words = " ".join(options(100_000))
    done = shell(f"alphanpi train hanoi --seed 3 --out run {words} | true", cwd=tmp_path)
    assert done.returncode == 141
    assert done.stderr.count("\n") == 1
    assert "nobody reads the output any more" in done.stderr
    assert newest(tmp_path / "run").name.startswith("iteration_")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            ZeroDivisionError("oops"),
            70,
            "ZeroDivisionError: oops; this is a bug in AlphaNPI",
        ),
        (RecursionError("deep"), 70, "RecursionError: deep; this is a bug"),
        (MemoryError(), 2, "not enough memory"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you"), 2, "not enough memory"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_happens_is_one_line(run, monkeypatch, error, code, message):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("alphanpi.environment.registry.available", fail)
    outcome = run("envs")
    assert (outcome[0], outcome[2].count("\n")) == (code, 1)
    assert message in outcome[2]
