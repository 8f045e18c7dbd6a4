"""The report's source code: exported here, for longer where the programs' behaviour is known to be finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.errors import AlphaNPIError
from alphanpi.exporting import Origin, export_evaluator
from alphanpi.verification import Certificate, Kind

SAMPLES = 200
SECONDS = 30.0  # where larger problems show nothing new
TRIED_SECONDS = 15.0  # elsewhere


class ShownSource(NamedTuple):
    """Source code, and where it comes from; without any, why."""

    text: str | None
    note: str


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
        export = export_evaluator(agent.environment, agent.evaluator, origin, samples=SAMPLES, time_limit=seconds)
    except AlphaNPIError as error:  # ExportFailed, or an agent or environment with nothing to export
        return ShownSource(None, f"The export failed: {error}.")
    compared = f"Exported for this report: the same as the agent on {export.cases:,} runs, {export.actions:,} actions."
    return ShownSource(export.text, " ".join([compared, *(f"Warning: {warning}." for warning in export.warnings)]))
