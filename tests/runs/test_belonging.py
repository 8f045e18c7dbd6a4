"""What belongs together is kept together, and runs are kept apart; runs of earlier versions go on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from alphanpi.agent.loading import load
from alphanpi.reporting.training import learning, training
from alphanpi.runs.directory import RunDirectory
from tests.helpers.commands import assert_one_line
from tests.helpers.tiny import bits, newest, raise_limit, tiny_run

OLD_RUN = Path(__file__).parent / "data" / "old_run"


def test_a_run_of_an_earlier_version_is_read_but_does_not_go_on(run, tmp_path):
    shutil.copytree(OLD_RUN, tmp_path / "run", symlinks=True)
    assert load(tmp_path / "run").card.seed == 3
    assert training(RunDirectory(tmp_path / "run")).iterations == 12
    assert learning(RunDirectory(tmp_path / "run")) is not None
    raise_limit(tmp_path / "run", 13)
    assert_one_line(run("resume", tmp_path / "run"), "was begun with an earlier version", "start a new one")
    assert newest(tmp_path / "run").name == "iteration_000012"


@pytest.mark.parametrize("lines_kept", [0, 16])
def test_a_configuration_of_an_earlier_version_that_was_cut_is_noticed(run, tmp_path, lines_kept):
    shutil.copytree(OLD_RUN, tmp_path / "run", symlinks=True)
    config = tmp_path / "run" / "config.toml"
    config.write_text("".join(config.read_text().splitlines(keepends=True)[:lines_kept]))
    assert_one_line(run("resume", tmp_path / "run"), "config.toml: damaged: no ", " in it; put it back")


def test_a_resumed_run_ends_as_one_that_never_stopped(run, finished, tmp_path):
    tiny_run(tmp_path / "run", iterations=7)
    config = tmp_path / "run" / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 7", "max_iterations = 12"))
    assert run("resume", tmp_path / "run")[0] == 1
    assert bits(tmp_path / "run") == bits(finished)


@pytest.mark.parametrize("kept", [0, 30, 90, -2, None])
def test_another_configuration_than_the_run_was_started_with_is_refused(run, copy, kept):
    config = copy / "config.toml"
    text = config.read_text()
    changed = text.replace("learning_rate = 0.001", "learning_rate = 0.002")
    config.write_text("".join(text.splitlines(keepends=True)[:kept]) if kept is not None else changed)
    before = bits(copy)
    assert_one_line(run("resume", copy), "config.toml: ", "put it back")
    assert bits(copy) == before
    config.write_text(text.replace("max_iterations = 12", "max_iterations = 11"))  # when to stop may be changed
    assert run("resume", copy)[0] == 1


def test_weights_of_another_seed_are_refused(run, copy, tmp_path):
    tiny_run(tmp_path / "other", seed=4)
    shutil.copy(newest(tmp_path / "other") / "model.safetensors", newest(copy))
    assert_one_line(run("run", copy, "HANOI", "1"), "model.safetensors: damaged: not what state.json says was saved")
    for name in ("state.json", "trainer.safetensors"):
        shutil.copy(newest(tmp_path / "other") / name, newest(copy))
    assert_one_line(run("run", copy, "HANOI", "1"), "from another run than ")
    assert "from a run with another seed); going on from iteration 10" in run("resume", copy)[2]


def test_a_checkpoint_of_a_run_with_another_configuration_is_refused(run, copy, tmp_path):
    tiny_run(tmp_path / "other", changes={"learning.learning_rate": 0.002})
    for name in ("model.safetensors", "state.json", "trainer.safetensors"):
        shutil.copy(newest(tmp_path / "other") / name, newest(copy))
    assert_one_line(run("eval", copy), "from another run than ")
    assert "from another run, or meta.json was changed" in run("resume", copy)[2]


@pytest.mark.parametrize("command", [["run", "HANOI", "1"], ["eval", "--sizes", "1"], ["verify"], ["export"]])
def test_every_command_notices_damaged_weights(run, copy, command):
    file = newest(copy) / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    assert_one_line(run(command[0], copy, *command[1:]), "model.safetensors: damaged: ", "use another checkpoint")
    assert "damaged" not in run(command[0], copy / "checkpoints" / "iteration_000010", *command[1:])[2]


def test_weights_without_their_state_cannot_be_checked(run, copy):
    (newest(copy) / "state.json").unlink()
    assert_one_line(run("run", copy, "HANOI", "1"), "no state.json beside it")
