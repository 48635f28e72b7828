# ruff: noqa: E501
"""The arXiv client against a server on this machine that does everything a server can do wrong."""

import contextlib
import itertools
import json
import socket
import sys
import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from agent_loop import __version__
from agent_loop.errors import FaultError, SearchUnavailable, TaskFileError
from agent_loop.ports import SystemClock
from agent_loop.procs import start
from agent_loop.research import frozen
from agent_loop.research.atom import FeedProblem, read_feed
from agent_loop.research.cache import Cache
from agent_loop.research.client import ArxivClient, ClientSettings, user_agent
from agent_loop.research.fetch import Bounds, _Watch
from agent_loop.research.hosts import server
from agent_loop.research.pace import Pace
from tests.fakes.arxiv_server import Answer, FakeArxiv, entry, feed
from tests.fakes.clock import FakeClock

GOOD = feed(
    entry("2401.00001v2", "One abstract."),
    entry("2402.00002v1", "Two.", published="2024-02-01T00:00:00Z"),
)
QUERY = '(abs:"state space model" OR abs:"mamba") AND abs:"mixture of experts"'
BOUNDS = Bounds(connect_s=20.0, read_s=20.0, total_s=40.0, max_bytes=1 << 20)
# For what is too slow: where nothing comes, and where something comes for ever.
SILENT = replace(BOUNDS, read_s=0.4)
DRIPS = replace(BOUNDS, total_s=0.5)


class QuickClock(SystemClock):
    """Real time that remembers long sleeps instead of sleeping them."""

    def __init__(self):
        self.slept = []

    def sleep(self, seconds):
        self.slept.append(seconds)


def client(url, folder, **more):
    clock = more.pop("clock", None) or QuickClock()
    settings = ClientSettings(
        state_dir=folder, base_url=url, bounds=more.pop("bounds", BOUNDS), **more
    )
    return ArxivClient(settings, clock, pace=Pace(folder, clock, interval_s=0.0))


def ask(tmp_path, *answers, **more):
    fake = FakeArxiv(*answers)
    with fake.serving() as url:
        try:
            return fake, client(url, tmp_path, **more).search(QUERY, 10)
        except SearchUnavailable as fault:
            return fake, fault


def test_the_query_goes_out_word_for_word_and_newest_come_first(tmp_path):
    fake, found = ask(tmp_path, Answer(GOOD))
    (asked,) = fake.asked
    sent = parse_qs(urlsplit(asked.path).query)
    assert sent == {
        "search_query": [QUERY],
        "start": ["0"],
        "max_results": ["10"],
        "sortBy": ["submittedDate"],
        "sortOrder": ["descending"],
    }
    assert asked.agent == f"agent-loop/{__version__}"
    assert [str(paper.id) for paper in found.papers] == ["2402.00002v1", "2401.00001v2"]
    assert found.query == QUERY


def test_the_contact_stands_in_the_user_agent(tmp_path):
    fake, _ = ask(tmp_path, Answer(GOOD), contact="mailto:me@example.org")
    assert fake.asked[0].agent == f"agent-loop/{__version__} (mailto:me@example.org)"
    with pytest.raises(ValueError, match="contact"):
        user_agent("a\r\nX-Evil: 1")


BOMB = b"""<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>
<feed xmlns="http://www.w3.org/2005/Atom"><title>&b;</title></feed>"""
ERROR = feed(
    "<entry><id>https://arxiv.org/api/errors#incorrect_id_format_for_abc</id><title>Error</title>"
    "<summary>incorrect id format for abc</summary></entry>"
)
FAULTS = {
    "error entry": ([Answer(ERROR)], "arXiv reports an error: incorrect id format for abc", 1),
    "error entry with 400": ([Answer(ERROR, status=400)], "HTTP 400: incorrect id format for abc", 1),
    "empty feed": ([Answer(feed())], "arXiv found no paper for the query", 1),
    "empty feed that counts papers": ([Answer(feed(total=7))], "its list is empty, though it counts 7", 3),
    "HTML page with 200": ([Answer(b"<html>log in</html>", type="text/html")], "text/html (a proxy, a login page?)", 1),
    "HTML page called XML": ([Answer(b"<html><p>x</p></html>")], "no Atom feed but <html>", 1),
    "no type": ([Answer(GOOD, type=None)], "something of no type", 1),
    "429": ([Answer(b"Rate exceeded.", status=429, type="text/plain")], "HTTP 429: too many requests", 3),
    "429 with a long wait": ([Answer(status=429, headers={"Retry-After": "7200"})], "asks to wait 7200 s", 1),
    "503": ([Answer(status=503)], "HTTP 503: it is overloaded", 3),
    "500": ([Answer(status=500)], "HTTP 500", 3),
    "404": ([Answer(b"<html><h1>Not here</h1></html>", status=404)], "HTTP 404: Not here", 1),
    "stall": ([Answer(GOOD, stall_s=90)], "did not answer in time", 3, SILENT),
    "a byte now and then": ([Answer(GOOD, drip_s=0.1)], "took longer than 0.5 s", 3, DRIPS),
    "a header byte now and then": ([Answer(GOOD, drip_head_s=0.1)], "took longer than 0.5 s", 3, DRIPS),
    "dripping without a length": ([Answer(GOOD, drip_s=0.1, unsized=True)], "took longer than 0.5 s", 3, DRIPS),
    "malformed XML": ([Answer(GOOD[:-20])], "the XML is broken at line", 1),
    "no XML at all": ([Answer(b"Rate exceeded.")], "the XML is broken at line 1", 1),
    "nothing": ([Answer(b"")], "the XML is broken at line 1", 1),
    "30 MB feed": ([Answer(feed()[:-7] + b" " * (30 << 20))], "longer than 1 MiB", 1),
    "endless feed": ([Answer(feed()[:-7], endless=b"<x>" + b"a" * 60_000 + b"</x>")], "longer than 1 MiB", 1),
    "entity bomb": ([Answer(BOMB)], "declares a document type (feed)", 1),
    "deep nesting": ([Answer(feed()[:-7] + b"<a>" * 100)], "nested deeper than", 1),
    "compressed although not asked": ([Answer(GOOD, headers={"Content-Encoding": "gzip"})], "compressed its answer", 1),
    "redirect elsewhere": ([Answer(status=302, headers={"Location": "http://example.org/"})], "redirects elsewhere", 1),
    "redirect for ever": ([Answer(status=302, headers={"Location": "/api/query?again"})], "redirects more than 3", 4),
    "entries that are none": ([Answer(feed("<entry><id>x</id></entry>"))], "its list is empty, though", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_has_its_message(name, tmp_path, record_property):
    answers, said, requests, *bounds = FAULTS[name]
    fake, fault = ask(tmp_path, *answers, bounds=bounds[0] if bounds else BOUNDS)
    assert isinstance(fault, FaultError)
    assert said in str(fault)
    assert "Traceback" not in str(fault)
    if bounds:  # a busy machine may be cut off before it has asked
        assert f"after {requests} tries" in str(fault)
    else:
        assert len(fake.asked) == requests
    record_property("message", str(fault))


def test_a_connection_made_after_the_time_was_up_is_cut_too():
    near, far = socket.socketpair()

    class Stream:
        def get_extra_info(self, name):
            return near

    with near, far, _Watch(0.0) as watch:
        watch._timer.join()
        watch.hear("connection.connect_tcp.complete", {"return_value": Stream()})
        far.settimeout(20)
        assert far.recv(1) == b""


def test_nobody_there(tmp_path):
    with pytest.raises(SearchUnavailable, match="after 3 tries: the connection failed"):
        client("http://127.0.0.1:9", tmp_path).search(QUERY, 10)


def test_retry_after_is_waited_for_in_both_forms(tmp_path):
    clock = QuickClock()
    dated = {
        "Date": "Sun, 06 Nov 1994 08:49:00 GMT",
        "Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT",
    }
    _, found = ask(
        tmp_path,
        Answer(status=503, headers={"Retry-After": "21"}),
        Answer(status=429, headers=dated),
        Answer(GOOD),
        clock=clock,
    )
    assert len(found.papers) == 2
    assert clock.slept == [21.0, 37.0]


def test_a_redirect_on_this_machine_is_followed(tmp_path):
    _, found = ask(
        tmp_path, Answer(status=301, headers={"Location": "/api/query?x=1"}), Answer(GOOD)
    )
    assert len(found.papers) == 2


def test_a_second_search_asks_nobody_until_the_answer_is_old(tmp_path):
    fake = FakeArxiv(Answer(GOOD))
    with fake.serving() as url:
        first = client(url, tmp_path).search(QUERY, 10)
        assert client(url, tmp_path).search(QUERY, 10) == first
        assert len(fake.asked) == 1
        client(url, tmp_path).search(QUERY, 9)
        assert len(fake.asked) == 2
        now = time.time()
        for wall in (now + 25 * 3600, now - 3600):
            cache = Cache(tmp_path / "answers", wall=lambda wall=wall: wall)
            assert cache.get(f"{url}/api/query") is None
        for file in (tmp_path / "answers").glob("*.json"):
            file.write_text(file.read_text()[:-30])
        client(url, tmp_path).search(QUERY, 10)
        assert len(fake.asked) == 3


@pytest.mark.parametrize("age", [25 * 3600, -60])
def test_old_answers_and_answers_from_the_future_are_not_used(tmp_path, age):
    Cache(tmp_path).put("u", b"x", "then")
    assert Cache(tmp_path).get("u").body == b"x"
    assert Cache(tmp_path, wall=lambda: time.time() + age).get("u") is None


def test_an_empty_answer_is_not_kept(tmp_path):
    fake = FakeArxiv(Answer(feed()), Answer(GOOD))
    with fake.serving() as url:
        with pytest.raises(SearchUnavailable):
            client(url, tmp_path).search(QUERY, 10)
        assert len(client(url, tmp_path).search(QUERY, 10).papers) == 2


def test_requests_keep_their_distance_whatever_the_clock_does(tmp_path):
    clock = FakeClock()
    wall = [1_000_000.0]
    pace = Pace(tmp_path, clock, wall=lambda: wall[0] + clock.monotonic())
    sent = []
    for shift in (0, 0, 0, -86_400, +86_400, 0):
        wall[0] += shift
        with pace.turn() as turn:
            turn.wait()
            sent.append(clock.monotonic())
    gaps = [later - sooner for sooner, later in itertools.pairwise(sent)]
    assert all(gap == pytest.approx(3.0) for gap in gaps)


def test_a_damaged_stamp_is_no_obstacle(tmp_path):
    (tmp_path / "arxiv.lock").write_bytes(b"\xff{")
    with Pace(tmp_path, FakeClock()).turn() as turn:
        turn.wait()
    assert set(json.loads((tmp_path / "arxiv.lock").read_bytes())) == {"wall", "monotonic"}


PROCESS = """
import sys, time
from pathlib import Path
from agent_loop.ports import SystemClock
from agent_loop.research.client import ArxivClient, ClientSettings
from agent_loop.research.pace import Pace
url, folder, name = sys.argv[1:]
clock = SystemClock()
one = ArxivClient(ClientSettings(state_dir=Path(folder), base_url=url), clock,
                  pace=Pace(Path(folder), clock, interval_s=0.6))
for n in range(2):
    one.search(f"all:{name}{n}", 5)
"""


def test_two_processes_take_turns(tmp_path):
    fake = FakeArxiv(Answer(GOOD, stall_s=0.05))
    with fake.serving() as url, contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(start([sys.executable, "-c", PROCESS, url, str(tmp_path), name]))
            for name in "ab"
        ]
        assert [child.wait(60) for child in children] == [0, 0]
    sent = sorted(asked.at for asked in fake.asked)
    assert len(sent) == 4
    assert min(later - sooner for sooner, later in itertools.pairwise(sent)) >= 0.6


@pytest.mark.parametrize(
    "url",
    [
        "http://export.arxiv.org", "https://export.arxiv.org.example.net", "https://example.org",
        "https://export.arxiv.org@example.org", "http://127.0.0.1.example.org", "http://2130706433",
        "http://0.0.0.0:80", "file:///etc/passwd", "https://export.arxiv.org:8443", "", "http://[::2]",
        "http://127.0.0.1\\@example.org", "ftp://127.0.0.1", "https://arxiv.org\u200b", "http://10.0.0.1",
        "http://127.0.0.1:99999", "//arxiv.org",
    ],
)  # fmt: skip
def test_no_other_server_is_asked(url, tmp_path):
    with pytest.raises(ValueError, match=r"arxiv\.org"):
        client(url, tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "https://export.arxiv.org/",
        "https://ARXIV.org",
        "http://localhost:8",
        "http://[::1]:8",
        "http://127.9.9.9",
    ],
)
def test_arxiv_and_this_machine_may_be_asked(url):
    assert server(url).root


def test_versions_withdrawals_and_doubles(tmp_path):
    _, found = ask(
        tmp_path,
        Answer(
            feed(
                entry("2401.00001v1", "First."),
                entry("2401.00001v3", "Third."),
                entry("solv-int/9901001v2", "Old."),
                entry(
                    "2402.00001v1", "Fine.", comment="This paper has been withdrawn by the author"
                ),
                entry("2402.00002v2", "This article was withdrawn due to an error in Lemma 2."),
                entry(
                    "2402.00003v1",
                    "Three patients were withdrawn from the trial.",
                    comment="12 pages",
                ),
            )
        ),
    )
    papers = {str(paper.id): paper for paper in found.papers}
    assert set(papers) == {
        "2401.00001v3",
        "solv-int/9901001v2",
        "2402.00001v1",
        "2402.00002v2",
        "2402.00003v1",
    }
    assert {name for name, paper in papers.items() if paper.withdrawn} == {
        "2402.00001v1",
        "2402.00002v2",
    }
    assert found.notes == (
        "arXiv:2401.00001v1 came beside arXiv:2401.00001v3: kept once, as the latter",
    )


def test_feeds_are_read_the_same_in_any_pieces():
    whole = read_feed(GOOD)
    for size in (1, 7, 100):
        from agent_loop.research.atom import FeedReader

        reader = FeedReader()
        for at in range(0, len(GOOD), size):
            reader.feed(GOOD[at : at + size])
        assert reader.finish() == whole


def test_a_feed_declared_in_another_encoding():
    text = GOOD.decode().replace("UTF-8", "ISO-8859-1").replace("One", "Sch\u00f6n")
    papers, _ = read_feed(text.encode("latin-1"))
    assert papers[0].abstract == "Sch\u00f6n abstract."
    with pytest.raises(FeedProblem):
        read_feed(text.replace("ISO-8859-1", "UTF-8").encode("latin-1"))


# --- frozen searches -------------------------------------------------------------------------


def _frozen(tmp_path):
    _, found = ask(tmp_path / "state", Answer(GOOD))
    path = tmp_path / "papers.json"
    frozen.save(path, found)
    return path, found


def test_a_frozen_search_comes_back_as_it_was(tmp_path):
    path, found = _frozen(tmp_path)
    assert frozen.load(path, query=QUERY) == found


def test_a_frozen_search_is_for_its_query(tmp_path):
    path, _ = _frozen(tmp_path)
    with pytest.raises(TaskFileError, match="frozen for another query"):
        frozen.load(path, query="all:else")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("One abstract", "Any abstract"), "its hash differs"),
        (lambda text: text.replace('"id": "2401.00001v2"', '"id": "../x"'), "no arXiv id with a version"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "of version 1"),
        (lambda text: text[:-40], "is no frozen search"),
        (lambda text: "[" * 100_000, "is no frozen search"),
        (lambda text: "", "is no frozen search"),
        (lambda text: "[]", "of version 1"),
        (lambda text: text.replace('"version": 1,', '"version": 1, "version": 1,'), "a key stands twice"),
        (lambda text: text.replace('"title": "A Title"', '"title": 7'), "title must be text"),
        (lambda text: text.replace('"max_papers": 10', '"max_papers": 99'), "1 to 30"),
        (lambda text: text.encode().replace(b"One", b"\xff\xfe"), "is no frozen search"),
    ],
)  # fmt: skip
def test_a_changed_or_broken_file_is_refused(tmp_path, change, said):
    path, _ = _frozen(tmp_path)
    new = change(path.read_text())
    path.write_bytes(new if isinstance(new, bytes) else new.encode())
    with pytest.raises(TaskFileError, match=said):
        frozen.load(path)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(TaskFileError, match="cannot be read"):
        frozen.load(tmp_path / "none.json")
