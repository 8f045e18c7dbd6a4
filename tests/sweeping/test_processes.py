"""Jobs in processes of their own, and what is left when they, or the sweep, are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from alphanpi.runs.directory import RunDirectory
from tests.helpers.paths import SOURCE
from tests.helpers.sweeps import really, stored, swept
from tests.helpers.tiny import SETTINGS, bits, newest, tiny_run

ITERATIONS = 60
PATIENCE = 180


def until(met, process: subprocess.Popen | None = None) -> None:
    deadline = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < deadline, "it does not happen"
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.02)


def started(*arguments) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "alphanpi", "sweep", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def iterations(run: Path) -> int:
    """Of the newest checkpoint."""
    state = newest(run) / "state.json"
    return json.loads(state.read_text())["iteration"] if state.exists() else 0


def test_kills_of_a_job_and_of_the_sweep_change_nothing_of_what_is_learned(tmp_path, monkeypatch):
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    settings = "\n".join(f"{key} = {value}" for key, value in {**SETTINGS, "max_iterations": ITERATIONS}.items())
    file.write_text(f'environments = ["hanoi"]\nseeds = [3]\n[settings]\n{settings}\n')
    run = out / "hanoi" / "seed3" / "run"
    process = started(file, "--out", out, "--jobs", 2)
    try:
        until(lambda: iterations(run) >= 10, process)
        os.kill(int((run / ".lock").read_text()), signal.SIGKILL)
        until(lambda: iterations(run) >= 20, process)
        [job] = stored(out).values()
        assert (job["attempts"], job["note"]) == (2, "taken up again: killed by SIGKILL")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        until(lambda: not RunDirectory(run).at_work())  # the job ends with the sweep, and saves where it is
        saved = iterations(run)
        assert 20 <= saved < ITERATIONS
        process = started("--resume", out)
        until(lambda: iterations(run) > saved, process)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, "Traceback" in errors) == (130, False)
        assert f"To go on:\n  alphanpi sweep --resume {out}" in printed
        assert saved < iterations(run) < ITERATIONS
    finally:
        process.kill()
        process.communicate()
    progress, _ = swept(monkeypatch, out, really, out, resume=True)
    assert progress.jobs[0].result.iterations == ITERATIONS
    tiny_run(tmp_path / "alone", iterations=ITERATIONS)
    assert bits(run) == bits(tmp_path / "alone")
