"""Prompts only grow, texts keep their bounds, and no text breaks a reader."""

import itertools
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop.prompts import Brief, Lap, bounded, cleaned, fenced, load, opinion

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=120)
HOSTILE = st.one_of(
    TEXT, st.lists(st.sampled_from(["```", "````", "\n", "{{task}}", "APPROVED", "x"])).map("".join)
)
LAPS = st.lists(
    st.builds(
        Lap, reply=HOSTILE, problem=HOSTILE, passed=st.booleans(), result=HOSTILE, review=HOSTILE,
        guidance=HOSTILE,
    ),
    max_size=7,
)  # fmt: skip
BRIEFS = st.builds(
    Brief, kind=st.just("code"), task=HOSTILE, tests=st.lists(HOSTILE, max_size=3).map(tuple),
    material=HOSTILE,
)  # fmt: skip


@given(brief=BRIEFS, plan=HOSTILE, laps=LAPS)
def test_each_lap_extends_what_the_worker_was_asked_before(brief, plan, laps):
    prompts = load("code")
    asked = [prompts.worker(brief, plan, laps[:n]) for n in range(len(laps) + 1)]
    for before, after in itertools.pairwise(asked):
        assert after[: len(before)] == before
        assert len(after) == len(before) + 2


@given(brief=BRIEFS, laps=LAPS)
def test_each_lap_extends_what_the_reviewer_was_asked_before(brief, laps):
    prompts = load("code")
    reviewed = [lap for lap in laps if lap.review]
    asked = [prompts.reviewer(brief, reviewed[:n], lap) for n, lap in enumerate(reviewed)]
    for before, after in itertools.pairwise(asked):
        assert after[: len(before)] == before


@given(brief=BRIEFS, plan=HOSTILE, laps=LAPS, limit=st.integers(600, 3_000))
def test_a_bounded_conversation_keeps_its_opening(brief, plan, laps, limit):
    prompts = load("code", max_chars=limit)
    opening = prompts.worker(brief, plan, [])
    asked = [prompts.worker(brief, plan, laps[:n]) for n in range(len(laps) + 1)]
    head = sum(len(m.content) for m in opening)
    for messages in asked:
        assert messages[:2] == opening
        longest = max((len(m.content) for m in messages[2:]), default=0)
        assert sum(len(m.content) for m in messages) <= max(limit, head + 2 * longest)


@given(text=st.text(max_size=400), limit=st.integers(1, 300))
def test_bounded_is_bounded(text, limit):
    assert len(bounded(text, limit)) <= max(limit, 0)
    assert bounded(text, len(text)) == text


@given(text=HOSTILE)
def test_a_fence_is_closed_only_by_us(text):
    shown = fenced(text)
    bar = re.match("`+", shown).group()
    assert shown.endswith("\n" + bar)
    assert bar not in shown[len(bar) : -len(bar)]


@given(text=st.text(alphabet=st.characters(), max_size=300))
def test_any_text_can_be_cleaned_and_read(text):
    cleaned(text).encode("utf-8")
    assert opinion(text) in ("approved", "rejected", "unclear")


@given(before=st.text(max_size=60), after=st.text(max_size=60))
def test_a_refusal_is_never_read_as_approval(before, after):
    assert opinion(f"{before} NOT APPROVED {after}".replace("\n", " ")) != "approved" or re.search(
        r"(?i)reject|approve", before + after
    )


@settings(max_examples=20, deadline=30_000)  # quadratic time would take minutes
@given(word=st.sampled_from(["not ", "approved ", "cannot ", "reject ", "a "]))
def test_reading_a_long_review_is_quick(word):
    opinion(word * 8_000)
