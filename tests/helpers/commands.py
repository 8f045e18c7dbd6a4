"""The command line, called in this process."""

from __future__ import annotations

import contextlib
import io
from typing import Any, NamedTuple

import pytest

from alphanpi.cli import main


class Outcome(NamedTuple):
    """What a command printed, and its exit code."""

    code: Any
    out: str
    err: str


def command(*arguments) -> Outcome:
    """Run a command and wait for its end."""
    # Encoded like a terminal's, so that what cannot be written fails here too.
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    printed = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return Outcome(exit_.value.code, *printed)


def assert_one_line(outcome: Outcome, *parts: str) -> None:
    """The command failed, saying so in one line that has these parts."""
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("alphanpi: error: ")
    assert outcome.err.count("\n") == 1
    for part in parts:
        assert part in outcome.err
