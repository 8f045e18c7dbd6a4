"""A visitor's own input, run by the exported program in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import alphanpi
from alphanpi.reporting.records import ReportRecord
from tests.helpers.browsing import Visit, needs_chromium

pytestmark = needs_chromium


def report(source: str, file: Path | None = None) -> ReportRecord:
    return alphanpi.report(
        "pretrained:hanoi", file, instance="2", simulations=1, seconds=0, verify_seconds=0, source=source
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("own") / "hanoi.html"
    source = alphanpi.export("pretrained:hanoi", max_size=4, samples=5).text
    record = report(source, file)
    assert record.script is not None
    return file, record


def test_what_a_visitor_types_is_run_in_the_page(browser, page):
    one = Visit(browser, page[0])
    section = one.page.locator("#own-input")
    assert section.locator("h2").inner_text() == "Try your own input"
    field = one.page.get_by_label("Input", exact=True)
    assert field.input_value() == "2"
    field.fill("")
    one.page.keyboard.type(" 3")  # a blank does not start the player
    assert not one.page.evaluate("alphanpiPlayer.playback.playing")
    section.locator("button").click()
    one.page.wait_for_selector(".own-count")
    assert section.locator(".own-output").inner_text().splitlines()[::6] == [
        "move disk 1 from A to C",
        "move disk 1 from A to C",
    ]
    assert one.text(".own-count") == "19 actions"
    assert one.text(".own-now") == "A: 3 2 1   B: -   C: -   from A to C"
    section.locator(".scrub").fill("19")
    assert one.text(".own-now") == "A: -   B: -   C: 3 2 1   from A to C"
    assert one.text(".own-list .current .own-action") == "SWAP_S_A"
    section.locator(".own-list li", has_text="MOVE_DISK").last.click()
    assert section.locator(".counter").inner_text() == "17 / 19"

    for text, said in (
        ("three", "'three' is not a number of disks; give 1 or more"),
        ("20", "stopped after 50,000 actions"),
    ):
        field.fill(text)
        field.press("Enter")
        one.page.wait_for_selector(f'.own-error:text-is("{said}")')
        assert section.locator(".own-list").count() == 0
    assert one.complaints == []
    assert [request for request in one.requests if not request.startswith(("file:", "blob:"))] == []
    one.context.close()


def test_a_program_that_never_ends_does_not_stop_the_page(browser, page, tmp_path):
    file, record = page
    endless = tmp_path / "endless.html"
    inside = json.dumps(record.script)[1:-1].replace("<", "\\u003c")
    assert inside in file.read_text()
    endless.write_text(file.read_text().replace(inside, "export function run() { for (;;); }"))
    one = Visit(browser, endless)
    one.page.evaluate("document.getElementById('own-input').dataset.seconds = 0.5")
    one.page.click("#own-input button")
    assert one.page.evaluate("1 + 1") == 2
    one.page.wait_for_selector('.own-error:text-is("stopped after 0.5 seconds")')
    one.context.close()


@pytest.mark.parametrize(
    ("changed", "note"),
    [
        (lambda text: text, "The source that was given, translated to JavaScript"),
        (lambda text: text.partition("if __name__")[0], "has no main part that reads an input"),
        (
            lambda text: f"import json\n{text}",
            "line 1 of the exported Python, `import json`: ",
        ),
        (lambda text: f"( {text}", "cannot be run in a browser: "),
    ],
)
def test_a_module_that_is_given_is_translated_if_it_can_be(page, changed, note):
    record = report(changed(page[1].source))
    assert note in record.script_note
    assert (record.script is not None) == ("translated" in note)


def test_without_a_program_that_runs_alone_there_is_no_section(tmp_path):
    from tests.helpers.runs import untrained_lights

    record = alphanpi.report(untrained_lights(tmp_path), instance="0110", simulations=5, seconds=0.1)
    assert record.script is None
    assert record.script_input == "0110"
    assert record.script_note == "There is no exported program that could be run here."
