"""Fixtures of several test files."""

from __future__ import annotations

import pytest

from alphanpi.cli import main


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
def run(capsys):
    """Runs the command line in this process: exit code, output, errors."""

    def run_command(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([str(argument) for argument in arguments])
        return exit_.value.code, *capsys.readouterr()

    return run_command
