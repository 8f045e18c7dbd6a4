"""The search trees of a report, in a real browser."""

from __future__ import annotations

from tests.helpers.browsing import needs_chromium

pytestmark = needs_chromium


def test_the_tree_is_there_from_the_start_with_its_path_open(visit):
    one = visit("hanoi")
    assert "Step 1:" in one.text("#tree h2 small")
    assert one.page.locator(".tree-node .after").first.text_content() == "A: 3 2 1 B: - C: -"
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
    boxes = one.page.evaluate(
        "[...document.querySelectorAll('.tree-node .box')].map((box) => box.getBoundingClientRect().toJSON())"
    )
    for place, a in enumerate(boxes):
        for b in boxes[place + 1 :]:
            apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            assert apart or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]


def test_the_tree_is_zoomed_and_fitted(visit):
    one = visit("tree")
    size = lambda: one.page.locator("svg.tree").bounding_box()  # noqa: E731
    before = size()
    one.page.get_by_role("button", name="Zoom in").click()
    assert size()["width"] > before["width"]
    one.page.get_by_role("button", name="Show the whole tree").click()
    frame = one.page.locator(".tree-drawing").bounding_box()
    assert size()["width"] <= frame["width"]
    assert size()["height"] <= frame["height"]
    one.page.focus('.tree-node[tabindex="0"]')
    one.page.keyboard.press("+")
    assert one.page.evaluate("document.activeElement.matches('.tree-node')")


def test_where_search_and_network_disagree(visit):
    one = visit("hanoi")
    assert "choose the same in all" in one.text(".disagreements")
    other = visit("refuted")
    steps = other.page.evaluate(
        """() => { const { execution, searches } = alphanpiPlayer.report;
             return execution.steps.flatMap(({ search, decision }, step) => {
               const found = searches.searches[search]?.decisions.find((one) => one.step === decision);
               return found && found.choice !== found.taken ? [step] : []; }); }"""
    )
    assert steps
    assert other.page.locator(".disagreements .pill").count() == len(steps)
    other.page.click("#next-disagreement")
    reached = other.page.evaluate("alphanpiPlayer.playback.index")
    assert reached == next((step for step in steps if step > 0), steps[0])
    assert "the search itself chose" in other.text(".tree-tools")


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


def test_a_step_without_a_tree_says_why(visit):
    one = visit("hanoi")
    one.page.evaluate(
        """() => { const view = alphanpiPlayer; view.report.searches.reasons = ["the time is up"];
             Object.assign(view.report.execution.steps[2], { search: null, reason: 0 }); }"""
    )
    for _ in range(2):
        one.page.click("#step")
    assert one.text("#tree .tree-drawing") == "There is no tree of this step: the time is up."
