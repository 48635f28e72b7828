"""The code of a reply: what small models write around it, before it and after it."""

import time

import pytest

from agent_loop.edits import code_from_reply
from agent_loop.errors import ReplyError

CODE = "def add(a, b):\n    return a + b\n"
OLD = "def add(a, b):\n    return a - b\n"


def fenced(code: str, info: str = "python") -> str:
    return f"```{info}\n{code}```\n"


SAME_CODE = {
    "plain fence": fenced(CODE),
    "no language": fenced(CODE, ""),
    "wrong language": fenced(CODE, "javascript"),
    "text": fenced(CODE, "text"),
    "upper case": fenced(CODE, "Python"),
    "braces": fenced(CODE, "{.python}"),
    "title": fenced(CODE, 'python title="add.py"'),
    "tildes": f"~~~python\n{CODE}~~~\n",
    "four ticks": f"````python\n{CODE}````\n",
    "chatter": f"Sure! Here you go:\n\n{fenced(CODE)}\nI hope this helps. Shall I explain?",
    "chinese": f"好的，下面是代码：\n\n{fenced(CODE)}\n这个函数返回两个数的和。",
    "unclosed": f"```python\n{CODE}",
    "unclosed and prose": f"```python\n{CODE}\nThis function adds two numbers.\nIt is fast.",
    "closed by prose": f"```python\n{CODE}``` This adds two numbers.\n",
    "closed on the last line": "```python\ndef add(a, b):\n    return a + b```",
    "fence behind words": f"Here is the code: ```python\n{CODE}```\n",
    "no fence": CODE,
    "no fence, prose around": f"Here is the code.\n\n{CODE}\nIt adds two numbers.",
    "indented fence": "1. It:\n\n   ```python\n   def add(a, b):\n       return a + b\n   ```\n",
    "indented code": "```python\n    def add(a, b):\n        return a + b\n```\n",
    "crlf": fenced(CODE).replace("\n", "\r\n"),
    "bom": "\ufeff" + fenced(CODE),
    "inside markdown": f"```markdown\nThe answer:\n{fenced(CODE)}```\n",
    "inside markdown, at once": f"```md\n{fenced(CODE)}```\n",
    "stop token": f"{CODE}<|im_end|>",
    "stop token behind the fence": f"{fenced(CODE)}<|im_end|>\n<|im_end|>",
    "prompts": "```pycon\n>>> def add(a, b):\n...     return a + b\n...\n>>> add(1, 2)\n3\n```",
    "no-break spaces": fenced(CODE.replace("    ", "\u00a0" * 4)),
    "full-width signs": fenced("def add(a， b)：\n    return a + b\n"),
    "a tests block after it": fenced(CODE) + "Tests:\n" + fenced("assert add(1, 2) == 3\n"),
    "test functions after it": fenced(CODE)
    + fenced("def test_add():\n    assert add(1, 2) == 3\n"),
    "an example after it": fenced(CODE)
    + "Example usage:\n"
    + fenced("from add import add\n\nprint(add(1, 2))\n"),
    "a shell block before it": fenced("pip install nothing\n", "bash") + fenced(CODE),
    "output after it": fenced(CODE) + "Output:\n" + fenced("3\n", "text"),
    "before, then after": f"Original code:\n{fenced(OLD)}\nFixed code:\n{fenced(CODE)}",
    "after, then before": f"Fixed code:\n{fenced(CODE)}\nThe code before:\n{fenced(OLD)}",
    "old code by comment": fenced(CODE) + fenced("# before\n" + OLD),
    "old code, chinese": f"修改后：\n{fenced(CODE)}\n修改前：\n{fenced(OLD)}",
    "old code, no label": f"{fenced(CODE)}\nThis differs from\n{fenced(OLD)}",
    "a first try": f"{fenced(OLD)}\nWait, no. The corrected version:\n{fenced(CODE)}",
    "an alternative": f"{fenced(CODE)}\nAlternatively:\n"
    + fenced("def add(a, b):\n    return sum((a, b))\n"),
    "rules echoed": f"I will reply with one ```python block.\n\n{fenced(CODE)}",
    "new-file diff in a python fence": fenced(
        "--- /dev/null\n+++ b/add.py\n@@ -0,0 +1,2 @@\n+def add(a, b):\n+    return a + b\n"
    ),
    "inside JSON": '{"code": "def add(a, b):\\n    return a + b\\n"}',
    "inside JSON, in a fence": '```json\n{"code": "def add(a, b):\\n    return a + b",}\n```',
    "a fragment first": "The fault is here:\n" + fenced("    return a - b\n") + fenced(CODE),
}


@pytest.mark.parametrize("reply", SAME_CODE.values(), ids=SAME_CODE.keys())
def test_the_same_code_is_found(reply):
    code = code_from_reply(reply).code
    lines = [line for line in code.split("\n") if line.strip() and not line.startswith("add(")]
    assert lines == CODE.strip().split("\n")


def test_a_demo_after_the_function_stays():
    demo = CODE + "\nprint(add(1, 2))\nassert add(1, 2) == 3\n"
    assert code_from_reply(fenced(demo)).code == demo


def test_parts_with_other_names_are_put_together():
    found = code_from_reply(
        fenced("import math\n")
        + fenced("def half(n):\n    return n / 2\n")
        + "Then:\n"
        + fenced(CODE)
    )
    assert found.code == f"import math\n\ndef half(n):\n    return n / 2\n\n\n{CODE}"
    assert "took code 1, 2" in found.notes[0]


def test_a_fixed_part_is_added_after_the_whole():
    whole = "def half(n):\n    return n // 2\n\n\n" + CODE
    found = code_from_reply(
        fenced(whole) + "The fixed helper:\n" + fenced("def half(n):\n    return n / 2\n")
    )
    assert found.code.endswith("return n / 2\n")
    assert CODE in found.code


def test_fences_inside_a_docstring():
    code = 'def add(a, b):\n    """Add.\n\n    ```python\n    ```\n    """\n    return a + b\n'
    assert code_from_reply(fenced(code)).code == code


def test_fences_inside_a_docstring_at_the_margin():
    code = '"""Adding.\n\n```python\nadd(1, 2)\n```\n"""\n\n\ndef add(a, b):\n    return a + b\n'
    assert code_from_reply(fenced(code)).code == code


def test_a_function_that_is_called_check_is_no_test():
    code = "def check_sum(n):\n    return helper(n)\n"
    helper = "def helper(n):\n    return n\n"
    assert code_from_reply(fenced(code) + fenced(helper)).code == f"{code}\n\n{helper}"


def test_a_lambda_counts():
    assert (
        code_from_reply(fenced("add = lambda a, b: a + b\n")).code == "add = lambda a, b: a + b\n"
    )


REFUSED = {
    "empty": ("", "empty"),
    "blank": (" \n\n", "empty"),
    "prose": ("I would add the two numbers and return them.", "holds no code"),
    "question": ("Which Python version do you use?", "Nobody answers questions"),
    "chinese question": ("请问您使用哪个版本？", "Nobody answers questions"),
    "calls only": (fenced("print(add(1, 2))\n"), "defines no function"),
    "broken": (fenced("def add(a, b)\n    return a + b\n"), "line 1: expected ':'"),
    "broken and cut": ("```python\ndef add(a, b):\n    return (a +", "may have been cut"),
    "broken, no fence": ("def add(a, b)\n    return a + b\n", "line 1: expected ':'"),
    "diff of a file nobody has": (
        "```diff\n--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n def f():\n-    1\n+    return 2\n```",
        "You sent a diff",
    ),
    "one line 265 times": ("I will fix the function now.\n" * 265, "over and over"),
    "one sentence for ever": ("I will fix the function now. " * 265, "over and over"),
    "null bytes": (fenced("def add(a, b):\n    return '\0'\n"), "does not parse"),
    "nested too deeply": (fenced("def f():\n    return " + "(" * 5000 + "\n"), "does not parse"),
}


@pytest.mark.parametrize(("reply", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_one_short_line(reply, problem):
    with pytest.raises(ReplyError) as raised:
        code_from_reply(reply)
    message = str(raised.value)
    assert problem in message
    assert "\n" not in message
    assert len(message) < 400


def test_a_broken_second_function_is_not_dropped_silently():
    with pytest.raises(ReplyError, match="line 4"):
        code_from_reply(fenced(CODE + "\ndef half(n)\n    return n / 2\n"))


def test_warnings_of_the_parser_stay_quiet():
    code = 'import re\n\n\ndef add(a, b):\n    return re.sub("\\d", "", a)\n'
    assert code_from_reply(fenced(code)).code == code


def test_what_takes_minutes_to_parse_is_refused_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(ReplyError, match="longer than"):
        code_from_reply('```python\nx = f"' + "{x}" * 130_000 + '"\n```')
    assert time.monotonic() - began < 30
