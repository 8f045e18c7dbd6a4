"""Commands that use a trained agent: evaluate, run, trace."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from alphanpi.cli.shared import EXIT_FINDINGS, Device, Env, Json, Run, app, print_json
from alphanpi.errors import UsageError
from alphanpi.support.limits import percent

ProgramName = Annotated[str, Parameter(name="PROGRAM", help="program to run")]
Instance = Annotated[str, Parameter(name="INPUT", help='instance as the environment reads it, for example "5 3 9 1"')]
Mode = Annotated[Literal["greedy", "planning"], Parameter(help="the network alone, or the network with tree search")]

MaxActions = Annotated[int, Parameter(help="an execution of more actions, those of nested calls too, fails")]

TEXT_STEPS, JSON_STEPS = 500, 100_000
_SECONDS_BETWEEN_LINES = 5.0
MAX_ACTIONS = 10_000_000  # written out, since --help must not import the engine


@app.command(name="eval")
def evaluate(
    run: Run,
    *,
    program: Annotated[str | None, Parameter(help="program to measure; the last one if omitted")] = None,
    sizes: Annotated[
        str | None, Parameter(help="sizes separated by commas; the environment's test sizes up to 100")
    ] = None,
    episodes: Annotated[int, Parameter(help="instances per size")] = 40,
    mode: Annotated[Literal["greedy", "planning", "both"], Parameter(help="both see the same instances")] = "both",
    seed: Annotated[int, Parameter(help="seed of the instances")] = 0,
    max_actions: MaxActions = MAX_ACTIONS,
    env: Env = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> int:
    """Measure how an agent generalises: success by size, with 95 % intervals. Exit code 1 if anything failed."""
    from alphanpi.agent.evaluation import Score
    from alphanpi.agent.evaluation import evaluate as run_evaluation
    from alphanpi.agent.loading import load

    agent = load(run, device, environment=env)
    name = agent.environment.library.learned[-1].name if program is None else program
    chosen = None if sizes is None else _sizes(sizes)
    console = Console(stderr=as_json)
    table = Table("size", "mode", "success", "rate", "95 % interval", "seconds each", "failures", title=name)

    def show(score: Score) -> None:
        console.print(f"{name} size {score.size} {score.mode}: {score.successes}/{score.episodes}", highlight=False)
        table.add_row(
            str(score.size),
            score.mode,
            f"{score.successes}/{score.episodes}",
            percent(score.rate),
            f"{percent(score.low)} - {percent(score.high)}",
            f"{score.seconds_per_episode:.4f}",
            ", ".join(f"{reason} {count}" for reason, count in score.failures.items()),
        )

    with _patience(agent, name, max_actions):
        scores = run_evaluation(
            agent, name, chosen, episodes=episodes, mode=mode, seed=seed, max_actions=max_actions, on_score=show
        )
    if as_json:
        print_json([score._asdict() for score in scores])
    else:
        console.print(table)
    return 0 if all(score.successes == score.episodes for score in scores) else EXIT_FINDINGS


@app.command
def run(
    run: Run,
    program: ProgramName,
    instance: Instance,
    *,
    mode: Mode = "greedy",
    max_actions: MaxActions = MAX_ACTIONS,
    env: Env = None,
    device: Device = "cpu",
) -> int:
    """Run a learned program and print its result. Exit code 1 if it fails."""
    from alphanpi.agent.agent import RunFailed
    from alphanpi.agent.loading import load

    agent = load(run, device, environment=env)
    try:
        with _patience(agent, program, max_actions):
            result = agent.run(program, instance, mode, max_actions)
        print(result)
    except RunFailed as failure:
        Console(stderr=True).print(f"alphanpi: {failure}", markup=False, highlight=False, soft_wrap=True)
        return EXIT_FINDINGS
    return 0


@app.command
def trace(
    run: Run,
    program: ProgramName,
    instance: Instance,
    *,
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
    from alphanpi.reporting.text_tree import tree_console

    agent = load(run, device, environment=env)
    most = limit if limit is not None else (JSON_STEPS if as_json else TEXT_STEPS)
    if most < 0 or (depth is not None and depth < 0):
        raise UsageError("--depth and --limit are numbers from 0")
    with _patience(agent, program, max_actions):
        execution = agent.trace(program, instance, Recording(steps=most, depth=depth), max_actions)
    left_out = execution.actions - len(execution.steps)
    if as_json:
        print_json(
            {
                "program": program,
                "input": instance,
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
    console.print(_call_tree(agent, program, execution.steps), highlight=False)
    if left_out:
        console.print(f"… {left_out:,} more steps; --depth or --limit shows others", highlight=False)
    final = escape(agent.guard.format(execution.final))
    outcome = "[green]solved[/]" if execution.success else f"[red]failed[/] ({execution.failure.name.lower()})"
    console.print(f"{program} {outcome} in {execution.actions:,} actions: {final}", highlight=False)
    return 0 if execution.success else EXIT_FINDINGS


@contextmanager
def _patience(agent: Any, program: str, max_actions: int) -> Iterator[None]:
    """Say every few seconds that something is being done, and when it will end at the latest."""
    done, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not done.wait(_SECONDS_BETWEEN_LINES):
            actions = agent.interpreter.actions
            so_far = f"{actions:,} actions in " if actions else ""
            print(
                f"{program}: {so_far}{time.monotonic() - began:.0f} s, and still running; an execution ends after "
                f"{max_actions:,} actions (--max-actions), Ctrl-C ends it now",
                file=sys.stderr,
                flush=True,
            )

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()  # a thread that wakes up while Python ends takes the whole process down


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


def _sizes(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 20 for word in words):
        raise UsageError(f"--sizes {text[:80]}: write numbers separated by commas, for example 10,20,60")
    return [int(word) for word in words]
