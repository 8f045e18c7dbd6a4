"""An agent, and what is made of it once for all tests of reports."""

from __future__ import annotations

import json

import pytest

import alphanpi
from alphanpi.reporting import report as make_report
from alphanpi.reporting.page_file import to_json


@pytest.fixture(scope="session")
def hanoi():
    return alphanpi.load("pretrained:hanoi")


@pytest.fixture(scope="session")
def report():
    return json.loads(to_json(make_report("pretrained:hanoi", instance="3", simulations=40, verify_seconds=300)))


@pytest.fixture(scope="session")
def certificate(hanoi):
    return alphanpi.verify(hanoi).record()
