"""The command line. Heavy imports happen inside the commands, so that --help is instant."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import NoReturn

from cyclopts import CycloptsError, UnknownOptionError

from alphanpi.cli import benchmarks, comparing, environments, exporting, learning, running, showing, sweeping, verifying
from alphanpi.cli.output import OutputClosed, StandardOutput
from alphanpi.cli.shared import EXIT_BUG, EXIT_ERROR, EXIT_INTERRUPTED, EXIT_NO_READER, app, guard_inputs
from alphanpi.errors import AlphaNPIError
from alphanpi.support.interrupts import insist

__all__ = [
    "app",
    "benchmarks",
    "comparing",
    "environments",
    "exporting",
    "learning",
    "main",
    "running",
    "showing",
    "sweeping",
    "verifying",
]

_WATCHED = ("train", "resume", "watch")
_ABOUT_INPUTS = " An input that begins with - comes after --, at the end: alphanpi run RUN PROGRAM -- -x"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors are one line and exit code 2, with a traceback only under --debug."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in tokens
    if arguments is None:
        insist()
    tokens = [token for token in tokens if token != "--debug"]
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends
    if sys.stdout is None:
        _fail("standard output is closed", debug)
    stream = sys.stdout
    output = StandardOutput(stream, stopping=bool(tokens) and tokens[0] in _WATCHED)
    sys.stdout = output  # as much of a stream as print and rich need
    try:
        code = _run(tokens, debug)
    finally:
        with suppress(AlphaNPIError):
            output.flush()
        sys.stdout = stream
    sys.exit(EXIT_NO_READER if code == 0 and output.without_reader else code)


def _run(tokens: list[str], debug: bool) -> int:
    try:
        tokens = guard_inputs(learning.take_overrides(tokens))
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except OutputClosed as error:
        _fail(str(error), debug, EXIT_NO_READER)
    except UnknownOptionError as error:
        _fail(f"{error}{_ABOUT_INPUTS if error.token.value[:2] != '--' else ''}", debug)
    except (CycloptsError, AlphaNPIError) as error:
        _fail(str(error), debug)
    except KeyboardInterrupt:
        _say("alphanpi: interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        _fail(f"{where}{error.strerror or error}", debug)
    except MemoryError:
        _fail("not enough memory; ask for less: smaller sizes, fewer episodes, a smaller network", debug)
    except Exception as error:
        if "can't allocate memory" in str(error) or type(error).__name__ == "OutOfMemoryError":  # torch's own
            _fail("not enough memory; ask for less: smaller sizes, fewer episodes, a smaller network", debug)
        what = f"{type(error).__name__}: {error}"
        _fail(f"{what}; this is a bug in AlphaNPI, please report it: --debug shows where", debug, EXIT_BUG)
    return code if isinstance(code, int) else 0


def _fail(message: str, debug: bool, code: int = EXIT_ERROR) -> NoReturn:
    if debug:
        _say(traceback.format_exc().rstrip())
    line = " ".join(message.split())
    # What a file says may be in it; it must not steer the terminal.
    _say(f"alphanpi: error: {''.join(c if c.isprintable() else c.encode('unicode_escape').decode() for c in line)}")
    sys.exit(code)


def _say(text: str) -> None:
    with suppress(OSError):
        print(text.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
