"""The exported page of a hostile run in a real browser: keys work, no text runs or loads."""

from dataclasses import replace

import pytest

from agent_loop.graph import drive
from agent_loop.store import RunStore
from agent_loop.trajectories import page, read_story
from tests.fakes.episode_run import WORKER, parts, project_job
from tests.fakes.episodes import does

pytestmark = pytest.mark.browser
HOSTILE = (
    "</script></pre><script>document.title='owned'</script><img src=http://evil.test/x.png "
    "onerror=\"document.title='owned'\"><svg onload=\"document.title='owned'\">"
)


@pytest.fixture
def exported(tmp_path):
    store = RunStore(tmp_path / "runs")
    trick = does("create", path=HOSTILE, content=HOSTILE)
    lines = (replace(trick, text=HOSTILE), does("view", path="not there"), *WORKER[4:])
    drive.start("a", project_job(task=HOSTILE), parts([], lines=lines), store)
    path = tmp_path / "run.html"
    path.write_text(page(read_story(store, "a")), encoding="utf-8")
    return path


def test_keys_move_open_and_find_problems_and_nothing_runs(browser, recorder, exported):
    context = browser.new_context()
    tab = context.new_page()
    said, asked, before = [], [], len(recorder.wanted)
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(exported.as_uri())
    focused = "document.activeElement.textContent"
    tab.keyboard.press("j")
    first = tab.evaluate(focused)
    tab.keyboard.press("j")
    second = tab.evaluate(focused)
    tab.keyboard.press("k")
    assert tab.evaluate(focused) == first != second
    assert tab.evaluate("document.querySelectorAll('details[open]').length") == 0
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.parentElement.open") is True
    tab.keyboard.press("o")
    assert tab.evaluate("document.querySelectorAll('details:not([open])').length") == 0
    tab.keyboard.press("Home")
    tab.keyboard.press("n")
    assert "step 1: create" in tab.evaluate(focused) or "view" in tab.evaluate(focused)
    tab.keyboard.press("End")
    assert "run ended" in tab.evaluate(focused)
    assert tab.title() == "Run a"
    assert tab.evaluate("document.images.length + document.scripts.length") == 1
    assert said == []
    assert asked == [exported.as_uri()]
    assert not [one for one in recorder.wanted[before:] if "evil" in one]
    context.close()


def test_the_control_without_its_policy_and_escaping_the_same_text_runs(browser, exported):
    """Shows that the trick works where a page takes the text for markup."""
    bare = exported.with_name("bare.html")
    bare.write_text(f"<!doctype html><title>t</title><pre>{HOSTILE}</pre>", encoding="utf-8")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(bare.as_uri())
    assert tab.title() == "owned"
    context.close()
