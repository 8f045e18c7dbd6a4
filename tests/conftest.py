"""Fixtures of several test files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.commands import command
from tests.helpers.modules import USERS, forgetting


@pytest.fixture(scope="session", autouse=True)
def alphanpi_home(tmp_path_factory):
    """Tests, and processes they start, remember trusted environments in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHANPI_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_before():
    """What commands print does not depend on whether something was compiled before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("alphanpi.engine.warmup.needs_compilation", lambda: False)
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
