"""The report page in a real browser: it opens from disk, plays, unfolds, and can be read by everybody."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.helpers.browsing import CONTRAST, needs_chromium

pytestmark = needs_chromium


@pytest.mark.parametrize("name", ["hanoi", "sorting", "refuted", "text", "tree"])
def test_opens_from_disk_without_requests_or_complaints(visit, pages, name):
    one = visit(name)
    assert one.requests == [pages[name].as_uri()]
    assert pages[name].stat().st_size < 3_000_000
    assert one.page.locator("section.card").count() == {"tree": 1, "hanoi": 7}.get(name, 6)


def test_what_was_learned_comes_first_and_statistics_last(visit):
    one = visit("hanoi")
    assert one.page.evaluate("[...document.querySelectorAll('main > section')].map(({id}) => id)") == [
        "player",
        "own-input",
        "tree",
        "learning",
        "generalisation",
        "certificate",
        "statistics",
    ]
    assert one.page.locator("#own-input").is_visible()
    assert not visit("refuted").page.locator("#own-input").is_visible()
    lead = one.text(".lead")
    assert "HANOI: learned in 30.0 s" in lead
    assert "PROVED" in lead


@pytest.mark.parametrize(
    ("name", "final"), [("hanoi", "A: -   B: -   C: 3 2 1"), ("sorting", "1 2 4 9")], ids=["hanoi", "sorting"]
)
def test_plays_to_the_end_and_shows_the_solved_state(visit, name, final):
    one = visit(name)
    one.page.select_option("#pace", "8")
    assert one.page.evaluate("alphanpiPlayer.playback.speed") == 8
    one.page.evaluate("alphanpiPlayer.playback.speed = 60")  # faster than anybody can see
    one.page.click("#play")
    one.page.wait_for_selector('[data-solved="true"]', timeout=60_000)
    assert one.page.locator(".state-text > :last-child").text_content() == final
    assert "Solved" in one.text(".sentence")
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
    assert one.text(counter) == "step 3 of 32"
    keyboard.press("ArrowLeft")
    assert one.text(counter) == "step 2 of 32"
    keyboard.press("Space")
    one.page.wait_for_function("alphanpiPlayer.playback.index >= 2")
    keyboard.press("Space")
    assert not one.page.evaluate("alphanpiPlayer.playback.playing")
    one.page.focus("#step")
    keyboard.press("Enter")
    keyboard.press("End")
    assert one.text(counter) == "end of 32"
    keyboard.press("Home")
    assert one.text(counter) == "step 1 of 32"
    keyboard.press("n")
    keyboard.press("n")
    assert one.text(".stack li:last-child") == "HANOI(3 disks)"
    keyboard.press("ArrowLeft")
    assert one.page.locator(".stack li").count() == 2
    keyboard.press("u")
    assert one.page.locator(".stack li").count() == 1


def test_everything_can_be_reached_with_tab(visit):
    one = visit("hanoi")
    seen = set()
    for _ in range(80):
        one.page.keyboard.press("Tab")
        seen.add(
            one.page.evaluate("(({id, className}) => id || (className.baseVal ?? className))(document.activeElement)")
        )
    assert {"theme", "play", "step", "over", "out", "moves-only", "pace", "scrub", "program-source", "pill"} <= seen
    assert any("tree-node" in name for name in seen)


def test_panels_follow_the_player(visit):
    one = visit("hanoi")
    assert one.page.locator(".stack li").count() == 1
    one.page.click("#step")
    assert "HANOI" in one.text(".sentence")
    one.page.click("#step")
    assert one.page.locator(".stack li").count() == 2
    assert one.page.locator(".fields li").count() == 5
    assert one.page.locator(".chances .chosen").count() == 1
    assert one.text("#tree h2 small") == "Step 3: HANOI chooses SWAP_A_T"


CURRENT = "document.querySelector('.line.current')?.dataset.line ?? null"


def test_the_line_of_the_step_is_lit_and_seen(visit, pages):
    one = visit("hanoi", viewport={"width": 1200, "height": 900})
    steps = one.page.evaluate("alphanpiPlayer.steps.map((step) => String(step.line))")
    texts = one.page.evaluate(
        """alphanpiPlayer.steps.map((_, step) => { alphanpiPlayer.jump(step);
             const line = document.querySelector(".line.current"), pane = document.querySelector(".program-source");
             const [a, b] = [line.getBoundingClientRect(), pane.getBoundingClientRect()];
             const seen = a.top >= b.top && a.bottom <= b.bottom;
             return { line: line.dataset.line, text: line.textContent.trim(), seen,
                      action: alphanpiPlayer.report.library[alphanpiPlayer.steps[step].action].name }; })"""
    )
    assert [one["line"] for one in texts] == steps
    assert all(text["seen"] for text in texts)
    written = {"MOVE_DISK": "game.move_disk()", "SWAP_A_T": "game.swap_a_t()", "SWAP_S_A": "game.swap_s_a()"}
    written["HANOI"] = "hanoi(game.without_largest_disk())"
    assert {text["action"]: text["text"] for text in texts if text["action"] != "STOP"} == written
    one.page.evaluate("alphanpiPlayer.jump(alphanpiPlayer.playback.last)")
    assert one.page.evaluate(CURRENT) is None


def test_the_callers_lines_are_marked_too(visit):
    one = visit("hanoi")
    inner = one.page.evaluate("alphanpiPlayer.steps.findIndex((step) => step.depth === 2)")
    one.page.evaluate("(step) => alphanpiPlayer.jump(step)", inner)
    assert "hanoi(" in one.text(".line.calling")
    assert one.page.locator(".stack li").all_inner_texts() == ["HANOI(3 disks)", "HANOI(2 disks)", "HANOI(1 disk)"]


def test_a_step_has_an_address(visit, pages):
    one = visit("hanoi")
    one.page.click("#step")
    one.page.wait_for_function("location.hash === '#step=2'")
    one.page.evaluate("location.hash = '#step=12'")
    one.page.wait_for_function("alphanpiPlayer.playback.index === 11")
    one.page.reload()
    assert one.text(".counter") == "step 12 of 32"
    one.page.goto(f"{pages['hanoi'].as_uri()}#step=end")
    one.page.reload()
    assert "Solved" in one.text(".sentence")


def test_moves_only_shows_what_changes(visit):
    one = visit("hanoi")
    one.page.check("#moves-only")
    seen = []
    while "end" not in one.text(".counter"):
        one.page.click("#step")
        seen.append(one.page.locator(".state-text > :last-child").text_content())
    assert len(seen) == len(set(seen)) == 8  # three disks: seven moves


def test_the_timeline_shows_calls_and_leads_to_them(visit):
    one = visit("hanoi")
    assert one.page.locator(".timeline .span").count() == 7
    bar = one.page.locator(".timeline .span", has_text="HANOI(2 disks)").nth(1)
    bar.locator("rect").click()
    assert one.page.locator(".stack li").all_inner_texts() == ["HANOI(3 disks)", "HANOI(2 disks)"]
    assert one.page.evaluate("alphanpiPlayer.calls.calls.some(({first}) => first === alphanpiPlayer.playback.index)")
    assert one.page.locator(".timeline .span.on").count() == 2


HEIGHTS = """() => { const parts = ["#player", "#tree", ".stage", ".panels", ".treeview"];
  const seen = {}; const view = alphanpiPlayer;
  const height = (part) => Math.round(document.querySelector(part).getBoundingClientRect().height);
  for (let step = 0; step <= view.playback.last; step += 1) {
    view.jump(step);
    for (const part of parts) (seen[part] ??= new Set()).add(height(part));
    const { scrollHeight, clientHeight, scrollWidth, clientWidth } = document.querySelector(".says");
    (seen.cut ??= new Set()).add(scrollHeight > clientHeight || scrollWidth > clientWidth);
  }
  return Object.fromEntries(Object.entries(seen).map(([part, heights]) => [part, [...heights]])); }"""


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("name", ["hanoi", "sorting", "text"])
def test_nothing_jumps_or_is_cut_while_stepping(visit, name, width):
    one = visit(name, viewport={"width": width, "height": 800})
    found = one.page.evaluate(HEIGHTS)
    assert found.pop("cut") == [False]
    assert {part: heights for part, heights in found.items() if len(heights) > 1} == {}


def test_curves_say_their_values_over_iterations_and_over_time(visit):
    one = visit("hanoi")
    chart = one.page.locator("#learning .chart.line").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    one.page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 60)
    legend = one.text("#learning .legend")
    assert "iteration 30" in legend
    assert "100%" in legend
    one.page.get_by_label("seconds").check()
    chart = one.page.locator("#learning .chart.line").first
    chart.focus()
    one.page.keyboard.press("ArrowRight")
    assert "1.0 s" in one.text("#learning .legend")
    assert "exploring" in one.text("#learning")
    assert one.page.locator("#learning .event.bad").count() == 1
    assert "Exams: 2 held, 1 passed" in one.text("#learning .exams")


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
    assert one.text(".state-text > :last-child").startswith("[0]")
    one.page.keyboard.press("ArrowRight")


def test_learning_is_shown_or_explained(visit):
    trained = visit("hanoi")
    assert trained.page.locator("#learning path.series").count() == 6
    assert "level 1 learned" in trained.page.locator("#learning").inner_text()
    assert "no learning curves" in visit("sorting").page.locator("#learning").inner_text()


def test_a_proof_is_shown_with_its_lemma_and_assumptions(visit):
    one = visit("sorting")
    assert "PROVED" in one.text("#certificate .facts")
    assert one.page.locator("#certificate .verdicts tbody tr").count() == 6
    row = one.page.locator("#certificate .verdicts tr", has_text="RESET").inner_text().split()
    assert row[:6] == ["RESET", "PROVED", "(lemma", "by", "hand)", "2\N{EN DASH}13"]
    assert "BUBBLESORT ends with both pointers at the start or" in one.text("#certificate .invariants")
    assert "in the way" not in one.text("#certificate").lower()
    lemma = one.page.locator("#certificate .lemma")
    assert not lemma.locator("p").first.is_visible()
    lemma.locator("summary").click()
    assert lemma.locator("p").nth(1).inner_text().startswith("(2) BUBBLE")
    assert lemma.locator("li", has_text="holds in all").count() == 2
    one.page.locator("#certificate .assumptions summary").click()
    assert "Post-conditions say what the user means." in one.text("#certificate .assumptions")


def test_a_refutation_is_shown_with_its_counter_example(visit):
    one = visit("refuted")
    assert "REFUTED" in one.text("#certificate .facts")
    assert "HANOI fails" in one.text("#certificate .counter-example")
    assert "Started from" in one.text("#certificate .counter-example")
    assert "rule: " in one.text("#certificate .counter-example")
    assert "HANOI: at size" in one.text("#certificate .reasons")
    assert "The verdict is REFUTED" in one.text(".without-source")
    one.page.click(".without-source summary")
    assert "alphanpi export" in one.text(".without-source .command")


def test_what_is_missing_is_explained(visit):
    one = visit("text")
    assert "Lights cannot be verified: it could be proved by machine, but z3 is not" in one.text("#certificate")
    assert "alphanpi verify" in one.text("#certificate")
    assert one.page.locator(".source-pane").count() == 0
    assert "There is no source code beside it" in one.text("#player")


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
    one.page.select_option("#theme", "dark")
    one.page.emulate_media(media="print", color_scheme="dark")
    cut = one.page.evaluate(
        "(({scrollHeight, clientHeight}) => scrollHeight - clientHeight)(document.querySelector('.program-source'))"
    )
    assert cut <= 0
    unseen = "[...document.querySelectorAll('.line')].filter((line) => !line.getBoundingClientRect().height).length"
    assert one.page.evaluate(unseen) == 0
    assert one.page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 35, 48)"


def test_where_copying_is_not_allowed_the_source_is_selected(visit):
    one = visit("hanoi")
    one.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    one.page.click("button.copy")
    one.page.wait_for_function("getSelection().toString().includes('def hanoi(')")
    assert "Ctrl+C" in one.text("button.copy")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("toggled", [False, True], ids=["system", "toggled"])
@pytest.mark.parametrize("name", ["hanoi", "sorting", "refuted", "tree"])
def test_text_can_be_read_in_light_and_dark(visit, name, scheme, toggled):
    other = {"light": "dark", "dark": "light"}[scheme]
    one = visit(name, color_scheme=other if toggled else scheme)
    if toggled:
        one.page.select_option("#theme", scheme)
    dark = one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 26)"
    assert dark == (scheme == "dark")
    found = one.page.evaluate(CONTRAST)
    assert found["low"] == []
    assert found["seen"] > 20


def test_colours_are_remembered(visit):
    one = visit("hanoi", color_scheme="light")
    one.page.select_option("#theme", "dark")
    one.page.reload()
    assert one.page.input_value("#theme") == "dark"
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 26)"
    one.page.select_option("#theme", "auto")
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 248)"


@pytest.mark.parametrize("name", ["hanoi", "sorting", "refuted", "text", "tree"])
def test_a_phone_shows_everything_without_scrolling_sideways(visit, name):
    one = visit(name, viewport={"width": 360, "height": 740}, has_touch=True)
    for summary in one.page.locator("summary").all():
        summary.click()
    assert one.page.evaluate("document.documentElement.scrollWidth") == 360
    for button in one.page.locator(".controls button:not(.quiet)").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert min(box["width"], box["height"]) >= 36
