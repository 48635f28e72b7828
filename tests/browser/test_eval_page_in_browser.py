"""The eval page in a real browser: no policy broken, nothing asked, no sideways scroll, axe."""

import os
import shutil

import pytest

from agent_loop.evals.page import comparison_page, report_page
from agent_loop.stats.compare import compare
from agent_loop.store.reportnumbers import arm_of
from tests.fakes.reports import drawn, filled, lost, outcomes

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def eval_browser():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if path is None:
        reason = "Chromium is not installed: apt-get install chromium"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"], timeout=180_000
        )
        yield made
        made.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    control = drawn("control", tasks=6, attempts=3)
    control = filled(control, [lost("task-00", n) for n in (1, 2, 3)])
    other = drawn("a-variant-with-a-rather-long-name", tasks=6, attempts=3, seed=2)
    texts = {
        "report": report_page(control, [other]),
        "compare": comparison_page(
            [control, other], compare([arm_of(control), arm_of(other)]), ["a fixture"]
        ),
        "empty": report_page(outcomes("empty", {"w" * 90: "-"})),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text)
    return folder


@pytest.mark.parametrize("name", ["report", "compare", "empty"])
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light")])
def test_the_page_fits_breaks_no_policy_and_can_be_read_by_all(
    eval_browser, pages, name, width, scheme
):
    from axe_core_python.sync_playwright import Axe

    page = eval_browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((pages / f"{name}.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert asked == [(pages / f"{name}.html").as_uri()]
    assert said == []
    ink = page.evaluate("getComputedStyle(document.querySelector('.f-ink')).fill")
    assert ink == ("rgb(232, 234, 238)" if scheme == "dark" else "rgb(28, 31, 36)")
    page.evaluate(Axe().axe_script)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert {v["id"]: [n["html"][:120] for n in v["nodes"]] for v in found} == {}
    page.close()


def test_control_the_policy_stops_a_script(eval_browser, pages):
    text = (pages / "report.html").read_text()
    changed = text.replace("</main>", "<script>document.title = 'ran'</script></main>")
    (pages / "changed.html").write_text(changed)
    page = eval_browser.new_page()
    with page.expect_console_message(lambda said: "Content Security Policy" in said.text):
        page.goto((pages / "changed.html").as_uri())
    assert page.title() != "ran"
    page.close()
