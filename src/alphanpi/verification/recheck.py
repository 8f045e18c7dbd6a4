"""Computing a certificate again and comparing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from alphanpi.environment.provenance import source_sha256
from alphanpi.environment.specification import Environment, Library, Program
from alphanpi.errors import UsageError
from alphanpi.support.record import read_bytes
from alphanpi.verification.certificate import Verified, written
from alphanpi.verification.exploration import TIME_MET, histories_met, starts_met
from alphanpi.verification.machine_verifier import MachineVerifier
from alphanpi.verification.numerics import TOLERANCE
from alphanpi.verification.records import FORMAT, Certificate, digest
from alphanpi.verification.verifier import Verifier, limit_reason

LEAST_SECONDS = 120.0
MORE_TIME = 10.0
# What may differ between two machines, or two days, without making a certificate wrong.
_NOT_COMPARED = ("software", "seconds", "digest")
# By how much a number may differ for the same reason; others must be equal.
_NUMERIC_TOLERANCES = {
    "smallest_margin": 1e-4,
    "double_margin": 1e-4,
    "batched_deviation": TOLERANCE,
    "double_deviation": TOLERANCE,
}


class Makers(NamedTuple):
    """What gives a verifier of the subject, under the limits that are passed to it."""

    explorer: Callable[..., Verifier]
    machine: Callable[..., MachineVerifier]


class NotRecheckedError(UsageError):
    """There was not enough time to compute a certificate again."""


class OtherSubjectError(UsageError):
    """A certificate is about another agent or environment than the one asked for."""


def read_about(path: Path, subject: Verified, environment: Environment[Any]) -> Certificate:
    """A certificate, if it is about this subject."""
    record = read_record(path)
    if record.weights_sha256 != subject.weights_sha256:
        raise OtherSubjectError(f"{path}: the certificate is about other weights: {_short(record.weights_sha256)}")
    if (record.environment, record.options) != (subject.environment, subject.options):
        raise OtherSubjectError(
            f"{path}: the certificate is about {_short(record.environment)} with {_short(record.options)}"
        )
    name = type(environment).__name__
    source = source_sha256(type(environment))
    if record.environment_sha256 is None or source is None:
        whose = "the certificate was made without" if record.environment_sha256 is None else "there are no"
        raise UsageError(
            f"{path}: {whose} source files of {name}, so nothing tells whether it is about the same environment, and "
            "it cannot be checked again; define the class in a file, and verify anew"
        )
    if record.environment_sha256 != source:
        raise OtherSubjectError(f"{path}: the source of {name} has changed since the certificate was made; verify anew")
    return record


def recheck(
    path: Path,
    subject: Verified,
    environment: Environment[Any],
    makers: Makers,
    time_limit: float | None,
) -> Certificate:
    """Verify again as far as a certificate says it went; a UsageError names what does not fit.

    Without a time limit, there are ten times as many seconds as the certificate says it took, at least two minutes.
    """
    record = read_about(path, subject, environment)
    library: Library = environment.library
    found, expected = [program.name for program in record.programs], [program.name for program in library.learned]
    if found != expected:
        raise UsageError(f"{path}: the programs are {expected} instead of {_short(found)}")
    began = time.monotonic()
    seconds = max(LEAST_SECONDS, MORE_TIME * record.seconds) if time_limit is None else time_limit
    limits = {program.name: program.attempted for program in record.programs}
    verifier = (
        makers.machine(time_limit=seconds)
        if record.method == "machine"
        else makers.explorer(limits=limits, time_limit=seconds, tried=record.tried)
    )
    result = verifier.verify()
    if not result.timely:
        raise NotRecheckedError(
            f"{path}: the certificate could not be computed again within {seconds:g} s; give more with --time-limit"
        )
    again = written(subject, verifier, result, began)
    differences = _differences(record.record(), again.record(), library)
    if differences:
        raise UsageError(f"{path}: the certificate does not hold; recomputed, {'; '.join(differences)}")
    return again


def read_record(path: Path) -> Certificate:
    """A certificate; one that was damaged or changed is refused."""
    try:
        content = json.loads(read_bytes(path).decode("utf-8"))
        if not isinstance(content, dict):
            raise UsageError(
                f"{path}: not a certificate of `alphanpi verify`: a {type(content).__name__}, not an object"
            )
        if content.get("format", FORMAT) != FORMAT:
            raise UsageError(f"{path}: certificate of format {_short(content['format'])}; this version reads {FORMAT}")
        record = Certificate.model_validate(content)
        fitting = digest(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        more = "" if error.error_count() == 1 else f" (and {error.error_count() - 1} more)"
        raise UsageError(f"{path}: not a certificate of `alphanpi verify`: {place}: {first['msg']}{more}") from error
    except (ValueError, RecursionError) as error:  # also what is not UTF-8
        raise UsageError(f"{path}: not a certificate: {_short(error)}") from error
    if record.digest != fitting:
        raise UsageError(f"{path}: the certificate was changed after it was written: its digest does not fit")
    return record


def _differences(written: dict[str, Any], computed: dict[str, Any], library: Library) -> list[str]:
    found = [
        _difference(key, written[key], computed[key])
        for key in computed
        if key not in (*_NOT_COMPARED, "programs") and not _same(written[key], computed[key])
    ]
    for one, other, program in zip(written["programs"], computed["programs"], library.learned, strict=True):
        one = {**one, "reasons": _without_limit(one, program)}
        found += [
            f"{program.name}: {_difference(key, one[key], other[key])}"
            for key in other
            if key != "numerics" and not _same(one[key], other[key])
        ]
        found += [
            f"{program.name}: {_difference(key.replace('_', ' '), one['numerics'][key], value)}"
            for key, value in other["numerics"].items()
            if not _close(one["numerics"][key], value, _NUMERIC_TOLERANCES.get(key))
        ]
    return found


def _without_limit(record: dict[str, Any], program: Program) -> list[Any]:
    """A program's reasons but for a limit that was met: it depends on the machine, and is not met again."""
    limits = [limit_reason(limit, program, record["attempted"]) for limit in (TIME_MET, histories_met(), starts_met())]
    reasons: list[Any] = record["reasons"]
    return reasons[1:] if record["verdict"] != "PROVED" and reasons and reasons[0] in limits else reasons


def _same(written: Any, computed: Any) -> bool:
    """Equality as JSON has it: a truth value is no number."""
    return json.dumps(written, sort_keys=True) == json.dumps(computed, sort_keys=True)


def _close(written: Any, computed: Any, tolerance: float | None) -> bool:
    if tolerance is None or written is None or computed is None or type(written) is not float:
        return _same(written, computed)
    # Infinities are equal or not; a forged NaN is close to nothing.
    return written == computed or bool(abs(written - computed) <= tolerance)


def _difference(what: str, written: Any, computed: Any) -> str:
    return f"{what} is {_short(computed)} instead of {_short(written)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
