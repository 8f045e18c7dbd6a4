"""Computing a certificate again and comparing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alphanpi.errors import UsageError
from alphanpi.verification.certificate import Certificate, Subject, certify, read_about
from alphanpi.verification.verifier import OnSize, Verifier

# What may differ between two machines, or two days, without making a certificate wrong.
_NOT_COMPARED = ("software", "seconds", "digest")
_PROGRAM_NOT_COMPARED = ("numerics", "reasons")
_MARGIN_TOLERANCE = 1e-4


def recheck(path: Path, subject: Subject, verifier_arguments: dict[str, Any], on_size: OnSize | None) -> Certificate:
    """Verify again as far as a certificate says it went; a UsageError names what does not fit."""
    record = read_about(path, subject)
    limits = {program["name"]: _reached(program) for program in record["programs"]}
    again = certify(subject, Verifier(**verifier_arguments, limits=limits, on_size=on_size))
    differences = _differences(record, again.record())
    if differences:
        raise UsageError(f"{path}: the certificate does not hold; recomputed, {'; '.join(differences)}")
    return again


def _reached(program: dict[str, Any]) -> int:
    """The size up to which a program was looked at."""
    sizes = [int(size["size"]) for size in program["sizes"]]
    return max([*sizes, int(program["to_size"])])


def _differences(written: dict[str, Any], computed: dict[str, Any]) -> list[str]:
    found = [
        f"{key} is {_short(computed[key])} instead of {_short(written[key])}"
        for key in written
        if key not in (*_NOT_COMPARED, "programs") and written[key] != computed[key]
    ]
    names = [[program["name"] for program in record["programs"]] for record in (written, computed)]
    if names[0] != names[1]:
        return [*found, f"the programs are {names[1]} instead of {names[0]}"]
    for one, other in zip(written["programs"], computed["programs"], strict=True):
        found += [
            f"{one['name']}: {key} is {_short(other[key])} instead of {_short(one[key])}"
            for key in one
            if key not in _PROGRAM_NOT_COMPARED and one[key] != other[key]
        ]
        margins = [record["numerics"]["smallest_margin"] for record in (one, other)]
        if (margins[0] is None) != (margins[1] is None) or (
            None not in margins and abs(margins[0] - margins[1]) > _MARGIN_TOLERANCE
        ):
            found.append(f"{one['name']}: smallest margin is {margins[1]} instead of {margins[0]}")
    return found


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
