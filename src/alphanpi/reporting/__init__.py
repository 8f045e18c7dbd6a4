"""Showing what an agent learned: a report page, search trees, pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from alphanpi.agent import load
from alphanpi.errors import UsageError
from alphanpi.files import write_atomically
from alphanpi.reporting.collecting import collect
from alphanpi.reporting.execution import MOST_STEPS
from alphanpi.reporting.measuring import SECONDS
from alphanpi.reporting.page_file import to_html, to_json
from alphanpi.reporting.records import ReportRecord
from alphanpi.reporting.searches import SIMULATIONS

__all__ = ["ReportRecord", "report", "report_record"]


def report_record(
    run: str | Path,
    *,
    program: str | None = None,
    instance: str | None = None,
    simulations: int = SIMULATIONS,
    seconds: float = SECONDS,
    most_steps: int = MOST_STEPS,
    source: str | None = None,
    certificate: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> ReportRecord:
    """What a report shows, as records; see docs/report.md.

    Args:
        run: Run directory, weights file, or `pretrained:NAME`.
        program: Program to watch; the last one if omitted.
        instance: What to run it on, as a user types it.
        simulations: Per action, in the search trees.
        seconds: Time for measuring scores where none are stored beside the weights.
        most_steps: Longest execution that is kept whole; of a longer one, the outer calls are.
        source: The learned program's source code, to be shown with it.
        certificate: File with the agent's certificate; `certificate.json` of the run if omitted and there.
        progress: Told what is being done.
    """
    if most_steps < 1:
        raise UsageError(f"{most_steps} steps show nothing; give at least 1")
    return collect(
        load(run),
        str(run),
        program,
        instance,
        simulations=simulations,
        seconds=seconds,
        most_steps=most_steps,
        source=source,
        certificate_file=None if certificate is None else Path(certificate),
        progress=progress or (lambda _: None),
    )


def report(
    run: str | Path,
    out: str | Path = "report.html",
    *,
    program: str | None = None,
    instance: str | None = None,
    simulations: int = SIMULATIONS,
    seconds: float = SECONDS,
    most_steps: int = MOST_STEPS,
    source: str | None = None,
    certificate: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> ReportRecord:
    """Write a self-contained page, or its JSON object if `out` ends in .json; arguments as for `report_record`."""
    record = report_record(
        run,
        program=program,
        instance=instance,
        simulations=simulations,
        seconds=seconds,
        most_steps=most_steps,
        source=source,
        certificate=certificate,
        progress=progress,
    )
    path = Path(out)
    title = f"{record.agent.environment}: what was learned"
    write_atomically(path, to_json(record) + "\n" if path.suffix == ".json" else to_html(record, title))
    return record
