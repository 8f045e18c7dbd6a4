"""The checker: silent on the paper's environments, and every rule fires where it is broken."""

from __future__ import annotations

import collections
import random
from functools import cache
from typing import ClassVar

import numpy as np
import pytest

from alphanpi.environment.checking import CheckReport, Finding, check
from alphanpi.environment.registry import make
from alphanpi.environment.specification import action, program
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.symbolic import length
from tests.helpers.broken_environments import (
    BROKEN,
    Counter,
    GlobalNumpyRandom,
    GlobalRandom,
    InitialRaises,
    NothingToLearn,
    PostRaises,
    UnhashableState,
    below_goal,
    goal_back,
    not_past_goal,
)
from tests.helpers.paths import ROOT


@cache
def checked(identifier: str, observation: str) -> CheckReport:
    """The report on a list environment, which takes seconds."""
    return check(make(identifier, observation=observation))


@pytest.mark.parametrize("observation", ["paper", "compare"])
@pytest.mark.parametrize("identifier", ["sorting", "recursive-sorting", "flat-sorting"])
def test_list_environments_are_in_order(identifier, observation):
    report = checked(identifier, observation)
    assert report.findings == ()
    assert report.ok
    assert report.states > 100


@pytest.mark.parametrize("identifier", ["hanoi", "examples/lights.py", "examples/adder.py"])
def test_others_are_in_order(identifier, monkeypatch):
    monkeypatch.chdir(ROOT)
    for seed in range(3):
        report = check(make(identifier), seed=seed)
        assert report.findings == ()
        assert report.notes == ()


def test_findings_do_not_depend_on_the_seed():
    assert all(check(RecursiveSorting("compare"), samples=8, seed=seed).ok for seed in (1, 2))


def test_embedding_is_checked_at_the_smallest_sizes():
    """The saturation rule must not turn the check off unnoticed."""
    for observation in ("paper", "compare"):
        notes = checked("recursive-sorting", observation).notes
        checked_sizes = [note for note in notes if "size 1:" in note or "size 2:" in note]
        assert checked_sizes == []


def test_the_environment_that_is_broken_is_in_order():
    report = check(Counter())
    assert report.findings == ()
    assert report.notes == ()


@pytest.mark.parametrize(
    ("environment", "rule", "program_name", "message"),
    BROKEN,
    ids=[f"{rule}-{environment.__name__}" for environment, rule, _, _ in BROKEN],
)
def test_broken_rule_is_found(environment, rule, program_name, message):
    report = check(environment())
    assert not report.ok
    found = [finding for finding in report.findings if finding.rule == rule and message in finding.message]
    assert program_name in {finding.program for finding in found}, str(report)
    assert max(collections.Counter(finding.program for finding in found).values()) <= 3
    for finding in found:
        if environment is not UnhashableState and environment is not InitialRaises:
            assert finding.state
        line = str(finding)
        assert line.startswith(f"{rule}: {finding.program}: ")
        assert finding.state in line
        assert "\n" not in line


def test_every_rule_has_a_broken_environment():
    rules = {
        *(
            "purity",
            "determinism",
            "mask",
            "initial",
            "frame",
            "measure",
            "embedding",
            "reachable",
            "trivial",
        ),
        *("raises", "specification"),
    }
    assert {rule for _, rule, _, _ in BROKEN} == rules


def test_place_of_a_fault_is_named():
    report = check(PostRaises())
    (finding, *_) = [finding for finding in report.findings if finding.rule == "raises"]
    assert "broken_environments.py:" in finding.message


def test_global_generators_are_left_alone():
    random.seed(5)
    np.random.seed(5)
    before = random.getstate(), np.random.get_state(legacy=False)["state"]["key"].tolist()
    check(GlobalRandom())
    check(GlobalNumpyRandom())
    assert (random.getstate(), np.random.get_state(legacy=False)["state"]["key"].tolist()) == before


def test_what_cannot_be_checked_is_noted():
    class Never(Counter):
        @program(level=2, depth=8, pre=not_past_goal, recursive=True, shrink=lambda state: None, restore=goal_back)
        def REACH(self, before, after):
            return after == before._replace(value=before.goal)

    class Large(Counter):
        train_sizes: ClassVar = (9,)

        @action(pre=lambda state: state.goal > 1)
        def SIDEWAYS(self, state):
            return state._replace(tag=state.tag + 1)

        @program(level=1, depth=10_000, pre=below_goal)
        def STEP(self, before, after):
            return after.value == -1

    notes = check(Never()).notes
    assert any("REACH: no legal recursive call" in note for note in notes)
    assert any("REACH: embedding was not checked" in note for note in notes)
    assert any("STEP: size 9 has too many states" in note for note in check(Large(), samples=4).notes)
    assert any("look too different" in note for note in checked("recursive-sorting", "paper").notes)


def test_progress_and_report():
    told: list[str] = []
    report = check(NothingToLearn(), progress=told.append)
    assert told[:2] == ["STEP", "REACH"]
    assert told[2:4] == ["STEP as it is called", "REACH as it is called"]
    assert isinstance(report, CheckReport)
    assert isinstance(report.findings[0], Finding)
    text = str(report)
    assert text.startswith("NothingToLearn: 1 finding in")
    assert str(report.findings[0]) in text
    assert str(check(Counter())).startswith("Counter: no findings in")


@pytest.mark.parametrize(
    ("measure", "findings"),
    [
        (lambda row: length(row.lights) - row.position, set()),  # walking has made it smaller before the call
        (lambda row: 2 * row.position - row.start, {"measure", "reachable"}),  # or larger
    ],
)
def test_a_call_has_a_smaller_measure_than_its_caller_had_at_its_start(measure, findings):
    lights = make(str(ROOT / "examples" / "lights.py"))
    environment = type("Measured", (type(lights),), {"measure": lambda self, program, row: measure(row)})()
    report = check(environment)
    assert {finding.rule for finding in report.findings} == findings
    told = [finding.message for finding in report.findings if finding.rule == "measure"]
    assert all("takes the measure from 0 to 1" in message for message in told)
