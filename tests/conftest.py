"""Fixtures of several test files."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.helpers.commands import command
from tests.helpers.countdown import write_countdown
from tests.helpers.modules import USERS, forgetting
from tests.helpers.tiny import tiny_run


@pytest.fixture(scope="session", autouse=True)
def alphanpi_home(tmp_path_factory):
    """Tests, and processes they start, remember trusted environments in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHANPI_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def quiet():
    """What commands print, also in processes that tests start, does not depend on how long something takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHANPI_QUIET", "1")
        yield


@pytest.fixture
def run():
    """Runs the command line in this process: exit code, output, errors."""
    return command


@pytest.fixture
def forget_loaded_files():
    """Environments loaded from files are forgotten afterwards."""
    with forgetting(USERS):
        yield


@pytest.fixture
def written(tmp_path, forget_loaded_files):
    """Writes an environment's file and gives its path."""

    def write(text: str, name: str = "mine.py") -> Path:
        path: Path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run with two checkpoints, at iterations 10 and 12."""
    out = tmp_path_factory.mktemp("finished") / "run"
    tiny_run(out)
    return out


@pytest.fixture
def copy(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run", symlinks=True)
    return tmp_path / "run"


@pytest.fixture
def rewritten(tmp_path, forget_loaded_files):
    """Writes the countdown with other members, beside weights that know nothing; commands take the folder as RUN."""
    return partial(write_countdown, tmp_path)
