"""Commands about runs rather than agents: several side by side, and one while it is being trained."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from alphanpi.cli.shared import LEARN, SEE, Json, app, examples
from alphanpi.support.limits import percent

if TYPE_CHECKING:
    from alphanpi.reporting.comparison_records import ComparisonRecord, EnvironmentGroups, GroupRecord, MedianRecord

_SECONDS_BETWEEN_LOOKS = 1.0
_MODES = ("greedy", "planning")


@app.command(
    group=SEE,
    sort_key=3,
    help_epilogue=examples(
        "compare runs/hanoi -o compare.html", "compare runs/usual-0 runs/usual-1 runs/narrow-0 runs/narrow-1 --json"
    ),
)
def compare(
    *runs: Annotated[Path, Parameter(name="RUNS", help="run directories, and folders that hold some")],
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="page to write, or .json")] = None,
    as_json: Json = False,
) -> int:
    """Show runs side by side: seeds and settings, training time, success by size, verdicts, learning curves.

    Runs that differ in nothing but the seed are a group. Medians have intervals of order statistics (95 % from six runs
    on), shares 95 % Wilson intervals.
    """
    from alphanpi.reporting import compare as compare_runs
    from alphanpi.reporting.page_file import to_json

    record = compare_runs(runs, out)
    errors = Console(stderr=True)
    for one in record.unreadable:
        errors.print(f"warning: {one.reason}", markup=False, highlight=False, soft_wrap=True)
    if as_json:
        json.dump(json.loads(to_json(record)), sys.stdout, indent=2)
        print()
        return 0
    console = Console()
    for environment in record.environments:
        console.print(_table(environment))
        for note in _notes(record, environment):
            console.print(note, markup=False, highlight=False, soft_wrap=True)
    console.print(
        "[...]: 95 % interval of the median; with fewer than six runs, their range. Runs that did not learn: never.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    if out is None:
        console.print("next:\n  the same as a page, with learning curves: -o compare.html", highlight=False)
    else:
        print(f"wrote {out}, {out.stat().st_size / 1e6:.1f} MB")
    return 0


def _table(environment: EnvironmentGroups) -> Table:
    measured = {score.program for group in environment.groups for score in group.scores}
    program = next((name for name in reversed(environment.programs) if name in measured), None)
    table = Table("settings", "learned", "seconds", "iterations", title=environment.environment, title_style="")
    for mode in _MODES:
        table.add_column(mode if program is None else f"{program} {mode}")
    verified = any(group.verdicts for group in environment.groups)
    if verified:
        table.add_column("verdicts")
    for group in environment.groups:
        verdicts = "\n".join(f"{count} {verdict}" for verdict, count in group.verdicts.items())
        at_work = len(group.runs) - group.ended
        table.add_row(
            group.label,
            f"{group.learned} of {group.ended}" + (f"\n{at_work} at work" if at_work else ""),
            _median(group.seconds),
            _median(group.iterations),
            *(_success(group, program, mode) for mode in _MODES),
            *([verdicts or "-"] if verified else []),
        )
    return table


def _median(median: MedianRecord | None) -> str:
    if median is None:
        return "-"
    middle, low, high = ("never" if value is None else f"{value:,.3g}" for value in median[:3])
    return f"{middle}\n[{low}, {high}]" if median.coverage > 0 else middle


def _success(group: GroupRecord, program: str | None, mode: str) -> str:
    own = [score for score in group.scores if (score.program, score.mode) == (program, mode)]
    if not own:
        return "-"
    largest = max(own, key=lambda score: score.size)
    return f"{percent(largest.rate)} at {largest.size:,}\nworst {percent(min(largest.rates))}"


def _notes(record: ComparisonRecord, environment: EnvironmentGroups) -> list[str]:
    notes = []
    for group in environment.groups:
        notes += [f"{group.label}: {note}" for note in group.notes]
        unfinished = [record.runs[place] for place in group.runs if record.runs[place].note]
        notes += [f"{run.path}: {run.status}: {run.note}" for run in unfinished]
    return notes


@app.command(group=LEARN, sort_key=3, help_epilogue=examples("watch runs/hanoi --open", "watch runs/hanoi --port 8080"))
def watch(
    run: Annotated[Path, Parameter(name="RUN", help="run directory, also one that is yet to begin")],
    *,
    port: Annotated[int, Parameter(help="of the loopback address; a free one if 0")] = 0,
    open_browser: Annotated[bool, Parameter(name="--open", help="open the page in a browser", negative="")] = False,
) -> int:
    """Show a run's page while it is being trained: learning curves, level, exams. Only this machine can see it.

    Start it before or during `alphanpi train ... --out RUN`; Ctrl-C ends it.
    """
    from alphanpi.reporting import watch as watch_run

    with watch_run(run, port=port, open_browser=open_browser) as page:
        print(f"watching {run} at {page.url}\nCtrl-C ends it", flush=True)
        status = ""
        while True:
            record = page.live.read()
            if record.status != status:
                status = record.status
                at_end = f"; what was learned:\n  {record.report}" if status in ("learned", "proved", "stopped") else ""
                print(f"{status}{f': {record.note}' if record.note else ''}{at_end}", flush=True)
            page.wait(_SECONDS_BETWEEN_LOOKS)
