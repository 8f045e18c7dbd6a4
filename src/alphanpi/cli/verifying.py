"""The command that verifies."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from alphanpi.cli.progress import Activity
from alphanpi.cli.shared import (
    EXIT_FINDINGS,
    EXIT_NOT_ESTABLISHED,
    TRUST,
    Env,
    Json,
    RayAddress,
    Run,
    Workers,
    app,
    duration,
    examples,
    print_json,
)
from alphanpi.errors import UsageError

_LEMMA_PART = re.compile(r"\s+(?=\(\d+\) |Proof: )")  # a lemma's numbered parts and its proof are paragraphs


@app.command(
    group=TRUST,
    sort_key=0,
    help_epilogue=examples("verify pretrained:hanoi", "verify runs/hanoi --out hanoi.json --time-limit 5m"),
)
def verify(
    run: Run,
    /,
    *,
    max_size: Annotated[
        int | None, Parameter(help="every start up to this size; by default as the lemma needs")
    ] = None,
    time_limit: Annotated[
        str | None,
        Parameter(help="time after which only completed sizes count: 90, 90s, 5m, 1h; 120 s by default"),
    ] = None,
    out: Annotated[Path | None, Parameter(help="write the certificate to this file")] = None,
    by: Annotated[
        Literal["any", "machine", "lemma"],
        Parameter(help="prove all sizes at once with z3, or look at sizes and use the lemma; any: what there is"),
    ] = "any",
    recheck: Annotated[Path | None, Parameter(help="compute this certificate again and compare")] = None,
    env: Env = None,
    workers: Workers = None,
    ray: RayAddress = None,
    as_json: Json = False,
) -> int:
    """Verify an agent's programs for every size. Exit code 0 PROVED, 1 REFUTED, 3 SATURATED or BOUNDED."""
    from alphanpi.support.files import require_writable, write_atomically
    from alphanpi.verification import TIME_LIMIT
    from alphanpi.verification import verify as run_verification

    if recheck is not None and max_size is not None:
        raise UsageError("--recheck goes as far as the certificate did; leave --max-size out")
    limit = duration(time_limit)
    if out is not None:
        require_writable(out)
    seconds = TIME_LIMIT if limit is None else limit
    with Activity("verifying") as activity:

        def show(advance: Any) -> None:
            what = (
                f"proving {advance.program}"
                if advance.size < 0
                else f"verifying {advance.program}, size {advance.size}"
            )
            activity.say(what, advance.done, advance.total)

        certificate = run_verification(
            run,
            max_size=max_size,
            time_limit=seconds,
            certificate=recheck,
            environment=env,
            on_size=show,
            by=by,
            workers=workers,
            ray=ray,
        )
    record = certificate.record()
    if out is not None:
        write_atomically(out, json.dumps(record, indent=1) + "\n")
    if as_json:
        print_json(record)
    else:
        _print(Console(soft_wrap=True), certificate, recheck, out)
    return {"PROVED": 0, "REFUTED": EXIT_FINDINGS}.get(certificate.verdict, EXIT_NOT_ESTABLISHED)


def _print(console: Console, certificate: Any, rechecked: Path | None, out: Path | None) -> None:
    colours = {"PROVED": "green", "SATURATED": "yellow", "BOUNDED": "yellow", "REFUTED": "red"}
    table = Table("program", "verdict", "sizes", "runs", "sequences", "smallest margin")
    for program in certificate.programs:
        sizes = [size.size for size in program.sizes]
        least = program.numerics.smallest_margin
        margin = "-" if least is None else f"{least:.3g}"
        table.add_row(
            program.name,
            f"[{colours[program.verdict]}]{program.claim}[/]",
            "all" if program.proof is not None else f"{sizes[0]}-{sizes[-1]}" if sizes else "-",
            f"{program.runs:,}",
            f"{program.sequences:,}",
            margin,
        )

    def say(text: str, heading: str = "") -> None:
        front = f"[bold]{heading}[/] " if heading else ""
        console.print(f"{front}{escape(text)}", highlight=False)

    console.print(table)
    for program in certificate.programs:
        if program.invariant:
            say(f"{program.name} ends with {' or '.join(program.invariant)}", "invariant:")
        if program.loop is not None:
            points, views, spare = program.loop.points, program.loop.views, program.loop.spare
            say(
                f"{program.name} has an invariant of {points:,} points in {views:,} views, and {spare} actions of its "
                "depth or more to spare, at every size",
                "loop:",
            )
        if program.proof is not None and program.proof.statements:
            count = len(program.proof.statements)
            say(
                f"{program.name} loops; {count:,} statements stay true all the while (--out or --json lists them)",
                "loop:",
            )
        if program.counter_example is not None:
            _print_counter_example(say, program)
        if program.frozen is not None:
            say(f"{program.name} decides by weights {program.frozen[:12]}, as before; verified here anew", "frozen:")
    audits = [program.audit for program in certificate.programs if program.audit is not None and program.audit.runs]
    if audits:
        runs, largest = sum(audit.runs for audit in audits), max(max(audit.sizes) for audit in audits)
        say(f"{runs:,} real runs, up to size {largest}", "also tried:")
    if certificate.lemma is not None:
        _print_paragraphs(console, "lemma", _LEMMA_PART.split(certificate.lemma.text))
        conditions = [
            f"{condition.program}: {condition.text}: "
            + (
                f"holds in all {condition.runs:,} runs"
                if condition.holds
                else "fails"
                if condition.runs
                else "not tried"
            )
            for condition in certificate.lemma.conditions
        ]
        _print_paragraphs(console, "conditions", conditions, bullet="- ")
    _print_paragraphs(console, "assumed", certificate.assumptions, bullet="- ")
    if certificate.verdict != "PROVED":
        for program in certificate.programs:
            for reason in program.reasons:
                say(f"{program.name}: {reason}", "in the way of more:")
    if certificate.weights_sha256 is not None:
        say(certificate.weights_sha256, "weights:")
    colour, verdict = colours[certificate.verdict], certificate.claim if certificate.proved else certificate.verdict
    console.print(
        f"[bold {colour}]{verdict}[/]: {certificate.claim.meaning} ({certificate.seconds:.1f} s)",
        highlight=False,
    )
    if rechecked is not None:
        say(f"{rechecked} holds: computed again, with the same result")
    if out is not None:
        say(f"certificate: {out}")


def _print_paragraphs(console: Console, heading: str, paragraphs: list[str], bullet: str = "") -> None:
    """A heading, and under it paragraphs wrapped to the console, indented so that their beginnings stand out."""
    if not paragraphs:
        return
    console.print(f"[bold]{heading}[/]", highlight=False)
    hanging = " " * (4 if not bullet else 2 + len(bullet))
    for paragraph in paragraphs:
        lines = textwrap.fill(
            paragraph,
            console.width,
            initial_indent=f"  {bullet}",
            subsequent_indent=hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
        console.print(lines, highlight=False, markup=False)


def _print_counter_example(say: Any, program: Any) -> None:
    found = program.counter_example
    say(f"{program.name} on {found.start_text} ({found.start})", "counter-example:")
    for step in found.steps:
        say(f"    {step.action:<12} {step.state}")
    say(f"    {found.text}: {found.final}")
