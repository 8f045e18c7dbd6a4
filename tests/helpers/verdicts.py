"""What the tests of verification share."""

from __future__ import annotations

from alphanpi.environments.recursive_sorting import RecursiveSorting

COMPARE = RecursiveSorting("compare")


def there(value):
    assert value is not None
    return value


def verdicts(certificate):
    return {record.name: record.verdict for record in certificate.programs}
