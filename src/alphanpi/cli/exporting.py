"""The command that prints what an agent has learned as source code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console

from alphanpi.cli.progress import Activity
from alphanpi.cli.shared import (
    EXIT_FINDINGS,
    EXIT_NOT_ESTABLISHED,
    TRUST,
    Env,
    RayAddress,
    Run,
    Workers,
    app,
    duration,
    examples,
)


@app.command(
    group=TRUST,
    sort_key=1,
    help_epilogue=examples(
        "export pretrained:hanoi",
        "export runs/lights --format dot -o lights.dot",
        "export runs/sorting --simplify -o sort.py",
    ),
)
def export(
    run: Run,
    /,
    *,
    format: Annotated[  # noqa: A002 - the name of the option
        Literal["python", "javascript", "json", "dot"],
        Parameter(help="a Python or JavaScript module, an automaton, or a Graphviz graph"),
    ] = "python",
    out: Annotated[
        Path | None, Parameter(name=["--out", "-o"], help="file to write; standard output if omitted")
    ] = None,
    max_size: Annotated[
        int | None, Parameter(help="look at every start up to this size; as far as it is cheap if omitted")
    ] = None,
    samples: Annotated[int, Parameter(help="random larger starts to compare on, of all programs together")] = 2000,
    seed: Annotated[int, Parameter(help="seed of the random starts")] = 0,
    time_limit: Annotated[str, Parameter(help="give up after this time: 90, 90s, 5m, 1h")] = "5m",
    simplify: Annotated[
        bool | None,
        Parameter(
            help="leave out what the agent need not do, where what is specified is still achieved; if omitted, only "
            "where no other code is found"
        ),
    ] = None,
    certificate: Annotated[
        Path | None, Parameter(help="certificate that says PROVED; certificate.json in the run's folder if omitted")
    ] = None,
    env: Env = None,
    workers: Workers = None,
    ray: RayAddress = None,
) -> int:
    """Write what an agent has learned as code that does the same.

    Exit code 0: checked on starts it was not made from; 3: written, but for some program there were none, or its code
    seems to be a loop written out; 1: no such code was found in time.
    """
    from alphanpi.exporting import ExportFailed
    from alphanpi.exporting import export as run_export

    limit = duration(time_limit)
    errors = Console(stderr=True, soft_wrap=True, markup=False, highlight=False)
    with Activity("loading the agent") as activity:
        try:
            exported = run_export(
                run,
                format=format,
                out=out,
                max_size=max_size,
                samples=samples,
                seed=seed,
                environment=env,
                time_limit=limit,
                simplify=simplify,
                certificate=certificate,
                say=activity.say,
                workers=workers,
                ray=ray,
            )
        except ExportFailed as failure:
            errors.print(f"alphanpi: {' '.join(str(failure).split())}")
            return EXIT_FINDINGS
    for warning in exported.warnings:
        errors.print(f"warning: {' '.join(warning.split())}")
    target = "" if out is None else f"wrote {out}: "
    same = "as the agent, without what it need not do," if exported.simplified else "same as the agent"
    if exported.proved:
        same = "equal to the agent on every sequence that can occur (proved), and"
    errors.print(f"{target}{same} on {exported.cases:,} runs, {exported.actions:,} actions")
    if out is None:
        sys.stdout.write(exported.text)
    return 0 if exported.general else EXIT_NOT_ESTABLISHED
