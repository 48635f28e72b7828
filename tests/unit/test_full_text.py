"""Full texts: fetched once, read in a child, quoted with their page."""

import re
from importlib.util import find_spec

import pytest

from agent_loop.assemble.research import searched
from agent_loop.checks.citations import CitationCheck
from agent_loop.ports import Reply, SystemClock, Usage
from agent_loop.research.client import ArxivClient, ClientSettings
from agent_loop.research.pace import Pace
from agent_loop.research.pdf import UnreadablePdf, pages_of
from agent_loop.research.sentences import numbered
from agent_loop.tasks import ResearchTask
from tests.fakes.arxiv_server import Answer, FakeArxiv, entry, feed
from tests.fakes.pdf import pdf

pytestmark = pytest.mark.skipif(
    find_spec("pypdf") is None, reason="the extra fulltext is not installed"
)
PAPER = pdf(
    ["Introduction", "Nothing of interest stands on this page at all."],
    [
        "Load balancing of experts remains an open",
        "problem in 7 of 9 settings, as experi-",
        "ments show.",
    ],
)
TASK = ResearchTask(
    name="t", task="Which open problem has load balancing of experts?", query="q", full_text=True
)


def test_pages_come_in_order():
    first, second = pages_of(PAPER)
    assert "Nothing of interest" in first
    assert "Load balancing of experts remains an open" in second


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.4 and no more", b"<html></html>", PAPER[:300], pdf([""])]
)
def test_what_is_no_pdf_says_so(data):
    with pytest.raises(UnreadablePdf):
        pages_of(data)


def found(tmp_path, *answers):
    clock = SystemClock()
    fake = FakeArxiv(*answers)
    with fake.serving() as url:
        settings = ClientSettings(state_dir=tmp_path, base_url=url)
        for _ in range(2):
            client = ArxivClient(settings, clock, pace=Pace(tmp_path, clock, interval_s=0))
            search = searched(TASK, client)
    return fake, search


FEED = Answer(
    feed(
        entry("2401.00001v2", "An abstract of five words."),
        entry("2402.00002v1", "Another abstract of few words."),
    )
)
FILE = Answer(PAPER, type="application/pdf")


def judged(search, text):
    check = CitationCheck(lambda: search, question=TASK.task, clock=SystemClock())
    return check.judge(check.parse(Reply(text=text, finish="stop", usage=Usage(), answered="x")))


def test_quotes_come_from_pages_and_are_fetched_once(tmp_path):
    fake, search = found(tmp_path, FEED, FILE)
    assert [asked.path.split("?")[0] for asked in fake.asked] == [
        "/api/query", "/pdf/2402.00002v1", "/pdf/2401.00001v2",
    ]  # fmt: skip
    verdict = judged(
        search, '"an open problem in 7 of 9 settings, as experiments" [arXiv:2401.00001], 7 of 9'
    )
    assert verdict.passed, verdict.feedback
    assert "page 2" in verdict.executed[1]
    assert not judged(search, '"an open problem in 8 of 9 settings" [arXiv:2401.00001]').passed


def test_the_best_sentences_of_the_pages_are_numbered_and_can_be_cited(tmp_path):
    _, search = found(tmp_path, FEED, FILE)
    paged = [one for one in numbered(search, TASK.task) if one.page]
    assert {one.page for one in paged} == {2}
    for one in paged:
        assert judged(search, f"So [S{one.number}].").passed


def test_a_file_that_cannot_be_read_leaves_the_abstract(tmp_path):
    fake, search = found(tmp_path, FEED, Answer(b"no pdf", type="application/pdf"), FILE)
    assert [len(paper.pages) for paper in search.papers] in ([0, 2], [2, 0])
    assert re.fullmatch(r"arXiv:240\d.0000\dv\d: no full text: .*", search.notes[0])
    assert len(fake.asked) == 3, "an unreadable file is not asked for again"
