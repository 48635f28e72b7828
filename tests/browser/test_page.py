"""Every view: what it shows, deep links, widths, both colour schemes, the keyboard, axe."""

import re
import time

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError, expect

from tests.fakes.browser import elsewhere, watching

pytestmark = pytest.mark.browser
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def places(store):
    names = sorted(path.stem for path in (store.root / "evals").glob("*.json"))
    base, better = names[0], names[-1]
    return {
        "#": "Runs",
        "#q=task&status=capped": "Runs",
        "#run=demo-passed": "demo",
        "#run=demo-passed&view=charts": "demo",
        "#run=calc-project&view=patch": "calc",
        "#run=tools-episode&view=episodes": "tools",
        "#run=calc-project&view=result": "calc",
        "#run=demo-paused": "demo",
        "#evals": "Evals",
        f"#eval={base}": "Eval",
        f"#compare={base},{better}": "Comparison",
    }


def test_every_deep_link_shows_its_view_at_every_width(watched, store):
    page = watched.open()
    for place, title in places(store).items():
        watched.go(page, place)
        expect(page.locator("main h1").first).to_contain_text(title)
        expect(page.locator(".wait-note")).to_have_count(0)
        for width in (360, 1440, 3840):
            page.set_viewport_size({"width": width, "height": 900})
            try:  # a chart is drawn anew after the page has its new width
                page.wait_for_function(f"{OVERFLOW} <= 0", timeout=10_000)
            except TimeoutError:
                pytest.fail(f"{place} is wider than {width}")
    assert page.locator("main [style*='url(']").count() == 0


AXE = "axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations)"


def serious(page):
    """`{rule: [elements]}` of what axe calls serious or critical."""
    return {
        one["id"]: [node["html"][:200] for node in one["nodes"][:3]]
        for one in page.evaluate(AXE)
        if one["impact"] in ("serious", "critical")
    }


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_has_nothing_serious_to_say(browser, door, store, recorder, scheme, width):
    found = {}
    size = {"width": width, "height": 900}
    with watching(browser, *door, recorder, color_scheme=scheme, viewport=size) as watched:
        page = watched.open()
        page.evaluate(Axe().axe_script)
        for place in places(store):
            watched.go(page, place)
            expect(page.locator(".wait-note")).to_have_count(0)
            if place == "#run=demo-passed":
                page.locator(".timeline button").nth(1).click()
                page.locator(".inside h4").first.wait_for()
            found |= {f"{place}: {rule}": nodes for rule, nodes in serious(page).items()}
    assert found == {}


def test_control_axe_sees_what_is_wrong(browser):
    context = browser.new_context()
    page = context.new_page()
    bad = "<main><button></button><p style='color:#bbb'>pale words"
    page.set_content("<html lang=en><title>t</title>" + bad)
    page.evaluate(Axe().axe_script)
    assert {"button-name", "color-contrast"} <= set(serious(page))
    context.close()


def test_by_keyboard_only(watched):
    page = watched.open()
    page.keyboard.press("/")
    page.keyboard.type("demo-passed")
    expect(page.locator(".runs li")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_contain_text("demo")
    page.locator(".timeline li").first.wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".inside h4").first).to_contain_text("Prompt to scripted:lead")
    page.keyboard.press("f")
    expect(page.locator("[data-filter=calls]")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("2")
    expect(page.locator(".tabs [aria-current]")).to_have_text("Charts")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_be_visible()
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page.locator("main h1")).to_have_text("Evals")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.keyboard.press("u")
    expect(page.locator("main h1")).to_have_text("Runs")
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement !== document.body")


def test_search_and_filters_of_the_list(watched):
    page = watched.open()
    rows = page.locator(".runs li")
    expect(rows).to_have_count(9)
    page.get_by_label("Eval attempts too").check()
    expect(rows).to_have_count(10)
    page.get_by_label("Eval attempts too").uncheck()
    page.get_by_label("Status").select_option("paused")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("demo-paused")
    assert "status=paused" in page.url
    page.get_by_label("Kind").select_option("research")
    expect(page.locator(".empty")).to_contain_text("No run fits")
    page.get_by_role("button", name="Show all runs").click()
    expect(rows).to_have_count(9)


def test_a_call_shows_its_whole_prompt_reply_and_reasoning(watched):
    page = watched.open("#run=demo-passed")
    page.get_by_role("button", name=re.compile("worker replied")).first.click()
    inside = page.locator(".inside").first
    for text in ("You are a Python programmer", "Plan:", "Try one.", "return 1", "Tokens in"):
        expect(inside).to_contain_text(text)
    page.get_by_role("button", name="Failures").click()
    expect(page.locator(".timeline li")).to_have_count(2)
    page.get_by_role("button", name="Everything").click()
    page.get_by_role("searchbox").fill("These asserts must hold")
    expect(page.locator(".said").first).to_contain_text("entries of")


def test_patch_both_ways_with_the_lines_that_ran(watched):
    page = watched.open("#run=calc-project&view=patch")
    page.set_viewport_size({"width": 1000, "height": 900})
    page.get_by_role("button", name="Unified").click()
    expect(page.locator(".patch .add")).to_have_count(5)
    expect(page.locator(".patch .ran code")).to_have_text(["    total = a + b", "    return total"])
    page.keyboard.press("s")
    expect(page.locator(".patch .pair").first).to_be_visible()
    expect(page.locator(".patch .pair .del")).to_have_text(re.compile("return a - b"))


def test_an_episode_step_by_step(watched):
    page = watched.open("#run=tools-episode&view=episodes")
    detail = page.locator(".step-detail")
    expect(detail).to_contain_text("Episode started")
    page.keyboard.press("]")
    page.keyboard.press("]")
    expect(detail).to_contain_text("ls -la 2")
    expect(detail).to_contain_text("file2.py")
    page.keyboard.press("]")
    expect(detail).to_contain_text("failed")
    page.keyboard.press("[")
    expect(detail).to_contain_text("ls -la 2")
    page.locator(".steps button", has_text="ls -la 6").click()
    expect(detail).to_contain_text("Piece 1 of 2")
    detail.get_by_role("button", name="Last").click()
    expect(detail).to_contain_text("the very end")


def test_two_ticked_reports_are_compared(watched):
    page = watched.open("#evals")
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(3)
    expect(page.get_by_role("button", name="Compare the two")).to_be_disabled()
    boxes.nth(2).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Compare the two").click()
    expect(page.locator("main")).to_contain_text("exact McNemar")
    expect(page.locator("main")).to_contain_text("p = 0.250")
    page.get_by_role("link", name="baseline").click()
    expect(page.locator("main")).to_contain_text("pass@1")
    page.get_by_role("link", name="baseline-csvrow-1").click()
    expect(page.locator(".thread")).to_contain_text("baseline-csvrow-1")


def test_another_model_is_warned_of(watched, store):
    names = sorted(path.stem for path in (store.root / "evals").glob("*.json"))
    page = watched.open(f"#compare={names[0]},{names[1]}")
    expect(page.get_by_label("Warning")).to_contain_text("did not run with the same things")


def test_exports_come_as_files(watched):
    page = watched.open("#run=demo-passed")
    for name, begins in (("Export as Markdown", "# "), ("Export as one HTML file", "<!doctype")):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        text = download.value.path().read_text("utf-8")
        assert text.lower().startswith(begins)
        assert "return 'right'" in text or "return &#x27;right&#x27;" in text


def test_errors_say_what_to_do(browser, door, recorder):
    base, state = door
    with watching(browser, base, state, recorder) as watched:
        watched.forgiven = "404"
        page = watched.open("#run=no-such-run", ready=False)
        expect(page.get_by_role("alert")).to_contain_text("Not found")
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{base}/")
    expect(page.locator("body")).to_contain_text(re.compile("terminal|log", re.I))
    context.close()


def test_leaving_this_machine_is_seen_and_the_page_never_does(browser, recorder):
    """The control: a page that does ask elsewhere is caught by the same recorder."""
    context = browser.new_context()
    page = context.new_page()
    page.set_content("<img src='http://elsewhere.test/x.png'>")
    until = time.monotonic() + 60
    while not any("elsewhere.test" in one for one in elsewhere(recorder.wanted)):
        assert time.monotonic() < until
        page.wait_for_timeout(50)
    context.close()
    recorder.wanted.clear()
