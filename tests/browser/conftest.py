"""One browser and one dashboard for a module; every page of it is watched."""

import os

import pytest

from tests.fakes import page_runs
from tests.fakes.browser import FLAGS, Recorder, chromium, logged_in, served, watching


@pytest.fixture(scope="session")
def recorder():
    made = Recorder()
    yield made
    made.close()


@pytest.fixture(scope="module")
def browser(recorder):
    path = chromium()
    if path is None:
        reason = "Chromium is not installed: apt-get install chromium"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import expect, sync_playwright

    # A busy machine is no bug.
    expect.set_options(timeout=60_000)

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=path,
            timeout=180_000,
            args=FLAGS,
            proxy={"server": recorder.address, "bypass": "127.0.0.1"},
        )
        yield made
        made.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return page_runs.filled(tmp_path_factory.mktemp("page") / "runs")


@pytest.fixture(scope="module")
def door(store, browser):
    """`(base, state)`: the address, and a browser state that is logged in."""
    with served(store.root) as (_, link):
        yield logged_in(browser, link)


@pytest.fixture
def watched(browser, door, recorder):
    """Nothing on the console, nothing asked elsewhere: looked at when the test ends."""
    with watching(browser, *door, recorder) as made:
        yield made
