"""The report's source code: exported here where the programs' behaviour is finite, so that it does not take long."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.errors import AlphaNPIError
from alphanpi.exporting import FoundCode, Origin, find_code
from alphanpi.exporting.javascript import NOT_RUN, assembled, has_run
from alphanpi.verification import Certificate, Kind

SAMPLES = 200
SECONDS = 30.0


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


def exported(agent: Agent, certificate: Certificate | None, progress: Callable[[str], None]) -> ShownSource:
    """The learned programs as code, if a certificate says that larger problems show nothing new."""
    if certificate is None:
        return ShownSource(None, "Without a certificate nothing says how long an export takes, so none was tried.")
    verdict = certificate.claim
    if verdict.kind < Kind.SATURATED:
        return ShownSource(
            None,
            f"The verdict is {verdict}: larger problems may keep showing new behaviour, and an export may take long "
            "or find no code, so none was tried.",
        )
    progress("exporting the learned programs")
    origin = Origin(agent.name, agent.weights_hash[:12], agent.card.environment, agent.card.options)
    try:
        found = find_code(agent.environment, agent.evaluator, origin, samples=SAMPLES, time_limit=SECONDS)
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
        return None, f"{name} has no standalone(), so its programs cannot be run outside of this package."
    try:
        export = found.exported("javascript")
    except AlphaNPIError as error:
        return None, f"The programs cannot be run in a browser: {error}."
    if not has_run(export.text):
        return None, f"The standalone() of {name} has no main part that reads an input."
    note = "The exported program, translated to JavaScript."
    return export.text, f"{note} Not compared with it: {NOT_RUN}." if NOT_RUN in export.warnings else note
