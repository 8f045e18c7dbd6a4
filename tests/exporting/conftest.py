"""Exports that several test files look at."""

from __future__ import annotations

import pytest

from tests.helpers.exports import scripted
from tests.helpers.marking import Marking, fill, top


@pytest.fixture(scope="session")
def marking():
    return scripted(Marking(), {"FILL": fill, "TOP": top})
