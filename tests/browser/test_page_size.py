"""A huge trace and a long list: shown at once, all of it within reach, and the page stays small."""

import json
import os
import time

import pytest
from playwright.sync_api import expect

from agent_loop.store import RunStore
from tests.fakes import page_runs

pytestmark = pytest.mark.browser
# AGENT_LOOP_HUGE=1: the sizes that users told of (a minute and 140 MB of disk).
HUGE = os.environ.get("AGENT_LOOP_HUGE") == "1"
CALLS, PROMPT, LINE, RUNS = (
    (400, 300_000, 20_000_000, 2_000) if HUGE else (400, 20_000, 10_000_000, 620)
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A trace of many long calls, one reply of megabytes on one line, and a torn end."""
    store = RunStore(tmp_path_factory.mktemp("size") / "runs")
    page_runs.record(store, "huge", started="2026-12-01T10:00:00.000Z")
    for n in range(RUNS):
        at = f"2026-11-{n % 28 + 1:02}T10:{n // 60 % 60:02}:{n % 60:02}.000Z"
        page_runs.record(store, f"run-{n:04}", task=f"task {n}", started=at)
    path = store.trace_path("huge")
    filler = "lorem ipsum dolor sit amet " * (PROMPT // 27)
    with path.open("wb") as file:
        for n in range(CALLS):
            needle = "a needle in the middle" if n == 377 else ""
            half = len(filler) // 2
            text = filler[:half] + needle + filler[half:]
            answer = "x" * LINE + "THE END" if n == 200 else "short"
            for kind, said in page_runs.ask("worker", text, lap=n, answer=answer):
                line = {"v": 1, "n": 2 * n + 1, "at": "2026-11-01T10:00:00.000Z", "kind": kind}
                file.write(json.dumps({**line, **said}).encode() + b"\n")
        file.write(b'{"v": 1, "n": 801, "kind": "run_en')
    return store


def test_a_huge_trace_is_shown_at_once_and_the_page_stays_small(watched, store):
    begun = time.monotonic()
    page = watched.open("#run=huge")
    page.locator(".timeline li").first.wait_for()
    first_s = time.monotonic() - begun
    expect(page.locator(".said").first).not_to_contain_text("loading")
    all_s = time.monotonic() - begun
    page.get_by_role("searchbox").fill("a needle in the middle")
    expect(page.locator(".timeline li")).to_have_count(1)
    page.locator(".timeline button").first.click()
    expect(page.locator(".inside .pager" if HUGE else ".inside pre").first).to_be_visible()
    page.get_by_role("searchbox").fill("")
    watched.go(page, "#run=huge&seq=402")
    pager = page.get_by_role("group", name="Pieces of a long text")
    pager = pager.filter(has_text=f"{LINE + 7:,} characters")
    pager.get_by_role("button", name="Last").click()
    expect(page.locator(".timeline")).to_contain_text("THE END")
    page.evaluate("scrollTo(0, 1e9)")
    nodes = page.evaluate("document.getElementsByTagName('*').length")
    heap = page.evaluate("performance.memory.usedJSHeapSize")
    size = store.trace_path("huge").stat().st_size
    print(f"trace {size / 1e6:.0f} MB: first entries {first_s:.1f} s, all {all_s:.1f} s")
    print(f"{nodes} elements, heap {heap / 1e6:.0f} MB")
    assert nodes < 3_000
    assert heap < 200e6


def test_a_long_list_is_within_reach_and_the_page_stays_small(watched):
    begun = time.monotonic()
    page = watched.open()
    page.locator(".runs li").first.wait_for()
    first_s = time.monotonic() - begun
    expect(page.locator(".said")).to_have_text(f"{RUNS + 1:,} runs")
    expect(page.locator(".runs li").first).to_contain_text("huge")
    last = page.locator(f".runs li[aria-posinset='{RUNS + 1}']")
    for _ in range(600):
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_timeout(50)
        if last.count():
            break
    expect(last).to_be_visible()
    nodes = page.evaluate("document.getElementsByTagName('*').length")
    print(f"{RUNS} runs: first rows {first_s:.2f} s, {nodes} elements")
    assert nodes < 1_500


def test_the_whole_of_a_huge_run_is_exported(watched, store):
    page = watched.open("#run=huge")
    begun = time.monotonic()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as Markdown").click()
    size = download.value.path().stat().st_size
    print(f"Markdown of {size / 1e6:.0f} MB in {time.monotonic() - begun:.1f} s")
    assert size > (500_000 if HUGE else CALLS * PROMPT)
