# ruff: noqa: E501
"""Tricks against a citation check. Each fools the check most people would write (the control)."""

import re
import unicodedata

import pytest

from agent_loop.checks.citations import judge
from agent_loop.checks.citations.verdict import verdict_of
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
    "evidence in a link target": f"All is [solved](<{Q} arXiv:2401.00001>).",
    "evidence in a target without blanks": f"All is [solved]({Q} arXiv:2401.00001).".replace(Q, Q.replace(" ", "\u00a0")),
    "evidence in a definition's target": f"All is solved.\n\n[a]: <{Q} arXiv:2401.00001>",
    "evidence in a definition's label": f"All is solved.\n\n[{Q} arXiv:2401.00001]: x",
    "evidence in a definition without blanks": "All is solved.\n\n[a]: " + f"{Q} arXiv:2401.00001".replace(" ", "\u00a0"),
    "evidence in a footnote nobody sees": f"All is solved.\n\n[^a]: {Q} {A}",
    "evidence in a tag with a bracket in it": f'All is solved. <a x="<>" {Q} > {A}',
    "evidence in a tag with a colon": f"All is solved. <x:y title={Q}> {A}",
    "evidence in a phantom": f"All is solved. $\\phantom{{ {Q} arXiv:2401.00001 }}$",
    "evidence in white": f"All is solved. $\\color{{white}}{{ {Q} arXiv:2401.00001 }}$",
    "evidence in a comment of other dialects": f"All is solved.\n{{::comment}}\n{Q} {A}\n{{:/comment}}",
    "evidence struck out": f"All is solved. ~~{Q} {A}~~",
    "a figure in a link's tail": f"{Q} https://arxiv.org/abs/2401.00001?which-reached-99%-everywhere",
    "paper not fetched in a link's tail": f"{Q} https://arxiv.org/abs/2401.00001#see-arXiv:2409.99999",
}  # fmt: skip
LIE = "Routing is solved for all models by now"
MARKS = [
    "‹ ›", "《 》", "〈 〉", "｢ ｣", "❮ ❯", "⟪ ⟫", "⟨ ⟩", "﹁ ﹂", "﹃ ﹄", "⹂ ”", "🙶 🙷", "<< >>", ",, ''",
    "” ”", "’ ’", "’’ ’’", "› ›", "〟 〟", "❞ ❞", "ˮ ˮ", "״ ״", "‴ ‴", "〃 〃", "′ ′", "′′ ′′", "ʹ ʹ", "ʼ ʼ",
    "｀ ｀", "‵ ‵", "ˊ ˊ", "&quot; &quot;", "&ldquo; &rdquo;", "&#34; &#34;", "\\enquote{ }",
    "\\textquotedblleft{} \\textquotedblright{}", "\\lq\\lq{} \\rq\\rq{}",
]  # fmt: skip
TRICKS |= {
    f"a lie between {marks}": f"{Q} {A}. It is {LIE.join(marks.split())} {A}" for marks in MARKS
}
NOT_FOR_THE_NAIVE = {"words strung together", "paper not fetched in a link's tail"}
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
    "a formula in brackets": f"{Q} {A} where ⟨x⟩ << ⟨y, z⟩ and f′ is less than g′",
    "apostrophes": f"{Q} {A}, the authors’ own words, and the models’ too, as in rock ’n’ roll",
    "a reference to a link": f"{Q} {A} [see][a]\n\n[a]: https://arxiv.org/abs/2401.00001",
    "a plain link": f"{Q} [see](https://arxiv.org/abs/2401.00001v2?context=cs.LG)",
    "a footnote that is seen": f"{Q} {A} as they say[^a]\n\n[^a]: In their words.",
    "an index": f"{Q} {A} for $\\sqrt[n]{{x}}$ & co. and R&D; see http://x.org/a_(b)",
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


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        ('"recover them in our tests" [arXiv:2402.00002]', True),
        (
            '"State space models forget rare tokens. … recover them in our tests" [arXiv:2402.00002]',
            True,
        ),
        ('"Non-linear routers were … enough in 12.5% of all runs" [arXiv:2401.00001]', True),
        ('"State space models forget rare tokens" [arXiv:2402.00002]', False),
        ('"They do not recover them in our tests" [arXiv:2402.00002]', False),
        ('"State space models forget … They do not recover them" [arXiv:2402.00002]', False),
    ],
)
def test_a_negation_that_was_left_outside_of_a_quote_is_looked_at(answer, seen):
    """No rule can tell what the sentence means, so that a person is told where to look."""
    found = judge(answer, SEARCH)
    assert found.passed
    looks = verdict_of(found, numbers="check", seconds=0.0).looks
    assert ("a negation stands just outside a quote" in [one.signal for one in looks]) is seen
