"""Watching a run: a live table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from alphanpi.learn.iteration import IterationReport
from alphanpi.learn.trainer import Trainer
from alphanpi.paper import PaperTrainer
from alphanpi.support.limits import percent

_SECONDS_BETWEEN_LINES = 2.0


class ProgressView:
    """Shows every iteration of a run; use it as a context manager and as the observer of `train`."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        self._last_line = -_SECONDS_BETWEEN_LINES

    def __enter__(self) -> ProgressView:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, trainer: Trainer | PaperTrainer, report: IterationReport, elapsed: float) -> None:
        """Show an iteration."""
        if self._live is not None:
            self._live.update(_table(trainer, report, elapsed))
        now = time.monotonic()
        for what, said in (("exam", report.exam), ("verified", report.verdict), ("memory", report.memory)):
            if said and not report.advanced:
                line = f"{elapsed:7.1f} s  iteration {report.iteration:4d}  {what}: {said}"
                self.console.print(line, highlight=False, soft_wrap=True)
        if report.advanced or (self._live is None and now - self._last_line >= _SECONDS_BETWEEN_LINES):
            self._last_line = now
            self.console.print(_line(report, elapsed), highlight=False, soft_wrap=True)


def _line(report: IterationReport, elapsed: float) -> str:
    success = " ".join(f"{name} {percent(value)}" for name, value in report.success.items())
    if report.advanced:
        return f"{elapsed:7.1f} s  iteration {report.iteration:4d}  level {report.level} learned: {success}"
    rate = report.simulations / max(report.elapsed, 1e-9)
    return (
        f"{elapsed:7.1f} s  iteration {report.iteration:4d}  level {report.level}  {success}  "
        f"({report.explanation}; {rate:,.0f} simulations/s)"
    )


def _table(trainer: Trainer | PaperTrainer, report: IterationReport, elapsed: float) -> Group:
    table = Table("program", "level", "validation", "exploration", "", box=None, padding=(0, 2))
    unlocked = {program.name for program in trainer.curriculum.unlocked}
    for program in trainer.library.learned:
        if program.name not in unlocked:
            table.add_row(program.name, str(program.level), "-", "-", "locked", style="dim")
            continue
        success = report.success.get(program.name, 0.0)
        colour = "green" if success >= trainer.curriculum.threshold else "yellow"
        bar = Text("█" * round(20 * success), style=colour)
        explored = report.explored.get(program.name)
        table.add_row(
            program.name,
            str(program.level),
            percent(success),
            "-" if explored is None else percent(explored),
            bar,
        )
    rate = report.simulations / max(report.elapsed, 1e-9)
    summary = (
        f"iteration {report.iteration}, {elapsed:.0f} s, level {trainer.curriculum.level} of {trainer.library.levels}: "
        f"{report.explanation}; loss {report.policy_loss:.3f} + {report.value_loss:.3f}; {rate:,.0f} simulations/s"
    )
    return Group(table, Text(summary, style="dim"))
