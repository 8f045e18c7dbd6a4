"""What the commands share: the app, common options, and how results are printed."""

from __future__ import annotations

import json
import re
import sys
from typing import Annotated, Any

from cyclopts import App, Parameter

from alphanpi import __version__
from alphanpi.errors import UsageError

EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_NOT_ESTABLISHED = 3

app = App(
    name="alphanpi",
    version=__version__,
    help="Learn programs from specifications with a neural programmer-interpreter and recursive tree search.",
    help_epilogue="Exit codes: 0 done, 1 findings or failures, 2 an error in the input. "
    "--debug shows the traceback of an error.",
)
bench_app = App(name="bench", help="Measure speed, as ratios in one run.")
app.command(bench_app)

EnvironmentId = Annotated[str, Parameter(name="ENV", help="id, path/to/file.py:ClassName or package.module:ClassName")]
Run = Annotated[str, Parameter(name="RUN", help="run directory, weights file, or pretrained:NAME")]
Observation = Annotated[
    str | None, Parameter(help="observation of a list environment: paper (values) or compare (comparisons)")
]
Json = Annotated[bool, Parameter(name="--json", help="print JSON for scripts", negative="")]
Device = Annotated[str, Parameter(help="where the network runs: cpu, cuda, cuda:1, mps")]


def environment_options(observation: str | None) -> dict[str, Any]:
    """Options of an environment from the command line."""
    return {} if observation is None else {"observation": observation}


def duration(text: str) -> float:
    """Seconds of a time limit: 90, 90s, 5m or 1h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if match is None:
        raise UsageError(f"--time-limit {text}: write 90, 90s, 5m or 1h")
    seconds = float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
    if seconds == 0:
        raise UsageError(f"--time-limit {text} leaves no time; give a positive one")
    return seconds


def print_json(value: Any) -> None:
    """Print a value for scripts."""
    json.dump(value, sys.stdout, indent=2)
    sys.stdout.write("\n")
