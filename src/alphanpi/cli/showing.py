"""Commands that show what was learned: a report page, search trees, pictures."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console

from alphanpi.cli.progress import Activity
from alphanpi.cli.shared import (
    SEE,
    Env,
    Further,
    ProgramName,
    Run,
    Seed,
    Size,
    Words,
    app,
    examples,
    named_numbers,
    say_drawn,
    typed,
)
from alphanpi.errors import UsageError

Simulations = Annotated[int, Parameter(help="simulations per action, also in the searches of called programs")]
SIMULATIONS = 100  # written out, since --help must not import the engine
MOST_STEPS = 1500
MEASURING_SECONDS = 15.0
VERIFY_SECONDS = 20.0
PLAYING_SECONDS = 60.0


@app.command(
    group=SEE,
    sort_key=0,
    help_epilogue=examples("report pretrained:hanoi --input 4 -o hanoi.html", "report runs/lights --size 8"),
)
def report(
    run: Run,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="file to write; report.html, or .json")] = None,
    program: Annotated[str | None, Parameter(help="program to watch; the last one if omitted")] = None,
    instance: Annotated[
        str | None, Parameter(name="--input", help="what to run it on; if omitted, an example is taken or drawn")
    ] = None,
    size: Size = None,
    seed: Seed = None,
    further: Further = "",
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
    source_text = None if source is None else _text(source)
    with Activity("loading the agent") as activity:

        def tell(doing: str) -> None:
            activity.say(doing)
            activity.print(f"{doing} …", console)

        record = write_report(
            run,
            path,
            program=program,
            instance=None if instance is None else instance.strip(),
            size=size,
            seed=seed,
            further=named_numbers("--further", further),
            simulations=simulations,
            seconds=seconds,
            most_steps=steps,
            source=source_text,
            export=export,
            certificate=certificate,
            verify_seconds=verify_seconds,
            environment=env,
            progress=tell,
        )
    missing = [record.certificate_note] if record.certificate is None else []
    missing += [record.source_note] if record.source is None else []
    for note in (record.execution.note, record.searches.note, *missing):
        if note:
            console.print(note, highlight=False, markup=False, soft_wrap=True)
    print(f"wrote {path}, {path.stat().st_size / 1e6:.1f} MB")
    return 0


@app.command(
    group=SEE,
    sort_key=1,
    usage="Usage: alphanpi tree [OPTIONS] RUN [PROGRAM [INPUT...]]",
    help_epilogue=examples("tree pretrained:hanoi HANOI 3 --step 2", "tree runs/lights --format html -o tree.html"),
)
def tree(
    run: Run,
    program: ProgramName = None,
    /,
    *words: Words,
    size: Size = None,
    seed: Seed = None,
    further: Further = "",
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
    problem = agent.problem(program, typed(words), size=size, seed=seed, further=named_numbers("--further", further))
    if not words:
        say_drawn(problem)
    name = problem.program
    with Activity(f"searching {name}"):
        if format_ == "html" and out is not None:
            page = tree_page(agent, name, problem, step=step, simulations=simulations)
        else:
            decision = find_tree(agent, name, problem, step=step, simulations=simulations)
    if format_ == "html" and out is not None:
        _write(out, page)
        return 0
    shown = ShownTree(decision, agent.environment, nodes)
    if format_ == "text":
        _print(out, shown.left_out, numbers(shown), rich_tree(shown))
        return 0
    text = dot(shown) if format_ == "dot" else json.dumps(tree_object(shown, name, simulations), indent=2) + "\n"
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


@app.command(
    group=SEE,
    sort_key=2,
    usage="Usage: alphanpi render [OPTIONS] RUN [PROGRAM [INPUT...]]",
    help_epilogue=examples(
        "render pretrained:hanoi HANOI 4 -o hanoi.svg --theme auto",
        "render pretrained:hanoi HANOI 8 -o hanoi.mp4 --seconds 15 --width 1280",
    ),
)
def render(
    run: Run,
    program: ProgramName = None,
    /,
    *words: Words,
    out: Annotated[
        Path,
        Parameter(name=["--out", "-o"], help="file to write: .svg, .gif (needs Pillow) or .mp4 (needs ffmpeg, too)"),
    ] = Path("render.svg"),
    size: Size = None,
    seed: Seed = None,
    further: Further = "",
    seconds: Annotated[float, Parameter(help="longest time it plays; a long run is played faster")] = PLAYING_SECONDS,
    width: Annotated[int | None, Parameter(help="of the picture, in pixels")] = None,
    theme: Annotated[
        Literal["light", "dark", "auto"], Parameter(help="colours; auto: those of the reader's system, in an .svg")
    ] = "light",
    caption: Annotated[str, Parameter(help="text below the picture")] = "",
    env: Env = None,
) -> int:
    """Make an animated picture of a run, for a README, a lecture or a talk."""
    from alphanpi.agent.loading import load
    from alphanpi.reporting import render as make_picture

    agent = load(run, environment=env)
    problem = agent.problem(program, typed(words), size=size, seed=seed, further=named_numbers("--further", further))
    if not words:
        say_drawn(problem)
    with Activity(f"running {problem.program}") as activity:
        picture = make_picture(
            agent,
            problem.program,
            problem,
            out,
            seconds=seconds,
            width=width,
            theme=theme,
            caption=caption,
            told=lambda done, total: activity.say("drawing", done, total),
        )
    if picture.note:
        Console(stderr=True).print(picture.note, highlight=False, markup=False, soft_wrap=True)
    print(f"wrote {out}, {out.stat().st_size / 1e3:.0f} kB, {picture.seconds:.1f} s")
    return 0


def _text(path: Path) -> str:
    from alphanpi.support.record import read_bytes

    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text file") from error
