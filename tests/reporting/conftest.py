"""An agent, and what is made of it once for all tests of reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import alphanpi
from alphanpi.reporting import report as make_report
from alphanpi.reporting import tree_page
from alphanpi.reporting.page_file import to_json
from tests.helpers.browsing import CHROMIUM, FLAGS, Visit
from tests.helpers.runs import run_folder, untrained_hanoi, untrained_lights


@pytest.fixture(scope="session")
def hanoi():
    return alphanpi.load("pretrained:hanoi")


@pytest.fixture(scope="session")
def report():
    return json.loads(to_json(make_report("pretrained:hanoi", instance="3", simulations=40, verify_seconds=300)))


@pytest.fixture(scope="session")
def certificate(hanoi):
    return alphanpi.verify(hanoi, by="lemma").record()


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.html" for name in ("hanoi", "sorting", "refuted", "text", "tree")}
    alphanpi.report(
        run_folder(folder / "run"), made["hanoi"], instance="3", simulations=80, seconds=1, verify_seconds=300
    )
    sorting = "pretrained:recursive-sorting-compare"
    alphanpi.report(sorting, made["sorting"], instance="4 2 9 1", simulations=30, export=False, verify_seconds=300)
    alphanpi.report(untrained_hanoi(folder / "untrained"), made["refuted"], instance="2", simulations=5, seconds=0.2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("alphanpi.verification.has_solver", lambda: False)
        alphanpi.report(untrained_lights(folder), made["text"], instance="0110", simulations=10, seconds=0.2)
    made["tree"].write_text(tree_page("pretrained:hanoi", "HANOI", "3", simulations=1500))
    return made


@pytest.fixture
def visit(browser, pages):
    opened = []

    def open_page(name: str, **options) -> Visit:
        opened.append(Visit(browser, pages[name], **options))
        return opened[-1]

    yield open_page
    for one in opened:
        complaints = one.complaints
        one.context.close()
        assert complaints == []
