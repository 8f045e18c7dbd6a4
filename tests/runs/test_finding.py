"""Runs are found where they are, and whether somebody is at work on one is known."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from alphanpi.errors import UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.finding import find_runs


@pytest.fixture
def tree(tmp_path):
    for name in ("b/2", "b/1", "a", "b/1/checkpoints/last", "b/.hidden"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "meta.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_folders_are_looked_through_and_no_run_is_found_twice(tree):
    (tree / "link").symlink_to(tree / "a")
    found = find_runs([tree / "b", tree / "b" / "1", tree / "link", tree])
    assert [str(run.path.relative_to(tree)) for run in found] == ["b/1", "b/2", "link"]


@pytest.mark.parametrize(
    ("name", "said"), [("empty", "no run in it"), ("none", "no such folder"), ("f", "not a folder")]
)
def test_a_place_without_runs_is_refused(tree, name, said):
    (tree / "f").write_text("")
    with pytest.raises(UsageError, match=f"{name}: .*{said}.*; give run directories"):
        find_runs([tree / "a", tree / name])


def test_who_holds_the_lock_is_at_work(tmp_path):
    run = RunDirectory(tmp_path)
    assert not run.at_work()
    with run.locked():
        assert run.at_work()
    assert not run.at_work()


NOBODY = ["", "x", "-1", "0", "9" * 19, str(os.getpid())]


@pytest.mark.parametrize("content", NOBODY, ids=["empty", "word", "negative", "zero", "huge", "own"])
def test_a_lock_nobody_holds_means_nothing(tmp_path, content):
    (tmp_path / ".lock").write_text(content)
    assert not RunDirectory(tmp_path).at_work()


def test_looking_does_not_keep_a_run_from_beginning(tmp_path):
    """A process that has ended wrote its number; whoever looks does not touch the lock at all."""
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    (tmp_path / ".lock").write_bytes(ended.stdout)
    assert not RunDirectory(tmp_path).at_work()
    with RunDirectory(tmp_path).locked():
        assert RunDirectory(tmp_path).at_work()
