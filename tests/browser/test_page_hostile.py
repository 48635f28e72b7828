"""What models wrote is text on the page, whatever it says."""

import pytest
from playwright.sync_api import expect

from agent_loop.store import RunStore
from tests.fakes import page_runs
from tests.fakes.browser import logged_in, served, watching
from tests.fakes.hostile import ALL, MARKUP, spelled

pytestmark = pytest.mark.browser
WATCH = "window.hits = 0; window.hit = () => { window.hits += 1; };"
# Opens every entry on its way down, and gathers what stands in the page meanwhile.
READ_ALL = """async () => {
    const seen = new Set();
    const wait = () => new Promise(done => setTimeout(done, 40));
    for (let quiet = 0; quiet < 8;) {
        const next = [...document.querySelectorAll('.timeline [aria-expanded=false]')][0];
        if (next) { next.click(); quiet = 0; } else { scrollBy(0, 500); quiet += 1; }
        await wait();
        for (let n = 0; n < 1500 && document.querySelector('.inside > .wait-note'); n += 1) await wait();
        for (const one of document.querySelectorAll('main pre, main summary, main li')) seen.add(one.textContent);
        if (!next && scrollY + innerHeight < document.documentElement.scrollHeight - 5) quiet = 0;
    }
    return [...seen].join('\\u0001');
}"""  # noqa: E501
MADE = "main script, main iframe, main img, main object, main embed, main base, main style, main a[href^=javascript], main form[action]"  # noqa: E501


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    """A folder in which everything that can hold a text holds a hostile one."""
    store = RunStore(tmp_path_factory.mktemp("bad") / "runs")
    for at, text in enumerate(ALL):
        page_runs.record(store, f"h{at:02}", task=text, fields=fields(text), kind="project")
        hunk = "\n".join("+" + line for line in text.replace("\0", "").splitlines() or [""])
        patch = f"--- a/{text[:80]}\n+++ b/{text[:80]}\n@@ -0,0 +1,{hunk.count(chr(10)) + 1} @@\n"
        (store.folder(f"h{at:02}") / "changes.patch").write_bytes((patch + hunk).encode())
    page_runs.trace(
        store, "h00", [event for at, text in enumerate(ALL) for event in said(at, text)]
    )
    path = store.trace_path("h00")
    page_runs.raw_line(
        path, b'{"n": 9, "kind": "review", "text": "\xff\xfe\x80<script>hit()</script>"}'
    )
    page_runs.raw_event(path, 1, "<img src=x onerror=hit()>", text={"a": ["<svg onload=hit()>"]})
    page_runs.report(
        store, "hostile", "2026-11-01T09:00:00.000Z", {text: [1, 0] for text in ALL}, tasks=ALL
    )
    (store.root / "<img src=x onerror=hit()>.json").write_text("{}")
    (store.root / "evals" / "<script>hit().json").write_text("{}")
    return store


def fields(text):
    verdict = {
        "passed": True, "isolation": text, "reason": text, "feedback": text, "output": text,
        "proofs": [{"name": text, "held": True, "detail": text}], "executed": [text],
        "looks": [{"signal": text, "detail": text}], "lines": [], "seconds": 1,
    }  # fmt: skip
    names = ("reason", "answer", "review", "plan", "test_output", "task_hash")
    return {"verdict": verdict, **dict.fromkeys(names, text), "tokens": {text: page_runs.USAGE}}


def said(at, text):
    kinds = ["review", "fault", "candidate_refused", "verdict", "paused", text[:40], "episode_step"]
    call = {"id": text, "name": text, "arguments": {"x": text}}
    seen = {"text": text, "ok": True}
    other = {
        "lap": at, "problem": text, "question": text, "nonce": "n", "reason": text, "call": call,
        "observation": seen, "output": text, "text": text,
    }  # fmt: skip
    more = {"reasoning": text, "notes": [text], "answered": text}
    return [*page_runs.ask("worker", text, answer=text, **more), (kinds[at % 7], other)]


@pytest.fixture(scope="module")
def bad_door(bad, browser):
    with served(bad.root) as (_, link):
        yield logged_in(browser, link)


@pytest.fixture
def watched(browser, bad_door, recorder):
    with watching(browser, *bad_door, recorder) as made:
        made.context.add_init_script(WATCH)
        yield made
        for page in made.context.pages:
            assert page.evaluate("window.hits") == 0
            assert page.locator(MADE).count() == 0


def test_control_a_page_that_makes_markup_of_them_runs_them(browser):
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto("about:blank")
    run = """async ([text, pause]) => {
        window.hits = 0;
        document.body.innerHTML = text;
        const range = document.createRange();
        document.body.append(range.createContextualFragment(text));
        await new Promise(done => setTimeout(done, pause));
        return window.hits;
    }"""
    for pause in (60, 600, 3_000):  # a busy machine takes its time
        ran = [text for text in MARKUP if page.evaluate(run, [text, pause])]
        if len(ran) >= 22:
            break
    context.close()
    assert len(ran) >= 22, [text for text in MARKUP if text not in ran]


def test_names_in_the_list_are_text(watched):
    page = watched.open()
    for _ in range(12):
        page.mouse.wheel(0, 700)
        page.wait_for_timeout(40)
    page.get_by_role("searchbox").fill("onerror=hit")
    expect(page.locator(".runs strong").first).to_contain_text("onerror=hit()>")
    expect(page.locator(".said").first).to_contain_text("of 60 runs")


def test_every_entry_of_a_hostile_trace_is_text(watched):
    page = watched.open("#run=h00")
    page.set_viewport_size({"width": 1200, "height": 2000})
    expect(page.locator(".said").first).not_to_contain_text("loading")
    shown = page.evaluate(READ_ALL)
    missing = [text for text in ALL if spelled(text.replace("\r\n", "\n")) not in shown]
    # A carriage return is no character of a page's text; the rest of such a text is looked at.
    missing = [text for text in missing if "\r" not in text]
    assert missing == []
    assert "⟦U+202E⟧drowssap" in shown
    assert "␛[2J" in shown


def test_results_patches_and_evals_are_text(watched):
    page = watched.open("#evals")
    for at in range(0, 60, 4):
        for view in ("result", "patch"):
            watched.go(page, f"#run=h{at:02}&view={view}")
            expect(page.locator(".wait-note")).to_have_count(0)
            expect(page.locator("main h1")).to_be_visible()
            assert page.evaluate("window.hits") == 0
            assert page.locator(MADE).count() == 0
    name = next(p.stem for p in (page_folder(watched)).glob("hostile-*.json"))
    watched.go(page, f"#eval={name}")
    expect(page.locator("main")).to_contain_text("<img src=x onerror=hit()>")


def page_folder(watched):
    from pathlib import Path

    page = watched.context.pages[0]
    said = page.evaluate("fetch('/api/session').then(answer => answer.json())")
    return Path(said["runs_dir"]) / "evals"


@pytest.mark.parametrize(
    "place",
    [
        "#run=%3Cimg%20src%3Dx%20onerror%3Dhit()%3E", "#run=..%2F..%2Fetc%2Fpasswd",
        "#eval=..%2F..%2Fx", "#compare=a,%3Cscript%3Ehit()%3C%2Fscript%3E",
        "#run=h00&view=javascript:hit()&seq=99999999", "#q=%3Cimg%20src%3Dx%20onerror%3Dhit()%3E",
    ],
)  # fmt: skip
def test_hostile_links_are_only_links(watched, place):
    watched.forgiven = "40[04]"
    page = watched.open(place, ready=False)
    expect(page.locator("main h1, main [role=alert]").first).to_be_visible()
    page.wait_for_timeout(150)


def test_an_exported_file_runs_nothing_either(watched, browser, tmp_path):
    page = watched.open("#run=h00")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as one HTML file").click()
    target = tmp_path / "export.html"
    download.value.save_as(target)
    context = browser.new_context()
    alone = context.new_page()
    alone.add_init_script(WATCH)
    alone.goto(f"file://{target}")
    alone.wait_for_timeout(200)
    assert alone.evaluate("window.hits") == 0
    assert "onerror=hit()" in alone.locator("body").inner_text()
    context.close()
