"""The pages of several runs and of a run under way, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import alphanpi
from alphanpi.runs.directory import RunDirectory
from tests.helpers.browsing import CONTRAST, Visit, needs_chromium
from tests.helpers.compared import write_run
from tests.helpers.runs import metrics

pytestmark = needs_chromium


class Served(Visit):
    """A page that is not a file."""

    def __init__(self, browser, address: str) -> None:
        file: Any = SimpleNamespace(as_uri=lambda: address)
        super().__init__(browser, file)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("runs")
    for seed, iterations in enumerate((20, 26, 40, 60)):
        write_run(folder / f"wide-{seed}", seed, iterations, solved=20 - seed)
        end = "time" if seed == 3 else "completed"
        write_run(
            folder / f"narrow-{seed}", seed, 2 * iterations, end, changes={"network.memory": 16}, solved=12 + 2 * seed
        )
    write_run(folder / "other", environment="/somewhere/a<b>.py:Mine")
    (write_run(folder / "broken") / "meta.json").write_text("{")
    alphanpi.compare(folder, folder / "page.html")
    alphanpi.compare([folder / "wide-0"], folder / "one.html")
    return folder


def test_a_comparison_shows_groups_curves_and_runs(browser, comparison):
    one = Visit(browser, comparison / "page.html")
    page = one.page
    assert one.requests == [(comparison / "page.html").as_uri()]
    assert page.locator("#overview-0 table.groups tbody tr").count() == 2
    assert "3 of 4" in one.text("#overview-0 table.groups")
    assert one.text("#overview-0 table.settings tbody").split() == ["network.memory", "16", "128"]
    assert "a<b>.py:Mine" in one.text("#overview-1 h2")
    assert "nothing is compared between them" in one.text("main")
    assert "broken/meta.json: cannot be read" in one.text(".counter-example")
    assert page.locator("#learning-0 g.series.faint").count() == 8
    assert page.locator("#learning-0 g.series.strong").count() == 2
    assert page.locator("#learning-0 .end.cross").count() == 1
    assert page.locator("#generalisation-0 .group-score").count() == 8
    assert "time limit" in one.text("#runs-0 tr:has-text('narrow-3')")

    chart = page.locator("#learning-0 .drawing")
    assert page.locator("#learning-0 .values").is_hidden()
    chart.hover(position={"x": 300, "y": 100})
    assert page.locator("#learning-0 .values li").count() == 5  # two medians, the three nearest runs
    assert "iteration" in one.text("#learning-0 .values strong")
    axis = page.locator("#learning-0 .axis")
    before = axis.text_content()
    page.select_option("#learning-0 .choices label:has-text('over') select", "elapsed")
    assert (before, axis.text_content()) == ("iteration", "training time")
    page.select_option("#learning-0 .choices label:has-text('program') select", "NEXT")
    chart.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert one.text("#learning-0 .values strong").startswith("after ")
    page.keyboard.press("Escape")
    assert page.locator("#learning-0 .values").is_hidden()
    toggle = page.locator("#learning-0 .toggle").first
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "false"
    assert page.locator("#learning-0 g.series").count() == 5
    assert one.complaints == []
    one.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_comparison_can_be_read_and_fits_a_phone(browser, comparison, scheme):
    one = Visit(browser, comparison / "page.html", viewport={"width": 360, "height": 740}, color_scheme=scheme)
    for summary in one.page.locator("summary").all():
        summary.click()
    assert one.page.evaluate("document.documentElement.scrollWidth") == 360
    found = one.page.evaluate(CONTRAST)
    assert found["low"] == []
    assert found["seen"] > 100
    assert one.complaints == []
    one.context.close()


def test_a_single_run_is_no_special_case(browser, comparison):
    one = Visit(browser, comparison / "one.html")
    assert one.text("h1") == "One run"
    assert "All runs have the same settings." in one.text("#overview")
    assert one.page.locator("#learning g.series").count() == 1
    assert one.page.locator("nav a").all_inner_texts() == ["Overview", "Learning", "Success by size", "Runs"]
    assert one.complaints == []
    one.context.close()


def test_a_run_is_watched_from_before_it_begins_to_its_end(browser, tmp_path):
    folder = tmp_path / "run"
    with alphanpi.watch(folder) as live:
        one = Served(browser, live.url)
        page = one.page
        assert one.text("h1") == "Waiting for the run to begin"
        write_run(folder, iterations=4, end=None)
        lines = [json.dumps({**line, "exam": "failed: HANOI <b>4</b>"}) + "\n" for line in metrics(30)]
        with RunDirectory(folder).locked(), (folder / "metrics.jsonl").open("w") as file:
            file.write("".join(lines[:10]))
            file.flush()
            page.wait_for_selector("h1:text-is('Training')")
            assert page.locator("#now .fact:has-text('Iteration') dd").first.inner_text() == "10"
            assert page.locator("#learning g.series").count() == 4
            page.hover("#learning .drawing", position={"x": 400, "y": 80})
            assert "HANOI" in one.text("#learning .values")
            file.write("".join(lines[10:20]) + lines[20][:30])
            file.flush()
            page.wait_for_selector("#now .level :text-is('NEXT')")
            assert "HANOI" in one.text("#learning .values")  # the pointer is still there
            assert one.page.evaluate(CONTRAST)["low"] == []
            file.write(lines[20][30:] + "".join(lines[21:]))
        assert "failed: HANOI <b>4</b>" in one.text("#log")
        outcome = {"completed": True, "reason": "completed", "iterations": 30, "elapsed": 30.0, "explanation": ""}
        (folder / "outcome.json").write_text(json.dumps({**outcome, "proved": True}))
        page.wait_for_selector("#now .command")
        assert one.text("h1") == "Learned and proved everything"
        assert one.text("#now .command") == f"alphanpi report {folder}"
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert {request.rpartition("/")[2] for request in one.requests} == {"", "data"}
        assert one.complaints == []
    page.wait_for_selector("[role=alert]:visible")
    one.context.close()
