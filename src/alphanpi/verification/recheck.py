"""Computing a certificate again and comparing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from alphanpi.errors import UsageError
from alphanpi.spec import Library, Program
from alphanpi.verification.certificate import (
    FORMAT,
    Certificate,
    ProgramRecord,
    SizeRecord,
    Subject,
    certify,
    digest,
)
from alphanpi.verification.exploration import TIME_MET, histories_met
from alphanpi.verification.numerics import TOLERANCE, Numerics
from alphanpi.verification.verifier import OnSize, Verifier, limit_reason

# What may differ between two machines, or two days, without making a certificate wrong.
_NOT_COMPARED = ("software", "seconds", "digest")
# By how much a number may differ for the same reason; others must be equal.
_NUMERIC_TOLERANCES = {
    "smallest_margin": 1e-4,
    "double_margin": 1e-4,
    "batched_deviation": TOLERANCE,
    "double_deviation": TOLERANCE,
}


def read_about(path: Path, subject: Subject) -> dict[str, Any]:
    """A certificate's content, if it is about this subject."""
    record = read_record(path)
    if record["weights_sha256"] != subject.weights_sha256:
        raise UsageError(f"{path}: the certificate is about other weights: {_short(record['weights_sha256'])}")
    if (record["environment"], record["options"]) != (subject.environment, subject.options):
        raise UsageError(
            f"{path}: the certificate is about {_short(record['environment'])} with {_short(record['options'])}"
        )
    return record


def recheck(path: Path, subject: Subject, verifier_arguments: dict[str, Any], on_size: OnSize | None) -> Certificate:
    """Verify again as far as a certificate says it went; a UsageError names what does not fit."""
    record = read_about(path, subject)
    library: Library = verifier_arguments["environment"].library
    _require_shape(path, record["programs"], library)
    limits = {program["name"]: program["attempted"] for program in record["programs"]}
    again = certify(subject, Verifier(**verifier_arguments, limits=limits, on_size=on_size))
    differences = _differences(record, again.record(), library)
    if differences:
        raise UsageError(f"{path}: the certificate does not hold; recomputed, {'; '.join(differences)}")
    return again


def read_record(path: Path) -> dict[str, Any]:
    """A certificate's content; one that was damaged or changed is refused."""
    try:
        record = json.loads(path.read_text())
        fitting = digest(record) if isinstance(record, dict) else None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not a certificate: {error}") from error
    if not _has_fields(record, Certificate):
        raise UsageError(f"{path}: not a certificate of `alphanpi verify`")
    if record["format"] != FORMAT:
        raise UsageError(f"{path}: certificate of format {_short(record['format'])}; this version reads {FORMAT}")
    if record["digest"] != fitting:
        raise UsageError(f"{path}: the certificate was changed after it was written: its digest does not fit")
    content: dict[str, Any] = record
    return content


def _require_shape(path: Path, programs: Any, library: Library) -> None:
    """What has to fit before anything can be computed again."""
    if not isinstance(programs, list) or not all(_has_fields(program, ProgramRecord) for program in programs):
        raise UsageError(
            f"{path}: not a certificate: `programs` is not a list of records with the fields of this format"
        )
    found, expected = [program["name"] for program in programs], [program.name for program in library.learned]
    if found != expected:
        raise UsageError(f"{path}: the programs are {expected} instead of {_short(found)}")
    for program in programs:
        sizes = program["sizes"]
        fits = (
            _is_size(program["attempted"])
            and isinstance(sizes, list)
            and all(_has_fields(size, SizeRecord) and _is_size(size["size"]) for size in sizes)
            and _has_fields(program["numerics"], Numerics)
            and isinstance(program["reasons"], list)
        )
        if not fits:
            raise UsageError(
                f"{path}: not a certificate: the record of {program['name']} has not the form it should have"
            )


def _has_fields(record: Any, kind: Any) -> bool:
    return isinstance(record, dict) and set(record) == set(kind._fields)


def _is_size(value: Any) -> bool:
    return type(value) is int and value >= 0


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
    limits = [limit_reason(limit, program, record["attempted"]) for limit in (TIME_MET, histories_met())]
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
