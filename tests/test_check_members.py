"""The checker looks at every optional member: silent where it is in order, and a finding where it is not."""

from __future__ import annotations

import pytest

from alphanpi.checking import check
from broken_members import BROKEN_MEMBERS, Complete, Ordering


@pytest.mark.parametrize("environment", [Complete, Ordering])
def test_the_environments_that_are_broken_are_in_order(environment):
    for seed in range(3):
        report = check(environment(), seed=seed)
        assert report.findings == ()
        assert report.notes == ()


@pytest.mark.parametrize(
    ("environment", "rule", "program_name", "message"),
    BROKEN_MEMBERS,
    ids=[f"{rule}-{environment.__name__}" for environment, rule, _, _ in BROKEN_MEMBERS],
)
def test_a_broken_member_is_found(environment, rule, program_name, message):
    report = check(environment(), samples=8)
    found = [finding for finding in report.findings if finding.rule == rule and message in finding.message]
    assert program_name in {finding.program for finding in found}, str(report)
    assert all("\n" not in str(finding) for finding in report.findings)
