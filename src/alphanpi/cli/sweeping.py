"""The command for many runs, and the table that shows them."""

from __future__ import annotations

import importlib.util
import shlex
import statistics
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from alphanpi.cli.shared import EXIT_FINDINGS, EXIT_INTERRUPTED, LEARN, Json, app, examples, print_json
from alphanpi.errors import UsageError
from alphanpi.support.durations import shown

if TYPE_CHECKING:
    from alphanpi.sweeping.progress import JobState, SweepProgress

_SECONDS_BETWEEN_LINES = 30.0
_MOST_SHOWN = 8  # runs at work in one row
_WITHOUT_RAY = (
    "note: the runs are processes of this machine; with Ray (pip install 'alphanpi[ray]'), --ray ADDRESS spreads them "
    "over those of a cluster"
)


@app.command(
    group=LEARN,
    sort_key=4,
    help_epilogue="Every run has its own folder and process, and is taken up again from its checkpoint if it dies.\n"
    "--resume goes on after anything, and takes the sweep's folder, too.\n\n"
    + examples(
        "sweep --example > sweep.toml",
        "sweep sweep.toml --out runs/sweep --jobs 4",
        "sweep --resume runs/sweep",
        "compare runs/sweep -o sweep.html",
    ),
)
def sweep(
    plan: Annotated[Path | None, Parameter(name="SWEEP", help="file in TOML; with --resume, also its folder")] = None,
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="folder of the sweep; runs/NAME if omitted, as the file is called")
    ] = None,
    jobs: Annotated[int | None, Parameter(help="most runs at a time; the number of processors if omitted")] = None,
    ray: Annotated[
        str | None, Parameter(help="Ray cluster that does the work; its machines have to see the folder, too")
    ] = None,
    resume: Annotated[bool, Parameter(help="keep what has ended, and go on with the rest", negative="")] = False,
    example: Annotated[bool, Parameter(help="print a file to begin with", negative="")] = False,
    as_json: Json = False,
) -> int:
    """Train environments x settings x seeds. Exit code 0: every run learned every program; 1: some did not."""
    from alphanpi.sweeping.plan import EXAMPLE
    from alphanpi.sweeping.sweep import sweep as run_sweep

    if example:
        print(EXAMPLE, end="")
        return 0
    if plan is None:
        raise UsageError("give a file in TOML; `alphanpi sweep --example` prints one")
    console = Console(stderr=as_json)
    missing = ray is None and importlib.util.find_spec("ray") is None
    with SweepView(console, _WITHOUT_RAY if missing else "") as view:
        progress = run_sweep(plan, out=out, jobs=jobs, ray=ray, resume=resume, observer=view)
    if as_json:
        print_json([state.stored(progress.out).model_dump() for state in progress.jobs])
    else:
        console.print(_table(progress))
    place = shlex.quote(str(progress.out))
    for state in progress.jobs:
        if state.status == "failed":
            console.print(f"{_name(state)} failed: {state.note}", highlight=False, markup=False, soft_wrap=True)
    failed = progress.count("failed")
    again = f"\n  alphanpi sweep --resume {place}    # tries the failed again" if failed else ""
    if progress.interrupted:
        console.print(
            f"interrupted; nothing is lost. To go on:\n  alphanpi sweep --resume {place}",
            highlight=False,
            soft_wrap=True,
        )
        return EXIT_INTERRUPTED
    console.print(
        f"next:\n  alphanpi compare {place} -o compare.html    # side by side{again}", highlight=False, soft_wrap=True
    )
    return 0 if progress.learned == len(progress.jobs) else EXIT_FINDINGS


class SweepView:
    """Shows a sweep: a live table in a terminal, elsewhere a line for each run that ends and now and then for all."""

    def __init__(self, console: Console, first: str = "") -> None:
        self._console = console
        self._first = first  # what to say before all else
        self._live = Live(console=console, refresh_per_second=2, transient=True) if console.is_terminal else None
        self._told: set[Path] = set()
        self._began, self._stopping = False, False
        self._due = time.monotonic() + _SECONDS_BETWEEN_LINES

    def __enter__(self) -> SweepView:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: SweepProgress) -> None:
        """Show how far it is."""
        kept = {state.folder for state in progress.jobs if state.result is not None and state.attempts == 0}
        if not self._began:
            self._began, self._told = True, kept
            before = f"{len(kept)} of {len(progress.jobs)} runs have ended before, and are kept" if kept else ""
            for line in filter(None, (self._first, before)):
                self._line(line)
        if progress.stopping and not self._stopping:
            self._stopping = True
            self._line("stopping: every run finishes its iteration; Ctrl-C again ends them at once")
        for state in progress.jobs:
            if state.status not in ("waiting", "running") and state.folder not in self._told:
                self._told.add(state.folder)
                self._line(f"{_name(state)}: {_end(state)}")
        if self._live is not None:
            self._live.update(Group(_table(progress), Text(_overall(progress), style="dim")))
        elif time.monotonic() >= self._due:
            self._due = time.monotonic() + _SECONDS_BETWEEN_LINES
            self._line(_overall(progress))

    def _line(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


def _name(state: JobState) -> str:
    return " ".join([state.job.name, *([state.job.variant] if state.job.variant else []), f"seed {state.job.seed}"])


def _end(state: JobState) -> str:
    if state.result is None or state.status == "failed":
        return f"failed: {state.note}"
    learned = state.status if state.result.learned else f"not learned ({state.note})"
    scores = ", ".join(f"{score.size} {score.mode} {score.rate:.0%}" for score in state.result.scores)
    return f"{learned} in {state.result.training_seconds:.1f} s{scores and '; '}{scores}"


def _overall(progress: SweepProgress) -> str:
    ended = len(progress.jobs) - progress.count("waiting", "running")
    parts = [f"{ended} of {len(progress.jobs)} ended, {progress.count('running')} at work"]
    if progress.seconds_left is not None and ended < len(progress.jobs):
        end = time.strftime("%H:%M", time.localtime(time.time() + progress.seconds_left))
        parts.append(f"about {shown(progress.seconds_left)} left, until {end}")
    return ", ".join(parts)


def _table(progress: SweepProgress) -> Table:
    from alphanpi.sweeping.progress import doing

    table = Table("environment", "variant", "ended", "learned", "failed", "seconds", "at work")
    groups: dict[tuple[str, str], list[JobState]] = {}
    for state in progress.jobs:
        groups.setdefault((state.job.name, state.job.variant or "-"), []).append(state)
    for key, states in groups.items():
        seconds = [
            state.result.training_seconds for state in states if state.result is not None and state.result.learned
        ]
        running = [state for state in states if state.status == "running"]
        lines = [f"seed {state.job.seed}: {doing(state)}" for state in running[:_MOST_SHOWN]]
        more = [f"and {len(running) - _MOST_SHOWN} more"] if len(running) > _MOST_SHOWN else []
        table.add_row(
            *key,
            f"{sum(state.status not in ('waiting', 'running') for state in states)} of {len(states)}",
            str(sum(state.status in ("learned", "proved") for state in states)),
            str(sum(state.status == "failed" for state in states)),
            f"{statistics.median(seconds):.1f} (worst {max(seconds):.1f})" if seconds else "-",
            "\n".join([*lines, *more]),
        )
    return table
