"""The report's source code: exported here, for longer where the programs' behaviour is known to be finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.errors import AlphaNPIError
from alphanpi.exporting import FoundCode, Origin, find_code
from alphanpi.exporting.clock import Clock
from alphanpi.exporting.javascript import NOT_RUN, assembled, has_run
from alphanpi.verification import Certificate, Kind

SAMPLES = 200
SECONDS = 30.0  # where larger problems show nothing new
TRIED_SECONDS = 15.0  # elsewhere
SCRIPT_SECONDS = 30.0  # for its translation; it takes a few
SCRIPT_CASES = 2000


class ShownSource(NamedTuple):
    """Source code, and where it comes from; without any, why. The same of the JavaScript that visitors can run."""

    text: str | None
    note: str
    script: str | None = None
    script_note: str = "There is no exported program that could be run here."


def as_given(agent: Agent, text: str) -> ShownSource:
    """Source code that someone gives to the report, and its translation if it is an exported module."""
    note = "As given to the report; not compared with the agent here."
    try:
        script = assembled(text, agent.environment.library)
    except (AlphaNPIError, SyntaxError, ValueError) as error:
        return ShownSource(text, note, None, f"The source that was given cannot be run in a browser: {error}.")
    if not has_run(script):
        return ShownSource(text, note, None, "The source that was given has no main part that reads an input.")
    return ShownSource(
        text, note, script, "The source that was given, translated to JavaScript; not compared with the agent."
    )


def exported(
    agent: Agent, certificate: Certificate | None, solved: bool, progress: Callable[[str], None]
) -> ShownSource:
    """The learned programs as code, if they are known to work, or at least did in the run that is shown."""
    verdict = None if certificate is None else certificate.claim
    finite = verdict is not None and verdict.kind >= Kind.SATURATED
    if verdict is not None and verdict.kind == Kind.REFUTED:
        return ShownSource(None, f"The verdict is {verdict}, so no export was tried.")
    if not finite and not solved:
        return ShownSource(None, "The run failed, so no export was tried.")
    progress("exporting the learned programs")
    seconds = SECONDS if finite else TRIED_SECONDS
    origin = Origin(agent.name, agent.weights_hash[:12], agent.card.environment, agent.card.options)
    try:
        found = find_code(agent.environment, agent.evaluator, origin, samples=SAMPLES, time_limit=seconds)
        export = found.exported("python")
    except AlphaNPIError as error:  # ExportFailed, or an agent or environment with nothing to export
        return ShownSource(None, f"The export failed: {error}.")
    compared = f"Exported for this report: the same as the agent on {export.cases:,} runs, {export.actions:,} actions."
    note = " ".join([compared, *(f"Warning: {warning}." for warning in export.warnings)])
    progress("translating the learned programs to JavaScript")
    return ShownSource(export.text, note, *_script(found))


def _script(found: FoundCode) -> tuple[str | None, str]:
    """The same code as JavaScript for the page, if it has a main part, and a sentence about it."""
    name = type(found.rounds.environment).__name__
    if found.checked.renderer.standalone is None:
        return None, f"The programs of {name} cannot be run outside of this package: {found.checked.missing}."
    try:
        found.rounds.clock = Clock(SCRIPT_SECONDS)
        export = found.exported("javascript", most_compared=SCRIPT_CASES)
    except AlphaNPIError as error:
        return None, f"The programs cannot be run in a browser: {error}."
    if not has_run(export.text):
        return None, f"The standalone() of {name} has no main part that reads an input."
    note = "The exported program, translated to JavaScript."
    return export.text, f"{note} Not compared with it: {NOT_RUN}." if NOT_RUN in export.warnings else note
