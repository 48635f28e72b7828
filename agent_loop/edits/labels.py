"""What the words around a block say about it: the old text, the new one, an example."""

import re
from typing import Literal

Label = Literal["before", "after", "example", ""]

# Single words at word borders, so that "before" in "beforehand" does not count.
_BEFORE = re.compile(
    r"\b(before|original(?:ly)?|old|previous(?:ly)?|incorrect|buggy|wrong|broken|faulty|was|current"
    r"|existing|initial|unchanged|no changes?)\b"
    r"|(?:之前|原来|原始|旧的|旧版|修改前|错误的|原代码)",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\b(after|fix(?:ed|es)?|correct(?:ed|ion)?|updat(?:ed|e)|improved|final|new|revised|rewritten"
    r"|solution|complete|modified|changed)\b"
    r"|(?:之后|修改后|修复|正确|更新|最终|新的|完整)",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\b(example|usage|use it|test(?:s|ing|ed)?|output|run|demo(?:nstration)?|alternative(?:ly)?"
    r"|another way|optional(?:ly)?|call it|try it)\b"
    r"|(?:示例|例子|用法|测试|输出|运行|另一种)",
    re.IGNORECASE,
)


def label_of(lead: str, info: str, first_line: str) -> Label:
    """The label of a block from the last prose line before it, its info text and first comment.

    The nearest words win: a comment in the block, then the info text, then the prose. In one line
    the last label counts ("instead of the old code, here is the fixed one").
    """
    comment = first_line.strip()
    for text in (
        comment if comment.startswith(("#", "//", '"""')) and len(comment) < 80 else "",
        info,
        _last_prose(lead),
    ):
        label = _last_label(text)
        if label:
            return label
    return ""


def _last_prose(lead: str) -> str:
    lines = [line.strip() for line in lead.split("\n") if line.strip()]
    return lines[-1][-200:] if lines else ""


def _last_label(text: str) -> Label:
    found: list[tuple[int, Label]] = []
    patterns: tuple[tuple[Label, re.Pattern[str]], ...] = (
        ("before", _BEFORE),
        ("after", _AFTER),
        ("example", _EXAMPLE),
    )
    for label, pattern in patterns:
        for match in pattern.finditer(text):
            found.append((match.start(), label))
    return max(found)[1] if found else ""
