# ruff: noqa: E501
"""The answer as Markdown, BibTeX and a page: links, references, highlights, and nothing hostile."""

import re
from html.parser import HTMLParser

import pytest

from agent_loop.checks.citations import judge
from agent_loop.checks.citations.markdown import bibtex, markdown, tex
from agent_loop.checks.citations.page import page
from agent_loop.research import Paper, Search, parse

EVIL = "<script>alert(1)</script>\" onload='x' \u202e ![x](http://example.org/x.png) {{x}} \\input{/etc/passwd}"
ABSTRACT = (
    "We leave load balancing\nto future work & more. <img src=x onerror=alert(1)> ends it all here."
)


def search(abstract=ABSTRACT, title=EVIL, **more):
    known = parse("2401.00001v2")
    paper = Paper(id=known, title=title, abstract=abstract, authors=("A. Sm<i>th", "B and C"),
                  published="2024-01-02", category="cs.LG}", **more)  # fmt: skip
    other = Paper(id=parse("2402.00002v1"), title="Uncited", abstract="Nobody cites this one.")
    return Search(
        query="all:`x` <b>",
        max_papers=2,
        base_url="",
        fetched_at="2026-01-01T00:00:00Z",
        papers=(paper, other),
    )


GOOD = 'Open: "We leave load balancing to … work & more" and "<img src=x onerror=alert(1)> ends it" [arXiv:2401.00001], see https://arxiv.org/abs/2401.00001v2.'


class Strict(HTMLParser):
    """Collects every tag and attribute of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.marked, self._in_mark = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self._in_mark = self._in_mark or tag == "mark"

    def handle_endtag(self, tag):
        self._in_mark = self._in_mark and tag != "mark"

    def handle_data(self, data):
        if self._in_mark:
            self.marked.append(data)


ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "h4", "p", "ul", "li", "div",
    "a", "q", "span", "mark", "article", "blockquote", "footer", "code", "strong",
}  # fmt: skip


def hostile(page_text):
    read = Strict(page_text)
    odd = [tag for tag in read.tags if tag not in ALLOWED]
    odd += [
        name for _, name, _ in read.attributes if name.startswith("on") or name in ("src", "style")
    ]
    odd += [
        v
        for _, n, v in read.attributes
        if n == "href" and not re.match(r"#|https://arxiv\.org/abs/", v)
    ]
    return odd + (["\u202e"] if "\u202e" in page_text else [])


def test_the_page_highlights_each_quote_in_its_abstract():
    found = judge(GOOD, search())
    assert found.passed, found.problems
    text = page(found, question="What is <open>?")
    assert hostile(text) == []
    assert Strict(text).marked == [
        "We leave load balancing\nto",
        "work & more",
        "<img src=x onerror=alert(1)> ends it",
    ]
    assert (
        text.count('<meta http-equiv="Content-Security-Policy" content="default-src \'none\'') == 1
    )
    assert "‹U+202E›" in text
    assert "Passed the citation check" in text


def test_the_control_page_without_escapes_is_hostile():
    assert hostile(f"<p>{EVIL}</p>") != []


@pytest.mark.parametrize(
    "answer", ["", EVIL, f'"{EVIL} four words" [arXiv:2401.00001v9] {EVIL}', "> " + EVIL]
)
def test_a_failed_answer_is_shown_as_text_too(answer):
    found = judge(answer, search())
    assert not found.passed
    text = page(found, question=EVIL)
    assert hostile(text) == []
    assert "Did not pass" in text


def test_overlapping_quotes_are_highlighted_once():
    answer = '"We leave load balancing to" "leave load balancing to future work" [arXiv:2401.00001]'
    read = Strict(page(judge(answer, search()), question="q"))
    assert "".join(read.marked) == "We leave load balancing\nto future work"


def test_markdown_links_the_citations_and_lists_the_papers():
    found = judge(GOOD, search(title="A Good Title"))
    text = markdown(found, question="What is open?")
    assert text.startswith("# What is open?\n\nOpen: ")
    assert "[arXiv\\:2401.00001](https://arxiv.org/abs/2401.00001v2), see" in text
    assert (
        "## References\n\n- A. Sm\\<i\\>th, B and C: *A Good Title* (2024). [arXiv:2401.00001v2](https://arxiv.org/abs/2401.00001v2)."
        in text
    )
    assert "Uncited" not in text
    assert "did not pass" not in text


def test_markdown_of_a_hostile_answer_does_nothing():
    answer = (
        EVIL
        + " [x](javascript:alert(1)) [y]: http://example.org/ <http://example.org> www.example.org\n[z]\n: x"
    )
    text = markdown(judge(answer, search()), question=EVIL)
    assert "did not pass" in text
    assert "<" not in text.replace("\\<", "")
    assert re.findall(r"(?<!\\)\]\(([^)]*)", text) == []
    assert "http://" not in re.sub(r"\\.", "", text)
    assert "www." not in text


def test_bibtex_holds_no_command_that_does_anything():
    text = bibtex(judge(GOOD, search()))
    assert text.startswith("@misc{arxiv-2401.00001,\n")
    assert "\\input" not in text
    assert "eprint = {2401.00001v2}" in text
    assert "primaryClass = {cs.LG}" in text
    assert text.count("{") == text.count("}")
    assert "author = {A. Sm<i>th and B {and} C}" in text
    assert "Uncited" not in text


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (r"On $\alpha_s$ and Schr\"odinger", r"On $\alpha_s$ and Schr\"odinger"),
        (r"\write18{rm} 100% of C#", r"write18{rm} 100\% of C\#"),
        ("Unbalanced } brace {", "Unbalanced  brace "),
        ("Ends in \\", "Ends in \\".rstrip("\\")),
        ("}, url = {http://x}, x = {", ", url = http://x, x = "),
    ],
)
def test_tex(given, kept):
    assert tex(given) == kept


def test_a_withdrawn_paper_is_marked_everywhere():
    found = judge(GOOD, search(withdrawn=True))
    assert "**Withdrawn.**" in markdown(found, question="q")
    assert "withdrawn</strong>" in page(found, question="q")
    assert "note = {Withdrawn}" in bibtex(found)


def test_pages_of_the_full_text_are_shown_where_they_are_quoted():
    answer = '"Page two says it better" [arXiv:2401.00001]'
    found = judge(
        answer, search(pages=("Page one is dull.", "Here page: Page two says it better than that."))
    )
    assert found.passed
    text = page(found, question="q")
    assert "<h4>Page 2</h4>" in text
    assert "<h4>Page 1</h4>" not in text
    assert found.quotes[0].places[0].source.page == 2
