"""Commands that use a trained agent: list those there are, evaluate, run, trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from alphanpi.cli.progress import Activity
from alphanpi.cli.shared import (
    EXIT_FINDINGS,
    USE,
    Device,
    Env,
    Further,
    Json,
    ProgramName,
    RayAddress,
    Run,
    Seed,
    Size,
    Words,
    Workers,
    app,
    examples,
    named_numbers,
    print_json,
    say_drawn,
    typed,
    whole_numbers,
)
from alphanpi.errors import UsageError
from alphanpi.support.limits import percent

Mode = Annotated[Literal["greedy", "planning"], Parameter(help="the network alone, or the network with tree search")]

MaxActions = Annotated[int, Parameter(help="an execution of more actions, those of nested calls too, fails")]

TEXT_STEPS, JSON_STEPS = 500, 100_000
MAX_ACTIONS = 10_000_000  # written out, since --help must not import the engine


@app.command(
    group=USE,
    sort_key=0,
    help_epilogue="",
)
def agents(*, as_json: Json = False) -> int:
    """List the agents that come with the package: what each does, at which sizes, and what is known of it."""
    from alphanpi.agent.catalogue import agents as list_agents

    found = list_agents()
    if as_json:
        print_json([{**one._asdict(), "scores": [row.model_dump(mode="json") for row in one.scores]} for one in found])
        return 0
    console = Console(soft_wrap=True, highlight=False)
    for one in found:
        options = "".join(f" ({name}: {value})" for name, value in one.options.items())
        console.print(f"[bold]{one.name}[/]  {escape(one.summary)}")
        for line in (
            f"environment {one.environment}{options}, programs {' '.join(one.programs)}",
            f"{one.verdict}; {one.success}",
            f"trained in {one.training_seconds:.0f} s by `{one.command}`; try:",
            f"  {one.example}",
        ):
            console.print(f"    {line}", markup=False)
    return 0


@app.command(
    name="eval",
    group=USE,
    sort_key=1,
    help_epilogue=examples("eval runs/hanoi", "eval pretrained:sorting --sizes 10,100 --mode greedy"),
)
def evaluate(
    run: Run,
    *,
    program: Annotated[str | None, Parameter(help="program to measure; the last one if omitted")] = None,
    sizes: Annotated[
        str | None, Parameter(help="sizes separated by commas; the environment's test sizes up to 100")
    ] = None,
    further: Further = "",
    episodes: Annotated[int, Parameter(help="instances per size")] = 40,
    mode: Annotated[Literal["greedy", "planning", "both"], Parameter(help="both see the same instances")] = "both",
    seed: Annotated[int, Parameter(help="seed of the instances")] = 0,
    max_actions: MaxActions = MAX_ACTIONS,
    env: Env = None,
    device: Device = "cpu",
    workers: Workers = None,
    ray: RayAddress = None,
    as_json: Json = False,
) -> int:
    """Measure how an agent generalises: success by size, with 95 % intervals. Exit code 1 if anything failed."""
    from alphanpi.agent.evaluation import Measured, Score
    from alphanpi.agent.loading import load
    from alphanpi.cluster.evaluating import evaluate as run_evaluation

    chosen = None if sizes is None else whole_numbers("--sizes", sizes)
    others = named_numbers("--further", further)
    console = Console(stderr=as_json)
    with Activity("loading the agent") as activity:
        agent = load(run, device, environment=env)
        library = agent.environment.library
        name = library.learned[-1].name if program is None else library.spelt(program)
        table = Table("size", "mode", "success", "rate", "95 % interval", "seconds each", "failures", title=name)

        def show(score: Score) -> None:
            activity.print(f"{name} size {score.size} {score.mode}: {score.successes}/{score.episodes}", console)
            table.add_row(
                str(score.size),
                score.mode,
                f"{score.successes}/{score.episodes}",
                percent(score.rate),
                f"{percent(score.low)} - {percent(score.high)}",
                f"{score.seconds_per_episode:.4f}",
                ", ".join(f"{reason} {count}" for reason, count in score.failures.items()),
            )

        def tell(measured: Measured) -> None:
            activity.say(f"{name} size {measured.size} {measured.mode}", measured.done, measured.episodes)

        activity.more = _patience(agent, max_actions)
        scores = run_evaluation(
            agent,
            name,
            chosen,
            episodes=episodes,
            mode=mode,
            seed=seed,
            max_actions=max_actions,
            further=others,
            workers=workers,
            ray=ray,
            on_score=show,
            on_progress=tell,
        )
    if as_json:
        print_json([score._asdict() for score in scores])
    else:
        console.print(table)
    return 0 if all(score.successes == score.episodes for score in scores) else EXIT_FINDINGS


@app.command(
    group=USE,
    sort_key=2,
    usage="Usage: alphanpi run [OPTIONS] RUN [PROGRAM [INPUT...]]",
    help_epilogue=examples(
        "run pretrained:hanoi HANOI 3",
        "run pretrained:recursive-sorting-compare BUBBLESORT 5 3 -9 1",
        "run runs/lights --size 12 --seed 3",
    ),
)
def run(
    run: Run,
    program: ProgramName = None,
    /,
    *words: Words,
    size: Size = None,
    seed: Seed = None,
    further: Further = "",
    mode: Mode = "greedy",
    max_actions: MaxActions = MAX_ACTIONS,
    env: Env = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> int:
    """Run a learned program and print its result. Exit code 1 if it fails."""
    from alphanpi.agent.loading import load
    from alphanpi.agent.running import run as run_program

    agent = load(run, device, environment=env)
    problem = agent.problem(program, typed(words), size=size, seed=seed, further=named_numbers("--further", further))
    if not words:
        say_drawn(problem)
    with Activity(f"running {problem.program}", _patience(agent, max_actions), bar=False):
        answer = run_program(agent, problem.program, problem, mode=mode, max_actions=max_actions)
    if as_json:
        print_json({**answer._asdict(), "mode": mode})
    elif answer.success:
        print(answer.result)
    else:
        Console(stderr=True).print(f"alphanpi: {answer.result}", markup=False, highlight=False, soft_wrap=True)
    return 0 if answer.success else EXIT_FINDINGS


@app.command(
    group=USE,
    sort_key=3,
    usage="Usage: alphanpi trace [OPTIONS] RUN [PROGRAM [INPUT...]]",
    help_epilogue=examples("trace pretrained:hanoi HANOI 3", "trace runs/lights --size 4 --json"),
)
def trace(
    run: Run,
    program: ProgramName = None,
    /,
    *words: Words,
    size: Size = None,
    seed: Seed = None,
    further: Further = "",
    depth: Annotated[int | None, Parameter(help="show calls only this deep")] = None,
    limit: Annotated[int | None, Parameter(help="at most this many steps: 500, or 100,000 with --json")] = None,
    max_actions: MaxActions = MAX_ACTIONS,
    env: Env = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> int:
    """Run a learned program and print its call tree. Exit code 1 if it fails."""
    from alphanpi.agent.interpreter import Recording
    from alphanpi.agent.loading import load
    from alphanpi.reporting.text_tree import Cropped, tree_console

    agent = load(run, device, environment=env)
    most = limit if limit is not None else (JSON_STEPS if as_json else TEXT_STEPS)
    if most < 0 or (depth is not None and depth < 0):
        raise UsageError("--depth and --limit are numbers from 0")
    problem = agent.problem(program, typed(words), size=size, seed=seed, further=named_numbers("--further", further))
    if not words:
        say_drawn(problem)
    name = problem.program
    with Activity(f"running {name}", _patience(agent, max_actions), bar=False):
        execution = agent.trace(name, problem, Recording(steps=most, depth=depth), max_actions)
    left_out = execution.actions - len(execution.steps)
    if as_json:
        print_json(
            {
                "program": name,
                "input": problem.text,
                "size": problem.size,
                "seed": problem.seed,
                "success": execution.success,
                "failure": execution.failure.name.lower(),
                "actions": execution.actions,
                "left_out": left_out,
                "final": agent.guard.format(execution.final),
                "steps": [{**step._asdict(), "state": agent.guard.format(step.state)} for step in execution.steps],
            }
        )
        return 0 if execution.success else EXIT_FINDINGS
    console = tree_console()
    console.print(Cropped(_call_tree(agent, name, execution.steps)), highlight=False)
    if left_out:
        console.print(f"… {left_out:,} more steps; --depth or --limit shows others", highlight=False)
    final = escape(agent.guard.format(execution.final))
    outcome = "[green]solved[/]" if execution.success else f"[red]failed[/] ({execution.failure.name.lower()})"
    console.print(f"{name} {outcome} in {execution.actions:,} actions: {final}", highlight=False)
    return 0 if execution.success else EXIT_FINDINGS


def _patience(agent: Any, max_actions: int) -> Callable[[], str]:
    """How far an execution is, and when it will end at the latest."""

    def tell() -> str:
        actions = agent.interpreter.actions
        so_far = f"{actions:,} actions so far, " if actions else ""
        return (
            f"{so_far}still running; an execution ends after {max_actions:,} actions (--max-actions), "
            "Ctrl-C ends it now"
        )

    return tell


def _call_tree(agent: Any, program: str, steps: Sequence[Any]) -> Tree:
    library, show = agent.environment.library, agent.guard.format
    root = Tree(f"[bold]{program}[/]")
    branches = [root]
    for step in steps:
        del branches[step.depth + 1 :]
        label = step.action if library.named(step.action).atomic else f"[bold]{step.action}[/]"
        node = branches[-1].add(f"{label}  [dim]{escape(show(step.state))}[/]")
        if not library.named(step.action).atomic:
            branches.append(node)
    return root
