# ruff: noqa: E501 (replies read best on one line)
"""CASES A, B and M: what users of such tools reported, each kind on the finished code."""

import json

import pytest

from agent_loop.edits import edits_from_reply
from agent_loop.errors import ReplyError

A = b"def f():\n    return 1\n\n\ndef g():\n    return 2\n"
FIXED = A.replace(b"return 1", b"return 10")
FILES = {"pkg/a.py": A, "pkg/b.py": b"def b():\n    return 0\n", "README.md": b"# Demo\n"}


def edit(text, files=FILES, *, format="auto", finish="stop", protected=(), symlinks=()):
    return edits_from_reply(
        text,
        files,
        format=format,
        finish=finish,
        protected=lambda path: path in protected,
        symlinks=symlinks,
    )


def block(search, new, path="pkg/a.py", fence="```python"):
    return f"{path}\n{fence}\n<<<<<<< SEARCH\n{search}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"


def whole(body, path="pkg/a.py", info="python"):
    return f"{path}\n```{info}\n{body}```\n"


SEARCH = block("    return 1", "    return 10")
WHOLE = whole(FIXED.decode())


# --- A1: bytes that nobody touched stay ---------------------------------------------------------

ODD = {
    "crlf": A.replace(b"\n", b"\r\n"),
    "mixed ends": b"def f():\r\n    return 1\n\n\r\ndef g():\n    return 2\r\n",
    "byte-order mark": b"\xef\xbb\xbf" + A,
    "no final newline": A.rstrip(b"\n"),
    "crlf, no final newline": A.replace(b"\n", b"\r\n").rstrip(),
    "form feed and other separators": A + b"x = '\x0c\xc2\x85\xe2\x80\xa8'\n",
    "a lone carriage return": A + b"x = 'a\\\rb'\n",
    "two carriage returns": A.replace(b"\n", b"\r\r\n"),
    "latin-1 with a coding line": b"# -*- coding: latin-1 -*-\n" + A + b"x = '\xe9'\n",
    "bytes of no encoding": A + b"# \xff\xfe\n",
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD.keys())
def test_a1_a_block_changes_one_line_and_no_other_byte(data):
    changes = edit(SEARCH, {"pkg/a.py": data})
    assert changes.files == {"pkg/a.py": data.replace(b"return 1", b"return 10")}


@pytest.mark.parametrize("name", ["crlf", "mixed ends", "byte-order mark", "no final newline"])
def test_a1_a_whole_file_keeps_line_ends_mark_and_final_newline(name):
    data = ODD[name]
    body = data.decode("utf-8-sig").replace("\r", "").replace("return 1", "return 10")
    body = body if body.endswith("\n") else body + "\n"
    assert edit(whole(body), {"pkg/a.py": data}).files["pkg/a.py"] == data.replace(
        b"return 1", b"return 10"
    )


def test_a1_a_reply_with_crlf_fits_a_file_with_lf():
    assert edit(SEARCH.replace("\n", "\r\n")).files["pkg/a.py"] == FIXED


def test_a1_context_with_trailing_blanks_keeps_them():
    data = b"def f():  \n    return 1\n"
    changes = edit(block("def f():\n    return 1", "def f():\n    return 10"), {"pkg/a.py": data})
    assert changes.files["pkg/a.py"] == b"def f():  \n    return 10\n"


def test_a1_control_a_plain_text_replace_finds_nothing():
    assert b"def f():\n    return 1" not in ODD["crlf"]


# --- A3: the line that names the file -----------------------------------------------------------

DECORATED = [
    "### pkg/a.py", "**pkg/a.py**", "`pkg/a.py`:", "`pkg/a.py`", "File: pkg/a.py", "1. `pkg/a.py`",
    "python pkg/a.py", "- pkg/a.py", "> pkg/a.py", "./pkg/a.py", "**File:** `pkg/a.py`", "[pkg/a.py]",
    "pkg/a.py:", '"pkg/a.py"', "#### **`pkg/a.py`**", "pkg\\a.py", "filename: pkg/a.py", "文件：pkg/a.py",
    "Here is the fixed `pkg/a.py`:", "Change pkg/a.py like this:", "a.py", "src/pkg/a.py", "PKG/A.py",
    "pkg/a.py\npython", "pkg/a.py\n\n", "pkg/a.py\n\npython\n", "### File: `pkg/a.py`",
]  # fmt: skip


@pytest.mark.parametrize("line", DECORATED)
def test_a3_decoration_is_taken_off(line):
    assert edit(block("    return 1", "    return 10", path=line)).files == {"pkg/a.py": FIXED}
    assert edit(whole(FIXED.decode(), path=line)).files == {"pkg/a.py": FIXED}


@pytest.mark.parametrize("first", ["# pkg/a.py", "# File: pkg/a.py", "// pkg/a.py", "# `pkg/a.py`"])
def test_a3_a_path_in_the_first_comment(first):
    assert edit(f"```python\n{first}\n{FIXED.decode()}```").files == {"pkg/a.py": FIXED}


@pytest.mark.parametrize(
    "info",
    [
        "python pkg/a.py",
        "pkg/a.py",
        "python:pkg/a.py",
        'python title="pkg/a.py"',
        "python file=pkg/a.py",
    ],
)
def test_a3_a_path_on_the_fence(info):
    assert edit(f"```{info}\n{FIXED.decode()}```").files == {"pkg/a.py": FIXED}


@pytest.mark.parametrize(
    "line", ["php", "markdown", "### src", "----", "***", "Here it is:", "python"]
)
def test_a3_no_file_is_named_after_something_else(line):
    with pytest.raises(ReplyError) as raised:
        edit(block("    return 7", "    return 10", path=line))
    assert "names no file" in str(raised.value)
    assert "pkg/a.py, pkg/b.py" in str(raised.value)
    with pytest.raises(ReplyError, match="tied to a file"):
        edit(whole("x = 1\n", path=line, info="php"))


@pytest.mark.parametrize(
    "line", ["pkg/b.py (no changes needed)", "pkg/b.py - unchanged", "### pkg/b.py (unchanged)"]
)
def test_a3_a_block_that_says_no_changes_writes_nothing(line):
    changes = edit(
        SEARCH.replace("```python", "```") + "\n" + WHOLE + whole("placeholder\n", path=line),
        format="whole",
    )
    assert list(changes.files) == ["pkg/a.py"]
    assert any("unchanged" in note for note in changes.notes)


@pytest.mark.parametrize("body", ["# no changes\n", "... unchanged ...\n", "(no changes needed)\n"])
def test_a3_a_placeholder_body_writes_nothing(body):
    changes = edit(WHOLE + whole(body, path="pkg/b.py"))
    assert list(changes.files) == ["pkg/a.py"]


def test_a3_a_new_file_under_a_heading():
    changes = edit(whole("x = 1\n", path="### `pkg/new.py`"))
    assert changes.files == {"pkg/new.py": b"x = 1\n"}


def test_a3_a_correction_is_recorded_and_needs_one_near_file():
    changes = edit(block("    return 1", "    return 10", path="lib/pkg/a.py"))
    assert changes.notes == ("corrected the path 'lib/pkg/a.py' to 'pkg/a.py'",)
    two = {**FILES, "other/a.py": A}
    with pytest.raises(ReplyError, match=r"there is no file 'a.py'"):
        edit(block("    return 1", "    return 10", path="a.py"), two)


def test_a3_a_misspelt_path_is_corrected_for_a_block_only():
    files = {"slugify/core.py": A, "README.md": b""}
    found = edit(block("    return 1", "    return 10", path="slugify/coer.py"), files)
    assert list(found.files) == ["slugify/core.py"]


# --- A6: rewrites that were cut or elided -------------------------------------------------------

LONG = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(75))


def test_a6_a_reply_cut_at_its_limit_is_not_applied():
    cut = "pkg/a.py\n```python\n" + "\n".join(LONG.split("\n")[:90])
    with pytest.raises(ReplyError, match="cut at its token limit"):
        edit(cut, {"pkg/a.py": LONG.encode()}, finish="length")


def test_a6_a_cut_reply_is_not_applied_even_without_the_stop_reason():
    cut = "pkg/a.py\n```python\n" + "\n".join(LONG.split("\n")[:90])
    with pytest.raises(ReplyError, match="it was cut, or is only a part"):
        edit(cut, {"pkg/a.py": LONG.encode()})


def test_a6_unclosed_and_a_little_shorter():
    cut = "pkg/a.py\n```python\n" + "\n".join(LONG.split("\n")[:260])
    with pytest.raises(ReplyError, match="was not closed"):
        edit(cut, {"pkg/a.py": LONG.encode()})


def test_a6_an_unclosed_block_that_is_complete_counts():
    assert edit("pkg/a.py\n```python\n" + FIXED.decode()).files == {"pkg/a.py": FIXED}


@pytest.mark.parametrize(
    "comment",
    [
        "# ... rest of the code unchanged ...", "# ... existing code ...", "# rest of the file as before",
        "# (the remaining functions stay the same)", "# ... (other functions) ...", "...  # rest unchanged",
        "# remaining functions unchanged", "// ... existing code ...", "# 其余代码保持不变", "# [rest as before]",
        "# Rest of the code remains the same", "/* ... other methods ... */", "# omitted for brevity",
    ],
)  # fmt: skip
def test_a6_an_elided_rewrite_is_not_applied(comment):
    body = "\n".join(LONG.split("\n")[:40]) + f"\n{comment}\n"
    with pytest.raises(ReplyError, match="left out"):
        edit(whole(body), {"pkg/a.py": LONG.encode()})
    with pytest.raises(ReplyError, match="left out"):
        edit(
            whole("\n".join(LONG.split("\n")[:280]) + f"\n{comment}\n"), {"pkg/a.py": LONG.encode()}
        )


def test_a6_control_a_file_that_had_such_a_comment_before():
    comment = "# ... rest unchanged ...\n"
    old = LONG + comment
    changes = edit(whole(old.replace("x + 7\n", "x + 70\n")), {"pkg/a.py": old.encode()})
    assert changes.files["pkg/a.py"] == old.replace("x + 7\n", "x + 70\n").encode()


@pytest.mark.parametrize(
    "comment",
    [
        "# the rest of the word",
        "# TODO...",
        "# other cases first",
        "# keep going ",
        "x = ...",
        "...",
    ],
)
def test_a6_plain_comments_are_no_elision(comment):
    body = f"def f():\n    return 10\n    {comment}\n\n\ndef g():\n    return 2\n"
    assert edit(whole(body)).files


def test_a6_a_snippet_of_unclear_place_is_not_the_file():
    old = (
        "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(5))
        + "def f3():\n    return 4\n"
    )
    with pytest.raises(ReplyError, match="no longer defines f0, f1, f2, f4"):
        edit(whole("def f3():\n    return 30\n"), {"pkg/a.py": old.encode()})


def test_a6_elision_inside_a_replacement():
    with pytest.raises(ReplyError, match="stands for lines left out"):
        edit(
            block("def f():\n    return 1", "def f():\n    # ... existing code ...\n    return 10")
        )


# --- B1: hunk counts are not believed -----------------------------------------------------------


def diff(body, path="pkg/a.py", header="@@ -1,2 +1,2 @@"):
    return f"--- a/{path}\n+++ b/{path}\n{header}\n{body}"


BODY = " def f():\n-    return 1\n+    return 10\n"


@pytest.mark.parametrize(
    "header",
    ["@@ -1,2 +1,2 @@", "@@ -1,5 +1,5 @@", "@@ -40,1 +40 @@ def f():", "@@", "@@ ... @@", "@@ -0,0 +0,0 @@",
     "@@ def f(): @@", "@@ -1 +1 @@", "@@ -999999999,7 +1,3 @@"],
)  # fmt: skip
def test_b1_wrong_counts_in_an_edit(header):
    assert edit(diff(BODY, header=header)).files == {"pkg/a.py": FIXED}


@pytest.mark.parametrize("header", ["@@ -0,0 +1,2 @@", "@@ -0,0 +1,400 @@", "@@ -0,0 +1 @@", "@@"])
def test_b1_wrong_counts_in_a_new_file_lose_no_line(header):
    text = f"--- /dev/null\n+++ b/pkg/new.py\n{header}\n+a = 1\n+b = 2\n+\n+c = 3\n"
    assert edit(text).files == {"pkg/new.py": b"a = 1\nb = 2\n\nc = 3\n"}


DIFFS = {
    "in a diff fence": f"```diff\n{diff(BODY)}```",
    "in a python fence": f"```python\n{diff(BODY)}```",
    "no prefixes": diff(BODY).replace("a/pkg", "pkg").replace("b/pkg", "pkg"),
    "git header": "diff --git a/pkg/a.py b/pkg/a.py\nindex 1234567..89abcde 100644\n" + diff(BODY),
    "crlf": diff(BODY).replace("\n", "\r\n"),
    "chatter around": f"Here is the patch:\n\n{diff(BODY)}\nThat should do it.\n",
    "lost blank of context": diff("def f():\n-    return 1\n+    return 10\n"),
    "time stamps": diff(BODY).replace("a.py\n", "a.py\t2026-01-01 00:00:00\n"),
    "blank context": diff(" def f():\n-    return 1\n+    return 10\n\n \n def g():\n"),
    "longer path": diff(BODY, path="repo/pkg/a.py"),
    "begin patch": "*** Begin Patch\n*** Update File: pkg/a.py\n@@ def f():\n"
    "-    return 1\n+    return 10\n*** End Patch",
    "begin patch without hunk mark": "*** Begin Patch\n*** Update File: pkg/a.py\n"
    " def f():\n-    return 1\n+    return 10\n*** End Patch",
}


@pytest.mark.parametrize("text", DIFFS.values(), ids=DIFFS.keys())
def test_b_the_same_diff_as_models_write_it(text):
    changes = edit(text)
    assert changes.files == {"pkg/a.py": FIXED}
    assert changes.format == "diff"


def test_b_a_diff_of_a_crlf_file_changes_one_line():
    data = ODD["crlf"]
    assert edit(diff(BODY), {"pkg/a.py": data}).files["pkg/a.py"] == data.replace(b"n 1", b"n 10")


def test_b_a_deleted_line_that_looks_like_a_header():
    files = {"q.sql": b"-- one\n-- two\nselect 1;\n"}
    text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,2 @@\n--- one\n -- two\n select 1;\n"
    assert edit(text, files).files == {"q.sql": b"-- two\nselect 1;\n"}


def test_b_new_delete_rename_and_mode():
    text = (
        "diff --git a/run.sh b/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1 @@\n+true\n"
        "diff --git a/README.md b/README.md\ndeleted file mode 100644\n--- a/README.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-# Demo\n"
        "diff --git a/pkg/b.py b/pkg/c.py\nsimilarity index 90%\nrename from pkg/b.py\nrename to pkg/c.py\n"
        "--- a/pkg/b.py\n+++ b/pkg/c.py\n@@ -1,2 +1,2 @@\n def b():\n-    return 0\n+    return 5\n"
    )
    changes = edit(text)
    assert changes.files == {
        "run.sh": b"true\n",
        "README.md": None,
        "pkg/b.py": None,
        "pkg/c.py": b"def b():\n    return 5\n",
    }
    assert changes.executable == {"run.sh"}


def test_b_a_quoted_name_and_no_newline_at_the_end():
    files = {"na\u00efve file.txt": b"old\n"}
    text = (
        '--- "a/na\\303\\257ve file.txt"\n+++ "b/na\\303\\257ve file.txt"\n@@ -1 +1 @@\n'
        "-old\n+new\n\\ No newline at end of file\n"
    )
    assert edit(text, files).files == {"na\u00efve file.txt": b"new"}


def test_b_a_hunk_that_fits_several_places_goes_by_its_line():
    files = {"pkg/a.py": b"x = 1\ny = 2\nx = 1\n"}
    hunk = "-x = 1\n+x = 3\n"
    assert edit(diff(hunk, header="@@ -3,1 +3,1 @@"), files).files == {
        "pkg/a.py": b"x = 1\ny = 2\nx = 3\n"
    }
    with pytest.raises(ReplyError, match=r"several times in pkg/a.py \(lines 1, 3\)"):
        edit(diff(hunk, header="@@ -2,1 +2,1 @@"), files)


def test_b_a_binary_diff_is_refused():
    with pytest.raises(ReplyError, match="binary"):
        edit("diff --git a/x.png b/x.png\nGIT binary patch\nliteral 4\nabc\n")


# --- M4: not the asked format -------------------------------------------------------------------

USABLE = {
    "no path, one file": (f"```python\n{FIXED.decode()}```", {"pkg/a.py": A}),
    "no path, one file that defines it": (f"```python\n{FIXED.decode()}```", FILES),
    "block without path": (SEARCH.replace("pkg/a.py\n", ""), FILES),
    "rules echoed": (
        "I will use blocks with <<<<<<< SEARCH and >>>>>>> REPLACE marks.\n\n" + SEARCH, FILES),
    "chinese": ("问题在于返回值。修改如下：\n\n" + SEARCH + "\n这样就可以了。", FILES),
    "then the old code": (WHOLE + "\nThe code before:\n" + whole(A.decode(), path="pkg/a.py"), FILES),
    "then other old code": (
        WHOLE + "\nBefore:\n" + whole(A.decode().replace("1", "3"), path="# before\npkg/a.py"), FILES),
    "json in prose": (
        'Sure:\n{"edits": [{"path": "pkg/a.py", "search": "return 1", "replace": "return 10",}],}\nDone.',
        {**FILES, "pkg/a.py": A.replace(b"    return 1", b"return 1")}),
    "no fence around the block": (SEARCH.replace("```python\n", "").replace("```\n", ""), FILES),
    "block in a diff fence": (SEARCH.replace("```python", "```diff"), FILES),
    "path inside the fence": (
        "```python\npkg/a.py\n" + SEARCH.split("```python\n")[1], FILES),
    "path behind the mark": (
        SEARCH.replace("pkg/a.py\n", "").replace("SEARCH", "SEARCH pkg/a.py"), FILES),
    "short marks": (SEARCH.replace("<<<<<<<", "<<<<<").replace(">>>>>>>", ">>>>>"), FILES),
    "other words": (SEARCH.replace("SEARCH", "ORIGINAL").replace("REPLACE", "UPDATED"), FILES),
    "end mark forgotten": (SEARCH.replace(">>>>>>> REPLACE\n", ""), FILES),
    "line numbers": (block(" 1 | def f():\n 2 |     return 1", " 1 | def f():\n 2 |     return 10"), FILES),
    "fences inside the halves": (
        block("```python\n    return 1\n```", "```python\n    return 10\n```", fence="```"), FILES),
    "indentation lost": (block("return 1", "return 10"), FILES),
    "blank lines around": (block("\n    return 1\n", "\n    return 10\n"), FILES),
    "indented block": ("pkg/a.py\n```\n    <<<<<<< SEARCH\n    return 1\n    =======\n"
                       "    return 10\n    >>>>>>> REPLACE\n```", FILES),
}  # fmt: skip


@pytest.mark.parametrize(("text", "files"), USABLE.values(), ids=USABLE.keys())
def test_m4_usable_replies_are_used(text, files):
    assert list(edit(text, files).files) == ["pkg/a.py"]
    assert b"return 10\n" in edit(text, files).files["pkg/a.py"]
    assert b"return 1\n" not in edit(text, files).files["pkg/a.py"]


REFUSED = {
    "prose": ("You should change the return value.", "holds no edit"),
    "a question": ("Which file do you mean?", "Nobody answers questions"),
    "fence without path": ("```python\nx = 1\n```", "tied to a file"),
    "empty": ("", "empty"),
    "a loop": ("I will now fix it.\n" * 265, "over and over"),
    "nothing changes": (whole(A.decode()), "changes nothing"),
    "search is replace": (block("    return 1", "    return 1"), "changes nothing"),
    "no divider": (SEARCH.replace("=======\n", ""), "no ======= line"),
    "not there": (block("    return 7", "    return 8"), "its lines are not in pkg/a.py"),
    "several": (block("    return", "    return"), "not in pkg/a.py"),
    "done already": (block("    return 7", "    return 2"), "REPLACE lines already are, at line 6"),
    "unknown file": (block("x", "y", path="pkg/zzz.py"), "there is no file 'pkg/zzz.py'"),
    "does not parse": (block("    return 1", "    return (1"), "line 2: '\\(' was never closed"),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_m4_the_others_are_refused_with_the_reason(text, problem):
    with pytest.raises(ReplyError, match=problem):
        edit(text)


@pytest.mark.parametrize("format", ["whole", "search_replace", "diff", "json"])
def test_m4_a_fixed_format_names_itself(format):
    wrong = {
        "whole": SEARCH.replace("pkg/a.py", ""),
        "search_replace": WHOLE,
        "diff": SEARCH,
        "json": diff(BODY),
    }
    with pytest.raises(ReplyError):
        edit(wrong[format], format=format)


# --- M2: the same again -------------------------------------------------------------------------


def test_m2_other_comments_give_the_same_digest():
    one = edit(whole(FIXED.decode()))
    two = edit(whole(FIXED.decode().replace("return 10", "return 10  # now right")))
    other = edit(whole(FIXED.decode().replace("10", "11")))
    assert one.digest == two.digest
    assert one.digest != other.digest


# --- feedback, protected files, several edits ---------------------------------------------------


def test_feedback_shows_the_nearest_region_and_the_first_difference():
    with pytest.raises(ReplyError) as raised:
        edit(block("def g():\n    return 3", "def g():\n    return 4"))
    message = str(raised.value)
    assert "Line 2 of your SEARCH is 'return 3', line 6 of the file is 'return 2'" in message
    assert "    5 | def g():" in message


def test_several_places_are_named():
    files = {"pkg/a.py": b"x = 1\ny = 2\nx = 1\n"}
    with pytest.raises(ReplyError, match=r"several times in pkg/a.py \(lines 1, 3\)"):
        edit(block("x = 1", "x = 2"), files)


def test_two_edits_to_one_file_and_one_that_misses():
    text = (
        SEARCH
        + block("    return 2", "    return 20", path="")
        + block("    zzz", "    y", path="")
    )
    changes = edit(text)
    assert changes.files["pkg/a.py"] == FIXED.replace(b"return 2", b"return 20")
    assert "block 3: its lines are not in pkg/a.py" in changes.problems[0]


def test_protected_edits_are_ignored_and_the_rest_counts():
    changes = edit(
        SEARCH + block("    return 0", "    return 9", path="pkg/b.py"), protected={"pkg/b.py"}
    )
    assert list(changes.files) == ["pkg/a.py"]
    assert changes.ignored == ("pkg/b.py",)
    with pytest.raises(ReplyError, match=r"only protected files: pkg/a.py"):
        edit(SEARCH, protected={"pkg/a.py"})


def test_tabs_in_the_file_and_blanks_in_the_reply():
    files = {"pkg/a.py": b"class A:\n\tdef f(self):\n\t\treturn 1\n"}
    text = block(
        "    def f(self):\n        return 1", "    def f(self):\n        x = 10\n        return x"
    )
    assert edit(text, files).files == {
        "pkg/a.py": b"class A:\n\tdef f(self):\n\t\tx = 10\n\t\treturn x\n"
    }


def test_a_new_file_by_an_empty_search():
    assert edit(block("", "x = 1", path="pkg/new.py")).files == {"pkg/new.py": b"x = 1\n"}
    with pytest.raises(ReplyError, match="SEARCH is empty"):
        edit(block("", "x = 1"))


def test_a_heading_underlined_with_equal_signs():
    files = {"doc.rst": b"Title\n=====\n\ntext\n"}
    text = block("Title\n=====", "Other\n=====", path="doc.rst")
    assert edit(text, files).files == {"doc.rst": b"Other\n=====\n\ntext\n"}


def test_blocks_and_a_new_whole_file():
    assert set(edit(SEARCH + whole("y = 1\n", path="pkg/new.py")).files) == {
        "pkg/a.py",
        "pkg/new.py",
    }


def test_a_binary_file_cannot_be_edited():
    with pytest.raises(ReplyError, match="binary"):
        edit(block("x", "y", path="x.bin"), {"x.bin": b"x\0y"})


# --- JSON ---------------------------------------------------------------------------------------

E = '{"path": "pkg/a.py", "search": "    return 1", "replace": "    return 10"}'
JSONS = {
    "edits": f'{{"edits": [{E}]}}',
    "one edit": E,
    "a list": f"[{E}]",
    "in a fence": f"```json\n[{E}]\n```",
    "chatter with braces": f"I use {{braces}} here. [{E}] And {{more}}.",
    "trailing commas": f'{{"edits": [{E.replace("}", ",}")},],}}',
    "no closing bracket": f'{{"edits": [{E}',
    "no closing brace of the edit": f'{{"edits": [{E[:-1]}]}}',
    "no closing quote at the end": '{"edits": [{"path": "pkg/a.py", "search": "    return 1", "replace": "    return 10',
    "a closing quote missing": E.replace('"pkg/a.py",', '"pkg/a.py,'),
    "an opening quote missing": E.replace('"pkg/a.py"', 'pkg/a.py"'),
    "single quotes": E.replace('"', "'"),
    "raw newlines": '{"path": "pkg/a.py", "search": "def f():\n    return 1", "replace": "def f():\n    return 10"}',
    "long strings": '{"path": "pkg/a.py", "search": """    return 1""", "replace": """    return 10"""}',
    "python words": E.replace("}", ', "dry": False, "x": None}'),
    "comments": E.replace("{", "{ // the edit\n"),
    "unquoted keys": E.replace('"path"', "path").replace('"search"', "search"),
    "a missing comma": E.replace('.py",', '.py"'),
    "other names": E.replace("path", "file")
    .replace("search", "old_str")
    .replace("replace", "new_str"),
    "path outside": '{"path": "pkg/a.py", "edits": [{"search": "    return 1", "replace": "    return 10"}]}',
    "by path": '{"pkg/a.py": [{"search": "    return 1", "replace": "    return 10"}]}',
    "lines as a list": '{"path": "pkg/a.py", "search": ["def f():", "    return 1"], "replace": ["def f():", "    return 10"]}',
}


@pytest.mark.parametrize("text", JSONS.values(), ids=JSONS.keys())
def test_json_in_every_shape(text):
    assert edit(text, format="json").files == {"pkg/a.py": FIXED}
    assert edit(text).files == {"pkg/a.py": FIXED}


def test_json_with_unescaped_quotes_inside():
    files = {"pkg/a.py": b'print("a", "b")\n'}
    text = '{"path": "pkg/a.py", "search": "print("a", "b")", "replace": "print("a", "c")"}'
    assert edit(text, files).files == {"pkg/a.py": b'print("a", "c")\n'}


BRACES = [
    'print(f"{x.y} and {a}")\n',
    'X = {"path": "pkg/b.py", "content": "x = 1"}\n',
    'X = {"edits": [{"path": "pkg/b.py", "search": "0", "replace": "1"}]}\n',
    "f(a, {'pkg/b.py': \"x\"})\n",
]


@pytest.mark.parametrize("line", BRACES)
def test_braces_in_code_are_no_json_edits(line):
    changes = edit(whole(FIXED.decode() + line))
    assert changes.format == "whole"
    assert changes.files == {"pkg/a.py": FIXED + line.encode()}
    changes = edit(block("    return 1", f"    return 10\n{line}"))
    assert list(changes.files) == ["pkg/a.py"]


def test_a_json_file_is_a_whole_file():
    body = '{"name": "x", "files": ["dist"], "source": "src/i.js", "main": "i.js"}\n'
    changes = edit(whole(body, path="package.json", info="json"), {"package.json": b"{}\n"})
    assert changes.files == {"package.json": body.encode()}


def test_json_whole_files_and_deletion():
    text = '{"files": {"pkg/new.py": "x = 1\\n", "pkg/b.py": {"delete": true}}}'
    assert edit(text).files == {"pkg/new.py": b"x = 1\n", "pkg/b.py": None}


def test_json_keeps_backslashes_that_are_no_escapes():
    files = {"pkg/a.py": b'x = r"\\d"\n'}
    text = '{"path": "pkg/a.py", "search": "x = r\\"\\d\\"", "replace": "x = r\\"\\w\\""}'
    assert edit(text, files).files == {"pkg/a.py": b'x = r"\\w"\n'}


# --- paths that no reply may name ---------------------------------------------------------------

BAD = [
    "../x.py", "pkg/../../x.py", "/etc/passwd.py", "C:\\x.py", "c:/x.py", "\\\\host\\share\\x.py",
    "~/x.py", ".git/config", "pkg/.git/hooks/x.py", ".GIT/x.py", "git~1/x.py", "a\u200b/../x.py", "con.py",
    "pkg/NUL.txt", "aux", "pkg/com1.py", "COM\u00b9.py", "pkg./x.py", "pkg /x.py", "x.py.", "pkg//x.py",
    "./../x.py", "x\0.py", "x\n.py", "pkg/a.py/x.py", "PKG/new.py", "link/x.py", "link", "x?.py", "a|b.py",
    ".git\u200c/x.py", "\uff0egit/x.py", "pkg/x.py:stream", "x" * 300 + ".py", "file:///x.py", "//host/x.py",
]  # fmt: skip


@pytest.mark.parametrize("path", BAD)
def test_a_bad_path_fails_the_whole_reply(path):
    import json

    good = {"path": "pkg/a.py", "search": "    return 1", "replace": "    return 10"}
    bad = {"path": path, "content": "x = 1\n"}
    for edits in ([good, bad], [bad, good]):
        with pytest.raises(ReplyError, match="Bad path"):
            edit(json.dumps({"edits": edits}), symlinks={"link"})


@pytest.mark.parametrize(
    "path", ["../x.py", "/etc/x.py", "C:\\x.py", ".git/config", "pkg/../../x.py"]
)
@pytest.mark.parametrize("make", [
    lambda path: whole("x = 1\n", path=path),
    lambda path: block("", "x = 1", path=path),
    lambda path: block("x", "x = 1", path=path),
    lambda path: f"--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x = 1\n",
    lambda path: f"*** Begin Patch\n*** Add File: {path}\n+x = 1\n*** End Patch",
    lambda path: f"diff --git a/pkg/b.py b/y.py\nrename from pkg/b.py\nrename to {path}\n",
    lambda path: f"diff --git a/x b/x\ndeleted file mode 100644\n--- {path}\n+++ /dev/null\n",
])  # fmt: skip
def test_a_bad_path_in_every_format(path, make):
    with pytest.raises(ReplyError, match="Bad path"):
        edit(SEARCH + "\n" + make(path) if "SEARCH" in make(path) else make(path))


def test_one_new_path_cannot_be_a_file_and_a_folder():
    """On a disk it could not be laid at all, and that would have stopped the run."""
    reply = json.dumps(
        {"edits": [{"path": "new", "content": "x\n"}, {"path": "new/y.py", "content": "x = 1\n"}]}
    )
    with pytest.raises(ReplyError, match="file and the folder"):
        edits_from_reply(reply, {}, format="json", finish="stop", protected=lambda _: False)
