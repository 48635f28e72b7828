"""Watching a run to its end, and answering one: from the page, and against the terminal."""

import re
import threading
import time

import pytest
from playwright.sync_api import expect

from agent_loop.config import ModelOptions, ModelSettings
from agent_loop.errors import ThreadError
from agent_loop.graph.drive import resume, start
from agent_loop.models import make_model
from agent_loop.models.scripted import Line, ScriptedModel
from agent_loop.ports import SystemClock
from agent_loop.store import MailboxOwner, reply_from_text
from tests.fakes import page_runs
from tests.fakes.browser import logged_in, served, watching
from tests.fakes.require import needs_embedded
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts, wrong

pytestmark = pytest.mark.browser
HIDE = """hidden => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
}"""


def in_background(act, *given, **more):
    found = []
    thread = threading.Thread(target=lambda: found.append(act(*given, **more)), daemon=True)
    thread.start()

    def result():
        thread.join(180)
        assert found, "it did not end"
        return found[0]

    return result


def mailbox_owner(store, thread):
    return MailboxOwner(store.mailbox(thread), SystemClock(), wait_s=180, every_s=0.05)


def pausing(store, thread, lines):
    """A run that pauses after three laps and waits for its mailbox."""
    owner = mailbox_owner(store, thread)
    texts = [*(wrong(n) for n in range(3)), *lines]
    return in_background(page_runs.live, store, thread, owner, delay_s=0.02, lines=texts)


def test_a_run_is_watched_from_its_beginning_to_its_end(watched, store):
    page = watched.open()
    clock = page_runs.UntilTold()
    lead = ScriptedModel("scripted:lead", [Line(text="1.", delay_s=150)], clock=clock)
    result = in_background(page_runs.live, store, "live-1", lead=lead)
    row = page.locator(".runs li", has_text="live-1")
    expect(row).to_contain_text("running")
    row.get_by_role("link").click()
    expect(page.locator(".now")).to_contain_text("now:")
    expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator(".timeline")).to_contain_text("waiting for the reply")
    clock.go_on.set()
    expect(page.locator(".timeline")).to_contain_text("Run ended: passed")
    expect(page.locator("main h1 .badge").first).to_have_text("passed")
    assert result().outcome == "passed"
    titles = page.locator(".timeline strong").all_inner_texts()
    assert titles.count("worker replied") == 2
    assert titles[-1] == "Run ended: passed"
    page.keyboard.press("5")
    expect(page.locator(".view")).to_contain_text("Verdict: passed")


def test_guidance_then_accept_with_a_second_click(watched, store):
    result = pausing(store, "ask-1", [wrong(n) for n in range(3, 9)])
    page = watched.open("#run=ask-1")
    expect(page.get_by_label("Owner call")).to_contain_text("did NOT pass")
    page.get_by_role("button", name="Send guidance").click()
    expect(page.locator(".owner .said")).to_contain_text("Write what the worker should do")
    page.get_by_label("Guidance").fill("Say <b>2</b> & go on.")
    page.get_by_role("button", name="Send guidance").click()
    page.get_by_role("button", name="Pauses").click()
    expect(page.locator(".timeline")).to_contain_text("from mailbox")
    # The next pause of the same run: the first click says what it would do, the second does it.
    expect(page.locator(".timeline .paused")).to_have_count(2)
    page.get_by_role("button", name="Accept", exact=True).click()
    armed = page.get_by_role("button", name="Tests FAILED: click again to accept all the same")
    expect(armed).to_be_visible()
    time.sleep(1.0)  # one answer a second
    assert not (store.folder("ask-1") / "owner_reply.json").exists()
    armed.click()
    expect(page.locator("main h1 .badge").first).to_have_text("accepted")
    ended = result()
    assert ended.outcome == "accepted"
    assert ended.record["laps"][2]["guidance"] == "Say <b>2</b> & go on."


def test_the_race_is_won_by_the_page(watched, store):
    result = pausing(store, "race-page", [RIGHT])
    page = watched.open("#run=race-page")
    page.get_by_role("button", name="Stop the run").click()
    expect(page.locator("main h1 .badge").first).to_have_text("stopped")
    assert result().outcome == "stopped"
    # The terminal comes too late: the run has ended, and says so.
    late = reply_from_text("accept", "terminal")
    with pytest.raises(ThreadError, match="race-page"):
        resume("race-page", parts(), store, reply=late)
    assert store.read_record("race-page")["outcome"] == "stopped"


def test_the_race_is_won_by_the_terminal(browser, door, store, recorder):
    page_runs.paused(store, "race-terminal")
    with watching(browser, *door, recorder) as watched:
        watched.forgiven = "409"
        page = watched.open("#run=race-terminal")
        stop = page.get_by_role("button", name="Stop the run")
        stop.wait_for()
        # From here on the page hears nothing more, as on a slow line.
        page.evaluate(HIDE, True)
        said = reply_from_text("accept", "terminal")
        resume("race-terminal", parts(owner=ScriptedOwner()), store, reply=said)
        stop.click()
        expect(page.locator(".owner .said")).to_contain_text("Too late")
        page.evaluate(HIDE, False)
        expect(page.locator("main h1 .badge").first).to_have_text("accepted")
    assert not (store.folder("race-terminal") / "owner_reply.json").exists()


def test_an_answer_to_a_run_nobody_drives_waits_for_it(watched, store):
    page_runs.paused(store, "nobody")
    page = watched.open("#run=nobody")
    expect(page.locator(".owner")).to_contain_text("Nobody drives this run now")
    page.get_by_role("button", name="Stop the run").click()
    expect(page.locator(".owner .note")).to_contain_text("loop.py --continue nobody")
    owner = mailbox_owner(store, "nobody")
    assert resume("nobody", parts(owner=owner), store).outcome == "stopped"
    expect(page.locator("main h1 .badge").first).to_have_text("stopped")


def test_where_a_stream_is_held_back_the_page_asks(browser, door, store, recorder):
    """As behind a proxy that collects what it is to pass on."""
    with watching(browser, *door, recorder) as watched:
        watched.context.route(re.compile("/stream"), lambda route: None)
        page_runs.record(store, "polled", outcome=None)
        page = watched.open("#run=polled")
        expect(page.locator("#connection")).to_have_text("live, by asking")
        page_runs.trace(store, "polled", [("run_started", {"task": "polled", "resumed": False})])
        expect(page.locator(".timeline")).to_contain_text("Run started")


def test_a_server_that_went_away_or_came_back_is_told_apart(browser, store, recorder):
    with served(store.root) as (_, link):
        base, state = logged_in(browser, link)
        context = browser.new_context(storage_state=state)
        page = context.new_page()
        page.goto(f"{base}/#run=demo-passed")
        expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator("#connection")).to_have_text("no connection")
    page.goto("about:blank")
    with served(store.root, "agent_loop.dashboard", "--port", base.rsplit(":", 1)[1]):
        # Another start has other keys: the old cookie opens nothing.
        page.goto(f"{base}/")
        expect(page.locator("body")).to_contain_text("terminal")
    context.close()


def test_a_hidden_page_lets_go_of_its_stream(watched):
    page = watched.open("#run=demo-passed")
    expect(page.locator("#connection")).to_have_text("live")
    page.evaluate(HIDE, True)
    expect(page.locator("#connection")).to_have_text("")
    page.evaluate(HIDE, False)
    expect(page.locator("#connection")).to_have_text("live")


def test_the_stream_is_cut_and_nothing_is_lost_or_doubled(browser, door, store, recorder):
    thread = "cut"
    page_runs.record(store, thread, outcome=None)
    page_runs.trace(store, thread, [("run_started", {"task": "cut", "resumed": False})])
    with watching(browser, *door, recorder) as watched:
        page = watched.open(f"#run={thread}")
        expect(page.locator("#connection")).to_have_text("live")
        for n in range(1, 11):
            page_runs.trace(store, thread, [("review", {"lap": n, "approved": True, "text": "x"})])
            if n == 5:
                watched.context.set_offline(True)
            if n == 8:
                watched.context.set_offline(False)
            page.wait_for_timeout(60)
        expect(page.locator(".timeline li")).to_have_count(11)
        laps = [text.split("\n")[-2] for text in page.locator(".review .line").all_inner_texts()]
        assert laps == [f"lap {n}" for n in range(1, 11)]
        watched.said.clear()


@pytest.mark.embedded
def test_a_run_of_the_embedded_model_is_watched_to_its_end(watched, store):
    needs_embedded()
    options = ModelOptions(temperature=0.0, num_ctx=1024, num_predict=12)
    settings = ModelSettings(
        provider="embedded", model="smollm2-135m", options=options, total_s=120
    )
    model = make_model(settings)
    given = parts(owner=ScriptedOwner(["stop"]))
    real = {role: model for role in given.models}
    given = type(given)(models=real, check=given.check, owner=given.owner, clock=given.clock)
    try:
        page = watched.open()
        result = in_background(start, "embedded-1", job(rejection_cap=1), given, store)
        page.locator(".runs li", has_text="embedded-1").get_by_role("link").click()
        expect(page.locator(".timeline")).to_contain_text("Run ended: stopped", timeout=180_000)
        assert result().outcome == "stopped"
        assert "lead replied" in page.locator(".timeline strong").all_inner_texts()
    finally:
        model.close()
