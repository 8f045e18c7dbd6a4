"""Runs are written by one process at a time, where they can be written, and nothing is lost."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time

import pytest
import torch

from alphanpi.errors import UsageError
from alphanpi.learn.trainer import Trainer
from alphanpi.runs.directory import RunDirectory
from alphanpi.training.train import resume
from tests.helpers.commands import assert_one_line
from tests.helpers.tiny import bits, edit, options, raise_limit, unseal


def test_a_run_that_another_process_works_on_is_refused_until_that_ends(run, copy):
    raise_limit(copy, 10_000_000)
    code = f"from alphanpi.cli import main; main(['resume', {str(copy)!r}])"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        before = len((copy / "metrics.jsonl").read_bytes())
        while len((copy / "metrics.jsonl").read_bytes()) <= before:
            assert process.poll() is None
            time.sleep(0.05)
        assert_one_line(run("resume", copy), f"process {process.pid} is at work on this run")
        assert run("run", copy, "HANOI", "1")[0] in (0, 1)  # reading is free
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    config = copy / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 10000000", "max_iterations = 12"))
    assert run("resume", copy)[0] == 1
    assert not list((copy / "checkpoints").glob("damaged_*"))


def test_the_lock_is_free_again_after_a_session(copy):
    with RunDirectory(copy).locked(), pytest.raises(UsageError, match=f"process {os.getpid()} is at work"):
        resume(copy)
    resume(copy)


@pytest.mark.parametrize("name", ["\udcff", "a\0b"], ids=["not UTF-8", "null byte"])
def test_a_run_directory_whose_name_cannot_be_written_is_refused(run, tmp_path, name):
    assert_one_line(run("train", "hanoi", "--out", tmp_path / name, *options(1)), "give the run directory another name")
    assert not list(tmp_path.iterdir())


def test_the_commands_to_go_on_with_can_be_copied(run, tmp_path):
    code, out, _ = run("train", "hanoi", "--out", tmp_path / "my run", "--time-limit", "1", *options(1000))
    assert code == 1
    assert f"alphanpi resume '{tmp_path / 'my run'}'\n" in out


def test_training_into_a_folder_of_something_else_is_refused(run, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.toml").write_text("mine = 1\n")
    (folder / "metrics.jsonl").write_text("mine\n")
    assert_one_line(run("train", "hanoi", "--out", folder, *options(1)), "not empty, and holds no run")
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "config.toml": "mine = 1\n", "metrics.jsonl": "mine\n"
    }  # fmt: skip
    assert_one_line(run("train", "hanoi", "--out", folder / "config.toml", *options(1)), "not a folder")
    assert_one_line(run("train", "hanoi", "--out", "", *options(1)), "an empty name")
    (tmp_path / "empty").mkdir()
    assert run("train", "hanoi", "--out", tmp_path / "empty", *options(1))[0] == 1


def test_a_file_size_limit_while_a_checkpoint_is_written_loses_nothing(run, finished, tmp_path):
    out = tmp_path / "run"
    code = (
        f"from alphanpi.cli import main; main({['train', 'hanoi', '--seed', '3', '--out', str(out), *options(12)]!r})"
    )
    limit = 9000  # bytes; the trainer's tensors need more
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 2
    assert done.stderr.startswith("alphanpi: error: ")
    assert done.stderr.count("\n") == 1
    assert "trainer.safetensors: cannot be written: File too large" in done.stderr
    assert not list((out / "checkpoints").iterdir())
    assert run("resume", out)[0] == 1
    assert bits(out) == bits(finished)


def test_training_stops_where_numbers_end_and_keeps_the_checkpoint(run, copy, monkeypatch):
    raise_limit(copy, 30)
    before = bits(copy)
    iterate = Trainer.iterate

    def spoiled(trainer, *arguments):
        report = iterate(trainer, *arguments)
        with torch.no_grad():
            next(iter(trainer.network.parameters())).fill_(torch.nan)
        return report

    monkeypatch.setattr(Trainer, "iterate", spoiled)
    code, _, err = run("resume", copy)
    assert (code, err.count("\n")) == (2, 1)
    assert "iteration 13: weights or losses are no finite numbers any more" in err
    assert bits(copy) == before


def test_a_device_that_is_not_there_is_refused_and_another_can_be_given(run, copy):
    edit(copy / "meta.json", lambda meta: {**meta, "device": "cuda:63"})
    unseal(copy)
    assert_one_line(run("resume", copy), "device 'cuda:63' cannot be used here; there is cpu")
    assert run("resume", copy, "--device", "cpu")[0] == 1
