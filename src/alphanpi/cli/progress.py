"""Saying what a long command is doing: a bar in a terminal, elsewhere a line now and then; always on standard error.

The environment variable ALPHANPI_QUIET silences it.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

COMPILING = "compiling the search, once per installation: about half a minute"
_FIRST_LINE, _LONGEST_PAUSE = 5.0, 60.0  # seconds between lines: twice as many each time
_LOOK = 0.2  # seconds from one look at the compiler to the next
_SOON = 1.0  # seconds of compiling after which it is said


class Stage(NamedTuple):
    """What is being done, and how far it is."""

    what: str
    done: int | None = None
    total: int | None = None

    def __str__(self) -> str:
        return self.what if self.total is None else f"{self.what}: {self.done:,} of {self.total:,}"


class Activity:
    """Tells what a command is doing, as a context manager.

    Args:
        what: The first stage.
        more: Says what else there is to say in a line, for example how far an execution is.
        bar: Whether to draw a bar in a terminal; quick commands tell lines there, too.
        compiles: Whether it may come to compile the search.
        console: Where lines are told; standard error, if omitted.
    """

    def __init__(
        self,
        what: str,
        more: Callable[[], str] = lambda: "",
        *,
        bar: bool = True,
        compiles: bool = True,
        console: Console | None = None,
    ) -> None:
        self.stage = Stage(what)
        self.more = more
        self._compiles = compiles
        self._console = Console(stderr=True) if console is None else console
        self._bar: Progress | None = None
        self._quiet = bool(os.environ.get("ALPHANPI_QUIET"))
        if bar and self._console.is_terminal and not self._quiet:
            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), TimeElapsedColumn())
            # What is printed meanwhile has to go where it belongs: above the bar only if that is the same terminal.
            self._bar = Progress(*columns, console=self._console, transient=True, redirect_stdout=sys.stdout.isatty())
        self._done = threading.Event()
        self._teller = threading.Thread(target=self._tell, daemon=True)
        self._began = time.monotonic()
        self._due, self._pause = self._began + _FIRST_LINE, _FIRST_LINE

    def print(self, text: str, console: Console) -> None:
        """Print a line of the command's own: in a terminal that shows the bar, above it."""
        if self._bar is not None and console.is_terminal:
            self._line(text)
        else:
            console.print(text, highlight=False, markup=False, soft_wrap=True)
        self.heard()

    def heard(self) -> None:
        """The user has just been told something: no line is due for a while."""
        self._due, self._pause = time.monotonic() + _FIRST_LINE, _FIRST_LINE

    def say(self, what: str, done: int | None = None, total: int | None = None) -> None:
        """Go on to another stage, or say how far this one is."""
        self.stage = Stage(what, done, total)
        self._show()

    def __enter__(self) -> Activity:
        if self._compiles:
            import alphanpi.agent.compiling  # noqa: F401 - from now on, it is known when something is compiled
        if self._bar is not None:
            self._bar.add_task(escape(self.stage.what), total=None)
            self._bar.start()
        if not self._quiet:
            self._teller.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if not self._quiet:
            self._teller.join()  # a thread that wakes up while Python ends takes the whole process down
        if self._bar is not None:
            self._bar.stop()

    @property
    def compiling(self) -> bool:
        """Whether the search is being compiled."""
        if not self._compiles:
            return False
        from alphanpi.agent.compiling import COMPILER

        return COMPILER.busy

    def _show(self) -> None:
        if self._bar is not None:
            task = self._bar.task_ids[0]
            what = COMPILING if self.compiling else str(self.stage)
            self._bar.update(task, description=escape(what), completed=self.stage.done or 0, total=self.stage.total)

    def _tell(self) -> None:
        """Look what is being done, until it is done; without a bar, write a line now and then."""
        said_compiling, compiling_since = False, math.inf
        while not self._done.wait(_LOOK):
            if self._bar is not None:
                self._show()
                continue
            now, compiling = time.monotonic(), self.compiling
            compiling_since = min(compiling_since, now) if compiling else math.inf
            if now - compiling_since > _SOON and not said_compiling:
                said_compiling = True
                self._line(COMPILING)
            elif now >= self._due:
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                self._due = now + self._pause
                what, more = ("compiling", "") if compiling else (str(self.stage), self.more())
                self._line(f"{what}, {now - self._began:.0f} s{more and '; '}{more}")

    def _line(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
