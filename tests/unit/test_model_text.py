"""Reasoning leaves a reply before anything reads it; what stays can be stored anywhere."""

import json

import pytest

from agent_loop.models.text import bounded, clean, repeats
from tests.fakes.whole_reply import split_reasoning


@pytest.mark.parametrize(
    ("reply", "answer", "reasoning"),
    [
        ("<think>plan</think>answer", "answer", "plan"),
        ("<think>a</think>one<think>b</think>two", "onetwo", "ab"),
        ("<think>a<think>b</think>c</think>d", "d", "abc"),
        ("first <think>a<think>b</think>c</think>d", "first d", "abc"),
        ("<think><think>a</think>d", "d", "a"),
        ("<think>never closed\nanswer?", "", "never closed\nanswer?"),
        ("opened by the template\n</think>\nanswer", "\nanswer", "opened by the template\n"),
        ("draft\n```python\nx\n</think>\nanswer", "\nanswer", "draft\n```python\nx\n"),
        ("<THINKING>a</Thinking >b", "b", "a"),
        ("◁think▷a◁/think▷b", "b", "a"),
        ("[THINK]a[/THINK]b", "b", "a"),
        ("<think>```\nx = 1\n</think>\n```\ny = 2\n```", "\n```\ny = 2\n```", "```\nx = 1\n"),
        ("plain <b>text</b>", "plain <b>text</b>", ""),
    ],
)
def test_reasoning_is_taken_out(reply, answer, reasoning):
    assert split_reasoning(reply) == (answer, reasoning)


@pytest.mark.parametrize(
    "reply",
    [
        '```python\ndef f(s):\n    return s.split("</think>")[-1]\n```',
        "```python\nTAG = '<think>'\n```\ndone",
        "~~~\n<think>\n~~~\n",
        "Use the `<think>` tag.",
    ],
)
def test_code_and_talk_about_tags_stay(reply):
    assert split_reasoning(reply) == (reply, "")


def test_lone_surrogates_and_nul_are_replaced():
    text = clean("a\ud800b\x00c\U0001f600\ud83d\ude00")
    assert text == "a\ufffdb\ufffdc\U0001f600\U0001f600"
    json.dumps(text).encode("utf-8")


def test_bounded_keeps_both_ends_and_says_what_went():
    cut = bounded("a" * 500 + "b" * 500, 200)
    assert len(cut) <= 200
    assert cut.startswith("aaa")
    assert cut.endswith("bbb")
    assert "800 of 1000 characters left out" in cut
    assert bounded("short", 200) == "short"


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("# " + "=" * 200, "="),
        ("so " + "ha" * 60, "ha"),
        ("x = 1\ny = 2\n", ""),
        ("=" * 20, ""),
    ],
)
def test_a_repeated_end_is_seen(text, piece):
    assert repeats(text) == piece
