"""Exports that several test files look at."""

from __future__ import annotations

import pytest

import alphanpi
from alphanpi import Origin
from alphanpi.exporting import find_code
from tests.helpers.exports import scripted
from tests.helpers.marking import Marking, fill, top


@pytest.fixture(scope="session")
def marking():
    return scripted(Marking(), {"FILL": fill, "TOP": top})


@pytest.fixture(scope="session")
def sorting_code():
    """Code of recursive sorting, which takes some seconds to find."""
    agent = alphanpi.load("pretrained:recursive-sorting-compare")
    origin = Origin(agent.name, agent.weights_hash[:12], agent.card.environment, agent.card.options)
    return find_code(agent.environment, agent.evaluator, origin, max_size=4, samples=300)
