"""Any text at all: nothing is raised, nothing is lost, nothing shown that was reasoning."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agent_loop.models.text import ReasoningFilter, bounded, clean
from tests.fakes.whole_reply import split_reasoning

TAGS = ["<think>", "</think>", "<thinking>", "</thinking>", "[THINK]", "[/THINK]", "<", "think>"]
OTHERS = ["```python\n", "```\n", "~~~\n", "\n", "`", '"', "a", "x = 1\n", "\ud800", "\x00", "é"]
PIECES = st.sampled_from(TAGS + OTHERS)
REPLIES = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=200)


@given(REPLIES)
def test_no_character_is_lost(reply):
    """What is left out is tags alone."""
    answer, reasoning = split_reasoning(reply)
    kept = sorted(answer + reasoning)
    for char in set(kept):
        assert kept.count(char) <= reply.count(char)
    if "think" not in reply.lower():
        assert (answer, reasoning) == (reply, "")


@given(REPLIES, st.lists(st.integers(0, 200), max_size=6))
def test_pieces_give_what_the_whole_gives(reply, cuts):
    parts = ReasoningFilter()
    at = 0
    for cut in sorted(cuts):
        parts.feed(reply[at:cut])
        at = max(at, cut)
    parts.feed(reply[at:])
    parts.finish()
    assert (parts.answer, parts.reasoning) == split_reasoning(reply)


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_leading_thought_never_reaches_the_answer(thought, answer):
    secret = thought.replace("<", "").replace("[", "").replace("◁", "").strip("`\"'") + "SECRET"
    shown, reasoning = split_reasoning(f"<think>{secret}</think>\n{answer}")
    assert "SECRET" not in shown
    assert "SECRET" in reasoning


@given(st.text(st.characters(), max_size=100) | REPLIES)
def test_clean_text_can_be_stored(text):
    json.dumps(clean(text), ensure_ascii=False).encode("utf-8")
    assert "\x00" not in clean(text)
    assert clean(clean(text)) == clean(text)


@given(st.text(max_size=400), st.integers(80, 200))
def test_bounded_is_bounded(text, limit):
    assert len(bounded(text, limit)) <= limit
