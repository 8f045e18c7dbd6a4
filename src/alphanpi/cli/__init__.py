"""The command line. Heavy imports happen inside the commands, so that --help is instant."""

from __future__ import annotations

import sys
import traceback
from typing import NoReturn

from cyclopts import CycloptsError

from alphanpi.cli import benchmarks, environments, exporting, learning, running, showing, verifying
from alphanpi.cli.shared import EXIT_ERROR, app
from alphanpi.errors import AlphaNPIError
from alphanpi.interrupts import insist

__all__ = ["app", "benchmarks", "environments", "exporting", "learning", "main", "running", "showing", "verifying"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors are one line and exit code 2, with a traceback only under --debug."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in tokens
    if arguments is None:
        insist()
    tokens = [token for token in tokens if token != "--debug"]
    try:
        tokens = learning.take_overrides(tokens)
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except (CycloptsError, AlphaNPIError) as error:
        _fail(str(error), debug)
    except KeyboardInterrupt:
        print("alphanpi: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        _fail(f"{where}{error.strerror or error}", debug)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, debug: bool) -> NoReturn:
    if debug:
        traceback.print_exc()
    print(f"alphanpi: error: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(EXIT_ERROR)
