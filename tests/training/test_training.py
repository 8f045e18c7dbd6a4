"""Training runs from outside: killed, interrupted, damaged and resumed; what they leave behind."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from alphanpi.learn.config import TrainConfig
from alphanpi.runs.directory import RunDirectory
from alphanpi.support.config import override
from alphanpi.training.presets import preset
from tests.helpers.commands import assert_one_line, command
from tests.helpers.runs import content

ITERATIONS = 80


# Quick iterations, and a curriculum that cannot be completed.
SETTINGS = {
    "search.simulations": 20,
    "episodes.per_iteration": 8,
    "learning.gradient_steps": 4,
    "curriculum.threshold": 1.0,
    "learning.learning_rate": 1e-9,  # it is not done before it is stopped
}


OPTIONS = [word for key, value in SETTINGS.items() for word in (f"--{key}", str(value))]


# Decided by the clock; and simulations, because a call that several episodes need may be searched more than once,
# depending on what the engine remembers from earlier iterations.
NOT_REPEATABLE = ("seconds", "elapsed", "simulations", "evaluations")


def train(out: Path, *arguments, iterations: int = ITERATIONS) -> list[str]:
    return ["train", "hanoi", "--seed", "3", "--out", str(out), *OPTIONS, "--max_iterations", str(iterations)] + [
        str(argument) for argument in arguments
    ]


def started(*arguments) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", "from alphanpi.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )


def send_at(process: subprocess.Popen, run: Path, iteration: int, number: signal.Signals) -> tuple[str, str]:
    """Send a signal as soon as the run has recorded that many iterations; what the process printed."""
    metrics = run / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not (metrics.exists() and metrics.read_bytes().count(b"\n") >= iteration):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(number)
    return process.communicate(timeout=60)


def records(run: Path) -> list[dict]:
    """The metrics that a resumed run has to repeat."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in NOT_REPEATABLE} for line in lines]


def assert_same_end(run: Path, other: Path) -> None:
    for name in ("model.safetensors", "trainer.safetensors"):
        mine, others = (folder / "checkpoints" / "last" / name for folder in (run, other))
        tensors, expected = load_file(mine), load_file(others)
        assert tensors.keys() == expected.keys()
        assert all(torch.equal(tensors[key], expected[key]) for key in expected), name
        assert mine.read_bytes() == others.read_bytes(), name
    assert [record["iteration"] for record in records(run)] == list(range(1, ITERATIONS + 1))
    assert records(run) == records(other)


def checkpoints(run: Path) -> list[Path]:
    """From the oldest to the newest."""
    return sorted((run / "checkpoints").glob("iteration_*"))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never interrupted."""
    run = tmp_path_factory.mktemp("reference") / "run"
    outcome = command(*train(run))
    assert outcome.code == 1
    assert "stopped (iteration limit)" in outcome.out
    return run


@pytest.fixture(scope="module")
def first_part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run, stopped at iteration 50 as if its process had gone away there."""
    run = tmp_path_factory.mktemp("part") / "run"
    assert command(*train(run, iterations=50)).code == 1
    config = run / "config.toml"
    text = config.read_text()
    assert "max_iterations = 50" in text
    config.write_text(text.replace("max_iterations = 50", f"max_iterations = {ITERATIONS}"))
    return run


@pytest.fixture
def unfinished(first_part: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    run = tmp_path / "run"
    shutil.copytree(first_part, run, symlinks=True)
    return run


def test_a_run_killed_again_and_again_ends_as_if_it_had_never_stopped(reference, tmp_path):
    run = tmp_path / "run"
    moments = (4, 23, 41)  # before the first checkpoint, and between later ones
    for moment in moments:
        process = started(*(train(run) if moment == moments[0] else ["resume", str(run)]))
        send_at(process, run, moment, signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert len(records(run)) < ITERATIONS
    assert command("resume", run).code == 1
    assert_same_end(run, reference)


def test_a_half_written_checkpoint_and_record_are_ignored(reference, unfinished):
    leftover = unfinished / "checkpoints" / ".writing-0123abcd"
    leftover.mkdir()
    (leftover / "model.safetensors").write_bytes(b"half")
    with (unfinished / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 51, "level"')
    outcome = command("resume", unfinished)
    assert (outcome.code, outcome.err) == (1, "")
    assert_same_end(unfinished, reference)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_leaves_a_checkpoint_and_can_go_on(reference, tmp_path, number):
    run = tmp_path / "run"
    process = started(*train(run))
    out, err = send_at(process, run, 13, number)
    assert process.returncode == 1
    assert err == ""
    assert "stopped (interrupted)" in out
    assert f"alphanpi resume {run}" in out
    assert checkpoints(run)[-1].name == f"iteration_{len(records(run)):06d}"
    assert command("resume", run).code == 1
    assert_same_end(run, reference)


@pytest.mark.parametrize("name", ["model.safetensors", "trainer.safetensors", "state.json"])
def test_a_truncated_checkpoint_is_left_alone_and_the_one_before_is_used(unfinished, name):
    previous, newest = checkpoints(unfinished)
    file = newest / name
    file.write_bytes(file.read_bytes()[:100])
    before = content(newest)
    outcome = command("resume", unfinished, "--time-limit", "0.001s")
    assert outcome.code == 1
    assert outcome.err.startswith(f"warning: {newest}: this checkpoint cannot be used (")
    assert outcome.err.count("\n") == 1
    assert records(unfinished)[-1]["iteration"] == int(previous.name.removeprefix("iteration_")) + 1
    assert content(newest) == before


def test_a_run_resumed_from_the_checkpoint_before_ends_the_same(reference, unfinished):
    _, newest = checkpoints(unfinished)
    file = newest / "trainer.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    outcome = command("resume", unfinished)
    assert outcome.code == 1
    assert "trainer.safetensors is damaged" in outcome.err
    assert_same_end(unfinished, reference)


def test_without_a_usable_checkpoint_the_run_is_refused_and_nothing_is_touched(unfinished):
    for folder in checkpoints(unfinished):
        file = folder / "model.safetensors"
        file.write_bytes(file.read_bytes()[:100])
    before = content(unfinished)
    assert_one_line(command("resume", unfinished), "cannot be used", "model.safetensors is damaged")
    assert content(unfinished) == before


def test_another_weights_file_in_place_of_the_model_is_noticed(unfinished):
    _, newest = checkpoints(unfinished)
    save_file({"weight": torch.zeros(3)}, newest / "model.safetensors")
    assert_one_line(command("eval", unfinished), "model.safetensors", "not one of AlphaNPI's")
    outcome = command("resume", unfinished, "--time-limit", "0.001")
    assert outcome.code == 1
    assert "model.safetensors is damaged" in outcome.err


def test_a_time_limit_stops_with_a_checkpoint(tmp_path):
    run = tmp_path / "run"
    began = time.monotonic()
    outcome = command(*train(run, "--time-limit", "1s", iterations=100_000))
    assert outcome.code == 1
    assert 1 <= time.monotonic() - began < 20
    assert "stopped (time limit)" in outcome.out
    assert checkpoints(run)[-1].name == f"iteration_{len(records(run)):06d}"
    assert (run / "checkpoints" / "last").resolve() == checkpoints(run)[-1].resolve()


def test_resuming_a_run_at_its_iteration_limit_adds_nothing(reference, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(reference, run, symlinks=True)
    assert command("resume", run).code == 1
    assert_same_end(run, reference)


def test_the_run_directory_tells_what_was_run(reference):
    directory = RunDirectory(reference)
    expected = override(preset("default", "hanoi"), {**SETTINGS, "max_iterations": ITERATIONS})
    assert directory.config(TrainConfig()) == expected
    meta = directory.meta()
    assert (meta.environment, meta.options, meta.seed, meta.preset, meta.device) == ("hanoi", {}, 3, "default", "cpu")
    assert set(json.loads((reference / "meta.json").read_text())) == {
        *("environment", "options", "seed", "preset", "device"),
        *("command", "started", "python", "platform", "packages", "configuration"),
        "beginning",
    }
    assert {"alphanpi", "torch", "numpy", "numba"} <= set(meta.packages)


def test_metrics_have_the_same_keys_in_every_iteration(reference):
    lines = (reference / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == ITERATIONS
    for line in lines:
        record = json.loads(line)
        assert set(record) == {
            *("iteration", "level", "advanced", "success", "explored", "explanation"),
            *("policy_loss", "value_loss", "gradient_norm", "episodes", "episode_length"),
            *("simulations", "evaluations", "replay_traces", "seconds", "exam", "verdict", "memory", "elapsed"),
        }
        assert set(record["seconds"]) == {*("search", "evaluation", "environment", "gradients", "validation", "other")}
        assert set(record["success"]) == set(record["explored"]) == {"HANOI"}


def test_two_checkpoints_are_kept_and_last_is_the_newest(reference):
    assert [path.name for path in checkpoints(reference)] == [f"iteration_{ITERATIONS - 10:06d}", "iteration_000080"]
    last = reference / "checkpoints" / "last"
    assert last.is_symlink()
    assert set(content(last.resolve())) == {"model.safetensors", "trainer.safetensors", "state.json"}
    assert not list((reference / "checkpoints").glob(".*"))


@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="tensorboard is not installed")
def test_tensorboard_events_are_written(reference):
    assert list((reference / "tensorboard").glob("events.out.tfevents.*"))


def test_training_into_an_existing_run_is_refused(reference):
    before = content(reference)
    assert_one_line(command(*train(reference)), "a run is there already", "alphanpi resume")
    assert content(reference) == before
