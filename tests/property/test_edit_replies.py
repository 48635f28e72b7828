# ruff: noqa: E501 (replies read best on one line)
"""Malformed replies in every format: a `ReplyError` at worst, never a path outside, about linear."""

import json
import time
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop.edits import Changes, edits_from_reply
from agent_loop.edits.textfile import TextFile
from agent_loop.errors import ReplyError

FILES = {
    "pkg/a.py": b"def f():\n    return 1\n\n\ndef g():\n    return 2\n",
    "pkg/crlf.py": b"def c():\r\n    return 1\r\n",
    "tests/test_a.py": b"from pkg.a import f\n\n\ndef test_f():\n    assert f() == 2\n",
    "doc.rst": b"Title\n=====\n",
    "na\u00efve name.txt": b"text",
    "logo.png": b"\x89PNG\0\0",
}
PATHS = st.sampled_from(
    [*FILES, "pkg/new.py", "../out.py", "/abs.py", "C:\\x.py", ".git/config", "a.py", "### pkg/a.py",
     "link/x", "pkg/../../x.py", "con.py", "pkg/", "", "python", "x\x00y.py", "PKG/a.py", "~", "."]
)  # fmt: skip
LINES = st.sampled_from(
    ["def f():", "    return 1", "    return 2", "\treturn 1", "return 1", "x = 1", "", "=====", "# ...",
     "# ... rest unchanged ...", "(", '"""', "\x0c", "\u2028", "\ud800", "```", "Title", "def c():"]
) | st.text(max_size=12)  # fmt: skip
BODY = st.lists(LINES, max_size=6).map("\n".join)
JUNK = st.sampled_from(
    """
```python|```|~~~|````|<<<<<<< SEARCH|=======|>>>>>>> REPLACE|<<<<<<< SEARCH pkg/a.py|>>>>>>>|<<<<<
--- a/pkg/a.py|+++ b/pkg/a.py|@@ -1,2 +1,2 @@|@@|--- /dev/null|+++ /dev/null|*** Begin Patch|rename to ../x
*** Update File: pkg/a.py|*** Add File: ../x.py|*** Delete File: pkg/a.py|*** End Patch|new file mode 100755
diff --git a/pkg/a.py b/pkg/a.py|deleted file mode 100644|rename from pkg/a.py|rename to pkg/z.py
\\ No newline at end of file|{"edits": [|"path": "pkg/a.py",|"search": "return 1",|"replace": "x"}|]}|{|[|",
Here is the fix:|pkg/a.py (no changes)|Before:|```json|```diff
""".strip().replace("|", "\n").split("\n")
)  # fmt: skip


def noisy(parts):
    """A reply in one format with junk lines anywhere, cut anywhere."""
    return st.tuples(
        st.lists(parts, min_size=1, max_size=4),
        st.lists(JUNK, max_size=4),
        st.randoms(),
        st.integers(0, 60),
    ).map(_mix)


def _mix(drawn):
    parts, junk, random, cut = drawn
    lines = "\n".join(parts).split("\n")
    for extra in junk:
        lines.insert(random.randint(0, len(lines)), extra)
    text = "\n".join(lines)
    if cut < 20 and text:
        text = text[: random.randint(0, len(text))]
    return text


BLOCK = st.builds(
    "{0}\n```\n<<<<<<< SEARCH\n{1}\n=======\n{2}\n>>>>>>> REPLACE\n```".format, PATHS, BODY, BODY
)
WHOLE = st.builds("{0}\n```python\n{1}\n```".format, PATHS, BODY)
HUNK = st.lists(st.tuples(st.sampled_from(" +-\\@"), LINES).map("".join), max_size=8).map("\n".join)
DIFF = st.builds(
    "--- a/{0}\n+++ b/{1}\n@@ -{2},9 +1,3 @@\n{3}".format, PATHS, PATHS, st.integers(0, 99), HUNK
)
JSON = st.builds(
    lambda path, old, new: json.dumps({"edits": [{"path": path, "search": old, "replace": new}]}),
    PATHS, BODY, BODY,
)  # fmt: skip
REPLIES = {"whole": WHOLE, "search_replace": BLOCK, "diff": DIFF, "json": JSON}


def _protected(path):
    return path.startswith("tests/")


def _take(text, format, finish="stop"):
    try:
        changes = edits_from_reply(
            text, FILES, format=format, finish=finish, protected=_protected, symlinks={"link"}
        )
    except ReplyError as refused:
        return refused
    _inspect(changes)
    return changes


def _inspect(changes: Changes):
    assert changes.files
    for path, data in changes.files.items():
        parts = PurePosixPath(path).parts
        assert not PurePosixPath(path).is_absolute()
        assert ".." not in parts
        assert parts[0] not in {".git", "link", "tests"}
        assert "\0" not in path
        assert ":" not in path
        assert data != FILES.get(path)
        assert data is not None or path in FILES


@pytest.mark.parametrize("format", REPLIES)
def test_malformed_replies(format):
    @settings(max_examples=250, deadline=None)
    @given(noisy(REPLIES[format]))
    def run(text):
        first = _take(text, format)
        _take(text, "auto")
        assert isinstance(_take(text, format, "length"), ReplyError)
        again = _take(text, format)
        assert str(first) == str(again)

    run()


@settings(max_examples=300, deadline=None)
@given(st.lists(JUNK | LINES | PATHS, max_size=30).map("\n".join))
def test_any_text(text):
    for format in ("auto", *REPLIES):
        _take(text, format)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60).filter(lambda data: b"\0" not in data))
def test_a_text_file_is_written_as_it_was_read(data):
    assert TextFile.read(data).write() == data


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([b"a\n", b"b\r\n", b"c\n", b"\r\n", b"a\r\r\n", b"d"]), max_size=12).map(b"".join),
    st.integers(0, 12), st.integers(0, 12), st.lists(st.sampled_from(["x", "a", "b", ""]), max_size=4),
)  # fmt: skip
def test_a_splice_leaves_the_other_lines_alone(data, start, stop, new):
    text = TextFile.read(data)
    start, stop = sorted((min(start, len(text.lines)), min(stop, len(text.lines))))
    spliced = text.splice(start, stop, new)
    assert spliced.lines == (*text.lines[:start], *new, *text.lines[stop:])
    assert spliced.ends[:start][:-1] == text.ends[:start][:-1]
    assert all(spliced.ends[:-1])
    kept = len(text.lines) - stop
    if kept:
        assert spliced.ends[-kept:] == text.ends[-kept:]


def numbered(pattern, size=1_000_000):
    return "".join(pattern.replace("%", str(n)) for n in range(size // len(pattern)))


BIG = {
    "pkg/a.py": numbered("x% = %\n").encode(),
    "pkg/same.py": b"x = 1\n" * 50_000,
    "b.py": b"y = 1\n",
}
HOSTILE = {
    "braces": "{" * 1_000_000,
    "brackets": numbered("[{"),
    "quotes": '{"path": "' + numbered('"%" '),
    "open objects": numbered('{"a%": '),
    "json strings": numbered('{"path": "a%", "x": "y} '),
    "escapes": '{"path": "' + "\\" * 1_000_000,
    "comments": '{"a": /*' + numbered("* %"),
    "search marks": numbered("<<<<<<< SEARCH\n%\n"),
    "blocks": numbered("b.py\n<<<<<<< SEARCH\nz%\n=======\ny\n>>>>>>> REPLACE\n"),
    "dividers": "<<<<<<< SEARCH\n" + numbered("=======\n%\n"),
    "one long search": "pkg/a.py\n<<<<<<< SEARCH\n" + numbered("x% = 0\n") + "=======\n>>>>>>> REPLACE\n",
    "same lines": "pkg/same.py\n<<<<<<< SEARCH\n" + "x = 1\n" * 40_000 + "x = 2\n=======\n\n>>>>>>> REPLACE\n",
    "same lines, indented": "pkg/same.py\n<<<<<<< SEARCH\n" + " x = 1\n" * 40_000 + "=======\n>>>>>>> REPLACE\n",
    "hunks": "--- a/b.py\n+++ b/b.py\n" + numbered("@@ -1 +1 @@\n-z%\n+y\n"),
    "one long hunk": "--- a/b.py\n+++ b/b.py\n@@\n" + numbered("-z%\n+y\n"),
    "headers": numbered("--- a/b%.py\n+++ b/b.py\n@@\n"),
    "new file": "--- /dev/null\n+++ b/n.py\n@@\n" + numbered("+x% = 1\n"),
    "wholes": numbered("b.py\n```python\ny = %\n```\n"),
    "whole of the same length": "pkg/a.py\n```python\n" + numbered("x% = 1\n") + "```\n",
    "fences": numbered("```python\nx%\n"),
    "one path line": "a/" * 500_000 + "b.py\n```\nx\n```",
    "spaces": "b.py" + " " * 1_000_000 + "\n```\ny = 2\n```",
    "wrong paths": "".join(
        f"many/fi1e{n}.py\n<<<<<<< SEARCH\ny{n}\n=======\ny\n>>>>>>> REPLACE\n" for n in range(190)
    ),
    "blocks without paths": "".join(
        f"<<<<<<< SEARCH\ny{n}\n=======\ny\n>>>>>>> REPLACE\n" for n in range(190)
    ),
    "misses in a long file": "".join(
        f"pkg/same.py\n<<<<<<< SEARCH\nx = {n}\nq\n=======\ny\n>>>>>>> REPLACE\n" for n in range(190)
    ),
    "nameless blocks": numbered("<<<<<<< SEARCH\ny = 1\n=======\ny = %\n>>>>>>> REPLACE\n"),
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_megabyte_takes_seconds_at_most(text):
    started = time.process_time()
    for format in ("auto", "json"):
        try:
            edits_from_reply(text, BIG, format=format, finish="stop", protected=_protected)
        except ReplyError:
            continue
    assert time.process_time() - started < 15
