"""The report page in a real browser: it opens from disk, plays, unfolds, and can be read by everybody."""

from __future__ import annotations

import os
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import alphanpi
from alphanpi.reporting import tree_page
from tests.helpers.runs import run_folder, untrained_hanoi, untrained_lights

sync_api: Any = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed; `pip install playwright` to test the report page"
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium: `apt-get install chromium`, or say where it is in the variable CHROMIUM"
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.html" for name in ("hanoi", "sorting", "refuted", "text", "tree")}
    alphanpi.report(
        run_folder(folder / "run"), made["hanoi"], instance="3", simulations=80, seconds=1, verify_seconds=300
    )
    sorting = "pretrained:recursive-sorting-compare"
    alphanpi.report(sorting, made["sorting"], instance="4 2 9 1", simulations=30, export=False, verify_seconds=300)
    alphanpi.report(untrained_hanoi(folder / "untrained"), made["refuted"], instance="2", simulations=5, seconds=0.2)
    alphanpi.report(untrained_lights(folder), made["text"], instance="0110", simulations=10, seconds=0.2)
    made["tree"].write_text(tree_page("pretrained:hanoi", "HANOI", "3", simulations=1500))
    return made


class Visit:
    """A page in the browser, with everything it complained about or asked for."""

    def __init__(self, browser, file: Path, **options) -> None:
        options.setdefault("viewport", {"width": 1200, "height": 900})
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("footer:not(:empty)")

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())


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


@pytest.mark.parametrize("name", ["hanoi", "sorting", "refuted", "text", "tree"])
def test_opens_from_disk_without_requests_or_complaints(visit, pages, name):
    one = visit(name)
    assert one.requests == [pages[name].as_uri()]
    assert pages[name].stat().st_size < 3_000_000
    assert one.page.locator("section.card").count() == {"tree": 1, "hanoi": 7}.get(name, 6)


@pytest.mark.parametrize(
    ("name", "final"), [("hanoi", "A: -   B: -   C: 3 2 1"), ("sorting", "1 2 4 9")], ids=["hanoi", "sorting"]
)
def test_plays_to_the_end_and_shows_the_solved_state(visit, name, final):
    one = visit(name)
    one.page.select_option(".controls select", "8")
    one.page.click("#play")
    one.page.wait_for_selector('[data-solved="true"]', timeout=60_000)
    assert one.page.locator(".state-text").text_content() == final
    assert "Solved" in one.text(".says")
    if name == "hanoi":
        disks = one.page.evaluate(
            """() => [...alphanpiPlayer.picture.elements].filter(([id]) => id.startsWith("disk"))
               .map(([, {body}]) => Number(body.getAttribute("x")) + Number(body.getAttribute("width")) / 2)"""
        )
        assert disks == [500, 500, 500]  # the middle of pillar C


def test_a_disk_is_on_its_way_between_two_steps(visit):
    one = visit("hanoi")
    places = one.page.evaluate(
        """() => { const view = alphanpiPlayer, at = (step, fraction) => { view.playback.seek(step);
             view.playback.fraction = fraction; view.refresh();
             return [...view.picture.elements].filter(([id]) => id.startsWith("disk"))
               .map(([, {body}]) => `${body.getAttribute("x")},${body.getAttribute("y")}`).join(" "); };
             const step = view.frames.findIndex((state, place) => at(place, 0) !== at(place + 1, 0));
             return [at(step, 0), at(step, 0.7), at(step + 1, 0)]; }"""
    )
    assert len(set(places)) == 3


def test_nothing_glides_where_motion_is_unwanted(visit):
    one = visit("hanoi", reduced_motion="reduce")
    same = one.page.evaluate(
        """() => { const view = alphanpiPlayer, picture = () => view.picture.node.outerHTML;
             return view.frames.slice(0, -1).every((_, step) => { view.playback.seek(step); view.refresh();
               const still = picture(); view.playback.fraction = 0.9; view.refresh();
               return picture() === still; }); }"""
    )
    assert same


def test_keys_step_play_and_jump(visit):
    one = visit("hanoi")
    keyboard, counter = one.page.keyboard, ".counter"
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    assert one.text(counter).startswith("2 /")
    keyboard.press("ArrowLeft")
    assert one.text(counter).startswith("1 /")
    keyboard.press("Space")
    one.page.wait_for_function("alphanpiPlayer.playback.index >= 2")
    keyboard.press("Space")
    assert not one.page.evaluate("alphanpiPlayer.playback.playing")
    one.page.focus("#step")
    keyboard.press("Enter")
    keyboard.press("End")
    assert one.text(counter) == "32 / 32"
    keyboard.press("Home")
    assert one.text(counter).startswith("0 /")


def test_everything_can_be_reached_with_tab(visit):
    one = visit("hanoi")
    seen = set()
    for _ in range(80):
        one.page.keyboard.press("Tab")
        seen.add(
            one.page.evaluate("(({id, className}) => id || (className.baseVal ?? className))(document.activeElement)")
        )
    assert {"theme", "play", "step", "scrub", "pill"} <= seen
    assert any("tree-node" in name for name in seen)


def test_panels_follow_the_player(visit):
    one = visit("hanoi")
    assert one.page.locator(".stack li").count() == 1
    one.page.click("#step")
    assert "HANOI" in one.text(".says")
    one.page.click("#step")
    assert one.page.locator(".stack li").count() == 2
    assert one.page.locator(".fields li").count() == 5
    assert one.page.locator(".chances .chosen").count() == 1
    assert "step 3 of the run" in one.text("#tree h2 small")


def test_the_tree_is_there_from_the_start_with_its_path_open(visit):
    one = visit("hanoi")
    assert "step 1 of the run" in one.text("#tree h2 small")
    assert one.page.locator(".tree-node.chosen").count() >= 4


def test_the_tree_unfolds_and_leads_into_called_programs(visit):
    one = visit("tree")
    nodes = one.page.locator(".tree-node")
    before = nodes.count()
    assert before >= 5
    closed = one.page.locator('.tree-node[aria-expanded="false"]').first
    key = closed.get_attribute("data-key")
    closed.click()
    assert nodes.count() > before
    assert one.page.locator(f'.tree-node[data-key="{key}"]').get_attribute("aria-expanded") == "true"
    heads = one.page.locator(".edges thead th").all_inner_texts()
    assert heads == ["action", "visits N", "prior P", "value Q", "U", "level L", "Q + U + L"]
    one.page.locator('.tree-node[data-key=""]').click()
    one.page.locator(".open-search").first.click()
    assert one.page.locator(".crumb").count() == 2
    one.page.locator(".crumb").first.click()
    assert one.page.locator(".crumb").count() == 1
    assert one.page.locator(".link.chosen").count() >= 1


def test_no_two_boxes_of_the_tree_overlap(visit):
    one = visit("tree")
    for _ in range(6):
        closed = one.page.locator('.tree-node[aria-expanded="false"]')
        if closed.count() == 0:
            break
        closed.first.click()
    boxes = [box.bounding_box() for box in one.page.locator(".tree-node .box").all()]
    for place, a in enumerate(boxes):
        for b in boxes[place + 1 :]:
            apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            assert apart or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]


def test_arrows_walk_through_the_tree(visit):
    one = visit("tree")
    one.page.focus('.tree-node[tabindex="0"]')
    selected = lambda: one.page.locator(".tree-node.selected").get_attribute("data-key")  # noqa: E731
    one.page.keyboard.press("ArrowRight")
    child = selected()
    assert child.count("/") == 1
    one.page.keyboard.press("ArrowDown")
    one.page.keyboard.press("ArrowUp")
    one.page.keyboard.press("ArrowLeft")
    assert selected() == ""


def test_every_figure_is_saved_as_a_picture_of_its_own(visit, tmp_path):
    one = visit("hanoi")
    buttons = one.page.locator("button.save")
    assert buttons.count() >= 6
    for place in range(buttons.count()):
        with one.page.expect_download() as download:
            buttons.nth(place).click()
        file = tmp_path / f"{place}.svg"
        download.value.save_as(file)
        picture = ET.fromstring(file.read_text())
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(picture.iter())) > 5
        assert "var(" not in file.read_text()


def test_without_a_picture_the_state_is_text(visit):
    one = visit("text")
    assert one.page.locator(".scene").count() == 0
    assert one.text(".state-text").startswith("Row(")
    one.page.keyboard.press("ArrowRight")


def test_learning_is_shown_or_explained(visit):
    trained = visit("hanoi")
    assert trained.page.locator("#learning path.series").count() == 5
    assert "level 1 learned" in trained.page.locator("#learning").inner_text()
    assert "no learning curves" in visit("sorting").page.locator("#learning").inner_text()


def test_a_proof_is_shown_with_its_lemma_and_assumptions(visit):
    one = visit("sorting")
    assert "PROVED" in one.text("#summary .facts")
    assert one.page.locator("#code .verdicts tbody tr").count() == 6
    row = one.page.locator("#code .verdicts tr", has_text="RESET").inner_text().split()
    assert row[:3] == ["RESET", "PROVED", "2\N{EN DASH}13"]
    assert "BUBBLESORT ends with both pointers at the start or" in one.text("#code .invariants")
    assert "in the way" not in one.text("#code").lower()
    lemma = one.page.locator("#code .lemma")
    assert not lemma.locator("p").first.is_visible()
    lemma.locator("summary").click()
    assert lemma.locator("p").nth(1).inner_text().startswith("(2) BUBBLE")
    assert lemma.locator("li", has_text="holds in all").count() == 2
    one.page.locator("#code .assumptions summary").click()
    assert "Post-conditions say what the user means." in one.text("#code .assumptions")


def test_a_refutation_is_shown_with_its_counter_example(visit):
    one = visit("refuted")
    assert "REFUTED" in one.text("#summary .facts")
    assert "HANOI fails" in one.text("#code .counter-example")
    assert "Started from" in one.text("#code .counter-example")
    assert "rule: " in one.text("#code .counter-example")
    assert "HANOI: at size" in one.text("#code .reasons")
    assert "The verdict is REFUTED" in one.text("#code")
    assert "alphanpi export" in one.text("#code .command")


def test_what_is_missing_is_explained(visit):
    text = visit("text").text("#code")
    assert "Lights cannot be verified: give it a method" in text
    assert "alphanpi verify" in text
    assert "alphanpi export" in text


def test_the_source_is_shown_and_copied(visit, pages):
    one = visit("hanoi", permissions=["clipboard-read", "clipboard-write"])
    source = one.page.locator(".program-source").text_content()
    assert "def hanoi(" in source
    assert one.page.locator(".program-source .keyword").count() >= 3
    one.page.click("button.copy")
    one.page.wait_for_function("document.querySelector('button.copy').textContent === 'Copied'")
    assert one.page.evaluate("navigator.clipboard.readText()") == source


def test_the_source_is_printed_wholly(visit):
    one = visit("hanoi")
    one.page.emulate_media(media="print")
    cut = one.page.evaluate(
        "(({scrollHeight, clientHeight}) => scrollHeight - clientHeight)(document.querySelector('.program-source'))"
    )
    assert cut <= 0


def test_a_step_without_a_tree_says_why(visit):
    one = visit("hanoi")
    one.page.evaluate(
        """() => { const view = alphanpiPlayer; view.report.searches.reasons = ["the time is up"];
             Object.assign(view.report.execution.steps[2], { search: null, reason: 0 }); }"""
    )
    for _ in range(2):
        one.page.click("#step")
    assert one.text("#tree .tree-drawing") == "There is no tree of this step: the time is up."


def test_where_copying_is_not_allowed_the_source_is_selected(visit):
    one = visit("hanoi")
    one.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    one.page.click("button.copy")
    one.page.wait_for_function("getSelection().toString().includes('def hanoi(')")
    assert "Ctrl+C" in one.text("button.copy")


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const luminance = ([r, g, b]) => [r, g, b].map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      if (one instanceof SVGElement) {
        const shape = [...one.parentElement.children].slice(0, [...one.parentElement.children].indexOf(one))
          .find((other) => other.matches("rect") && Number(other.getAttribute("height")) > 10);
        if (one.matches("text") && shape && one.parentElement.matches("g")) return rgba(getComputedStyle(shape).fill);
      }
      const colour = rgba(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const low = [];
  let seen = 0;
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const hidden = "script, style, title, noscript, .faded, .skip, details:not([open]) > :not(summary)";
    if (!own || element.closest(hidden)) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [luminance(rgba(colour)), luminance(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    seen += 1;
    const kind = element.className.baseVal ?? element.className;
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${element.tagName}.${kind} ${element.textContent.slice(0, 30)}`);
  }
  return { low, seen };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("toggled", [False, True], ids=["system", "toggled"])
@pytest.mark.parametrize("name", ["hanoi", "sorting", "refuted", "tree"])
def test_text_can_be_read_in_light_and_dark(visit, name, scheme, toggled):
    other = {"light": "dark", "dark": "light"}[scheme]
    one = visit(name, color_scheme=other if toggled else scheme)
    if toggled:
        one.page.click("#theme")
    dark = one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 26)"
    assert dark == (scheme == "dark")
    found = one.page.evaluate(CONTRAST)
    assert found["low"] == []
    assert found["seen"] > 20


@pytest.mark.parametrize("name", ["hanoi", "sorting", "refuted", "text", "tree"])
def test_a_phone_shows_everything_without_scrolling_sideways(visit, name):
    one = visit(name, viewport={"width": 360, "height": 740}, has_touch=True)
    for summary in one.page.locator("summary").all():
        summary.click()
    assert one.page.evaluate("document.documentElement.scrollWidth") == 360
    for button in one.page.locator(".controls button").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert min(box["width"], box["height"]) >= 36
