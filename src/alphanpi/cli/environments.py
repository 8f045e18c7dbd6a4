"""Commands about environments: list, check, search without learning, begin a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape

from alphanpi.cli.progress import Activity
from alphanpi.cli.shared import (
    EXIT_FINDINGS,
    SPECIFY,
    EnvironmentId,
    Further,
    Json,
    Observation,
    ProgramName,
    Size,
    Words,
    app,
    environment_options,
    examples,
    named_numbers,
    print_json,
    say_drawn,
    typed,
)


@app.command(
    group=SPECIFY,
    sort_key=1,
    help_epilogue="",
)
def envs(*, as_json: Json = False) -> int:
    """List the environments: id, one line, programs by level."""
    from alphanpi.environment.registry import available

    listings = list(available())
    if as_json:
        print_json([_listing_record(listing) for listing in listings])
        return 0
    console = Console()
    for listing in listings:
        if listing.environment is None:
            console.print(
                f"[bold]{listing.id}[/]  [red]cannot be loaded:[/] {escape(str(listing.broken))}", highlight=False
            )
            continue
        options = "".join(f" ({name}: {value})" for name, value in listing.options.items())
        console.print(f"[bold]{listing.id}[/]  {escape(listing.summary + options)}", highlight=False)
        for level, names in _by_level(listing.environment).items():
            console.print(f"    level {level}: {' '.join(names)}", highlight=False)
    return 0


@app.command(
    group=SPECIFY,
    sort_key=2,
    help_epilogue=examples("check examples/lights.py", "check sorting --observation compare"),
)
def check(
    environment: EnvironmentId,
    /,
    *,
    observation: Observation = None,
    samples: Annotated[int, Parameter(help="start states looked at per program and size")] = 30,
    seed: Annotated[int, Parameter(help="seed of all sampling")] = 0,
    as_json: Json = False,
) -> int:
    """Check an environment against the rules of the specification. Exit code 1 if something is found."""
    from alphanpi.environment.checking import check as run_check
    from alphanpi.environment.registry import make

    loaded = make(environment, **environment_options(observation))
    with Activity("checking", compiles=False) as activity:

        def tell(what: str) -> None:
            activity.say(f"checking {what}")

        report = run_check(loaded, samples=samples, seed=seed, progress=tell)
    if as_json:
        print_json(
            {
                "environment": environment,
                "ok": report.ok,
                "states": report.states,
                "findings": [finding._asdict() for finding in report.findings],
                "notes": list(report.notes),
            }
        )
    else:
        console = Console(soft_wrap=True)
        for finding in report.findings:
            console.print(f"[red]✗[/] {escape(str(finding))}", highlight=False)
        for note in report.notes:
            console.print(f"[yellow]note:[/] {escape(note)}", highlight=False)
        verdict = "[green]no findings[/]" if report.ok else f"[red]{len(report.findings)} findings[/]"
        console.print(f"{environment}: {verdict}, {report.states} states looked at", highlight=False)
    return 0 if report.ok else EXIT_FINDINGS


@app.command(
    group=SPECIFY,
    sort_key=3,
    usage="Usage: alphanpi search [OPTIONS] ENV [PROGRAM [INPUT...]]",
    help_epilogue=examples("search hanoi HANOI 2", "search examples/lights.py --size 3"),
)
def search(
    environment: EnvironmentId,
    program: ProgramName = None,
    /,
    *words: Words,
    size: Size = None,
    further: Further = "",
    observation: Observation = None,
    simulations: Annotated[int, Parameter(help="simulations per action")] = 1500,
    seed: Annotated[int, Parameter(help="seed of the untrained network, and of an input that is drawn")] = 0,
) -> int:
    """Solve one instance by search alone, with an untrained network. Exit code 1 if no solution is found."""
    from alphanpi.agent.solving import search as run_search
    from alphanpi.environment.guard import Guard
    from alphanpi.environment.problems import choose
    from alphanpi.environment.registration import registration
    from alphanpi.environment.registry import make

    loaded = make(environment, **environment_options(observation))
    guard = Guard(loaded)
    others = named_numbers("--further", further)
    drawing = None if words or (size is None and seed == 0 and not others) else seed
    example = registration(environment).example
    problem = choose(guard, program, typed(words), size=size, seed=drawing, further=others, example=example)
    if not words:
        say_drawn(problem)
    with Activity(f"searching {problem.program}"):
        trace = run_search(loaded, problem.program, problem, simulations=simulations, seed=seed)
    console = Console(soft_wrap=True)
    for step, action in zip(trace.states, trace.actions, strict=True):
        console.print(f"  {escape(guard.format(step)):<40} {loaded.library.names[action]}", highlight=False)
    console.print(f"  {escape(guard.format(trace.final))}", highlight=False)
    outcome = "[green]solved[/]" if trace.success else f"[red]not solved[/] ({trace.failure.name.lower()})"
    console.print(
        f"{problem.program} {outcome} in {len(trace.actions)} actions, {trace.simulations:,} simulations",
        highlight=False,
    )
    return 0 if trace.success else EXIT_FINDINGS


def _by_level(environment: Any) -> dict[int, list[str]]:
    levels: dict[int, list[str]] = {}
    for program in environment.library:
        if program.target is None:  # calls are no programs of their own
            levels.setdefault(program.level, []).append(program.name + ("*" if program.recursive else ""))
    return levels


def _listing_record(listing: Any) -> dict[str, Any]:
    programs = [] if listing.environment is None else listing.environment.library
    return {
        "id": listing.id,
        "summary": listing.summary,
        "options": dict(listing.options),
        "broken": listing.broken,
        "programs": [
            {
                "name": program.name,
                "level": program.level,
                "recursive": program.recursive,
                "summary": program.summary,
            }
            for program in programs
        ],
    }


@app.command(
    name="new-env",
    group=SPECIFY,
    sort_key=0,
    help_epilogue=examples("new-env counting", "new-env family-tree --kind tree"),
)
def new_env(
    name: Annotated[str, Parameter(help="name of the environment, for example counting; makes counting.py")],
    *,
    kind: Annotated[
        Literal["list", "text", "tree", "grid", "number", "graph"] | None,
        Parameter(help="what it is about; without one, a walk of some steps"),
    ] = None,
    folder: Annotated[Path, Parameter(help="where to write the file")] = Path(),
) -> int:
    """Write a commented skeleton of an environment that passes `check` and learns something as it is.

    Each kind shows another way to say what is to be learned: a list, a text or a number that is shorter by one, the
    left and the right part of a tree, the rows of a grid, the neighbours in a graph.
    """
    from alphanpi.environment.skeleton import new_env as write_skeleton

    path, class_name = write_skeleton(name, folder, kind)
    target = f"{path}:{class_name}"
    print(f"wrote {path}; next:\n  alphanpi check {target}\n  alphanpi train {target}")
    return 0
