"""What the tests of verification share."""

from __future__ import annotations

from functools import partial

import alphanpi
from alphanpi.environment.specification import STOP
from alphanpi.environments.recursive_sorting import RecursiveSorting
from tests.helpers.solutions import one_element

COMPARE = RecursiveSorting("compare")
explore_evaluator = partial(alphanpi.verify_evaluator, by="lemma")
"""Size by size, also where the environment could be proved by machine."""


def there(value):
    assert value is not None
    return value


def verdicts(certificate):
    return {record.name: record.verdict for record in certificate.programs}


def ends_at_the_end(see, size):
    """Sorts, and leaves the pointers at the other end."""
    if not one_element(see):
        yield "BUBBLE"
        yield "RESET"
        yield "BUBBLESORT"
        yield "RSHIFT"
    yield STOP
