# ruff: noqa: E501 (replies read best on one line)
"""Right replies over real code: every format gives the same bytes, and nothing is refused."""

import difflib
import itertools
import json
import random
import sysconfig
from pathlib import Path

import pytest

from agent_loop.edits import edits_from_reply
from agent_loop.edits.pysource import is_python

SOURCES = sorted(
    path
    for path in Path(sysconfig.get_path("stdlib")).glob("*.py")
    if 2_000 < path.stat().st_size < 40_000
)
MODULES = SOURCES[:: max(1, len(SOURCES) // 40)]
OTHERS = {"pkg/other.py": b"def other():\n    return 0\n", "README.md": b"# x\n"}


def edited(lines, seed):
    """The lines with one to three statements changed, still Python; and where."""
    chance = random.Random(seed)
    for _ in range(50):
        new = list(lines)
        places = sorted(chance.sample(range(3, len(lines) - 3), chance.randint(1, 3)))
        for at in places:
            indent = len(lines[at]) - len(lines[at].lstrip())
            new[at] = (
                " " * indent + f"changed_{at} = {{'a': [{at}]}}  # was: {lines[at].strip()[:20]}"
            )
        if min((b - a for a, b in itertools.pairwise(places)), default=9) > 6 and is_python(
            "\n".join(new)
        ):
            return new, places
    pytest.skip("no place for an edit found")


def unique(lines, at):
    """The shortest run of lines around `at` that stands once in the file."""
    text = "\n" + "\n".join(lines) + "\n"
    for reach in range(1, 60):
        first, last = max(0, at - reach), min(len(lines), at + reach + 1)
        if text.count("\n" + "\n".join(lines[first:last]) + "\n") == 1:
            return first, last
    pytest.skip("no unique lines")


def as_blocks(path, old, new, places):
    parts = []
    for at in places:
        first, last = unique(old, at)
        search, instead = "\n".join(old[first:last]), "\n".join(new[first:last])
        parts.append(
            f"{path}\n```python\n<<<<<<< SEARCH\n{search}\n=======\n{instead}\n>>>>>>> REPLACE\n```\n"
        )
    return "\n".join(parts)


def as_json(path, old, new, places):
    edits = []
    for at in places:
        first, last = unique(old, at)
        edits.append(
            {
                "path": path,
                "search": "\n".join(old[first:last]),
                "replace": "\n".join(new[first:last]),
            }
        )
    return "Here are the edits:\n\n" + json.dumps({"edits": edits}, indent=2) + "\n"


def as_diff(path, old, new, places):
    return "\n".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")) + "\n"


def as_whole(path, old, new, places):
    fence = "```"
    while fence in "\n".join(new):
        fence += "`"
    return f"{path}\n{fence}python\n" + "\n".join(new) + f"\n{fence}\n"


@pytest.mark.parametrize("make", [as_blocks, as_json, as_diff, as_whole])
@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_the_same_edit_in_every_format(make, module):
    data = module.read_bytes()
    if b"\x0c" in data or b"\r" in data or not data.endswith(b"\n"):
        pytest.skip("not a plain file")
    old = data.decode("utf-8").split("\n")[:-1]
    new, places = edited(old, module.stem)
    path = f"pkg/{module.name}"
    reply = make(path, old, new, places)
    if make is as_blocks and any(line.startswith(("=====", "<<<<<")) for line in old):
        pytest.skip("the file holds marks")
    for ends in (b"\n", b"\r\n"):
        files = {path: data.replace(b"\n", ends), **OTHERS}
        changes = edits_from_reply(
            reply, files, format="auto", finish="stop", protected=lambda _: False
        )
        want = ("\n".join(new) + "\n").encode().replace(b"\n", ends)
        assert changes.problems == ()
        assert changes.files == {path: want}
