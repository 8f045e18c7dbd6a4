"""The report: one page, or the data it shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.environment.guard import NO_FURTHER_SIZES
from alphanpi.environment.instances import Instance
from alphanpi.errors import UsageError
from alphanpi.reporting.certificates import VERIFY_SECONDS
from alphanpi.reporting.collecting import Wanted, collect
from alphanpi.reporting.execution import LARGEST_RUN, MOST_STEPS
from alphanpi.reporting.measuring import SECONDS
from alphanpi.reporting.page_file import to_html, to_json
from alphanpi.reporting.records import ReportRecord
from alphanpi.reporting.searches import SIMULATIONS
from alphanpi.support.files import require_writable, write_atomically


def report(
    run: Subject,
    out: str | Path | None = None,
    *,
    program: str | None = None,
    instance: Instance = None,
    size: int | None = None,
    seed: int | None = None,
    further: Mapping[str, int] = NO_FURTHER_SIZES,
    simulations: int = SIMULATIONS,
    seconds: float = SECONDS,
    most_steps: int = MOST_STEPS,
    source: str | None = None,
    export: bool = True,
    certificate: str | Path | None = None,
    verify_seconds: float = VERIFY_SECONDS,
    environment: NamedEnvironment = None,
    progress: Callable[[str], None] | None = None,
) -> ReportRecord:
    """What an agent has learned, as records (see docs/report.md), and as a self-contained page.

    Args:
        run: An agent, or what `load` takes.
        out: File to write: a page, or its JSON object if it ends in .json; nothing is written if omitted.
        program: Program to watch; the last one if omitted.
        instance: What to run it on, as a user types it. If omitted, an example of a built-in environment, or one that
            the environment draws.
        size: Draw one of this size; the validation size by default.
        seed: Draw with this seed; 0 by default.
        further: Draw one of these further sizes.
        simulations: Per action, in the search trees.
        seconds: Time for measuring scores where none are stored beside the weights.
        most_steps: Longest execution that is kept whole; of a longer one, the outer calls are.
        source: The learned programs' source code. If omitted, they are exported, within 30 s where the verdict is
            PROVED or SATURATED, and within 15 s otherwise, unless the run fails or the verdict is REFUTED.
        export: Whether to do that.
        certificate: File with the agent's certificate; `certificate.json` in the run's folder if omitted and there.
            It has to be whole and about this agent, and is computed again where `verify_seconds` suffice.
        verify_seconds: Time for computing a certificate, or for checking the one there is; 0 leaves it out, and then
            the page says so. An environment that cannot be verified is no error: `certificate_note` says why.
        environment: The agent's environment, if `run` names one that is not trusted; see `alphanpi.load`.
        progress: Told what is being done.
    """
    if not 1 <= most_steps <= LARGEST_RUN:
        shows = "show nothing" if most_steps < 1 else "are more than a page can hold"
        raise UsageError(f"{most_steps} steps {shows}; give a number from 1 to {LARGEST_RUN:,}")
    for what, value in (("measuring", seconds), ("verification", verify_seconds)):
        if not 0 <= value < math.inf:
            raise UsageError(f"{value:g} seconds for {what}: give a positive number, or 0 to leave it out")
    path = None if out is None else Path(out)
    if path is not None:
        require_writable(path)
    wanted = Wanted(
        program=program,
        instance=instance,
        size=size,
        seed=seed,
        further=further,
        simulations=simulations,
        seconds=seconds,
        most_steps=most_steps,
        source=source,
        export=export,
        certificate=None if certificate is None else Path(certificate),
        verify_seconds=verify_seconds,
    )
    record = collect(as_agent(run, environment=environment), wanted, progress or (lambda _: None))
    if path is not None:
        title = f"{_short(record.agent.environment)}: what was learned"
        write_atomically(path, to_json(record) + "\n" if path.suffix == ".json" else to_html(record, title))
    return record


def _short(environment: str) -> str:
    """An environment's id, or what is left of a path or module without its folders."""
    return environment.rpartition("/")[2].removesuffix(".py").rpartition(":")[2]
