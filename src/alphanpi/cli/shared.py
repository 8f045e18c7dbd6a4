"""What the commands share: the app, common options, and how results are printed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App, Group, Parameter, Token, convert
from rich.console import Console

from alphanpi import __version__
from alphanpi.errors import UsageError
from alphanpi.support.durations import seconds_of

EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_NOT_ESTABLISHED = 3
EXIT_BUG = 70
EXIT_INTERRUPTED = 130
EXIT_NO_READER = 141  # as of a process that SIGPIPE ended
_WHOLE = re.compile(r"-?[0-9]{1,100}")
_SHOWN_CHARACTERS = 40


def _strictly(kind: Any, tokens: Sequence[Token]) -> Any:
    """What was typed as the type asked for; whole numbers are not rounded. What uses a number knows its bounds."""
    if kind is not int or len(tokens) != 1:
        return convert(kind, tokens)
    text = tokens[0].value
    if _WHOLE.fullmatch(text) is None:
        shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
        raise UsageError(f"{tokens[0].keyword or 'the number'} {shown}: give a whole number")
    return int(text)


# In the order of the work.
SPECIFY, LEARN, USE, SEE, TRUST, MEASURE, OTHER = (
    Group(name, sort_key=place)
    for place, name in enumerate(
        (
            "Specify a problem",
            "Learn",
            "Use what was learned",
            "See it",
            "Trust it, and take it along",
            "Measure speed",
            "Other",
        )
    )
)


def examples(*lines: str) -> str:
    """What is written below a command's help."""
    return "\n".join(["Examples:", "", *(f"  alphanpi {line}" for line in lines)])


_EPILOGUE = f"""{
    examples(
        "run pretrained:hanoi HANOI 3     # an agent that is there already",
        "new-env counting                 # a problem of your own: counting.py",
        "check counting.py                # is it sound?",
        "train counting.py --out runs/counting",
        "eval runs/counting               # does it generalise?",
        "run runs/counting                # on an input it draws, or give one",
        "report runs/counting             # a page to look at: report.html",
        "export runs/counting             # what was learned, as Python",
    )
}

Exit codes: 0 done, 1 findings or failures, 2 an error in the input,
3 neither proved nor refuted, 70 a bug, 130 interrupted,
141 nobody read all of the output. --debug shows the traceback of an error.
Progress is told on standard error; ALPHANPI_QUIET=1 silences it.
"""

app = App(
    name="alphanpi",
    default_parameter=Parameter(converter=_strictly),
    suppress_keyboard_interrupt=False,  # it is reported
    version=__version__,
    help="Learn programs from specifications with a neural programmer-interpreter and recursive tree search.",
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
)
for _flag in ("--help", "--version"):
    app[_flag].group = OTHER
bench_app = App(name="bench", help="Measure speed, as ratios in one run.", help_epilogue="", group=MEASURE)
app.command(bench_app)

EnvironmentId = Annotated[str, Parameter(name="ENV", help="id, path/to/file.py:ClassName or package.module:ClassName")]
Run = Annotated[str, Parameter(name="RUN", help="run directory, weights file, or pretrained:NAME")]
Env = Annotated[
    str | None,
    Parameter(
        name="--env",
        help="the agent's environment, as for train; needed where RUN names one that you have not named before",
    ),
]
Observation = Annotated[
    str | None, Parameter(help="observation of a list environment: paper (values) or compare (comparisons)")
]
ProgramName = Annotated[
    str | None, Parameter(name="PROGRAM", help="program to run, in any case of letters; the last one if omitted")
]
Words = Annotated[
    str,
    Parameter(
        name="INPUT",
        help="instance as the environment reads it, for example 5 3 9 1, in one word or several; what begins with - "
        "and a letter comes after --. If omitted, an example is taken or drawn",
    ),
]
Size = Annotated[int | None, Parameter(help="draw an input of this size; the validation size if omitted")]
Further = Annotated[
    str, Parameter(help="values of the environment's further sizes, such as times=9, separated by commas")
]
Seed = Annotated[int | None, Parameter(help="draw an input with this seed; 0 if omitted")]
Json = Annotated[bool, Parameter(name="--json", help="print JSON for scripts", negative="")]
Workers = Annotated[
    int | None, Parameter(help="spread it over this many processes of Ray; results are the same, bit for bit")
]
RayAddress = Annotated[
    str | None, Parameter(name="--ray", help="cluster the workers are in: host:port or auto; this machine if omitted")
]
Device = Annotated[str, Parameter(help="where the network runs: cpu, cuda, cuda:1, mps")]


def duration(text: str | None) -> float | None:
    """Seconds, from what `--time-limit` was given."""
    return None if text is None else seconds_of(text, "--time-limit")


def whole_numbers(option: str, text: str) -> list[int]:
    """Numbers separated by commas, from what an option was given."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 20 for word in words):
        raise UsageError(f"{option} {text[:80]}: write numbers separated by commas, for example 10,20,60")
    return [int(word) for word in words]


def named_numbers(option: str, text: str) -> dict[str, int]:
    """Numbers with names, separated by commas, from what an option was given."""
    found = [word.split("=") for word in text.split(",") if word.strip()]
    if not all(len(pair) == 2 and pair[1].strip().isascii() and pair[1].strip().isdigit() for pair in found):
        raise UsageError(f"{option} {text[:80]}: write names and numbers, for example times=9")
    return {name.strip(): int(number) for name, number in found}


_NEGATIVE = re.compile(r"-\.?\d")
_NUMBER = re.compile(r"-\d+(\.\d+)?")


def guard_inputs(tokens: Sequence[str]) -> list[str]:
    """The arguments such that inputs that begin with a negative number, such as "-5 3", are not taken for options."""
    return [f" {token}" if _NEGATIVE.match(token) and not _NUMBER.fullmatch(token) else token for token in tokens]


def typed(words: Sequence[str]) -> str | None:
    """An instance from the words of the command line; None where there are none."""
    return " ".join(words).strip() if words else None


def say_drawn(problem: Any) -> None:
    """Tell what was chosen, where the user has typed nothing."""
    text = problem.line if problem.origin else f"{problem.line} (an example)"
    Console(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)


def environment_options(observation: str | None) -> dict[str, Any]:
    """Options of an environment from the command line."""
    return {} if observation is None else {"observation": observation}


def print_json(value: Any) -> None:
    """Print a value for scripts."""
    json.dump(value, sys.stdout, indent=2)
    sys.stdout.write("\n")
