"""The command line. Heavy imports happen inside the commands, so that --help is instant."""

from __future__ import annotations

import json
import sys
import traceback
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.table import Table

from alphanpi import __version__
from alphanpi.errors import AlphaNPIError

EXIT_FINDINGS = 1
EXIT_ERROR = 2

app = App(
    name="alphanpi",
    version=__version__,
    help="Learn programs from specifications with a neural programmer-interpreter and recursive tree search.",
    help_epilogue="Exit codes: 0 done, 1 findings or failures, 2 an error in the input. "
    "--debug shows the traceback of an error.",
)
bench_app = App(name="bench", help="Measure speed, as ratios in one run.")
app.command(bench_app)

Observation = Annotated[
    str | None, Parameter(help="observation of a list environment: paper (values) or compare (comparisons)")
]
Json = Annotated[bool, Parameter(help="print JSON for scripts", negative="")]


@app.command
def envs(*, as_json: Annotated[Json, Parameter(name="--json")] = False) -> int:
    """List the environments: id, one line, programs by level."""
    from alphanpi.registry import available

    listings = list(available())
    if as_json:
        _print_json([_listing_record(listing) for listing in listings])
        return 0
    console = Console()
    for listing in listings:
        if listing.environment is None:
            console.print(f"[bold]{listing.id}[/]  [red]cannot be loaded:[/] {listing.broken}", highlight=False)
            continue
        console.print(f"[bold]{listing.id}[/]  {listing.summary}", highlight=False)
        for level, names in _by_level(listing.environment).items():
            console.print(f"    level {level}: {' '.join(names)}", highlight=False)
    return 0


@app.command
def check(
    environment: Annotated[
        str, Parameter(name="ENV", help="id, path/to/file.py:ClassName or package.module:ClassName")
    ],
    *,
    observation: Observation = None,
    samples: Annotated[int, Parameter(help="start states looked at per program and size")] = 30,
    seed: Annotated[int, Parameter(help="seed of all sampling")] = 0,
    as_json: Annotated[Json, Parameter(name="--json")] = False,
) -> int:
    """Check an environment against the rules of the specification. Exit code 1 if something is found."""
    from alphanpi import check as run_check
    from alphanpi.registry import make

    report = run_check(make(environment, **_options(observation)), samples=samples, seed=seed)
    if as_json:
        _print_json(
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
            console.print(f"[red]✗[/] {finding}", highlight=False, markup=True)
        for note in report.notes:
            console.print(f"[yellow]note:[/] {note}", highlight=False)
        verdict = "[green]no findings[/]" if report.ok else f"[red]{len(report.findings)} findings[/]"
        console.print(f"{environment}: {verdict}, {report.states} states looked at", highlight=False)
    return 0 if report.ok else EXIT_FINDINGS


@app.command
def search(
    environment: Annotated[
        str, Parameter(name="ENV", help="id, path/to/file.py:ClassName or package.module:ClassName")
    ],
    program: Annotated[str, Parameter(help="program to execute")],
    instance: Annotated[str, Parameter(help='instance as the environment reads it, for example "5 3 9 1"')],
    *,
    observation: Observation = None,
    simulations: Annotated[int, Parameter(help="simulations per action")] = 1500,
    seed: Annotated[int, Parameter(help="seed of the untrained network")] = 0,
) -> int:
    """Solve one instance by search alone, with an untrained network. Exit code 1 if no solution is found."""
    from alphanpi.api import search as run_search
    from alphanpi.registry import make

    loaded = make(environment, **_options(observation))
    state = loaded.parse(program, instance)
    trace = run_search(loaded, program, state, simulations=simulations, seed=seed)
    console = Console(soft_wrap=True)
    for step, action in zip(trace.states, trace.actions, strict=True):
        console.print(f"  {loaded.format(step):<40} {loaded.library.names[action]}", highlight=False)
    console.print(f"  {loaded.format(trace.final)}", highlight=False)
    outcome = "[green]solved[/]" if trace.success else f"[red]not solved[/] ({trace.failure.name.lower()})"
    console.print(
        f"{program} {outcome} in {len(trace.actions)} actions, {trace.simulations:,} simulations",
        highlight=False,
    )
    return 0 if trace.success else EXIT_FINDINGS


@bench_app.command(name="search")
def bench_search(
    *,
    episodes: Annotated[int, Parameter(help="episodes the engine plays side by side")] = 20,
    oracle_seconds: Annotated[float, Parameter(help="time the oracle gets per case")] = 5.0,
    seed: Annotated[int, Parameter(help="seed of networks and instances")] = 0,
    as_json: Annotated[Json, Parameter(name="--json")] = False,
) -> int:
    """Simulations and network evaluations per second of the engine, beside the literal oracle."""
    from alphanpi.bench import SearchResult
    from alphanpi.bench import bench_search as run_bench

    console = Console(stderr=as_json)
    table = Table("case", "engine sim/s", "oracle sim/s", "ratio", "evaluations/s", "of bare forward", "engine MB")

    def show(result: SearchResult) -> None:
        console.print(f"{result.case}: {result.engine_simulations_per_s:,.0f} simulations/s", highlight=False)
        oracle = result.oracle_simulations_per_s
        table.add_row(
            result.case,
            f"{result.engine_simulations_per_s:,.0f}",
            "-" if oracle is None else f"{oracle:,.0f}",
            "-" if result.ratio is None else f"{result.ratio:,.0f}",
            f"{result.evaluations_per_s:,.0f}",
            f"{result.evaluation_fraction_of_bare_forward:.2f}",
            f"{result.engine_megabytes:.0f}",
        )

    results = run_bench(episodes=episodes, oracle_seconds=oracle_seconds, seed=seed, on_result=show)
    if as_json:
        _print_json([result._asdict() for result in results])
    else:
        console.print(table)
        console.print(f"peak memory of the process: {results[-1].peak_process_megabytes:,.0f} MB")
        if results[-1].ratio is None:
            console.print("the oracle lives in tests/: run from a clone of the repository to compare with it")
    return 0


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors are one line and exit code 2, with a traceback only under --debug."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in tokens
    tokens = [token for token in tokens if token != "--debug"]
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        _fail(str(error), debug)
    except AlphaNPIError as error:
        _fail(str(error), debug)
    except KeyboardInterrupt:
        print("alphanpi: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    print(f"alphanpi: error: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(EXIT_ERROR)


def _options(observation: str | None) -> dict[str, Any]:
    return {} if observation is None else {"observation": observation}


def _by_level(environment: Any) -> dict[int, list[str]]:
    levels: dict[int, list[str]] = {}
    for program in environment.library:
        levels.setdefault(program.level, []).append(program.name + ("*" if program.recursive else ""))
    return levels


def _listing_record(listing: Any) -> dict[str, Any]:
    programs = [] if listing.environment is None else listing.environment.library
    return {
        "id": listing.id,
        "summary": listing.summary,
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


def _print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2)
    sys.stdout.write("\n")
