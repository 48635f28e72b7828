# ruff: noqa: E501 - an answer and its reason stand on one line
"""The gate on abstracts of our own: what each rule lets through and what it stops."""

from dataclasses import replace

import pytest

from agent_loop.checks.citations import judge
from agent_loop.research import Paper, PaperId, Search, parse

ALPHA = (
    "We study mixtures of experts for long sequences. Routing is unstable in 12.5% of all runs,\n"
    "and the cost grows to $10^{-3}$ seconds per token. Non-linear routers are not enough on\n"
    'their own, as shown in the "Routing Under Load" benchmark of 2017. We leave load balancing to '
    "future work."
)
BETA = (
    "State space models forget rare tokens. The eﬃcient scan doesn’t recover them, exam-\nples "
    "are given for 3--5 layers."
)
GONE = "This paper has been withdrawn by the authors. The main theorem was wrong in every case."


def paper(identity, abstract, **more):
    known = parse(identity)
    assert known is not None
    return Paper(
        id=known, title=more.pop("title", "A title of four words"), abstract=abstract, **more
    )


SEARCH = Search(
    query="q",
    max_papers=10,
    base_url="",
    fetched_at="2026-01-01T00:00:00Z",
    papers=(
        paper("2401.00001v2", ALPHA, title="Experts and Where They Fail"),
        paper("2402.00002v1", BETA),
        paper("hep-th/9901001v1", GONE, withdrawn=True),
        paper("solv-int/9901001v2", "Solitons keep their shape after they meet each other."),
    ),
)


def verdict(answer, **more):
    return judge(answer, SEARCH, **more)


GOOD = [
    'Open: "We leave load balancing to future work" [arXiv:2401.00001].',
    "Open: “We leave load balancing to future work.” [arXiv:2401.00001v2]",
    "Open: ‘We leave load balancing to future work’ (arXiv: 2401.00001).",
    "Open: 'We leave load balancing to future work' https://arxiv.org/abs/2401.00001v2.",
    "Open: «We leave load balancing to future work» [see](https://arxiv.org/pdf/2401.00001v2.pdf)",
    "> We leave load balancing to future work. [arXiv:2401.00001]",
    "> “We leave load balancing to\n> future work.”\n> — [arXiv:2401.00001]",
    "As [2401.00001] says, *“We leave load balancing to future work.”*",
    '1. "We leave load balancing to **future work**," they say [arXiv:2401.00001].',
    'They say "We leave load balancing to future work [arXiv:2401.00001]".',
    'It says "Routing is unstable … We leave load balancing to future work" [arXiv:2401.00001].',
    'It says "Routing is unstable [...] load balancing to future work" [arXiv:2401.00001].',
    'It is "unstable in 12.5% of all runs" [arXiv:2401.00001], so 12.5 % fail.',
    "It costs “the cost grows to 10⁻³ seconds per token” [arXiv:2401.00001]: 10^{-3} seconds.",
    'In "shown in the "Routing Under Load" benchmark of 2017" [arXiv:2401.00001] it stands.',
    "In “shown in the ‘Routing Under Load’ benchmark of 2017” [arXiv:2401.00001] it stands.",
    'But "the efficient scan doesn\'t recover" [arXiv:2402.00002] them.'.replace("the", "The", 1),
    'Then "recover them, examples are given for 3-5 layers" [arXiv:2402.00002].',
    'Solitons: "keep their shape after they meet" [arXiv:solv-int/9901001].',
    'Solitons: "keep their shape after they meet" [arXiv:solv-int/9901001v2].',
    'Both: "keep their shape after they meet" [arXiv:solv-int/9901001; arXiv:2402.00002] and '
    '"State space models forget rare tokens".',
    'In "Experts and Where They Fail" [arXiv:2401.00001]: "We leave load balancing to future work".',
    '# 1. Open problems\n\n1. "We leave load balancing to future work" [arXiv:2401.00001]\n'
    '2. "State space models forget rare tokens" [arXiv:2402.00002]',
    '1. One:\n   1. "We leave load balancing to future work" [arXiv:2401.00001]\n   2. Two\n2. Three',
    'Open: "We leave load balancing to future work" [arXiv:2401.00001V2].',
    'Open: "We leave load balancing to future work" https://arxiv.org/abs/2401.00001v2#bib?x',
    "> “We leave load balancing to future work.” — Some Author, [arXiv:2401.00001]",
    "The router's \"Non-linear routers are not enough\" [arXiv:2401.00001], the users' pain.",
]


@pytest.mark.parametrize("answer", GOOD)
def test_true_quotes_pass(answer):
    found = verdict(answer)
    assert found.problems == ()


QUOTE = '"We leave load balancing to future work"'
BAD = {
    "nothing cited": ("All is well.", "No paper is cited"),
    "unknown id": (f"{QUOTE} [arXiv:2401.00009].", "no paper of this id was fetched"),
    "unknown beside known": (f"{QUOTE} [arXiv:2401.00001] [arXiv:2401.0009].", "2401.0009"),
    "wrong version": (f"{QUOTE} [arXiv:2401.00001v1].", "version 1 was not fetched"),
    "wrong version in a link": (f"{QUOTE} https://arxiv.org/abs/2401.00001v3", "version 3 was not"),
    "old id cut at its v": ('"keep their shape after they meet" [arXiv:sol]', "is no arXiv id"),
    "old id, wrong version": (
        '"keep their shape after they meet" [arXiv:solv-int/9901001v1]',
        "version 1 was not fetched",
    ),
    "template left": (f"{QUOTE} [arXiv:ID].", "is no arXiv id"),
    "id glued to more digits": (f"{QUOTE} [arXiv:2401.000011].", "is no arXiv id"),
    "one word changed": (
        '"We leave weight balancing to future work" [arXiv:2401.00001].',
        "you wrote 'weight' where the paper has 'load'",
    ),
    "one word left out": (
        '"We leave balancing to future work" [arXiv:2401.00001].',
        "you left out 'load'",
    ),
    "one word added": (
        '"We leave all load balancing to future work" [arXiv:2401.00001].',
        "'all' does not stand there",
    ),
    "case changed": ('"we leave load balancing to" [arXiv:2401.00001].', "you wrote 'we'"),
    "quote of another paper": (f"{QUOTE} [arXiv:2402.00002].", "which this paragraph does not cite"),
    "under four words": ('"load balancing" [arXiv:2401.00001].', "without a verified quote"),
    "title only": ('"Experts and Where They Fail" [arXiv:2401.00001].', "without a verified quote"),
    "second paper unquoted": (f"{QUOTE} [arXiv:2401.00001] [arXiv:2402.00002]", "arXiv:2402.00002v1 is"),
    "number in no quote": (f"{QUOTE} [arXiv:2401.00001] in 90% of runs.", "the number '90%'"),
    "number of another unit": (
        '"unstable in 12.5% of all runs" [arXiv:2401.00001], that is 12.5 runs.',
        "the number '12.5'",
    ),
    "exponent flattened": (
        '"the cost grows to 10-3 seconds per token" [arXiv:2401.00001].',
        "you wrote '10-3'",
    ),
    "number as list marker": (
        f"{QUOTE} [arXiv:2401.00001]\n95. percent of all runs fail.",
        "the number '95'",
    ),
    "fragments swapped": (
        '"load balancing to future work … Routing is unstable in" [arXiv:2401.00001].',
        "not in this order",
    ),
    "single words strung together": (
        '"We … study … future … work" [arXiv:2401.00001].',
        "shorter than 2 words",
    ),
    "homoglyph": ('"We leave lоad balancing to future work" [arXiv:2401.00001]', "CYRILLIC"),
    "full-width letters": ('"We leave ｌoad balancing to future work" [arXiv:2401.00001]', "FULLWIDTH"),
    "invisible in a quote": (
        '"We leave lo\u200bad balancing to future work" [arXiv:2401.00001]',
        "ZERO WIDTH SPACE",
    ),
    "invisible outside": (f"{QUOTE} [arXiv:2401.00001] fa\u202eke", "RIGHT-TO-LEFT OVERRIDE"),
    "invisible in an id": (f"{QUOTE} [arXiv:2401.\u206000001]", "is no arXiv id"),
    "homoglyph in the prefix": (f"{QUOTE} [arХiv:2402.00002v1]", "which this paragraph does not cite"),
    "full-width id": (f"{QUOTE} [arXiv:２４０１.00001]", "is no arXiv id"),
    "citation in another paragraph": (f"{QUOTE}.\n\nSee [arXiv:2401.00001].", "cites no fetched|does not cite"),
    "citation in another list item": (f"- {QUOTE}\n- [arXiv:2401.00001]", "does not cite"),
    "id in a foreign URL": (f"{QUOTE} https://example.org/2401.00001", "inside some other link"),
    "look-alike host": (f"{QUOTE} https://arxiv.org.example.net/abs/2401.00001", "inside some other link"),
    "nested: true inside false": (
        "“They proved that ‘We leave load balancing to future work’ at last” [arXiv:2401.00001]",
        "you wrote|does not stand|nothing like it",
    ),
    "quote over two paragraphs": (
        '"We leave load\n\nbalancing to future work" [arXiv:2401.00001]',
        "no partner",
    ),
    "code block": (f"```\n{QUOTE} [arXiv:2401.00001]\n```", "code block"),
    "HTML comment": (f"Trust me. <!-- {QUOTE} [arXiv:2401.00001] -->", "HTML"),
    "HTML tag": (f"<span hidden>{QUOTE} [arXiv:2401.00001]</span>", "HTML"),
    "image": (f"{QUOTE} [arXiv:2401.00001] ![x](https://example.org/x.png)", "no image"),
    "link title": ('[x](https://arxiv.org/abs/2401.00001 "We leave load balancing to")', "title of a link"),
    "hidden definition": ('[arXiv:2401.00001]: # "We leave load balancing to future work"', "title of a link"),
    "withdrawn alone": ('"main theorem was wrong in" [arXiv:hep-th/9901001]', "withdrawn paper"),
    "prefix stripped": ('"linear routers are not enough" [arXiv:2401.00001]', "the paper has 'Non-linear'"),
    "number cut": ('"Routing is unstable in 12" [arXiv:2401.00001]', "the paper has '12.5%'"),
    "unit cut": ('"Routing is unstable in 12.5" [arXiv:2401.00001]', "the paper has '12.5%'"),
    "sentence mark unexpanded": (f"{QUOTE} [arXiv:2401.00001] and [S9].", "the number 'S9'"),
    "single marks": ("'We solve load balancing for good' [arXiv:2401.00001]", "you wrote"),
    "other marks": ("❝We solve load balancing for good❞ [arXiv:2401.00001]", "you wrote"),
    "block quote": ("> We solve load balancing for good [arXiv:2401.00001]", "you wrote"),
    "spelled with digits of another script": (f"{QUOTE} [arXiv:2401.00001] in ٩ runs", "the number"),
    "unknown id with a capital V": (f"{QUOTE} [arXiv:2401.00001] [arXiv:2401.00009V1]", "no paper of this id"),
    "own words in a block quote": (f"> They have proven for good that {QUOTE} is solved [arXiv:2401.00001]", "does not|you|nothing"),
    "fraction sign": (f"{QUOTE} [arXiv:2401.00001] in ½ of runs", "the number '½'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_wrong_answers_fail_for_the_right_reason(name):
    answer, reason = BAD[name]
    found = verdict(answer)
    said = "\n".join(found.problems)
    assert not found.passed
    assert any(one in said for one in reason.split("|")), said


def test_a_withdrawn_paper_beside_another_is_fine():
    answer = f'{QUOTE} [arXiv:2401.00001], "main theorem was wrong in" [arXiv:hep-th/9901001].'
    assert verdict(answer).passed


def test_numbers_can_be_ignored():
    answer = f"{QUOTE} [arXiv:2401.00001] in 90% of runs."
    assert verdict(answer, check_numbers="ignore").passed


def test_sentences_without_citation_are_listed_and_not_forbidden():
    answer = (
        f"Much is open. {QUOTE} [arXiv:2401.00001]. It will stay so! See e.g. [arXiv:2401.00001]."
    )
    found = verdict(answer)
    assert found.passed
    assert found.uncited == ("Much is open.", "It will stay so!")
    assert found.sentences == 4


def test_a_quote_knows_where_it_stands():
    found = verdict('"the cost grows to 10⁻³ seconds" [arXiv:2401.00001].')
    place = found.quotes[0].places[0]
    (span,) = place.spans
    assert place.source.text[slice(*span)] == "the cost grows to $10^{-3}$ seconds"


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("the GPT-4 model is good", "the GPT-\n4 model is good"),
        ("the GPT- 4 model is good", "the GPT-\n4 model is good"),
        ("a 3-day trial was held", "a 3-\nday trial was held"),
        ("it doesn't work in practice", "it doesn\u02bct work in practice"),
        ("of order 10^-3 or 10⁻³ in all", "of order $10^{-3}$ or 10$^{-3}$ in all"),
        ("a Kähler metric, naïvely 90° off", r"a K\"ahler metric, na{\"\i}vely $90^\circ$ off"),
        ("about ~5 GB and 10 % of it", r"about $\sim 5$\,GB and 10~\% of it"),
        ("an n-gram of O(n) and H₂O", r"an $n$-gram of $\mathcal{O}(n)$ and H$_2$O"),
        ("œuvre and ﬁne “words” it has", "oeuvre and fine ``words'' it has"),
        ("AT&T has 3 < 4 of them", "AT&amp;T has 3 &lt; 4 of them"),
        ("costs $5 and then $6 more", "costs $5 and then $6 more"),
        ("a well‐known exam‐ple of it", "a well-known exam\u2010\r\nple of it"),
    ],
)
def test_the_same_words_in_other_types(quote, source):
    search = Search(
        query="q", max_papers=1, base_url="", fetched_at="", papers=(paper("2401.00001v1", source),)
    )
    for one, other in ((quote, source), (source, quote)):
        search = replace(search, papers=(paper("2401.00001v1", other),))
        found = judge(f"They say «{one}» [arXiv:2401.00001].", search, check_numbers="ignore")
        assert found.problems == ()


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("a factor of 10-3 in all", "a factor of $10^{-3}$ in all"),
        ("a factor of 103 in all", "a factor of 10³ in all"),
        ("an area of 5 m2 in all", "an area of 5 m² in all"),
        ("a half, 1/2, of the lot", "a half, ½, of the lot"),
        ("a rate of 1 of all papers", "a rate of 1½ of all papers"),
        ("a length of 5 mm in all", "a length of 5 µm in all"),
        ("an angle of 5' in all", 'an angle of 5" in all'),
        ("it costs 5 at the least", "it costs $5 at the least"),
        ("a share of 5 at the least", "a share of ~5 at the least"),
        ("we can sail the sea now", "we can’t sail the sea now"),
        ("it is a state space model", "it is a statespace model"),
        ("a fraction 1/23 of the lot", r"a fraction $\frac{1}{23}$ of the lot"),
        ("the long term memory is gone", "the long-term memory is gone"),
        ("a group of Å in it", "a group of A in it"),
        ("the result is x1 at last", "the result is x₁ at last"),
        ("The gate (M) is shut now", "The gate (№) is shut now"),
    ],
)
def test_other_words_in_like_types(quote, source):
    search = Search(
        query="q", max_papers=1, base_url="", fetched_at="", papers=(paper("2401.00001v1", source),)
    )
    found = judge(f"They say «{quote}» [arXiv:2401.00001].", search, check_numbers="ignore")
    assert not found.passed


def test_old_ids_are_kept_whole():
    assert parse("solv-int/9901001v2") == PaperId("solv-int/9901001", 2)
    assert str(parse("math.GT/0309136")) == "math/0309136"
    assert str(parse("cond-mat.str-el/0501001v2")) == "cond-mat/0501001v2"
    assert parse("2401.1234567") is None
    assert parse("２４０１.00001") is None
