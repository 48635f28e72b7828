# ruff: noqa: E501
"""Any verbatim span passes however it is typeset; any one-word change fails; nothing crashes."""

import random
import re
import textwrap
import unicodedata

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_loop.checks.citations import CitationCheck, judge
from agent_loop.checks.citations.markdown import bibtex, markdown
from agent_loop.checks.citations.match import words
from agent_loop.checks.citations.page import page
from agent_loop.errors import ReplyError
from agent_loop.ports import Reply, SystemClock, Usage
from agent_loop.research import Paper, Search, fold, invisible, parse
from agent_loop.research.sentences import expand, numbered

WORDS = [
    "routing",
    "fails",
    "efficient",
    "scaling",
    "models",
    "don't",
    "state-space",
    "offline",
    "coefficient",
    "Schrödinger",
    "naïve",
    "experts’",
    "“memory”",
    "α≤3",
    "10^{-3}",
    "$x^2$",
    "12.5%",
    "1,000",
    "(MoE)",
    "self-attention",
    "—",
    "3–5",
    "layers",
    "oeuvre",
    "cœur",
    "ﬁnite",
    "re‑use",
    "H₂O",
    "~5",
    "GPT-4",
    "and",
    "the",
    "of",
    "in",
]


@st.composite
def abstracts(draw):
    chosen = draw(st.lists(st.sampled_from(WORDS), min_size=8, max_size=40))
    ends = draw(st.lists(st.sampled_from([" ", " ", "\n  ", ". "]), min_size=40, max_size=40))
    return "".join(word + end for word, end in zip(chosen, ends, strict=False)).strip()


def _typeset(text, seed):
    """The same words as another hand would type them."""
    dice = random.Random(seed)
    swaps = [
        ("ffi", "ﬃ"), ("fi", "ﬁ"), ("ﬁ", "fi"), ("'", "’"), ("’", "'"), ("–", "--"), ("—", "---"),
        ("–", "-"), ("\u2011", "-"), ("oe", "œ"), ("œ", "oe"), ("≤", r"\leq"), ("α", r"\alpha"),
        ("ö", r'{\"o}'), ("ï", r"\"{\i}"), ("₂", "_2"), ("^{-3}", "⁻³"), ("$x^2$", "x²"),
        ("%", r"\%"), ("“", "‘"), ("”", "’"), ("...", "…"), ("α", r"\(\alpha\)"),
    ]  # fmt: skip
    for old, new in dice.sample(swaps, 8):
        text = text.replace(old, new)
    if dice.random() < 0.5:
        text = unicodedata.normalize("NFD", text)
    if dice.random() < 0.3:
        text = text.replace(" ", "\u00a0", 3)
    if dice.random() < 0.5:
        text = "\n".join(
            textwrap.wrap(
                text, dice.randint(15, 60), break_long_words=False, break_on_hyphens=False
            )
        )
    if dice.random() < 0.3:
        text = re.sub(r"(?<=[a-z])-(?=[a-z])", "-\n  ", text)
    if dice.random() < 0.3:
        text = text.replace("efficient", "effi\u00adcient").replace("scaling", "scal-\ning")
    return text


def _search(abstract):
    one = Paper(id=parse("2401.00001v1"), title="T", abstract=abstract)
    return Search(query="q", max_papers=1, base_url="", fetched_at="", papers=(one,))


def _span(abstract, draw_start, draw_length):
    tokens = abstract.split()
    start = draw_start % max(1, len(tokens) - 5)
    return " ".join(tokens[start : start + 5 + draw_length])


spans = st.tuples(st.integers(0, 40), st.integers(0, 20))


@given(abstracts(), spans, st.integers())
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_a_verbatim_span_passes_however_it_is_typeset(abstract, where, seed):
    quote = _span(abstract, *where)
    if words(quote) < 4:
        return
    answer = f"They say “{_typeset(quote.replace('“', '‘').replace('”', '’'), seed)}” [arXiv:2401.00001]."
    found = judge(answer, _search(abstract))
    assert found.problems == ()


@given(abstracts(), spans, st.integers(0, 30), st.sampled_from(["never", "routinq", "4", "а"]))
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_any_one_word_changed_fails(abstract, where, at, new):
    tokens = _span(abstract, *where).replace("“", "‘").replace("”", "’").split()
    at %= len(tokens)
    # Alone, a changed ornament leaves the words as they were.
    if fold(tokens[at]).text == new or not any(char.isalnum() for char in tokens[at]):
        return
    tokens[at] = new
    found = judge(f"They say “{' '.join(tokens)}” [arXiv:2401.00001].", _search(abstract))
    assert not found.passed


@given(st.text(max_size=300))
@settings(deadline=None, max_examples=300)
@example("“" * 50)
@example('"' * 51 + "[arXiv:2401.00001")
@example("$" * 30 + "\\" * 9 + "{" * 30)
def test_no_text_breaks_the_gate(text):
    judge(text, _search(text or "x"))
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)


@given(st.text(alphabet=st.sampled_from("ab-\n \u00ad$\\{}^_2'\"`~é\u0301ﬁ—…"), max_size=60))
def test_offsets_stay_inside_the_original(text):
    folded = fold(text)
    assert all(0 <= a <= b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))


@pytest.mark.timeout(20)
def test_long_hostile_texts_take_bounded_time():
    for text in ("a " * 20_000, "$" * 20_000, "\\emph{" * 5_000, "'" * 20_000, "- " * 10_000, "é" * 20_000,
                 '"' * 3_000, "1." * 10_000, "[arXiv:" * 3_000, "*a " * 5_000):  # fmt: skip
        judge(text, _search("abstract words of a kind " * 50))


PIECES = st.sampled_from(
    ["[S1]", "[S2, S3]", "(S1)", "[S9]", "“", "”", '"', "'", "[arXiv:2401.00001]", "<b>", "![", "](", "\u202e",
     "We study", " ", "\n\n", "> ", "- ", "…", "https://arxiv.org/abs/2401.00001", "`", "$", "5%", "&lt;", "\\", "{"]
)  # fmt: skip
HOSTILE = st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join)


@given(HOSTILE, HOSTILE)
@settings(deadline=None, max_examples=200)
def test_whatever_is_written_is_read_judged_and_shown_as_text(text, abstract):
    search = _search(f"We study experts in depth. {abstract} Balancing remains open in all cases.")
    check = CitationCheck(lambda: search, clock=SystemClock())
    try:
        candidate = check.parse(Reply(text=text, finish="stop", usage=Usage(), answered="x"))
    except ReplyError:
        return
    check.judge(candidate)
    found = judge(candidate.answer, search)
    shown = page(found, question=text)
    assert set(re.findall(r"<([a-z0-9]+)", shown)) <= TAGS
    assert set(re.findall(r'href="([^"]*)"', shown)) <= LINKS | {f"#q{n}" for n in range(1, 40)}
    assert not any(invisible(char) for char in shown)
    linked = re.findall(r"(?<!\\\\)\]\(([^)]*)\)", markdown(found, question=text))
    assert set(linked) <= LINKS
    bibtex(found)


TAGS = set(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "ul",
        "li",
        "div",
        "a",
        "q",
        "span",
        "mark",
        "article",
        "blockquote",
        "footer",
        "code",
        "strong",
    ]
)
LINKS = {"https://arxiv.org/abs/2401.00001v1", "#paper-2401.00001v1"}


@given(HOSTILE)
@settings(deadline=None, max_examples=200)
def test_every_numbered_sentence_passes_whatever_the_abstract_holds(text):
    search = _search(f"We study experts in depth. {text} Balancing remains open in all cases.")
    for one in numbered(search):
        found = judge(expand(f"So [S{one.number}].", numbered(search)).text, search)
        assert found.passed, (one, found.problems)
