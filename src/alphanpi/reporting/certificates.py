"""The report's certificate: the one given, the one in the run's folder, or one computed here within a time limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from alphanpi.agent.agent import Agent
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.verification import By, Certificate, NotRecheckedError, OtherSubjectError, read_certificate, verify

VERIFY_SECONDS = 20.0


class ShownCertificate(NamedTuple):
    """A certificate, and where it comes from; without one, why."""

    certificate: Certificate | None
    note: str
    checked: bool  # whether it was computed here, or computed again with the same result


def stored(
    agent: Agent, path: Path | None, directory: RunDirectory | None, seconds: float, progress: Callable[[str], None]
) -> ShownCertificate | None:
    """The certificate given, or the one in the run's folder; None where there is none."""
    if path is not None:
        return _read(agent, path, str(path), seconds, progress)
    if directory is None or not directory.certificate_file.is_file():
        return None
    path = directory.certificate_file
    try:
        return _read(agent, path, f"{path.name} in the run's folder", seconds, progress)
    except UsageError as error:
        if isinstance(error, OtherSubjectError) and agent.run_directory is not None:
            return None  # the environment was edited since; a new one takes its place
        raise UsageError(f"{error}; delete it to have one computed") from error


def _read(agent: Agent, path: Path, name: str, seconds: float, progress: Callable[[str], None]) -> ShownCertificate:
    """A certificate that is whole and about this agent; anybody can write one, so it is computed again in the time."""
    written = read_certificate(agent, path)
    why = "as asked for"
    if seconds > 0:
        progress(f"checking {path.name} for at most {seconds:g} s")
        try:
            verify(agent, certificate=path, time_limit=seconds)
            return ShownCertificate(written, f"From {name}; computed again here, with the same result.", checked=True)
        except NotRecheckedError:
            why = f"{seconds:g} s were too short"
    note = f"From {name}; not checked here ({why}): `alphanpi verify --recheck` does it."
    return ShownCertificate(written, note, checked=False)


def computed(agent: Agent, seconds: float, progress: Callable[[str], None]) -> ShownCertificate:
    """A certificate of what can be shown in so many seconds; an agent that cannot be verified has none."""
    if seconds == 0:
        return ShownCertificate(None, "Verification was left out, as asked for.", checked=False)
    progress(f"verifying for at most {seconds:g} s")
    try:
        # A lemma is quicker, where there is one.
        by: By = "any" if agent.guard.cutoff() is None else "lemma"
        certificate = verify(agent, time_limit=seconds, keep=False, by=by)
    except AlphaNPIError as error:
        return ShownCertificate(None, f"Not verified: {error}.", checked=False)
    note = f"Computed for this report, with a time limit of {seconds:g} s."
    return ShownCertificate(certificate, note, checked=True)
