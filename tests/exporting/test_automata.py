"""Automata are run as they are written: JSON and graphs that do something else are noticed."""

from __future__ import annotations

import json

import pytest

from alphanpi import ExportFailed
from alphanpi.environment.guard import Guard
from alphanpi.exporting import find_code
from alphanpi.exporting.behaviour import Case
from alphanpi.exporting.clock import Clock
from alphanpi.exporting.playing import play
from tests.exporting.test_conditions import Parity, odd
from tests.helpers.exports import ORIGIN, scripted
from tests.helpers.marking import Marking, fill, top
from tests.helpers.solutions import ScriptedEvaluator


@pytest.fixture(scope="module")
def found():
    environment = Marking()
    evaluator = ScriptedEvaluator(environment, {"FILL": fill, "TOP": top})
    return find_code(environment, evaluator, ORIGIN, max_size=3, samples=20)


def runs(found) -> list[Case]:
    return [*found.rounds.learned, *found.rounds.examined]


@pytest.mark.parametrize("form", ["json", "dot"])
def test_what_is_written_is_run(found, form):
    text = found.exported(form).text
    play(form, text, Guard(Marking()), runs(found), Clock())


def tampered(text: str, form: str) -> list[str]:
    """The text with one thing changed at a time."""
    if form == "dot":
        return [
            text.replace("MARK", "FINISH", 1),
            text.replace("not last", "last", 1),
            text.replace('label="last\\nSTOP"', 'label="STOP"'),
            text.replace("-> p1_stop", "-> p1_0", 1),
        ]
    found = []
    for change in ("action", "holds", "next", "value"):
        document = json.loads(text)
        states = [state for program in document["programs"] for state in program["states"]]
        state = next(state for state in states if state["transitions"][0]["when"])
        transition = state["transitions"][0]
        if change == "action":
            transition["action"] = "FINISH"
        elif change == "next":
            transition["next"] = 0 if transition["next"] is None else None
        elif change == "holds":
            transition["when"][0]["holds"] = not transition["when"][0]["holds"]
        else:
            transition["when"][0]["any_of"][0][0]["value"] = 7
        found.append(json.dumps(document))
    return found


@pytest.mark.parametrize("form", ["json", "dot"])
def test_whatever_is_changed_is_noticed(found, form):
    text = found.exported(form).text
    for changed in tampered(text, form):
        assert changed != text
        with pytest.raises(ExportFailed):
            play(form, changed, Guard(Marking()), runs(found), Clock())


def test_parity_is_one_test_in_every_format():
    for form, written in (
        ("python", 'env.field("the_first_of_all_bits")\n        ^ env.field("the_second'),
        ("json", '"xor"'),
        ("dot", "^ the_second_of_all_bits"),
    ):
        assert written in scripted(Parity(), {"ODD": odd}, samples=60, format=form).text
