# ruff: noqa: E501
"""Tricks against a citation check. Each fools the check most people would write (the control)."""

import re
import unicodedata

import pytest

from agent_loop.checks.citations import judge
from agent_loop.research import Paper, Search, parse

PAPERS = {
    "2401.00001v2": "We leave load balancing to future work. Non-linear routers were not enough in 12.5% of all runs at $10^{-3}$ s.",
    "2402.00002v1": "State space models forget rare tokens. They do not recover them in our tests.",
    "2403.00003v1": "This paper has been withdrawn by the author. Its theorem on routing was wrong.",
}
SEARCH = Search(
    query="q",
    max_papers=3,
    base_url="",
    fetched_at="",
    papers=tuple(
        Paper(
            id=parse(name), title=f"Title of {name}", abstract=text, withdrawn="withdrawn" in text
        )
        for name, text in PAPERS.items()
    ),
)


def naive(answer):
    """Ids without their versions, NFKC, small letters, no white space or punctuation, any abstract."""

    def plain(text):
        text = "".join(
            c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf"
        )
        return re.sub(r"[\W_]+", " ", text.lower()).strip()

    known = {name.split("v")[0] for name in PAPERS}
    ids = re.findall(r"(\d{4}\.\d{5})(?:v\d+)?", answer)
    abstracts = [plain(text) for text in PAPERS.values()]
    quotes = [plain(quote) for quote in re.findall(r'["“]([^"“”]+)["”]', answer)]
    return bool(ids) and set(ids) <= known and all(any(q in a for a in abstracts) for q in quotes)


Q = '"We leave load balancing to future work"'
A = "[arXiv:2401.00001]"
TRICKS = {
    "other version": f"{Q} [arXiv:2401.00001v1]",
    "quote of another paper": f'{A} shows that "State space models forget rare tokens".',
    "quote of a paper cited elsewhere": f'{Q} {A}\n\n"State space models forget rare tokens" {A}\n\n"They do not recover them" [arXiv:2402.00002]',
    "prefix cut off": f'{A} finds that "linear routers were not enough" here.',
    "number cut": f'They fail "not enough in 12" {A}',
    "exponent flattened": f'It is "of all runs at 10 3" {A}',
    "case changed": f'"WE LEAVE LOAD BALANCING TO FUTURE WORK" {A}',
    "punctuation that joins two sentences": f'"load balancing to future work: non linear routers" {A}',
    "full-width letters": f'"We leave ｌoad balancing to future work" {A}',
    "hidden characters": f'"We leave lo\u200bad balancing to future work" {A}',
    "text turned around": f"{Q} {A} \u202ednuof saw gnihton\u202c",
    "three words": f'"load balancing" {A}',
    "no quote at all": f"Routing is solved {A}.",
    "single marks around a lie": f"{Q} {A}. It is ‘solved for all models by now’ {A}.",
    "block quote around a lie": f"{Q} {A}\n\n> Routing is solved for all models by now. {A}",
    "other marks around a lie": f"{Q} {A} ❝Routing is solved for all models by now❞",
    "a number of its own": f"{Q} {A} in 99% of all cases",
    "a number in other digits": f"{Q} {A} in ٩٩ of all cases",
    "withdrawn paper": '"Its theorem on routing was wrong" [arXiv:2403.00003]',
    "second paper only named": f"{Q} {A} [arXiv:2402.00002]",
    "id in a foreign link": f"{Q} https://example.org/2401.00001",
    "evidence in a comment": f"All is solved. <!-- {Q} {A} -->",
    "evidence in a link title": "All is solved. [2401.00001](https://arxiv.org/abs/2401.00001 'x')",
    "evidence in a code block": f"All is solved.\n```\n{Q} {A}\n```",
    "evidence in a link definition": f'All is solved.\n\n[arXiv:2401.00001]: # {Q}',
    "quote left open": f'"We leave load balancing to future work and all is solved {A}',
    "words strung together": f'"load … future … routers … enough" {A} is "We leave load balancing"'.replace('"load … future … routers … enough"', "“load … future … not … enough”"),
}  # fmt: skip
NOT_FOR_THE_NAIVE = {"words strung together"}
"""The naive check knows no dots: it turns every shortened quote away, the honest ones too."""


@pytest.mark.parametrize("name", TRICKS)
def test_the_trick_is_caught(name):
    assert not judge(TRICKS[name], SEARCH).passed


@pytest.mark.parametrize("name", sorted(set(TRICKS) - NOT_FOR_THE_NAIVE))
def test_control_the_naive_check_is_fooled(name):
    assert naive(TRICKS[name])


HONEST = {
    "shortened": f'"We leave … to future work" {A}',
    "word broken at a line's end": f'"We leave load balan-\ncing to future work" {A}',
    "exponent in another spelling": f'"12.5% of all runs at 10⁻³ s" {A}',
    "nested marks": f"“We leave load balancing to future work” {A}",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_answers_pass(name):
    assert judge(HONEST[name], SEARCH).problems == ()


def test_control_the_naive_check_turns_honest_answers_away():
    assert [name for name in HONEST if not naive(HONEST[name])] == [
        "shortened",
        "word broken at a line's end",
    ]
