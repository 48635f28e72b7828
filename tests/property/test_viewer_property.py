"""Whatever stands in a file, the page gets strict JSON of bounded size, and every line once."""

import json
import tempfile
import time
import unicodedata
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop.viewer.desk import Desk
from agent_loop.viewer.jsontext import Preview, dumps, escaped, pointed
from agent_loop.viewer.pages import Wanted, page
from agent_loop.viewer.patches import taken_apart
from agent_loop.viewer.writing import visible

NUMBERS = st.integers() | st.floats() | st.booleans() | st.none()
TEXTS = st.text(st.characters(codec=None), max_size=60)
VALUES = st.recursive(
    NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(TEXTS, inner, max_size=8),
    max_leaves=40,
)


@given(VALUES, st.integers(1, 30), st.integers(1, 5), st.integers(1, 60))
def test_a_preview_is_strict_json_and_small(value, chars, items, nodes):
    preview = Preview(chars=chars, items=items, nodes=nodes)
    raw = dumps(preview.of(value))
    json.loads(raw.decode("utf-8"), parse_constant=lambda name: 1 / 0)


@given(st.dictionaries(TEXTS, st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_every_cut_text_can_be_asked_for_whole(value):
    preview = Preview(chars=3)
    preview.of(value)
    for pointer, length in preview.cut.items():
        assert len(pointed(value, pointer)) == length
    for key in value:
        assert pointed(value, f"/{escaped(key)}") == value[key]


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=4))
@settings(max_examples=60)
def test_a_file_that_grows_gives_each_line_once(raw, cuts):
    with tempfile.TemporaryDirectory() as made:
        desk = Desk(Path(made), monotonic=time.monotonic)
        folder = Path(made) / "a"
        folder.mkdir()
        # The first line says which file it is: it stands before the rest is written.
        whole, seen = b'{"kind": "x", "n": 1}\n' + raw, []
        for cut in [0, *sorted(cuts), len(raw)]:
            (folder / "trace.jsonl").write_bytes(whole[: 22 + cut])
            after = seen[-1]["seq"] if seen else 0
            seen += page(desk.traces, "a", Wanted(after=after, limit=1_000))["events"]
        lines = whole.split(b"\n")[:-1]
        assert [event["seq"] for event in seen] == list(range(1, len(lines) + 1))
        dumps(seen)


@given(
    st.binary(max_size=600)
    | st.text(alphabet="@-+ 0123456789,\n\\abdifgt/", max_size=600).map(str.encode)
)
def test_any_bytes_are_taken_apart_as_a_patch(raw):
    told = taken_apart(raw, {"a": frozenset({1})})
    json.loads(dumps(told))
    for file in told["files"]:
        for hunk in file["hunks"]:
            shown = [one for row in hunk["rows"] for one in row if one is not None]
            kinds = [line["kind"] for line in hunk["lines"]]
            assert set(shown) == {n for n, kind in enumerate(kinds) if kind != "\\"}


@given(TEXTS)
def test_nothing_that_acts_is_left_in_an_export(text):
    shown = visible(text)
    acting = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not [c for c in shown if unicodedata.category(c) in acting and c not in "\n\t"]
    assert visible(shown) == shown
