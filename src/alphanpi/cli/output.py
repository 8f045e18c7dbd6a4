"""Standard output, whose reader may go away and whose device may be full."""

from __future__ import annotations

import os
from typing import Any, TextIO

from alphanpi.errors import AlphaNPIError, UsageError


class OutputClosed(AlphaNPIError):  # noqa: N818 - what happened, not a mistake
    """Nobody reads the output any more."""


class StandardOutput:
    """A stream that is written to the end of the command even if its reader goes away; so its exit code is kept.

    With `stopping`, a command that has no other end than to be watched stops there.
    """

    def __init__(self, stream: TextIO, stopping: bool = False) -> None:
        self._stream = stream
        self._stopping = stopping
        self.without_reader = False
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a terminal that has no ✗ is no reason to stop

    def write(self, text: str) -> int:
        """Write, or notice that nobody reads."""
        try:
            return self._stream.write(text)
        except OSError as error:
            self._failed(error)
            return len(text)

    def flush(self) -> None:
        """Write what is kept back."""
        try:
            self._stream.flush()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        self._discard()
        if not isinstance(error, BrokenPipeError):
            raise UsageError(f"standard output: cannot be written: {error.strerror or error}") from error
        self.without_reader = True
        if self._stopping:
            raise OutputClosed("nobody reads the output any more") from error

    def _discard(self) -> None:
        """Let all further output go nowhere, also what Python writes when it ends."""
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        except OSError:  # no stream of the operating system
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
