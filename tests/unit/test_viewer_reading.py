"""What the pages are given of large, torn, growing and hostile runs."""

import json
import os
import threading
import time

import anyio
import pytest

from agent_loop.viewer.desk import Desk
from agent_loop.viewer.events import kind_of, parsed
from agent_loop.viewer.feeds import RING, placed
from agent_loop.viewer.jsontext import MAX_NODES, Preview, dumps, pointed
from agent_loop.viewer.pages import Wanted, page
from agent_loop.viewer.patches import taken_apart
from agent_loop.viewer.rows import Filter, chosen
from agent_loop.webguard import WebError


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path, monotonic=time.monotonic)


def trace(desk, thread="a"):
    folder = desk.places.root / thread
    folder.mkdir(exist_ok=True)
    return folder / "trace.jsonl"


def line(n, kind="fault", **fields):
    head = {"v": 1, "n": n, "at": "2026-01-01T00:00:00.000Z", "thread": "a", "kind": kind}
    return json.dumps({**head, **fields}).encode() + b"\n"


def write(desk, *lines, thread="a"):
    trace(desk, thread).write_bytes(b"".join(lines))


def record(desk, thread, **fields):
    summary = {"thread": thread, "kind": "code", "task": "t", "outcome": "passed", "laps": 1,
               "started": "2026-01-01", "ended": "", "look": False, "input_tokens": 1,
               "output_tokens": 1, "seconds": 1.0} | fields  # fmt: skip
    text = f'{{\n"version": 1,\n"summary": {json.dumps(summary)}\n}}\n'
    (desk.places.root / f"{thread}.json").write_text(text)


# --- pages of a trace


def test_pages_follow_each_other_without_gap_or_repeat(desk):
    write(desk, *(line(n) for n in range(1, 26)))
    seen, after = [], 0
    while after is not None:
        got = page(desk.traces, "a", Wanted(after=after, limit=7))
        seen += [event["seq"] for event in got["events"]]
        after = got["next"]
    assert seen == list(range(1, 26))
    newest = page(desk.traces, "a", Wanted(order="desc", limit=3))
    assert [event["seq"] for event in newest["events"]] == [25, 24, 23]
    older = page(desk.traces, "a", Wanted(order="desc", limit=30, before=newest["next"]))
    assert [event["seq"] for event in older["events"]] == list(range(22, 0, -1))
    assert older["done"]


def test_a_torn_end_is_told_and_read_once_it_is_whole(desk):
    write(desk, line(1), line(2)[:-20])
    got = page(desk.traces, "a", Wanted())
    assert [event["seq"] for event in got["events"]] == [1]
    assert got["torn"]
    with trace(desk).open("ab") as file:
        file.write(line(2)[-20:])
    got = page(desk.traces, "a", Wanted(after=1))
    assert [event["n"] for event in got["events"]] == [2]
    assert not got["torn"]


def test_a_torn_line_that_was_closed_is_shown_as_broken(desk):
    write(desk, line(1), line(2)[:30] + b"\n", line(3))
    kinds = [event["kind"] for event in page(desk.traces, "a", Wanted())["events"]]
    assert kinds == ["fault", "broken", "fault"]


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"null", b"[]", b"\xff\xfe\x00", b'{"kind": 1, "n": 1}', b"[" * 200_000,
            b'{"n": 1}', b'{"kind": "x", "n": true}', b'{"kind": "x", "n": 1e400}', b"\x00" * 5_000,
            b'{"a":' * 100_000, b"9" * 10_000, b'"' + b"\\ud800" * 3 + b'"'],
)  # fmt: skip
def test_a_line_that_is_no_event_is_shown_as_text(desk, raw):
    write(desk, raw + b"\n", line(2, text="after"))
    events = page(desk.traces, "a", Wanted())["events"]
    assert [event["kind"] for event in events] == ["broken", "fault"]
    dumps(events)


def test_numbers_that_json_does_not_know_become_nothing(desk):
    head = line(1)[:-2]
    write(desk, head + b', "a": NaN, "b": 1e999, "c": -Infinity, "d": "\\ud800", "e": 1.5}\n')
    event = page(desk.traces, "a", Wanted())["events"][0]
    assert (event["a"], event["b"], event["c"], event["e"]) == (None, None, None, 1.5)
    json.loads(dumps(event).decode("utf-8"))


def test_own_fields_cannot_be_taken_over(desk):
    write(desk, line(1, seq=99, bytes=0, cut={"/x": 1}))
    event = page(desk.traces, "a", Wanted())["events"][0]
    assert (event["seq"], event["cut"]) == (1, {})


def test_a_reply_of_20_megabytes_on_one_line_is_a_preview_with_a_way_to_the_whole(desk):
    text = "x" * (20 << 20)
    write(desk, line(1, "model_replied", text=text), line(2))
    began = time.monotonic()
    got = page(desk.traces, "a", Wanted())
    assert time.monotonic() - began < 20
    assert len(dumps(got)) < 10_000
    assert got["events"][0]["cut"] == {"/text": 20 << 20}
    assert desk.event_text("a", 1, "/text") == text
    assert page(desk.traces, "a", Wanted(kinds=frozenset({"fault"})))["events"][0]["seq"] == 2


def test_a_million_small_nodes_are_a_preview_too(desk):
    many = [[i, {"k": str(i)}] for i in range(50_000)]
    write(desk, line(1, "candidate", answer=many, deep=nested(200)))
    event = page(desk.traces, "a", Wanted())["events"][0]
    assert len(dumps(event)) < 200_000
    assert event["cut"]["/answer"] == 50_000


def nested(depth):
    value = "end"
    for _ in range(depth):
        value = {"in": [value]}
    return value


def test_a_preview_has_an_end_in_every_direction():
    wide = {str(i): {str(j): "x" for j in range(300)} for i in range(300)}
    preview = Preview(chars=20)
    small = preview.of(wide)
    assert len(dumps(small)) < MAX_NODES * 40
    assert preview.cut
    long_key = Preview(chars=20).of({"k" * 1_000_000: 1})
    assert len(dumps(long_key)) < 1_000


def test_a_search_finds_what_json_writes_otherwise(desk):
    write(desk, line(1, text='say "ü" \\ \n there'), line(2, text="other"))
    for words in (("ü",), ('"ü"',), ("there", "say"), ("\\",)):
        found = page(desk.traces, "a", Wanted(words=words))["events"]
        assert [event["seq"] for event in found] == [1], words
    assert page(desk.traces, "a", Wanted(words=("nowhere",)))["done"]


def test_a_large_search_answers_in_slices(desk):
    big = line(1, "model_asked", messages=[{"role": "user", "content": "y" * 300_000}])
    write(desk, *([big] * 150), line(151, text="needle"))
    after, found, calls = 0, [], 0
    while after is not None:
        began = time.monotonic()
        got = page(desk.traces, "a", Wanted(after=after, words=("needle",)))
        assert time.monotonic() - began < 20
        found += got["events"]
        after, calls = got["next"], calls + 1
    assert [event["seq"] for event in found] == [151]


def test_filters_look_at_node_role_and_lap(desk):
    write(
        desk,
        line(1, "model_asked", node="worker", role="worker", lap=1),
        line(2, "model_asked", node="worker", role="worker", lap=2),
        line(3, "model_asked", node="reviewer", role="reviewer", lap=2),
        line(4, "verdict", lap=2),
    )

    def seqs(**more):
        return [event["seq"] for event in page(desk.traces, "a", Wanted(**more))["events"]]

    assert seqs(node="worker") == [1, 2]
    assert seqs(role="reviewer") == [3]
    assert seqs(lap=2) == [2, 3, 4]
    assert seqs(lap=2, kinds=frozenset({"verdict"})) == [4]


def test_the_cheap_look_at_a_kind_agrees_with_the_whole_one(desk):
    ours = line(7, "model_replied", text='"kind": "verdict"')
    other = b'{"kind": "verdict", "n": 1}'
    for raw in (ours, other, b'{"v": 1, "n": 1, "kind": "x"}', b"junk"):
        whole = parsed(raw)
        assert kind_of(raw) == (whole["kind"] if whole else "broken")


# --- a file that is replaced, and streams


def heard(desk, place, chars=500):
    out = []
    for raw in desk.run_feed.more("a", place, chars):
        fields = dict(part.split(": ", 1) for part in raw.decode().strip().split("\n"))
        out.append((fields["event"], fields.get("id"), json.loads(fields["data"])))
    return out


def test_a_stream_cut_anywhere_goes_on_without_gap_or_repeat(desk):
    write(desk, *(line(n) for n in range(1, 21)))
    first = [one for one in heard(desk, placed("", 0)) if one[0] == "event"]
    assert [data["seq"] for _, _, data in first] == list(range(1, 21))
    with trace(desk).open("ab") as file:
        file.write(line(21))
    for name, id_, data in first:
        rest = [one for one in heard(desk, placed(id_, 0)) if one[0] == "event"]
        assert [d["seq"] for _, _, d in rest] == list(range(data["seq"] + 1, 22)), name


def test_a_replaced_trace_is_told(desk):
    write(desk, line(1), line(2))
    place = placed("", 0)
    heard(desk, place)
    trace(desk).unlink()
    write(desk, line(1, text="another"), line(2), line(3))
    names = [(name, data.get("seq")) for name, _, data in heard(desk, place) if name != "state"]
    assert names == [("reset", None), ("event", 1), ("event", 2), ("event", 3)]


@pytest.mark.parametrize("id_", ["", "x", "0.5", "a.b", "zz.1", "." * 50, "1.-1", "é.1", "1.99999"])
def test_a_foreign_id_begins_anew(desk, id_):
    write(desk, line(1), line(2))
    events = [data["seq"] for name, _, data in heard(desk, placed(id_, 0)) if name == "event"]
    assert events in ([1, 2], [])


def test_a_large_backlog_comes_in_pieces(desk):
    big = "z" * 20_000
    write(desk, *(line(n, a=big, b=big, c=big) for n in range(1, 81)))
    place, total, most = placed("", 0), 0, 0
    while more := heard(desk, place, chars=20_000):
        most = max(most, sum(len(str(data)) for _, _, data in more))
        total += sum(name == "event" for name, _, _ in more)
    assert total == 80
    assert most < 3 << 20


def test_the_stream_of_rows_misses_nothing_and_says_when_it_did(desk):
    async def listen(last_id, count):
        out = []
        with anyio.fail_after(10):
            stream = desk.row_feed.stream(last_id, desk.seats)
            async for raw in stream:
                if raw.startswith(b":"):
                    continue
                out += [part for part in raw.split(b"\n\n") if part]
                if len(out) >= count:
                    break
            await stream.aclose()
        return out

    record(desk, "one")
    cursor = desk.row_feed.note(desk.rows.all(fresh=True))
    record(desk, "two")
    desk.rows.all(fresh=True)
    got = anyio.run(listen, cursor, 1)
    assert b'"two"' in got[0]
    assert b"event: reset" in anyio.run(listen, "other.1", 1)[0]
    (desk.places.root / "two.json").unlink()
    desk.row_feed.note(desk.rows.all(fresh=True))
    assert b"event: gone" in anyio.run(listen, cursor, 2)[1]
    rows = desk.rows.all(fresh=True)
    for n in range(RING + 5):
        desk.row_feed.note([{**rows[0], "laps": n + 5}])
    assert b"event: reset" in anyio.run(listen, cursor, 1)[0]


def test_streams_have_an_end_in_number(desk):
    seats = desk.seats
    held = [seats.taken() for _ in range(200)]
    for one in held:
        one.__enter__()
    with pytest.raises(WebError) as full:
        seats.check()
    assert full.value.status == 503
    for one in held:
        one.__exit__(None, None, None)
    seats.check()


# --- the list


def test_a_record_that_is_none_is_no_row(desk):
    root = desk.places.root
    record(desk, "good")
    for name, raw in {
        "empty": b"", "text": b"hello", "list": b"[]", "nothing": b"null", "deep": b"[" * 100_000,
        "other": b'{"summary": {"thread": "good"}}', "bytes": b"\xff\xfe\x00" * 100,
        "nan": b'{"summary": NaN}', "huge": b" " * 3_000_000,
    }.items():  # fmt: skip
        (root / f"{name}.json").write_bytes(raw)
    (root / "folder.json").mkdir()
    os.mkfifo(root / "pipe.json")
    (root / "link.json").symlink_to("/etc/passwd")
    (root / "copy.json").symlink_to(root / "good.json")
    assert [row["thread"] for row in desk.rows.all(fresh=True)] == ["good"]


def test_fields_of_the_wrong_kind_are_nothing(desk):
    record(desk, "odd", laps="many", seconds=-1, input_tokens=10**400, output_tokens=True,
           look="yes", outcome="<script>", task=["x"], kind={"a": 1}, ended=5)  # fmt: skip
    row = desk.rows.all(fresh=True)[0]
    assert (row["laps"], row["seconds"], row["input_tokens"], row["output_tokens"]) == (0, 0, 0, 0)
    assert (row["look"], row["outcome"], row["task"], row["status"]) == (
        False, None, "", "interrupted",
    )  # fmt: skip
    dumps(row)


def test_rows_are_searched_filtered_and_sorted(desk):
    record(desk, "a1", task="Fizz", outcome="passed", seconds=3.0, started="1")
    record(desk, "b2", task="Buzz", outcome="stopped", seconds=1.0, started="2", kind="project")
    record(desk, "c3", task="fizzbuzz", outcome="passed", seconds=2.0, started="3")
    rows = desk.rows.all(fresh=True)

    def threads(**more):
        return [row["thread"] for row in chosen(rows, Filter(**more))]

    assert threads() == ["c3", "b2", "a1"]
    assert threads(words=("fizz",)) == ["c3", "a1"]
    assert threads(words=("buzz", "pass")) == ["c3"]
    assert threads(statuses=frozenset({"stopped"})) == ["b2"]
    assert threads(kinds=frozenset({"project"})) == ["b2"]
    assert threads(sort="seconds", descending=False) == ["b2", "c3", "a1"]


def test_a_list_is_read_while_records_come_and_go(desk):
    stop, problems = threading.Event(), []

    def churn():
        n = 0
        while not stop.is_set():
            record(desk, f"t{n % 20}", laps=n)
            (desk.places.root / f"t{(n + 7) % 20}.json").unlink(missing_ok=True)
            n += 1

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(100):
            rows = desk.rows.all(fresh=True)
            problems += [row for row in rows if not row["thread"].startswith("t")]
    finally:
        stop.set()
        thread.join()
    assert problems == []


# --- pointers and patches


@pytest.mark.parametrize("pointer", ["x", "/b", "/a/9", "/a/-1", "/a/0/c", "/a/" + "9" * 50, "//"])
def test_a_pointer_to_nothing_is_nothing(pointer):
    with pytest.raises(LookupError):
        pointed({"a": [{"k": 1}]}, pointer)
    assert pointed({"a/b": {"~": [5]}}, "/a~1b/~0/0") == 5


PATCH = b"""diff --git a/m.py b/m.py
--- a/m.py
+++ b/m.py
@@ -1,4 +1,5 @@ def f():
 one
-two
-three
+TWO
+THREE
+more
 four
\\ No newline at end of file
diff --git a/new file.py b/new file.py
new file mode 100755
--- /dev/null
+++ b/new file.py
@@ -0,0 +1 @@
+--- x
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git "a/\\303\\274.py" "b/\\303\\274.py"
--- "a/\\303\\274.py"
+++ "b/\\303\\274.py"
@@ -1 +1 @@
-a
+b
"""


def test_a_patch_is_taken_apart(desk):
    told = taken_apart(PATCH, {"m.py": frozenset({2, 4})})
    assert told["problems"] == []
    seen = [(one["old"], one["new"], one["status"], one["added"], one["removed"])
            for one in told["files"]]  # fmt: skip
    assert seen == [
        ("m.py", "m.py", "modified", 3, 2), (None, "new file.py", "added", 1, 0),
        ("old.py", None, "deleted", 0, 1), ("run.sh", "run.sh", "mode", 0, 0),
        ("ü.py", "ü.py", "modified", 1, 1),
    ]  # fmt: skip
    hunk = told["files"][0]["hunks"][0]
    assert hunk["rows"] == [[0, 0], [1, 3], [2, 4], [None, 5], [6, 6]]
    ran = [one["text"] for one in hunk["lines"] if one["ran"]]
    assert ran == ["TWO", "more"]
    assert [one["ran"] for one in told["files"][1]["hunks"][0]["lines"]] == [None]


@pytest.mark.parametrize(
    "raw", [b"", b"\x00" * 100, b"@@ -1 +1 @@\n-a\n+b\n", b"diff --git \n@@ -x +y @@\n",
            b"--- \n+++ ",
            b"diff --git a/x b/x\n@@ -1,999999999 +1,999999999 @@\n-a\n", b"\xff\xfe\n" * 50,
            b"diff --git a/<script> b/<script>\nrename from a\nrename to b\nGIT binary patch\n",
            b"diff --git a/x b/x\n" * 5_000, b"diff --git a/x b/x\n@@ -1 +1 @@\n" + b"+" * 10**6],
)  # fmt: skip
def test_what_is_no_patch_does_no_harm(raw):
    told = taken_apart(raw, None)
    json.loads(dumps(told))
    assert len(dumps(told)) < 3 << 20
