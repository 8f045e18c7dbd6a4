"""Training runs from outside: killed, interrupted, damaged and resumed; what they leave behind; what they learned."""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from alphanpi.cli.learning import KEYS_WITHOUT_SECTION
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.metrics import scalars
from alphanpi.learn.presets import preset
from alphanpi.learn.trainer import IterationReport, Seconds
from alphanpi.runs.directory import RunDirectory
from alphanpi.support.config import Config, override, read_toml
from tests.helpers.commands import Outcome, assert_one_line, command
from tests.helpers.paths import DOCS, ROOT

ITERATIONS = 80
# Quick iterations, and a curriculum that cannot be completed.
SETTINGS = {
    "search.simulations": 20,
    "episodes.per_iteration": 8,
    "learning.gradient_steps": 4,
    "curriculum.threshold": 1.0,
    "curriculum.patience": 10_000,
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


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """An agent that has learned Hanoi, and what the command printed."""
    run = tmp_path_factory.mktemp("trained") / "run"
    return run, command("train", "hanoi", "--seed", 0, "--out", run)


# ---------------------------------------------------------------------------- killed, interrupted, damaged


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


# ---------------------------------------------------------------------------- the run directory


def test_the_run_directory_tells_what_was_run(reference):
    directory = RunDirectory(reference)
    expected = override(preset("default", "hanoi"), {**SETTINGS, "max_iterations": ITERATIONS})
    assert directory.config(TrainConfig()) == expected
    meta = directory.meta()
    assert (meta.environment, meta.options, meta.seed, meta.preset, meta.device) == ("hanoi", {}, 3, "default", "cpu")
    assert set(json.loads((reference / "meta.json").read_text())) == {
        *("environment", "options", "seed", "preset", "device"),
        *("command", "started", "python", "platform", "packages", "configuration"),
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
            *("simulations", "evaluations", "replay_traces", "seconds", "exam", "verdict", "elapsed"),
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


# ---------------------------------------------------------------------------- configuration and wrong input


def test_training_into_an_existing_run_is_refused(reference):
    before = content(reference)
    assert_one_line(command(*train(reference)), "a run is there already", "alphanpi resume")
    assert content(reference) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--search.simulatons", "5"],
            "key 'search.simulatons'; did you mean search.simulations?",
        ),
        (["--search.discount", "2"], "configuration: search.discount = 2: "),
        (["--search.discount=high"], "configuration: search.discount = 'high': "),
        (["--learning.unroll", "never"], "configuration: learning.unroll = 'never': "),
        (["--search.discount"], "--search.discount needs a value"),
        (["--max_iterations", "0"], "configuration: max_iterations = 0: "),
        (["--preset", "papper"], "unknown preset 'papper'; there are default and paper"),
        (["--config", "absent.toml"], "absent.toml: cannot be read"),
        (["--time-limit", "soon"], "--time-limit soon: write 90, 90s, 5m or 1h"),
        (["--time-limit", "0"], "--time-limit 0 leaves no time"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_options_are_named_and_no_run_is_begun(tmp_path, options, message):
    run = tmp_path / "run"
    assert_one_line(command("train", "hanoi", "--out", run, *options), message)
    assert not run.exists()


def test_command_line_before_file_before_preset(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("max_iterations = 7\n[search]\nsimulations = 11\nc_puct = 0.25\n")
    outcome = command(
        *("config", "hanoi", "--preset", "paper", "--config", file),
        *("--search.simulations", 12, "--episodes.base_case=false"),
    )
    assert outcome.code == 0
    shown = tmp_path / "shown.toml"
    shown.write_text(outcome.out)
    assert override(TrainConfig(), read_toml(shown)) == override(
        preset("paper", "hanoi"),
        {"max_iterations": 7, "search.simulations": 12, "search.c_puct": 0.25, "episodes.base_case": False},
    )


@pytest.mark.parametrize("name", ["default", "paper"])
def test_config_prints_every_key_as_toml(name):
    outcome = command("config", "--preset", name)
    assert outcome.code == 0
    values = tomllib.loads(outcome.out)
    config = preset(name)
    for key, value in config.flat().items():
        section, _, last = key.rpartition(".")
        assert (values[section] if section else values)[last] == (list(value) if isinstance(value, tuple) else value)
    assert sum(len(section) if isinstance(section, dict) else 1 for section in values.values()) == len(config.flat())


def test_keys_without_a_section_can_be_given_on_the_command_line():
    fields = TrainConfig.model_fields.items()
    assert [name for name, field in fields if not isinstance(field.default, Config)] == list(KEYS_WITHOUT_SECTION)


# ---------------------------------------------------------------------------- using what was learned


def test_training_to_completion_says_what_to_do_next(trained):
    run, outcome = trained
    assert outcome.code == 0
    assert outcome.err == ""
    assert "level 1 learned: HANOI 100%" in outcome.out
    assert "learned every program in " in outcome.out
    assert outcome.out.endswith(f"next:\n  alphanpi eval {run} --program HANOI\n")


def test_resuming_a_completed_run_adds_nothing(trained):
    run, _ = trained
    before = content(run / "checkpoints")
    outcome = command("resume", run)
    assert outcome.code == 0
    assert "learned every program in " in outcome.out
    assert content(run / "checkpoints") == before


def test_eval_as_json(trained):
    run, _ = trained
    outcome = command("eval", run, "--sizes", "2,5", "--episodes", 6, "--json")
    assert outcome.code == 0
    scores = json.loads(outcome.out)
    assert [(score["size"], score["mode"]) for score in scores] == [
        *((2, "greedy"), (2, "planning"), (5, "greedy"), (5, "planning"))
    ]
    for score in scores:
        assert {"program", "size", "mode", "episodes", "successes", "rate", "seconds_per_episode"} <= set(score)
        assert (score["program"], score["episodes"], score["successes"], score["rate"]) == ("HANOI", 6, 6, 1.0)
        assert score["seconds_per_episode"] > 0


def test_eval_as_a_table(trained):
    run, _ = trained
    outcome = command("eval", run, "--sizes", "3", "--episodes", 4, "--mode", "greedy")
    assert outcome.code == 0
    assert "HANOI size 3 greedy: 4/4" in outcome.out


def test_run_prints_the_moves(trained):
    run, _ = trained
    outcome = command("run", run, "HANOI", 3)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert len(lines) == 7
    assert lines[0] == "move disk 1 from A to C"
    assert lines[3] == "move disk 3 from A to C"


def test_trace_prints_the_call_tree(trained):
    run, _ = trained
    outcome = command("trace", run, "HANOI", 2)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "HANOI"
    assert lines[1].startswith("├── SWAP_A_T  A: 2 1   B: -   C: -")
    assert lines[2].startswith("├── HANOI  ")
    assert lines[3].startswith("│   ├── MOVE_DISK  ")
    assert lines[-2].startswith("└── STOP  ")
    assert lines[-1] == "HANOI solved in 12 actions: A: -   B: -   C: 2 1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "RUN", "HANOY", "3"], "no program 'HANOY'; there are "),
        (["run", "RUN", "MOVE_DISK", "3"], "MOVE_DISK is an atomic action"),
        (["run", "RUN", "HANOI", "three"], "'three' is not a number of disks"),
        (["trace", "RUN", "HANOI", "0"], "'0' is not a number of disks"),
        (["eval", "RUN", "--program", "HANOY"], "no program 'HANOY'"),
        (["eval", "RUN", "--sizes", "some"], "--sizes some: write numbers"),
        (["eval", "RUN", "--sizes", "0"], "HANOI cannot start at size 0"),
        (["eval", "ABSENT"], "there is no such run"),
        (["run", "ABSENT", "HANOI", "3"], "there is no such run"),
        (["resume", "ABSENT"], "not a run directory"),
        (["eval", "EMPTY"], "no weights in it"),
        (["trace", "EMPTY", "HANOI", "3"], "no weights in it"),
        (["resume", "EMPTY"], "not a run directory"),
        (["run", "pretrained:nobody", "HANOI", "3"], "no pretrained agent 'nobody'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_of_a_run_is_one_line(trained, tmp_path, arguments, message):
    places = {"RUN": trained[0], "ABSENT": tmp_path / "absent", "EMPTY": tmp_path}
    assert_one_line(command(*(places.get(word, word) for word in arguments)), message)


# ---------------------------------------------------------------------------- the documentation


PAGE = DOCS / "training.md"


def test_the_page_lists_every_configuration_key_as_it_is():
    """To renew the table: python scripts/configuration_table.py."""
    renewed = runpy.run_path(str(ROOT / "scripts" / "configuration_table.py"))["renewed"]
    assert renewed(PAGE.read_text()) == PAGE.read_text()


def test_the_page_explains_every_metric():
    page = PAGE.read_text()
    report = IterationReport(
        *(1, 1, False, {"PROGRAM": 0.0}, {"PROGRAM": 0.0}, "", 0.0, 0.0, 0.0, 1, 1.0, 1, 1, 1), seconds=Seconds()
    )
    for name in [*IterationReport._fields, "elapsed", *scalars(report)]:
        assert f"`{name}`" in page, name


def test_config_of_an_unknown_environment_is_refused(run):
    code, out, err = run("config", "sortin")
    assert (code, out) == (2, "")
    assert "sorting" in err
