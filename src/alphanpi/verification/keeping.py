"""The certificate in a run's directory: the strongest that was found of the newest agent."""

from __future__ import annotations

import json

from alphanpi.errors import UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.support.files import write_atomically
from alphanpi.verification.recheck import read_record
from alphanpi.verification.records import Certificate


def keep(certificate: Certificate, run: RunDirectory) -> None:
    """Write a certificate of a run's newest agent into its directory, unless one that says more of it is there."""
    before = _kept(run)
    if before is None or _subject(before) != _subject(certificate) or not before.claim.stronger(certificate.claim):
        write_atomically(run.certificate_file, json.dumps(certificate.record(), indent=1) + "\n")


def _kept(run: RunDirectory) -> Certificate | None:
    try:
        return read_record(run.certificate_file)
    except UsageError:  # there is none, or it is damaged, or of an earlier format
        return None


def _subject(certificate: Certificate) -> tuple[str | None, str | None]:
    return certificate.weights_sha256, certificate.environment_sha256
