"""Commands that show what was learned: a report page, search trees, pictures."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console

from alphanpi.cli.running import Instance, ProgramName
from alphanpi.cli.shared import Env, Run, app
from alphanpi.errors import UsageError

Simulations = Annotated[int, Parameter(help="simulations per action, also in the searches of called programs")]
SIMULATIONS = 100  # written out, since --help must not import the engine
MOST_STEPS = 1500
MEASURING_SECONDS = 15.0
VERIFY_SECONDS = 20.0
PLAYING_SECONDS = 60.0


@app.command
def report(
    run: Run,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="file to write; report.html, or .json")] = None,
    program: Annotated[str | None, Parameter(help="program to watch; the last one if omitted")] = None,
    instance: Annotated[
        str | None,
        Parameter(name="--input", help="what to run it on; if omitted, an example, where the environment is built in"),
    ] = None,
    simulations: Simulations = SIMULATIONS,
    seconds: Annotated[float, Parameter(help="time for measuring scores, if none are stored")] = MEASURING_SECONDS,
    steps: Annotated[int, Parameter(help="longest run kept whole; of a longer one, the outer calls")] = MOST_STEPS,
    source: Annotated[
        Path | None, Parameter(help="file with the programs' source code; exported if omitted and quick")
    ] = None,
    export: Annotated[bool, Parameter(help="export the source code if none is given")] = True,
    certificate: Annotated[
        Path | None, Parameter(help="certificate; RUN/certificate.json, or a new one, if omitted")
    ] = None,
    verify_seconds: Annotated[
        float, Parameter(help="time for a new certificate, or for checking the one there is; 0 for none")
    ] = VERIFY_SECONDS,
    env: Env = None,
    as_json: Annotated[bool, Parameter(name="--json", help="write only the data, as JSON", negative="")] = False,
) -> int:
    """Write a page that shows what was learned: a run beside its source code, search trees, learning, scores."""
    from alphanpi.reporting import report as write_report

    console = Console(stderr=True)
    path = out if out is not None else Path("report.json" if as_json else "report.html")
    if as_json and path.suffix != ".json":
        raise UsageError(f"{path}: --json writes a .json file")
    record = write_report(
        run,
        path,
        program=program,
        instance=instance,
        simulations=simulations,
        seconds=seconds,
        most_steps=steps,
        source=None if source is None else _text(source),
        export=export,
        certificate=certificate,
        verify_seconds=verify_seconds,
        environment=env,
        progress=lambda doing: console.print(f"{doing} …", highlight=False, markup=False, soft_wrap=True),
    )
    missing = [record.certificate_note] if record.certificate is None else []
    missing += [record.source_note] if record.source is None else []
    for note in (record.execution.note, record.searches.note, *missing):
        if note:
            console.print(note, highlight=False, markup=False, soft_wrap=True)
    print(f"wrote {path}, {path.stat().st_size / 1e6:.1f} MB")
    return 0


@app.command
def tree(
    run: Run,
    program: ProgramName,
    instance: Instance,
    *,
    step: Annotated[int, Parameter(help="which action of the program, from 1")] = 1,
    simulations: Simulations = SIMULATIONS,
    nodes: Annotated[int, Parameter(help="show at most this many nodes, the most visited ones")] = 40,
    format_: Annotated[
        Literal["text", "dot", "json", "html"], Parameter(name="--format", help="for the terminal, Graphviz, scripts")
    ] = "text",
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="file to write instead of printing")] = None,
    env: Env = None,
) -> int:
    """Show the search tree of one decision: visits, prior, Q, U, L and their sum."""
    from alphanpi.agent.loading import load
    from alphanpi.reporting import tree as find_tree
    from alphanpi.reporting import tree_page
    from alphanpi.reporting.text_tree import ShownTree, dot, numbers, rich_tree, tree_object
    from alphanpi.support.files import require_writable

    if out is not None:
        require_writable(out)
    if step < 1 or nodes < 1:
        raise UsageError("--step and --nodes are numbers from 1")
    if format_ == "html" and out is None:
        raise UsageError("--format html needs a file: -o tree.html")
    agent = load(run, environment=env)
    if format_ == "html" and out is not None:
        _write(out, tree_page(agent, program, instance, step=step, simulations=simulations))
        return 0
    decision = find_tree(agent, program, instance, step=step, simulations=simulations)
    shown = ShownTree(decision, agent.environment, nodes)
    if format_ == "text":
        _print(out, shown.left_out, numbers(shown), rich_tree(shown))
        return 0
    text = dot(shown) if format_ == "dot" else json.dumps(tree_object(shown, program, simulations), indent=2) + "\n"
    if out is None:
        print(text, end="")
    else:
        _write(out, text)
    return 0


def _print(out: Path | None, left_out: int, *parts: object) -> None:
    from alphanpi.reporting.text_tree import tree_console

    text = io.StringIO()
    console = tree_console(None if out is None else text)
    for part in parts:
        console.print(part, highlight=False)
    if left_out:
        console.print(f"… {left_out:,} nodes left out; --nodes shows more", highlight=False)
    if out is not None:
        _write(out, text.getvalue())


def _write(out: Path, content: str) -> None:
    from alphanpi.support.files import write_atomically

    write_atomically(out, content)
    print(f"wrote {out}")


@app.command
def render(
    run: Run,
    program: ProgramName,
    instance: Instance,
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="file to write: .svg, or .gif (needs Pillow)")],
    seconds: Annotated[float, Parameter(help="longest time it plays; a long run is played faster")] = PLAYING_SECONDS,
    env: Env = None,
) -> int:
    """Make an animated picture of a run, for a README or a talk."""
    from alphanpi.reporting import render as make_picture

    picture = make_picture(run, program, instance, out, seconds=seconds, environment=env)
    if picture.note:
        Console(stderr=True).print(picture.note, highlight=False, markup=False, soft_wrap=True)
    print(f"wrote {out}, {out.stat().st_size / 1e3:.0f} kB")
    return 0


def _text(path: Path) -> str:
    from alphanpi.support.record import read_bytes

    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text file") from error
