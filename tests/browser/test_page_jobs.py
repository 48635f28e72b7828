"""The page of the job server: start a task, watch it, cancel it, go on with it."""

import textwrap

import pytest
from playwright.sync_api import expect

from tests.fakes.browser import logged_in, served, watching

pytestmark = [pytest.mark.browser, pytest.mark.docker]
TASK = """
task: Write double(n).
tests:
  - assert double(2) == 4
  - assert double(-1) == -2
  - assert double(0) == 0
"""
SCRIPTS = {
    # Long enough to be cancelled in, short enough to wait for.
    "lead": "replies:\n- {text: 1. write it, delay_s: 12}\n",
    "worker": 'replies:\n- "```python\\ndef double(n):\\n    return 2 * n\\n```"\n',
    "reviewer": "replies:\n- APPROVED\n",
}


@pytest.fixture(scope="module")
def job_door(tmp_path_factory, browser, base_image):
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "tasks").mkdir()
    (folder / "tasks" / "double.yaml").write_text(textwrap.dedent(TASK).lstrip())
    (folder / "tasks" / "broken.yaml").write_text("name: [<script>hit()</script>\n")
    more = ["--tasks", str(folder / "tasks")]
    for role, text in SCRIPTS.items():
        (folder / f"{role}.yaml").write_text(text)
        more += ["--model", f"{role}=scripted:{folder}/{role}.yaml"]
    with served(folder / "runs", "agent_loop.server", *more) as (_, link):
        yield logged_in(browser, link)


def test_start_cancel_and_start_again(browser, job_door, recorder):
    with watching(browser, *job_door, recorder) as watched:
        page = watched.open("#start")
        expect(page.locator(".jobs", has_text="broken.yaml")).to_be_visible()
        jobs = page.get_by_role("list", name="Jobs")
        page.get_by_role("button", name="Start double").click()
        expect(jobs).to_contain_text("running", timeout=60_000)
        jobs.get_by_role("link", name="double").click()
        expect(page.locator(".timeline")).to_contain_text("waiting for the reply", timeout=60_000)
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("main h1 .badge").first).to_have_text("cancelled")
        expect(page.get_by_role("button", name="Go on with this run")).to_be_visible()
        page.keyboard.press("g")
        page.keyboard.press("s")
        page.get_by_role("button", name="Start double").click()
        expect(jobs.get_by_role("listitem").first).to_contain_text("passed", timeout=60_000)
        jobs.get_by_role("link", name="double").first.click()
        expect(page.locator("main h1 .badge").first).to_have_text("passed")
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
        # A run's page asks before its run has begun.
        watched.said[:] = [one for one in watched.said if "404" not in one]
