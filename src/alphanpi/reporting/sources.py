"""The report's source code: exported here where the programs' behaviour is finite, so that it does not take long."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.errors import AlphaNPIError
from alphanpi.exporting import Origin, export_evaluator
from alphanpi.verification import Certificate, Kind

SAMPLES = 200
SECONDS = 30.0


class ShownSource(NamedTuple):
    """Source code, and where it comes from; without any, why."""

    text: str | None
    note: str


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
        export = export_evaluator(agent.environment, agent.evaluator, origin, samples=SAMPLES, time_limit=SECONDS)
    except AlphaNPIError as error:  # ExportFailed, or an agent or environment with nothing to export
        return ShownSource(None, f"The export failed: {error}.")
    compared = f"Exported for this report: the same as the agent on {export.cases:,} runs, {export.actions:,} actions."
    return ShownSource(export.text, " ".join([compared, *(f"Warning: {warning}." for warning in export.warnings)]))
