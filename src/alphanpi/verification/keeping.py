"""The certificate in a run's directory: what is known best of the newest agent."""

from __future__ import annotations

import json

from alphanpi.errors import UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.support.files import write_atomically
from alphanpi.verification.recheck import read_record
from alphanpi.verification.records import Certificate
from alphanpi.verification.verdicts import Kind


def write_best(certificate: Certificate, run: RunDirectory) -> None:
    """Write a certificate into a run's directory, unless a better one of the same agent and environment is there.

    A counter-example is better than anything: it stays true whatever else is looked at. One that does not say which
    source it is about could not be checked again, and is not kept.
    """
    if certificate.environment_sha256 is None:
        return
    try:
        before = read_record(run.certificate_file)
    except UsageError:  # there is none, or it is damaged, or of an earlier format
        before = certificate
    if _subject(before) != _subject(certificate) or _rank(before) <= _rank(certificate):
        write_atomically(run.certificate_file, json.dumps(certificate.record(), indent=1) + "\n")


def _subject(certificate: Certificate) -> tuple[str | None, str | None]:
    return certificate.weights_sha256, certificate.environment_sha256


def _rank(certificate: Certificate) -> tuple[bool, Kind, int]:
    claim = certificate.claim
    return claim.kind == Kind.REFUTED, claim.kind, claim.to_size
