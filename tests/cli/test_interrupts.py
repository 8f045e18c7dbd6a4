"""Ctrl-C ends every command, whatever an environment does or does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.paths import SOURCE


def started(tmp_path: Path, *arguments) -> subprocess.Popen:
    """A command under way, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "alphanpi", *map(str, arguments)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupt(
    process: subprocess.Popen, begun: Path, most: int, after: float = 0.5, swallowed: int = 0
) -> tuple[int, str]:
    """Press Ctrl-C, at most so often, once something has begun; the code and what was said.

    Of those that are swallowed nothing comes, so they are not waited for as long.
    """
    deadline = time.monotonic() + 120
    while not begun.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert begun.exists(), process.communicate(timeout=5)
    try:
        for number in range(most):
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            try:
                _, err = process.communicate(timeout=1 if number < swallowed else 8)
            except subprocess.TimeoutExpired:
                continue
            return process.returncode, err
        raise AssertionError(f"it goes on after {most} interrupts")
    finally:
        process.kill()
        process.communicate()


ENDLESS = {
    "python": "while state >= 0: pass",
    "one function of C": "sum(itertools.count())",
    "swallows": """while state >= 0:
        try:
            while state >= 0: pass
        except BaseException: pass""",
}


def endless(tmp_path: Path, kind: str) -> str:
    return f"\ndef observe(self, state):\n    Path({str(tmp_path / 'begun')!r}).touch()\n    {ENDLESS[kind]}\n"


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("command", ["search", "train", "eval"])
def test_a_member_that_never_returns_can_be_interrupted(rewritten, tmp_path, kind, command):
    path = rewritten(endless(tmp_path, kind))
    arguments = {
        "search": (path, "EMPTY", 3),
        "train": (path, "--out", tmp_path / "run", "--seed", 0),
        "eval": (tmp_path, "--env", path, "--episodes", 1),
    }[command]
    most = 3 if (command, kind) == ("train", "swallows") else 2  # the second one was swallowed
    swallowed = most - 1 if kind == "swallows" else 0
    code, err = interrupt(started(tmp_path, command, *arguments), tmp_path / "begun", most, swallowed=swallowed)
    assert "Traceback" not in err
    assert code in (130, -signal.SIGINT)
    if kind == "python":
        assert (code, err.splitlines()[-1]) == (130, "alphanpi: interrupted")


def test_a_search_without_end_can_be_interrupted(rewritten, tmp_path):
    """All is known after a few states; from then on, nothing but compiled code runs."""
    touching = f"    Path({str(tmp_path / 'begun')!r}).touch()\n    return after == 0\n"
    path = rewritten(f"\ndef post(self, program, before, after):\n{touching}", weights=False)
    text = path.read_text().replace("depth=8", "depth=2_000_000_000").replace("state - 1", "(state - 1) % 3 + 1")
    path.write_text(text)
    process = started(tmp_path, "search", path, "EMPTY", 3, "--simulations", 1_000_000)
    assert interrupt(process, tmp_path / "begun", 1, after=4) == (130, "alphanpi: interrupted\n")


def test_the_first_interrupt_of_a_training_ends_it_with_a_checkpoint(rewritten, tmp_path):
    rewritten("", weights=False)
    process = started(tmp_path, "train", "mine.py", "--out", "run", "--seed", 0, "--learning.learning_rate", 1e-9)
    deadline = time.monotonic() + 120
    metrics = tmp_path / "run" / "metrics.jsonl"
    while not (metrics.exists() and metrics.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    code, _ = interrupt(process, metrics, 1)
    assert code == 1
    assert (tmp_path / "run" / "checkpoints" / "last").exists()


def test_a_long_run_says_so(run, rewritten, tmp_path, monkeypatch):
    slow = "\ndef observe(self, state):\n    import time\n    time.sleep(0.3)\n    return (state == 0,)\n"
    path = rewritten(slow)
    monkeypatch.delenv("ALPHANPI_QUIET")
    monkeypatch.setattr("alphanpi.cli.progress._FIRST_LINE", 0.1)
    _, _, err = run("run", tmp_path, "EMPTY", 3, "--env", path)
    assert "still running; an execution ends after 10,000,000 actions (--max-actions), Ctrl-C ends it now" in err
