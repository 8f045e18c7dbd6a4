"""Commands that train: start a run, resume one, show the configuration."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from alphanpi.cli.progress import Activity
from alphanpi.cli.shared import (
    EXIT_FINDINGS,
    LEARN,
    Device,
    Env,
    EnvironmentId,
    Observation,
    RayAddress,
    Run,
    Workers,
    app,
    duration,
    environment_options,
    examples,
)
from alphanpi.errors import UsageError
from alphanpi.support.limits import percent

if TYPE_CHECKING:
    from alphanpi.learn.iteration import IterationReport
    from alphanpi.training.train import Observer

Preset = Annotated[str, Parameter(help="default (our recipe) or paper (the paper's algorithm)")]
ConfigFile = Annotated[Path | None, Parameter(help="TOML file whose values override the preset")]
Log = Annotated[str | None, Parameter(help="trackers that are told of every iteration: wandb, mlflow, or wandb,mlflow")]
TimeLimit = Annotated[str | None, Parameter(help="stop with a checkpoint after this time: 90, 90s, 5m, 1h")]

# Keys of the configuration that belong to no section; written out, since --help must not import the models.
KEYS_WITHOUT_SECTION = ("until", "max_iterations")

_SIZES = {
    "default": ("episodes.train_sizes", "validation.size"),
    "paper": ("paper.train_sizes", "paper.validation_size"),
}
"""Where the options --train-sizes and --validation-size go, by preset."""

_overrides: dict[str, Any] = {}


def take_overrides(tokens: list[str]) -> list[str]:
    """Take `--section.key value` out of the arguments of commands that have a configuration."""
    _overrides.clear()
    if not tokens or tokens[0] not in ("train", "config"):
        return tokens
    rest, position = [], 0
    while position < len(tokens):
        token = tokens[position]
        key, equals, value = token.removeprefix("--").partition("=")
        if not token.startswith("--") or ("." not in key and key not in KEYS_WITHOUT_SECTION):
            rest.append(token)
        elif equals:
            _overrides[key] = _value(value)
        elif position + 1 < len(tokens):
            position += 1
            _overrides[key] = _value(tokens[position])
        else:
            raise UsageError(f"{token} needs a value")
        position += 1
    return rest


def _value(text: str) -> Any:
    """A number, a truth value, or else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


@app.command(
    group=LEARN,
    sort_key=0,
    help_epilogue="With --until verified, training goes on until every program is proved, and learns from "
    "counter-examples.\nAny configuration key can be given as --section.key value; `alphanpi config` lists them.\n\n"
    + examples(
        "train hanoi --seed 0 --out runs/hanoi",
        "train examples/lights.py --time-limit 5m",
        "train hanoi --until verified --learning.batch 64",
        "train slow.py --workers 16 --ray head:6379    # on a Ray cluster, with the same result",
        "train larger.py --from runs/smaller --freeze",
    ),
)
def train(
    environment: EnvironmentId,
    /,
    *,
    seed: Annotated[int | None, Parameter(help="decides every random draw; drawn and recorded if omitted")] = None,
    out: Annotated[str | None, Parameter(help="run directory; runs/ENV/TIME-seedN if omitted")] = None,
    preset: Preset = "default",
    config: ConfigFile = None,
    observation: Observation = None,
    train_sizes: Annotated[
        str | None, Parameter(help="sizes of problems to learn from, for example 1,2,3; else the environment's")
    ] = None,
    validation_size: Annotated[
        int | None, Parameter(help="size of problems that decides what is learned; else the environment's")
    ] = None,
    time_limit: TimeLimit = None,
    begin_from: Annotated[
        str | None,
        Parameter(
            name="--from",
            help="begin with what RUN has learned (run directory, weights file or pretrained:NAME), by the names of "
            "programs, actions and fields",
        ),
    ] = None,
    freeze: Annotated[
        bool, Parameter(help="the programs of RUN stay exactly as they are; the others are learned", negative="")
    ] = False,
    log: Log = None,
    device: Device = "cpu",
    workers: Workers = None,
    ray: RayAddress = None,
) -> int:
    """Train an agent. Exit code 0: every program learned; 1: stopped before that, with a checkpoint."""
    from alphanpi.environment.registry import make
    from alphanpi.training.train import train as run_training
    from alphanpi.training.view import ProgressView

    console = Console()
    sizes = dict(zip(_SIZES.get(preset, _SIZES["default"]), (train_sizes, validation_size), strict=True))
    _overrides.update({key: value for key, value in sizes.items() if value is not None})
    until = _overrides.pop("until", None) if preset == "paper" else None  # which has no such key, and says so
    resolved = _resolved(environment, preset, config)
    limit = duration(time_limit)
    make(environment, **environment_options(observation))  # a mistyped name is to be said before anything takes long
    _compile(device)
    with ProgressView(console) as view, _learning(console) as activity:
        outcome = run_training(
            environment,
            seed=seed,
            out=out,
            preset=preset,
            config=resolved,
            until=until,
            time_limit=limit,
            device=device,
            observer=_watched(view, activity),
            log=log,
            workers=workers,
            ray=ray,
            begin_from=begin_from,
            freeze=freeze,
            warn=_warn,
            **environment_options(observation),
        )
    return _summary(console, outcome)


@app.command(
    group=LEARN,
    sort_key=1,
    help_epilogue=examples("resume runs/hanoi --time-limit 1h"),
)
def resume(
    run: Run,
    /,
    *,
    time_limit: TimeLimit = None,
    log: Log = None,
    env: Env = None,
    device: Annotated[str | None, Parameter(help="where the network runs; as before if omitted")] = None,
    workers: Workers = None,
    ray: RayAddress = None,
) -> int:
    """Go on with a run from its newest checkpoint, as if it had never stopped."""
    from alphanpi.training.train import resume as run_resume
    from alphanpi.training.view import ProgressView

    console = Console()
    limit = duration(time_limit)
    _compile(device or "cpu")
    with ProgressView(console) as view, _learning(console) as activity:
        outcome = run_resume(
            run,
            time_limit=limit,
            device=device,
            environment=env,
            observer=_watched(view, activity),
            log=log,
            workers=workers,
            ray=ray,
            warn=_warn,
        )
    return _summary(console, outcome)


@app.command(
    group=LEARN,
    sort_key=2,
    help_epilogue=examples("config hanoi > hanoi.toml", "train hanoi --config hanoi.toml"),
)
def config(
    environment: Annotated[str, Parameter(name="ENV", help="environment whose preset to show")] = "",
    *,
    preset: Preset = "default",
    config: ConfigFile = None,
) -> int:
    """Print a preset as a configuration file, every key with its description."""
    from alphanpi.environment.registry import load
    from alphanpi.support.config import to_toml

    if environment:
        load(environment)  # a mistyped name would show the values of no environment
    print(to_toml(_resolved(environment, preset, config)), end="")
    return 0


def _resolved(environment: str, preset: str, file: Path | None) -> Any:
    from alphanpi.support.config import override, read_toml
    from alphanpi.training.presets import preset as preset_config

    resolved = preset_config(preset, environment)
    if file is not None:
        resolved = override(resolved, read_toml(file))
    return override(resolved, _overrides)


def _compile(device: str) -> None:
    """Compile the search, where it has not been, and say so; it is no part of learning."""
    from alphanpi.agent.compiling import compile_search

    with Activity("loading the search"):
        compile_search(device)


def _warn(warning: str) -> None:
    Console(stderr=True).print(f"warning: {warning}", markup=False, highlight=False, soft_wrap=True)


def _learning(console: Console) -> Activity:
    """What is told of long iterations; above the live table, where there is one."""
    return Activity("learning", bar=False, console=console if console.is_terminal else None)


def _watched(view: Observer, activity: Activity) -> Observer:
    """The view, and a word where an iteration takes long."""

    def observe(trainer: Any, report: IterationReport, elapsed: float) -> None:
        view(trainer, report, elapsed)
        activity.say(f"learning, iteration {report.iteration + 1}")
        activity.heard()

    return observe


def _summary(console: Console, outcome: Any) -> int:
    whole = max(outcome.elapsed, 1e-9)
    parts = sorted(outcome.seconds._asdict().items(), key=lambda item: -item[1])
    spent = ", ".join(f"{name} {seconds:.1f} s ({percent(seconds / whole)})" for name, seconds in parts)
    if outcome.completed:
        done = "learned and proved" if outcome.proved else "learned"
        headline = f"{done} every program in {outcome.elapsed:.1f} s and {outcome.iterations} iterations"
    else:
        why = {"time": "time limit", "iterations": "iteration limit", "frozen": "frozen program"}.get(
            outcome.reason, outcome.reason
        )
        headline = f"stopped ({why}) after {outcome.elapsed:.1f} s: {outcome.explanation}"
    programs, place = list(outcome.success), shlex.quote(str(outcome.run))
    lines = [headline, f"time: {spent}", f"run:  {outcome.run}", "next:"]
    if not outcome.completed and outcome.reason not in ("iterations", "frozen"):
        lines.append(f"  alphanpi resume {place}")
    lines += [
        f"  alphanpi report {place}    # a page that shows what was learned",
        f"  alphanpi eval {place} --program {programs[-1]}    # how it generalises",
        f"  alphanpi run {place} {programs[-1]}    # on an example; or give an input",
        f"  alphanpi export {place}    # as Python",
    ]
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    return 0 if outcome.completed else EXIT_FINDINGS
