"""Any text gives code that parses or a `ReplyError`, in about linear time."""

import ast
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop.edits import code_from_reply
from agent_loop.errors import ReplyError

PIECES = st.sampled_from(
    """
```python|```|~~~|````|   ```py|```diff|```json|```markdown|def f(x):|    return x|class A:|    pass
print(f(1))|assert f(1) == 1|>>> f(1)|... pass|Before:|Fixed code:|Example:|--- /dev/null|+++ b/x.py
@@ -0,0 +1,2 @@|+def f(x):|+    return x|-    return y|# ... rest unchanged|<|im_end|>|import os
@decorator|f = lambda x: x|""\"|'''
""".replace("|", "\n").split("\n")
).map("{}\n".format) | st.sampled_from(list("\r\ufeff\x00\ud800\u2028\x0c“：\t\\([{"))
REPLIES = st.lists(PIECES | st.text(max_size=20), max_size=40).map("".join)


def _take(text):
    try:
        return code_from_reply(text)
    except ReplyError:
        return None


@settings(max_examples=400, deadline=None)
@given(REPLIES)
def test_code_that_parses_or_a_reply_error(text):
    found = _take(text)
    if found is not None:
        found.code.encode("utf-8")
        assert ast.parse(found.code).body


@settings(max_examples=100, deadline=None)
@given(REPLIES)
def test_the_same_reply_gives_the_same_code(text):
    assert _take(text) == _take(text)


def numbered(pattern, size=1_000_000):
    """A megabyte that never repeats itself, so that nothing refuses it early."""
    return "".join(pattern.replace("%", str(n)) for n in range(size // len(pattern)))


HOSTILE = {
    "ticks": "`" * 1_000_000,
    "fences": numbered("```python\nx%\n"),
    "fences with a body": numbered("```python\ndef f%(\n```\n"),
    "open docstrings": numbered('```python\ndef f%():\n"""\n```\n'),
    "defs": numbered("def f%(x):\n    return x\n"),
    "fenced defs": numbered("```\ndef f%(x):\n    return x\n```\n"),
    "broken defs": numbered("def f%(x)\n"),
    "half broken": "def f(x):\n    return x\n" + numbered("x = %\n") + "This is it.",
    "late fences": numbered("a% ``` b\n"),
    "brackets": "```python\ndef f():\n    return " + numbered("(% "),
    "minus signs": "```python\ndef f():\n    return " + "-" * 1_000_000 + "1\n```",
    "one long sum": "```python\ndef f():\n    return " + numbered("%+") + "1\n```",
    "blanks": " " * 1_000_000 + "x",
    "newlines": "x" + "\n" * 1_000_000 + "x",
    "labels": numbered("before after example % ") + "\n```python\ndef f(): pass\n```",
    "prompts": "```python\n" + numbered(">>> def f%(:\n") + "```",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_megabyte_takes_seconds_at_most(text):
    started = time.process_time()
    _take(text)
    assert time.process_time() - started < 10
