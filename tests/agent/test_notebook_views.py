"""What a notebook shows of agents, executions, scores, certificates and outcomes."""

from __future__ import annotations

import base64
import html
import importlib.util
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import alphanpi
from alphanpi import Score, Scores, UsageError
from alphanpi.agent.agent import Agent
from alphanpi.agent.interpreter import Recording
from alphanpi.learn.iteration import Seconds
from alphanpi.training.train import Outcome
from tests.helpers.countdown import write_countdown

VOID = ("img", "br", "hr", "meta", "link", "input")


class Balanced(HTMLParser):
    """Finds elements that are closed in another order than they were opened in."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def shown(thing) -> str:
    """The text of what a notebook shows, which is well-formed."""
    parser = Balanced()
    parser.feed(thing._repr_html_())
    assert parser.open == []
    return parser.text


@pytest.fixture(scope="module")
def hanoi() -> Agent:
    return alphanpi.load("pretrained:hanoi")


@pytest.fixture(scope="module")
def scores(hanoi: Agent) -> Scores:
    return hanoi.evaluate("HANOI", [1, 2], episodes=2, mode="greedy")


def test_an_agent_is_a_card_with_a_moving_picture(hanoi):
    text = shown(hanoi)
    for part in ("pretrained:hanoi", "HANOI (recursive)", "SWAP_S_A", hanoi.weights_hash[:12]):
        assert part in text
    [data] = re.findall(r"src='data:image/svg\+xml;base64,([^']*)'", hanoi._repr_html_())
    picture = ElementTree.fromstring(base64.b64decode(data))
    assert picture.tag.endswith("svg")
    assert b"animateTransform" in base64.b64decode(data)


@pytest.mark.usefixtures("forget_loaded_files")
def test_an_agent_whose_states_have_no_picture_has_a_card_without_one(tmp_path):
    path = write_countdown(tmp_path, 'def render(self, state):\n    raise ZeroDivisionError("<b>")\n')
    agent = alphanpi.load(tmp_path, environment=str(path))
    text = shown(agent)
    assert "EMPTY" in text
    assert "ZeroDivisionError: <b>" in text
    assert "<img" not in agent._repr_html_()


def test_an_execution_is_a_tree_of_calls(hanoi):
    execution = hanoi.trace("HANOI", 2)
    text = shown(execution)
    assert text.startswith("HANOI solved in 12 actions: A: -   B: -   C: 2 1")
    assert text.count("MOVE_DISK") == sum(step.action == "MOVE_DISK" for step in execution.steps) == 3
    calls = sum(step.action == "HANOI" for step in execution.steps)
    assert execution._repr_html_().count("<details") == 1 + calls
    assert "9 more steps" in shown(hanoi.trace("HANOI", 2, Recording(steps=3)))
    assert "failed (actions)" in shown(hanoi.trace("HANOI", 3, max_actions=5))
    assert len(hanoi.trace("HANOI", 6)._repr_html_()) < 100_000
    assert execution == hanoi.execute("HANOI", 2, record=True)


def test_scores_are_a_table_and_rows_of_a_data_frame(scores: Scores):
    text = shown(scores)
    assert text.count("HANOI") == 2
    assert "2/2" in text
    assert all(isinstance(score, Score) for score in scores)
    if importlib.util.find_spec("pandas") is None:
        with pytest.raises(UsageError, match="to_pandas needs pandas, which is not installed: pip install pandas"):
            scores.to_pandas()
        return
    import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

    for frame in (scores.to_pandas(), pandas.DataFrame(scores)):
        assert list(frame.columns) == list(Score._fields)
        assert list(frame["size"]) == [1, 2]


def test_a_certificate_says_what_was_shown_and_assumed(hanoi):
    text = shown(hanoi.verify(by="lemma"))
    assert text.startswith("PROVED (lemma by hand): every program works at every size")
    assert "Post-conditions say what the user means." in text


def test_an_outcome_says_how_training_ended():
    seconds = Seconds()
    done = Outcome(Path("runs/x"), True, "completed", 9, 5.5, seconds, {"HANOI": 1.0}, "", True)
    assert "learned and proved every program" in shown(done)
    assert "HANOI 100%" in shown(done)
    stopped = done._replace(completed=False, reason="time", explanation="HANOI at <50%")
    assert "stopped (time): HANOI at <50%" in shown(stopped)


def test_a_report_is_its_page_in_a_frame(hanoi):
    record = hanoi.report(instance=1, simulations=2, seconds=0, verify_seconds=0, export=False)
    assert repr(record) == "<ReportRecord of pretrained:hanoi: HANOI on 1>"
    [page] = re.findall(
        r'<iframe sandbox="allow-scripts" .* srcdoc="([^"]*)"></iframe>', record._repr_html_(), re.DOTALL
    )
    assert "<title>hanoi: what was learned</title>" in html.unescape(page)


def test_an_export_is_its_code(hanoi):
    exported = hanoi.export(samples=20)
    assert "def hanoi(game):" in shown(exported)
