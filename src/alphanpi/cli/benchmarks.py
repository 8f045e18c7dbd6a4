"""Commands that measure speed."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Column, Table

from alphanpi.cli.progress import Activity
from alphanpi.cli.shared import Device, Json, RayAddress, bench_app, print_json, whole_numbers
from alphanpi.support.limits import percent


@bench_app.command(name="search")
def bench_search(
    *,
    episodes: Annotated[int, Parameter(help="episodes the engine plays side by side")] = 20,
    oracle_seconds: Annotated[float, Parameter(help="time the oracle gets per case")] = 5.0,
    seed: Annotated[int, Parameter(help="seed of networks and instances")] = 0,
    as_json: Json = False,
) -> int:
    """Simulations and network evaluations per second of the engine, beside the literal oracle."""
    from alphanpi.bench.search import SearchResult
    from alphanpi.bench.search import bench_search as run_bench

    console = Console(stderr=as_json)
    table = Table(
        Column("case", no_wrap=True),
        *(
            Column(title, justify="right", min_width=width)
            for title, width in (
                ("engine sim/s", 9),
                ("oracle sim/s", 6),
                ("ratio", 5),
                ("evals/s", 7),
                ("of bare forward", 7),
                ("MB", 3),
            )
        ),
        box=None,
        collapse_padding=True,
        pad_edge=False,
    )

    def show(result: SearchResult) -> None:
        activity.print(f"{result.case}: {result.engine_simulations_per_s:,.0f} simulations/s", console)
        table.add_row(
            result.case,
            f"{result.engine_simulations_per_s:,.0f}",
            f"{result.oracle_simulations_per_s:,.0f}",
            f"{result.ratio:,.0f}",
            f"{result.evaluations_per_s:,.0f}",
            f"{result.evaluation_fraction_of_bare_forward:.2f}",
            f"{result.engine_megabytes:.0f}",
        )

    with Activity("measuring") as activity:
        results = run_bench(episodes=episodes, oracle_seconds=oracle_seconds, seed=seed, on_result=show)
    if as_json:
        print_json([result._asdict() for result in results])
    else:
        console.print(table)
        console.print(f"peak memory of the process: {results[-1].peak_process_megabytes:,.0f} MB")
    return 0


@bench_app.command(name="train")
def bench_train(
    *,
    environments: Annotated[str, Parameter(help="ids separated by commas")] = "hanoi,recursive-sorting",
    iterations: Annotated[int, Parameter(help="training iterations to measure")] = 20,
    seed: Annotated[int, Parameter(help="seed of the runs")] = 0,
    as_json: Json = False,
) -> int:
    """Where the time of a fixed number of training iterations goes."""
    from alphanpi.bench.training import bench_train as run_bench

    with Activity("training"):
        results = run_bench(environments.split(","), iterations, seed)
    if as_json:
        print_json([result._asdict() for result in results])
        return 0
    parts_shown = ("search", "network", "environment", "gradients", "validation", "other")
    table = Table(
        Column("case", no_wrap=True),
        *(Column(title, justify="right", no_wrap=True) for title in ("seconds", *parts_shown)),
        box=None,
        collapse_padding=True,
        pad_edge=False,
    )
    for result in results:
        parts = (
            result.search_seconds,
            result.evaluation_seconds,
            result.environment_seconds,
            result.gradient_seconds,
            result.validation_seconds,
            result.other_seconds,
        )
        shares = [percent(part / result.seconds) for part in parts]
        table.add_row(result.case, f"{result.seconds:.2f}", *shares)
    Console().print(table)
    return 0


@bench_app.command(name="export")
def bench_export(*, as_json: Json = False) -> int:
    """Time of an exported module, the greedy interpreter and planning on the same instances."""
    from alphanpi.bench.exports import ExportTiming
    from alphanpi.bench.exports import bench_export as run_bench

    console = Console(stderr=as_json)
    table = Table(Column("case", no_wrap=True), "size", "exported ms", "greedy ms", "planning ms", "ratio")

    def show(result: ExportTiming) -> None:
        activity.print(f"{result.case} {result.size}: {1000 * result.exported_seconds:.3f} ms exported", console)
        planning = "-" if result.planning_seconds is None else f"{1000 * result.planning_seconds:.0f}"
        ratio = f"{result.greedy_seconds / result.exported_seconds:,.0f}"
        table.add_row(
            result.case,
            str(result.size),
            f"{1000 * result.exported_seconds:.3f}",
            f"{1000 * result.greedy_seconds:.1f}",
            planning,
            ratio,
        )

    with Activity("exporting and measuring") as activity:
        results = run_bench(on_result=show)
    if as_json:
        print_json([result._asdict() for result in results])
    else:
        console.print(table)
        console.print("ratio: greedy interpreter to exported code")
    return 0


@bench_app.command(name="device")
def bench_device(
    *,
    device: Device = "cuda",
    units: Annotated[str, Parameter(help="sizes of the network, as network.memory, separated by commas")] = (
        "128,256,512,1024,2048"
    ),
    environment: Annotated[str | None, Parameter(help="environment to learn; recursive-sorting if omitted")] = None,
    iterations: Annotated[int, Parameter(help="training iterations to measure with each")] = 3,
    seed: Annotated[int, Parameter(help="seed of networks and training")] = 0,
    as_json: Json = False,
) -> int:
    """From which size of the network on a GPU pays: CPU and GPU side by side."""
    from alphanpi.bench.device import ENVIRONMENT, DeviceResult, Speed
    from alphanpi.bench.device import bench_device as run_bench

    sizes = whole_numbers("--units", units)
    console = Console(stderr=as_json)
    table = Table(
        *(
            Column(title, justify="right", no_wrap=True)
            for title in ("units", "parameters", "", "evals/s", "ratio", "steps/s", "ratio", "s/iteration", "ratio")
        ),
        box=None,
        collapse_padding=True,
        pad_edge=False,
    )

    def row(name: str, speed: Speed, ratios: tuple[str, str, str], *head: str) -> None:
        numbers = (
            f"{speed.evaluations_per_s:,.0f}",
            f"{speed.gradient_steps_per_s:,.0f}",
            f"{speed.seconds_per_iteration:.2f}",
        )
        cells = [cell for pair in zip(numbers, ratios, strict=True) for cell in pair]
        table.add_row(*(head or ("", "")), name, *cells)

    def show(result: DeviceResult) -> None:
        activity.print(f"{result.units} units: {result.iteration_ratio:.1f} times as fast as the CPU", console)
        row("cpu", result.cpu, ("", "", ""), f"{result.units}", f"{result.parameters:,}")
        ratios = (result.evaluation_ratio, result.gradient_ratio, result.iteration_ratio)
        row(device, result.device, (f"{ratios[0]:.1f}", f"{ratios[1]:.1f}", f"{ratios[2]:.1f}"))

    with Activity("measuring") as activity:
        report = run_bench(sizes, device, iterations, seed, environment or ENVIRONMENT, on_result=show)
    if as_json:
        results = [
            {**one._asdict(), "cpu": one.cpu._asdict(), "device": one.device._asdict()} for one in report.results
        ]
        print_json({**report._asdict(), "results": results})
        return 0
    console.print(table)
    console.print(f"{report.device}: {_from('faster than one core of the CPU', report.faster_from)}")
    console.print(_from("at least five times as fast, so that it pays,", report.pays_from))
    return 0


def _from(what: str, units: int | None) -> str:
    return f"{what} with none of these networks" if units is None else f"{what} from network.memory = {units} on"


@bench_app.command(name="scale")
def bench_scale(
    *,
    built_in: Annotated[str, Parameter(help="numbers of workers for built-in environments")] = "1,2",
    waiting: Annotated[
        str, Parameter(help="numbers of workers for an environment whose actions wait a millisecond")
    ] = "1,2,4,8,16",
    iterations: Annotated[int, Parameter(help="training iterations to measure")] = 3,
    seed: Annotated[int, Parameter(help="seed of the runs")] = 0,
    ray: RayAddress = None,
    as_json: Json = False,
) -> int:
    """How much faster training gets with workers, and where that ends."""
    from alphanpi.bench.scaling import ScaleResult
    from alphanpi.bench.scaling import bench_scale as run_bench

    few, many = whole_numbers("--built-in", built_in), whole_numbers("--waiting", waiting)
    console = Console(stderr=as_json)
    table = Table(
        Column("case", no_wrap=True), "workers", "seconds", "speed-up", "not spread", "gradient steps", "same weights"
    )

    def show(result: ScaleResult) -> None:
        activity.print(f"{result.case}, {result.workers} workers: {result.seconds:.1f} s", console)
        table.add_row(
            result.case,
            str(result.workers) if result.workers else "none",
            f"{result.seconds:.2f}",
            f"{result.speed_up:.2f}",
            "" if result.serial_share is None else percent(result.serial_share),
            percent(result.gradient_share),
            "yes" if result.same else "no",
        )

    with Activity("training") as activity:
        report = run_bench(few, many, iterations, seed, ray, on_result=show)
    if as_json:
        print_json({**report._asdict(), "results": [result._asdict() for result in report.results]})
    else:
        console.print(table)
        console.print(f"{report.cores} cores; {1000 * report.seconds_per_chunk:.1f} ms for a chunk of nothing")
        for case, most in report.most_workers.items():
            idle = f"more than {most:.0f} workers would be idle half of the time" if most else "workers do not pay"
            console.print(f"{case}: {idle}", highlight=False)
    return 0
